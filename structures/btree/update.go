package btree

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned. Of equal keys in the batch the last
// one's value stays, whatever path it takes, and their statuses are those of one after the other.
//
// Errors of this and of the other updates: *structures.LengthError; *structures.PendingError, with the statuses that
// say what is done, around *structures.LimitError, *vk.OutOfMemoryError, *structures.StuckError or the context's.
func (t *Tree) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return t.insert(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found. Of equal keys in the batch the first one counts.
func (t *Tree) InsertUnique(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return t.insert(ctx, structures.InsertUnique, keys, values)
}

func (t *Tree) insert(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if len(keys) != len(values) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	return t.update(ctx, kind, keys, values)
}

// Delete removes each key: Deleted or Absent. Of equal keys in the batch any may be the one Deleted on the concurrent path,
// and the first is on the batched one.
func (t *Tree) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return t.update(ctx, structures.Delete, keys, nil)
}

// update does a batch of updates of one kind on the path that is best for it.
func (t *Tree) update(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(len(keys), err)
	}
	defer t.gate.Leave()
	t.changes++
	if t.path(keys) == Batched {
		return t.batched(ctx, kind, nil, keys, values)
	}
	t.batches.concurrent.Add(1)
	r, err := t.concurrent(ctx, kind, structures.Batch{Keys: keys, Values: values})
	return r.Status, err
}

// Batches from here on are better sorted first (docs/benchmarks.md).
const batchedFrom = 3 << 19

// path is the way for a batch of updates.
func (t *Tree) path(keys []uint32) Path {
	switch {
	case t.o.Path != AutoPath:
		return t.o.Path
	case len(keys) >= batchedFrom, uint64(len(keys)) > t.nodes, !t.d.Has(vk.Int64Atomics):
		return Batched
	case clustered(keys, t.nodes):
		return Batched
	}
	return Concurrent
}

// clustered says whether many keys of a batch fall into the same leaves of a tree of so many nodes, as ascending ones
// do: then concurrent operations would stand in each other's way. It looks at some of them, and takes the tree's keys
// for spread over the range that these span.
func clustered(keys []uint32, nodes uint64) bool {
	const some = 1024
	if len(keys) < 64 {
		return false
	}
	sample := make([]uint32, 0, some)
	for i := range min(some, len(keys)) {
		sample = append(sample, keys[i*len(keys)/min(some, len(keys))])
	}
	slices.Sort(sample)
	leaf := (uint64(1) << 32) / max(nodes, 1)
	near := 0
	for i, key := range sample[1:] {
		if uint64(key-sample[i]) < leaf/4 {
			near++
		}
	}
	return near > len(sample)/8
}

// insertions is how many of n operations are: the others need no room.
func insertions(kind structures.Kind, kinds []structures.Kind, n int) int {
	switch {
	case kind == structures.Mixed:
		n = 0
		for _, k := range kinds {
			if k.Inserts() {
				n++
			}
		}
	case !kind.Inserts():
		n = 0
	}
	return n
}

// batched does a batch of updates node by node.
func (t *Tree) batched(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	statuses := make([]structures.Status, len(keys))
	short := t.reserveBatched(ctx, insertions(kind, kinds, len(keys)))
	if short != nil && !pipeline.Short(short) {
		return statuses, pipeline.Stopped(statuses, short)
	}
	columns := []pipeline.Column{pipeline.In(keys), pipeline.In(values), pipeline.In(kinds), pipeline.Out(statuses)}
	var turns pipeline.Turns
	t.batches.batched.Add(1)
	err := t.pipeline.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			if short != nil && !c.Retry { // the chunks find room one by one, as far as there is any
				if err := turns.Wait(context.WithoutCancel(ctx)); err != nil {
					return err
				}
				if err := t.reserveBatched(ctx, insertions(kind, cut(kinds, c.First, c.First+c.Count), c.Count)); err != nil {
					return err
				}
			}
			if err := turns.Take(s); err != nil {
				return err
			}
			return t.recordBatched(ctx, s, batched{
				Kind: kind, Keys: c.Columns[0], Values: c.Columns[1], Kinds: c.Columns[2], Statuses: c.Columns[3],
				Pending: c.Pending, N: c.Count,
			})
		},
		Recover:  t.makeRoom,
		Progress: t.o.Progress,
	})
	return statuses, pipeline.Stopped(statuses, err)
}
