package replica

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/vk"
)

// state is what the entries of the log make: the same in each member that has applied the same entries. Only one
// goroutine at a time applies entries and restores snapshots; any number read meanwhile, between two entries.
type state struct {
	types  Types
	device *vk.Device // nil: the host's memory

	mu        sync.RWMutex // held by readers; by whoever changes what is below, while it changes
	pairs     dictionary
	reads     structures.Ordered[uint64, uint64] // the pairs; on a device, many readers share a call
	deadlines deadlines
	texts     *texts // nil: keys and values are no texts
	seed      seed   // zero: no entry was applied
	clock     int64  // the latest time of an entry
	changes   history
	broken    error // an entry is half applied; nil: none is

	found sync.Pool // of *found

	changed chan struct{} // has one after an entry or a snapshot has come

	count atomic.Uint64 // pairs
	first atomic.Int64  // the earliest deadline; 0: none
	now   atomic.Int64  // clock, for readers of the number alone

	work work
}

func newState(ctx context.Context, types Types, device *vk.Device) (*state, error) {
	s := &state{types: types, device: device, changed: make(chan struct{}, 1)}
	pairs, err := empty(ctx, device)
	if err != nil {
		return nil, err
	}
	var texts *texts
	if types.text() {
		texts = newTexts(types)
	}
	return s, s.replace(ctx, pairs, newDeadlines(), texts, seed{}, 0, 0)
}

// replace puts other pairs, deadlines, texts, another seed, clock and number of changes in the place of those of the
// state. It takes possession of the pairs, also if it fails.
func (s *state) replace(ctx context.Context, pairs dictionary, deadlines deadlines, texts *texts, seed seed,
	clock int64, changes uint64) error {
	n, err := pairs.Len(ctx)
	if err != nil {
		pairs.Close()
		return err
	}
	reads := structures.Ordered[uint64, uint64](pairs)
	if s.device != nil {
		if reads, err = combine.NewOrdered[uint64, uint64](pairs, combine.Options{}); err != nil {
			pairs.Close()
			return err
		}
	}
	s.mu.Lock()
	before := s.reads
	s.pairs, s.reads, s.deadlines, s.texts, s.seed, s.clock = pairs, reads, deadlines, texts, seed, clock
	s.changes = history{before: changes}
	s.publish(n)
	s.mu.Unlock()
	if before != nil {
		_ = before.Close() // the new ones are in their place, whatever becomes of it
	}
	return nil
}

func (s *state) publish(count uint64) {
	s.count.Store(count)
	s.first.Store(s.deadlines.first())
	s.now.Store(s.clock)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *state) close() error { return s.reads.Close() }

// work is what applying an entry needs, kept for the next one.
type work struct {
	at            map[uint64]int    // by key: its place in the slices
	fresh         map[uint64]string // keys that were not there
	keys          []uint64          // each once
	slots         []slot
	values        []uint64
	found         []bool
	insert, value []uint64
	remove        []uint64
	changes       []Change
}

// slot is what becomes of a key.
type slot struct {
	value    uint64
	text     string // instead of value, if values are text
	deadline int64
	there    bool
	dirty    bool // the deadline changed
}

func (w *work) reset() {
	if w.at == nil {
		w.at, w.fresh = map[uint64]int{}, map[uint64]string{}
	}
	clear(w.at)
	w.keys, w.slots = w.keys[:0], w.slots[:0]
	w.insert, w.value, w.remove, w.changes = w.insert[:0], w.value[:0], w.remove[:0], w.changes[:0]
}

// forget gives up texts, which may be long.
func (w *work) forget() {
	clear(w.slots)
	clear(w.changes)
	clear(w.fresh)
}

func (w *work) add(key uint64) {
	if _, there := w.at[key]; !there {
		w.at[key] = len(w.keys)
		w.keys, w.slots = append(w.keys, key), append(w.slots, slot{})
	}
}

