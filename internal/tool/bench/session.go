package bench

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// session is a structure at one setting, and what is measured of it.
type session struct {
	*workload
	*benchmark
	options *Options
	at      setting
	report  *Report
	op      Op               // what is measured now
	width   structures.Width // of its elements: 32 bits but where it has widths
	batch   int              // operations of a batch: no more than there are pairs
	keys    sequence         // of the pairs, in the order in which they come

	dictionary dictionary // nil until it is wanted first
	there      int        // pairs in it, the first ones of the sequence; -1 where it holds something else
	utility    float64    // a hash table's memory utilisation with the n pairs in; 0: not measured yet
	sorted     []uint32   // so many keys in order as were asked for last
	primitives *primitives.Primitives
	analyzed   *analyzed // the graph of the setting; nil until it is wanted first
}

func newSession(w *workload, b *benchmark, o *Options, at setting, r *Report) *session {
	s := &session{workload: w, benchmark: b, options: o, at: at, report: r, batch: min(at.batch, w.n), there: -1}
	s.keys = newSequence(w.space, at.order, w.n)
	if b.name == "latched" {
		s.batch &^= 3 // a part's statuses begin with a word
		s.keys.spare = w.n + s.batch
	}
	return s
}

func (s *session) close() {
	s.stream.Wait(context.Background())
	if s.dictionary != nil {
		s.dictionary.Close()
	}
	if s.primitives != nil {
		s.primitives.Close()
	}
	s.analyzed.close()
}

// measurement is one of the operation, with n elements in the structure.
func (s *session) measurement(n, operations int) Measurement {
	m := Measurement{Structure: s.name, Op: s.op.Name, N: n, Operations: operations,
		Load: max(s.at.load, s.at.fill), Utilization: s.utility, Tile: s.at.tile}
	if s.at.order != Random {
		m.Order = s.at.order.String()
	}
	if s.at.form != primitives.Auto {
		m.Form = s.at.form.String()
	}
	if s.width == structures.Bits64 {
		m.Width = 64
	}
	if l := s.at.latched; l.NodeBytes != 0 {
		m.Form = fmt.Sprintf("%d-byte nodes, %v, %v", l.NodeBytes, l.Kind, l.Wait)
	}
	if s.inLevels() {
		m.Batch = s.batch // which its smallest level has
	}
	return m
}

func (s *session) add(m Measurement, err error) error {
	if err == nil {
		s.report.Measurements = append(s.report.Measurements, m)
	}
	return err
}

// opened makes the structure if there is none yet.
func (s *session) opened(ctx context.Context) (dictionary, error) {
	if s.dictionary == nil {
		d, err := s.open(ctx, s)
		if err != nil {
			return nil, err // and no interface that holds a nil pointer
		}
		s.dictionary, s.there = d, 0
	}
	return s.dictionary, nil
}

// empty makes the structure an empty one.
func (s *session) empty(ctx context.Context) error {
	fresh := s.dictionary == nil
	d, err := s.opened(ctx)
	if err != nil || fresh {
		return err
	}
	s.there = 0
	return d.Clear(ctx)
}

// hold makes the structure one of the first so many pairs of its sequence, and nothing else.
func (s *session) hold(ctx context.Context, pairs int) error {
	if s.there == pairs {
		return nil
	}
	return s.holdOf(ctx, s.keys, pairs)
}

// holdOf is hold for the pairs of another sequence, or where the structure is about to be changed.
func (s *session) holdOf(ctx context.Context, q sequence, pairs int) error {
	d, err := s.opened(ctx)
	if err != nil {
		return err
	}
	before := s.there
	s.there = -1
	if err := d.hold(ctx, s, q, before, pairs); err != nil {
		return err
	}
	if q == s.keys {
		s.there = pairs
	}
	return nil
}

// changing makes the structure one of the n pairs, for an operation that changes it.
func (s *session) changing(ctx context.Context) error {
	err := s.hold(ctx, s.n)
	s.there = -1
	return err
}

// all are the buffers of the first keys of a sequence in their order, and of their values: n of each at least.
func (s *session) all(ctx context.Context, q sequence) (keys, values *vk.Buffer[uint32], err error) {
	name := q.order.String() // of random keys the first ones are the same however many there are
	if q.order != Random {
		name += fmt.Sprintf(" of %d", q.n)
	}
	if q.spare != 0 {
		name += fmt.Sprintf(" with %d to spare", q.spare)
	}
	if keys, err = s.elements(ctx, "keys "+name, q.key); err == nil {
		values, err = s.elements(ctx, "values "+name, func(i int) uint32 { return s.space.value(q.key(i)) })
	}
	return keys, values, err
}

// batchOf is a buffer of a batch's elements.
func (s *session) batchOf(ctx context.Context, name string, count int, of func(i int) uint32) (*vk.Buffer[uint32],
	error) {
	return s.words(ctx, name, count<<s.width, s.inWords(of))
}

// asked are the buffers of n queries and of room for their answers.
func (s *session) asked(ctx context.Context, of func(i int) uint32) (queries, answers *vk.Buffer[uint32], err error) {
	if queries, err = s.batchOf(ctx, "queries", s.n, of); err == nil {
		answers, err = s.roomFor("answers", s.n)
	}
	return queries, answers, err
}

// query is the key that query i asks for, if all are to be there.
func (s *session) query(i int) uint32 { return s.keys.key(s.order.at(i)) }

// inOrder returns the keys that are there, in order.
func (s *session) inOrder(pairs int) []uint32 {
	if len(s.sorted) != pairs {
		s.sorted = make([]uint32, pairs)
		fill(s.sorted, s.keys.key)
		s.sorted = ascending(s.sorted)
	}
	return s.sorted
}
