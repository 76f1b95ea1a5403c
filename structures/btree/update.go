package btree

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned. On the batched path the last of
// equal keys in the batch counts; on the concurrent one any of them may (Options.Path).
//
// Errors of this and of the other updates: *structures.LengthError; *structures.PendingError, with the statuses that
// say what is done, around *alloc.PoolFullError, *vk.OutOfMemoryError, *StuckError or the context's.
func (t *Tree) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return t.insert(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there: Inserted or Found.
func (t *Tree) InsertUnique(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	return t.insert(ctx, structures.InsertUnique, keys, values)
}

func (t *Tree) insert(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if len(keys) != len(values) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	return t.update(ctx, kind, keys, values)
}

// Delete removes each key: Deleted or Absent.
func (t *Tree) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return t.update(ctx, structures.Delete, keys, nil)
}

// Apply does a batch of mixed operations. On the concurrent path, which AutoPath takes, they run beside each other in
// one dispatch, and the results are those of some order. On the batched path the lookups see what was there before the
// batch, and then the insertions and deletions are done in the batch's order. The operations are Insert, InsertUnique,
// Delete, Find and Count.
//
// Errors: *structures.KindError before anything is done, and those of Insert.
func (t *Tree) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	n := len(b.Keys)
	if err := b.Lengths(); err != nil {
		return structures.Results{}, err
	}
	if err := t.usable(ctx); err != nil {
		return structures.Results{}, err
	}
	kinds := slices.Clone(b.Kinds)
	for i, k := range b.Kinds {
		switch {
		case k.Inserts() && b.Values == nil:
			return structures.Results{}, &structures.KindError{Index: i, Kind: k}
		case k == structures.Count:
			kinds[i] = structures.Find // a key has one pair at most
		case !does(k):
			return structures.Results{}, &structures.KindError{Index: i, Kind: k}
		}
	}
	values := make([]uint32, n)
	copy(values, b.Values)
	r := structures.Results{Values: values}
	var err error
	if t.o.Path == Batched {
		r.Status, err = t.phases(ctx, kinds, b.Keys, values)
	} else {
		r.Status, err = t.concurrent(ctx, structures.Mixed, kinds, b.Keys, values)
	}
	for i, k := range b.Kinds {
		if k == structures.Count && r.Status != nil {
			values[i] = 0
			if r.Status[i] == structures.Found {
				values[i] = 1
			}
		}
	}
	return r, err
}

// phases does the lookups of a batch, and then its updates on the batched path.
func (t *Tree) phases(ctx context.Context, kinds []structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	statuses := make([]structures.Status, len(keys))
	var lookups, updates []int
	for i, k := range kinds {
		if k == structures.Find {
			lookups = append(lookups, i)
		} else {
			updates = append(updates, i)
		}
	}
	found, there, err := t.Find(ctx, structures.Pick(keys, lookups))
	if err != nil {
		return statuses, structures.Stopped(statuses, err)
	}
	for j, i := range lookups {
		statuses[i], values[i] = structures.Absent, found[j]
		if there[j] {
			statuses[i] = structures.Found
		}
	}
	some, err := t.batched(ctx, structures.Mixed, structures.Pick(kinds, updates), structures.Pick(keys, updates), structures.Pick(values, updates))
	for j, status := range some {
		statuses[updates[j]] = status
	}
	return statuses, structures.Stopped(statuses, err)
}

// update does a batch of updates of one kind on the path that is best for it.
func (t *Tree) update(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if err := t.usable(ctx); err != nil {
		return nil, err
	}
	if t.path(keys) == Batched {
		return t.batched(ctx, kind, nil, keys, values)
	}
	return t.concurrent(ctx, kind, nil, keys, values)
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

// leastPart is how many operations a tree takes at once, however small it is.
const leastPart = 1 << 12

// concurrent does a batch of operations beside each other, in parts that are no larger than the tree: more would stand
// in each other's way. kinds, if not nil, is the kind of each; values is what insertions bring and what lookups find, or
// nil.
func (t *Tree) concurrent(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	statuses := make([]structures.Status, len(keys))
	t.batches.Concurrent++
	for done := 0; done < len(keys); {
		end := min(len(keys), done+max(leastPart, int(t.nodes)))
		err := t.concurrentPart(ctx, kind, cut(kinds, done, end), keys[done:end], cut(values, done, end), statuses[done:end],
			t.o.Progress.After(done, len(keys)))
		if err != nil {
			return statuses, structures.Stopped(statuses, err)
		}
		done = end
	}
	return statuses, nil
}

// cut is a part of a slice, or nil of nil.
func cut[T any](s []T, first, end int) []T {
	if s == nil {
		return nil
	}
	return s[first:end]
}

func (t *Tree) concurrentPart(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []uint32,
	statuses []structures.Status, progress structures.Progress) error {
	find := kind == structures.Mixed || kind == structures.Find
	inserts := kind == structures.Mixed || kind.Inserts()
	if inserts {
		if err := t.reserve(ctx, uint64(len(keys))/4); err != nil {
			return err
		}
	}
	t.scratch.Settle()
	columns := []structures.Column{structures.In(keys), structures.In(values), structures.In(kinds), structures.Out(statuses)}
	columns[1].In, columns[1].Out = inserts, find
	var turns structures.Turns
	return t.feed.Run(ctx, len(keys), columns, structures.Task{
		Record: func(s *vk.Stream, c structures.Chunk) error {
			if err := turns.Take(s); err != nil {
				return err
			}
			return t.apply(s, kind, operands{
				keys: c.Columns[0], values: c.Columns[1], kinds: c.Columns[2], statuses: c.Columns[3], pending: c.Pending,
				count: c.Count, retry: c.Retry, alone: true,
			})
		},
		Recover:  t.makeRoom,
		Progress: progress,
	})
}

// batched does a batch of updates node by node.
func (t *Tree) batched(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	statuses := make([]structures.Status, len(keys))
	if err := t.reserveBatched(ctx, len(keys)); err != nil {
		return statuses, structures.Stopped(statuses, err)
	}
	t.scratch.Settle()
	columns := []structures.Column{structures.In(keys), structures.In(values), structures.In(kinds), structures.Out(statuses)}
	var turns structures.Turns
	t.batches.Batched++
	err := t.feed.Run(ctx, len(keys), columns, structures.Task{
		Record: func(s *vk.Stream, c structures.Chunk) error {
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
	return statuses, structures.Stopped(statuses, err)
}