// apply does the operations of an entry, one after the other, with one lookup, one insertion and one deletion. Nothing
// but the state and the entry has a part in the outcome, so it is the same in every member. Keys whose deadlines had
// passed by the entry's time are deleted first: those of the operations, and at most mostExpired others, so that no
// entry takes long. After an error the state is of no further use.
func (s *state) apply(ctx context.Context, e entry) ([]Answer, error) {
	clock, ops := max(s.clock, e.now), e.ops
	w := &s.work
	w.reset()
	if s.seed == (seed{}) {
		s.mu.Lock() // readers hash, too
		if s.seed = e.seed; s.texts != nil {
			s.texts.begin(e.seed)
		}
		s.mu.Unlock()
	}
	s.tidy()
	s.deadlines.passed(clock, mostExpired, w.add)
	for i := range ops {
		if s.types.Key == keytype.Text {
			ops[i].Key = s.texts.word(e.texts[ops[i].Key], w.fresh)
		}
		w.add(ops[i].Key)
	}
	n := len(w.keys)
	w.values, w.found = slices.Grow(w.values[:0], n)[:n], slices.Grow(w.found[:0], n)[:n]
	if err := s.pairs.FindInto(ctx, w.keys, w.values, w.found); err != nil {
		return nil, err
	}
	for i := range w.slots {
		if at := s.deadlines.get(w.keys[i]); at != 0 && at <= clock {
			w.slots[i].dirty = true
		} else if w.found[i] {
			w.slots[i] = slot{value: w.values[i], text: s.record(w.keys[i]).Value, there: true, deadline: at}
		}
	}
	answers := make([]Answer, len(ops))
	for i := range ops {
		answers[i] = s.do(&ops[i], e.texts, &w.slots[w.at[ops[i].Key]], clock)
	}
	for i, x := range w.slots {
		switch {
		case x.there && (!w.found[i] || w.values[i] != x.value):
			w.insert, w.value = append(w.insert, w.keys[i]), append(w.value, x.value)
			s.change(i)
		case !x.there && w.found[i]:
			w.remove = append(w.remove, w.keys[i])
			s.change(i)
		case x.there && s.types.Value == keytype.Text && s.record(w.keys[i]).Value != x.text:
			s.change(i)
		}
	}
	return answers, s.commit(ctx, clock)
}

// tidy gives back the memory of texts that are gone. Readers go on meanwhile.
func (s *state) tidy() {
	if s.texts == nil {
		return
	}
	if all := s.texts.tidied(); all != nil {
		s.mu.Lock()
		s.texts.of, s.texts.gone = all, 0
		s.mu.Unlock()
	}
}

// record returns what of a key's pair is text.
func (s *state) record(key uint64) (r Record) {
	if s.texts != nil {
		r, _ = s.texts.of.Get(key)
	}
	return r
}

// change notes what has become of a key.
func (s *state) change(i int) {
	w := &s.work
	c := Change{Key: w.keys[i], Value: w.slots[i].value, Deleted: !w.slots[i].there}
	if s.texts != nil {
		c.Text = &Record{s.record(c.Key).Key, w.slots[i].text}
		if !w.found[i] {
			c.Text.Key = w.fresh[c.Key]
		}
	}
	w.changes = append(w.changes, c)
}

// do does one operation to the slot of its key.
func (s *state) do(op *Op, texts [][]byte, x *slot, clock int64) Answer {
	a := Answer{Value: x.value, Text: x.text, Deadline: x.deadline, Found: x.there}
	switch op.Kind {
	case Set:
		if op.Flags&IfAbsent != 0 && x.there || op.Flags&IfPresent != 0 && !x.there {
			return a
		}
		a.Done = true
		if x.there = true; s.types.Value == keytype.Text {
			x.text = string(texts[op.Value])
		} else {
			x.value = op.Value
		}
		if op.Flags&KeepDeadline == 0 {
			x.expire(op.Deadline, clock)
		}
	case Add, AddFloat:
		if s.types.Value == keytype.Text {
			a.addText(op, x)
			break
		}
		is, ok := x.value, false
		if !x.there {
			is = zero(s.types.Value)
		}
		if op.Kind == Add {
			a.Value, ok = added(s.types.Value, is, int64(op.Value))
		} else {
			a.Value, ok = addedFloat(s.types.Value, is, math.Float64frombits(op.Value))
		}
		if a.Overflow = !ok; ok {
			x.value, x.there = a.Value, true
		}
	case Delete:
		x.remove()
	case Expire:
		if a.Done = x.there; a.Done {
			x.expire(op.Deadline, clock)
		}
	case Persist:
		if a.Done = x.there && x.deadline != 0; a.Done {
			x.expire(0, clock)
		}
	}
	return a
}

// expire sets the deadline. If that has passed, the key is deleted.
func (x *slot) expire(at, clock int64) {
	if at != 0 && at <= clock {
		x.remove()
		return
	}
	x.dirty = x.dirty || at != x.deadline
	x.deadline = at
}

func (x *slot) remove() {
	x.dirty = x.dirty || x.deadline != 0
	x.there, x.deadline, x.value, x.text = false, 0, 0, ""
}

// commit writes what the slots have changed, while nobody reads. After an error, nobody reads what is half done.
func (s *state) commit(ctx context.Context, clock int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = s.write(ctx, clock)
	return s.broken
}

