package btree

import (
	"context"
	"errors"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/sequential"
	"github.com/vkds/vkds/vk"
)

// Apply does a batch of mixed operations: Insert, InsertUnique, Delete, Find, Count, and those that ask for order
// (structures.FindSuccessor to structures.CountRange), as the concurrent benchmark of section 5.6 of Awad et al. (2019)
// has them.
//
// On the concurrent path, which AutoPath takes, they run beside each other, and the results of updates
// and lookups are those of some order. Neighbors and ranges are not one moment: each pair in a result was there at some
// time of the call, and what was there all the time is not missed; the keys of a range ascend, and none comes twice. On
// the batched path all queries see what was there before the batch, and then the insertions and deletions are done in
// the batch's order.
//
// Errors: *structures.KindError and *structures.LengthError before anything is done, and those of Insert.
func (t *Tree) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	if err := pipeline.Lengths(b); err != nil {
		return structures.Results{}, err
	}
	counts := b.Kinds
	b.Kinds = slices.Clone(b.Kinds)
	for i, k := range b.Kinds {
		switch {
		case k.Inserts() && b.Values == nil, k.Ranges() && b.Highs == nil:
			return structures.Results{}, &structures.KindError{Index: i, Kind: k}
		case k == structures.FindRange && b.Width < 1:
			return structures.Results{}, &structures.LengthError{Keys: 1, Other: "pairs a range", Got: b.Width}
		case k == structures.Count:
			b.Kinds[i] = structures.Find // a key has one pair at most
		case !does(k):
			return structures.Results{}, &structures.KindError{Index: i, Kind: k}
		}
	}
	values := make([]uint32, len(b.Keys))
	copy(values, b.Values)
	b.Values = values
	if err := t.gate.Enter(ctx); err != nil {
		statuses, err := pipeline.NotBegun(len(b.Keys), err)
		return structures.Results{Status: statuses, Values: values}, err
	}
	defer t.gate.Leave()
	t.changes++
	do := t.mixed
	if t.o.Path == Batched {
		do = t.phases
	}
	r, err := do(ctx, b)
	for i, k := range counts {
		if k == structures.Count && r.Status != nil {
			r.Values[i] = 0
			if r.Status[i] == structures.Found {
				r.Values[i] = 1
			}
		}
	}
	return r, err
}

func (t *Tree) mixed(ctx context.Context, b structures.Batch) (structures.Results, error) {
	t.batches.concurrent.Add(1)
	return t.concurrent(ctx, structures.Mixed, b)
}

// phases does the queries of a batch, and then its updates on the batched path.
func (t *Tree) phases(ctx context.Context, b structures.Batch) (structures.Results, error) {
	n := len(b.Keys)
	r := structures.Results{Status: make([]structures.Status, n), Values: b.Values}
	var queries, updates []int
	for i, k := range b.Kinds {
		if k == structures.Find || k.Ordered() {
			queries = append(queries, i)
		} else {
			updates = append(updates, i)
		}
	}
	q := structures.Batch{Kinds: pipeline.Pick(b.Kinds, queries), Keys: pipeline.Pick(b.Keys, queries), Values: make([]uint32, len(queries)), Width: b.Width}
	if b.Highs != nil {
		q.Highs = pipeline.Pick(b.Highs, queries)
	}
	found, err := t.concurrent(ctx, structures.Mixed, q)
	for j, i := range queries {
		r.Status[i], r.Values[i] = found.Status[j], found.Values[j]
	}
	if found.Keys != nil {
		r.Keys = make([]uint32, n)
		for j, i := range queries {
			r.Keys[i] = found.Keys[j]
		}
	}
	if found.Ranges.Offsets != nil {
		r.Ranges = structures.Ranges{Offsets: make([]uint64, n+1), Keys: found.Ranges.Keys, Values: found.Ranges.Values}
		for j, i := range queries {
			r.Ranges.Offsets[i+1] = found.Ranges.Offsets[j+1]
		}
		for i := range n { // operations that are no ranges have none
			r.Ranges.Offsets[i+1] = max(r.Ranges.Offsets[i+1], r.Ranges.Offsets[i])
		}
	}
	if err != nil {
		return r, pipeline.Stopped(r.Status, err)
	}
	some, err := t.batched(ctx, structures.Mixed, pipeline.Pick(b.Kinds, updates), pipeline.Pick(b.Keys, updates), pipeline.Pick(b.Values, updates))
	for j, status := range some {
		r.Status[updates[j]] = status
	}
	return r, pipeline.Stopped(r.Status, err)
}

// leastPart is how many operations a tree takes at once, however small it is.
const leastPart = 1 << 12