func (s *state) write(ctx context.Context, clock int64) error {
	w := &s.work
	before := s.count.Load()
	count := before
	if len(w.insert) > 0 {
		if err := s.pairs.UpdateInto(ctx, structures.Insert, w.insert, w.value, nil); err != nil {
			return err
		}
		for _, key := range w.insert {
			if !w.found[w.at[key]] {
				count++
			}
		}
	}
	if len(w.remove) > 0 {
		if err := s.pairs.UpdateInto(ctx, structures.Delete, w.remove, nil, nil); err != nil {
			return err
		}
		count -= uint64(len(w.remove))
	}
	for i, x := range w.slots {
		if x.dirty {
			s.deadlines.set(w.keys[i], x.deadline)
		}
	}
	for _, c := range w.changes {
		s.changes.add(c)
		switch {
		case c.Text == nil:
		case c.Deleted:
			s.texts.remove(c.Key)
		default:
			s.texts.set(c.Key, *c.Text)
		}
	}
	s.clock = clock
	s.publish(count)
	return nil
}

// View is the state between two entries.
type View struct{ s *state }

// found is what a look-up finds, kept for the next one.
type found struct {
	values []uint64
	there  []bool
}

// Get answers a Get of each key, in the memory of a slice if that is large enough. If keys are text, they are places in
// texts.
func (v View) Get(ctx context.Context, keys []uint64, texts [][]byte, into []Answer) ([]Answer, error) {
	n := len(keys)
	answers := slices.Grow(into[:0], n)[:n]
	if v.s.texts != nil {
		clear(answers)
		return answers, v.texts(ctx, keys, texts, answers)
	}
	f, ok := v.s.found.Get().(*found)
	if !ok {
		f = new(found)
	}
	f.values, f.there = slices.Grow(f.values[:0], n)[:n], slices.Grow(f.there[:0], n)[:n]
	if err := v.s.reads.FindInto(ctx, keys, f.values, f.there); err != nil {
		return nil, err
	}
	for i, there := range f.there {
		answers[i] = Answer{}
		if there {
			answers[i] = Answer{Value: f.values[i], Found: true, Deadline: v.s.deadlines.get(keys[i])}
		}
	}
	if n <= MostOps { // what a large one takes is needed once
		v.s.found.Put(f)
	}
	return answers, nil
}

// texts is Get if keys or values are text. The Records say which keys are there, so only values that are words are
// looked up.
func (v View) texts(ctx context.Context, keys []uint64, texts [][]byte, answers []Answer) error {
	var words []uint64
	var at []int // their places among the answers
	for i, word := range keys {
		var r Record
		var there bool
		if v.s.types.Key == keytype.Text {
			word, r, there = v.s.texts.find(texts[word])
		} else {
			r, there = v.s.texts.of.Get(word)
		}
		if there {
			answers[i] = Answer{Text: r.Value, Found: true, Deadline: v.s.deadlines.get(word)}
			words, at = append(words, word), append(at, i)
		}
	}
	if v.s.types.Value == keytype.Text || len(words) == 0 {
		return nil
	}
	values := make([]uint64, len(words))
	if err := v.s.reads.FindInto(ctx, words, values, nil); err != nil {
		return err
	}
	for i, value := range values {
		answers[at[i]].Value = value
	}
	return nil
}

// Records returns what of each key's pair is text; nil: nothing.
func (v View) Records(keys []uint64) []Record {
	if v.s.texts == nil {
		return nil
	}
	all := make([]Record, len(keys))
	for i, key := range keys {
		all[i] = v.s.record(key)
	}
	return all
}

// Apply answers a batch of queries, all of the same moment. It must not have updates.
func (v View) Apply(ctx context.Context, b structures.Batch[uint64, uint64]) (structures.Results[uint64, uint64],
	error) {
	return v.s.reads.Apply(ctx, b)
}

// Range returns the pairs of each range.
func (v View) Range(ctx context.Context, ranges []structures.Range[uint64]) (structures.Ranges[uint64, uint64], error) {
	return v.s.reads.Range(ctx, ranges)
}

// Snapshot opens a snapshot of the pairs, which stays while entries are applied.
func (v View) Snapshot(ctx context.Context) (Snapshot, error) { return v.s.snapshot(ctx) }

// snapshot opens a snapshot while nobody changes the state.
func (s *state) snapshot(ctx context.Context) (x Snapshot, err error) {
	if x.frozen, err = s.pairs.snapshot(ctx); err == nil && s.texts != nil {
		x.texts = s.texts.copy()
	}
	return x, err
}

// Changes returns changes after one, at most so many, and with at most so many bytes of texts unless one has more.
// Errors: *GoneError and *AheadError.
func (v View) Changes(since uint64, most, bytes int) ([]Change, error) {
	return v.s.changes.since(since, most, bytes)
}

// LastChange returns the number of the last change.
func (v View) LastChange() uint64 { return v.s.changes.last() }

// Data returns a name that these pairs and their changes have on each member and after each start, and that no others
// have. Before the first entry it is "".
func (v View) Data() string {
	if v.s.seed == (seed{}) {
		return ""
	}
	sum := sha256.Sum256(v.s.seed.append(nil)) // nobody may know the seed
	return hex.EncodeToString(sum[:8])
}

// Len returns the number of pairs.
func (v View) Len() uint64 { return v.s.count.Load() }