// concurrent does a batch of operations beside each other, in parts that are no larger than the tree: more would stand
// in each other's way. Kinds are those of a mixed batch; Values are what insertions bring and become those of the
// results, or nil.
func (t *Tree) concurrent(ctx context.Context, kind structures.Kind, b structures.Batch) (structures.Results, error) {
	n := len(b.Keys)
	r := structures.Results{Status: make([]structures.Status, n), Values: b.Values}
	w := windowsOf(b)
	if w.any {
		r.Keys = make([]uint32, n)
	}
	if w.lists {
		r.Ranges.Offsets = make([]uint64, 1, n+1)
	}
	var err error
	for done := 0; done < n && err == nil; {
		end := w.fit(done, min(n, done+max(leastPart, int(t.nodes))), ordered.AtOnce(t.d))
		p := concurrentPart{kind: kind, windows: w.part(done, end), status: r.Status[done:end], batch: structures.Batch{
			Kinds: cut(b.Kinds, done, end), Keys: b.Keys[done:end], Values: cut(b.Values, done, end), Highs: cut(b.Highs, done, end),
		}}
		err = t.runPart(ctx, &p, pipeline.After(t.o.Progress, done, n))
		p.results(done, &r)
		done = end
	}
	for w.lists && len(r.Ranges.Offsets) <= n {
		r.Ranges.Offsets = append(r.Ranges.Offsets, uint64(len(r.Ranges.Keys)))
	}
	err = pipeline.Stopped(r.Status, err)
	if pending := (*structures.PendingError)(nil); pipeline.Short(err) && !errors.As(err, &pending) {
		err = nil // all is done; nodes that the full pool has left without a parent are found by side links
	}
	return r, err
}

// cut is a part of a slice, or nil of nil.
func cut[T any](s []T, first, end int) []T {
	if s == nil {
		return nil
	}
	return s[first:end]
}

// concurrentPart are operations of a batch that are on the device at the same time.
type concurrentPart struct {
	kind    structures.Kind
	batch   structures.Batch
	windows windows
	status  []structures.Status
	pairs   []uint32 // what the windows hold: all keys, then all values; nil if that could not be read
}

func (t *Tree) runPart(ctx context.Context, p *concurrentPart, progress structures.Progress) error {
	finds := p.kind == structures.Mixed || p.kind == structures.Find
	inserts := p.kind.Inserts() || slices.ContainsFunc(p.batch.Kinds, structures.Kind.Inserts)
	if inserts {
		if err := t.reserve(ctx, len(p.batch.Keys)); err != nil && !pipeline.Short(err) { // operations are left pending, if it must be
			return err
		}
	}
	own := operands{alone: true, ordered: p.windows.any, width: p.windows.width}
	var pairs *vk.Buffer[uint32]
	if room := p.windows.count() * p.windows.width; room != 0 {
		room = (room + 3) &^ 3 // pairs are written by quads, of which the values have to begin with one, too
		var err error
		if pairs, err = vk.NewBuffer[uint32](t.d, 2*room); err != nil {
			return err
		}
		defer pairs.Free()
		own.outKeys, own.outValues = pairs.Address(), pairs.AddressOf(room)
	}
	columns := []pipeline.Column{
		pipeline.In(p.batch.Keys), pipeline.In(p.batch.Values), pipeline.In(p.batch.Kinds), pipeline.Out(p.status),
		pipeline.In(p.batch.Highs), pipeline.In(p.windows.numbers),
	}
	columns[1].In, columns[1].Out = inserts, finds
	var turns pipeline.Turns
	ordered := sequential.Matters(p.kind, p.batch.Keys)
	err := t.pipeline.Run(ctx, len(p.batch.Keys), columns, t.order.Begin(pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			o := own
			o.keys, o.values, o.kinds, o.statuses, o.highs, o.windows = c.Columns[0], c.Columns[1], c.Columns[2], c.Columns[3], c.Columns[4], c.Columns[5]
			o.pending, o.count, o.retry = c.Pending, c.Count, c.Retry
			if ordered {
				return t.applyInOrder(s, p.kind, o)
			}
			if err := turns.Take(s); err != nil {
				return err
			}
			return t.apply(s, p.kind, o)
		},
		Recover:  t.makeRoom,
		Progress: progress,
	}))
	if pairs != nil {
		p.pairs = make([]uint32, pairs.Len())
		if failure := pairs.Download(context.WithoutCancel(ctx), 0, p.pairs); failure != nil {
			p.pairs = nil
			if err == nil {
				err = failure
			}
		}
	}
	return err
}

// applyInOrder records a batch of insertions of which equal keys count in the batch's order.
func (t *Tree) applyInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	c := sequential.Chunk{Kind: kind, Keys: b.keys, Statuses: b.statuses, Pending: b.pending, Count: b.count, Retry: b.retry}
	return t.order.Record(s, c, func(p sequential.Pass) error {
		b.statuses, b.retry, b.few, b.groups = p.Statuses, p.Retry, p.Few, p.Groups
		return t.apply(s, p.Kind, b)
	})
}

// results adds what a part has found to a batch's results. first is where it begins in the batch.
func (p *concurrentPart) results(first int, r *structures.Results) {
	if !p.windows.any {
		return
	}
	for i, k := range p.batch.Kinds {
		if has := k.Ordered() && k != structures.CountRange; has && p.pairs == nil {
			p.status[i] = structures.Pending // its answer is lost
		} else if has && p.status[i] == structures.Found {
			at, values := int(p.windows.numbers[i])*p.windows.width, len(p.pairs)/2
			if k == structures.FindRange {
				n := int(p.batch.Values[i])
				r.Ranges.Keys = append(r.Ranges.Keys, p.pairs[at:at+n]...)
				r.Ranges.Values = append(r.Ranges.Values, p.pairs[values+at:values+at+n]...)
			} else {
				r.Keys[first+i] = p.pairs[at]
			}
		}
		if r.Ranges.Offsets != nil {
			r.Ranges.Offsets = append(r.Ranges.Offsets, uint64(len(r.Ranges.Keys)))
		}
	}
}
