package btree

import (
	"context"
	"errors"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// UpdateInto does a batch of updates of one kind, any but InsertDuplicate and DeleteAll, and writes what becomes of
// each to the caller's slice, as long as keys, or nil: then it is not wanted, which saves a sort on the batched path.
// Deletions have no values. Errors: those of Insert, whose *PendingError then says how many operations are not done;
// *structures.KindError and *structures.LengthError before anything is done.
func (t *dictionary[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W,
	status []structures.Status) error {
	if err := t.gate.Err(); err != nil {
		return err
	}
	if !updates(kind) {
		return &structures.KindError{Kind: kind}
	}
	if !kind.Inserts() {
		values = nil
	} else if len(values) != len(keys) {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	if err := pipeline.Fits(len(keys), "statuses", status); err != nil {
		return err
	}
	if err := t.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer t.gate.Leave()
	if err := t.keeps(ctx, nil, len(keys)); err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	t.versions.writes.Made()
	t.meter.Batch(kind, len(keys))
	b := structures.Batch[W, W]{Keys: keys, Values: values}
	if t.path(keys) == Batched {
		return t.batched(ctx, kind, b, status)
	}
	t.batches.concurrent.Add(1)
	return t.concurrent(ctx, kind, b, &structures.Results[W, W]{Status: status})
}

// updates says whether a batch may be one of updates of a kind.
func updates(kind structures.Kind) bool {
	return kind == structures.Delete || kind.Inserts() && kind != structures.InsertDuplicate
}

// Batches from here on are better sorted first (docs/benchmarks.md).
const batchedFrom = 3 << 19

// path is the way for a batch of updates.
func (t *dictionary[W]) path(keys []W) Path {
	switch {
	case t.o.Path != AutoPath:
		return t.o.Path
	case len(keys) >= batchedFrom, uint64(len(keys)) > t.known.about(), !t.d.Has(vk.Int64Atomics):
		return Batched
	case clustered(keys, t.known.about()):
		return Batched
	}
	return Concurrent
}

// clustered says whether many keys of a batch fall into the same leaves of a tree of so many nodes, as ascending ones
// do: then concurrent operations would stand in each other's way. It looks at some of them, and takes the tree's keys
// for spread over the range that these span.
func clustered[W structures.Word](keys []W, nodes uint64) bool {
	const some = 1024
	if len(keys) < 64 {
		return false
	}
	sample := make([]W, 0, some)
	for i := range min(some, len(keys)) {
		sample = append(sample, keys[i*len(keys)/min(some, len(keys))])
	}
	slices.Sort(sample)
	leaf := ^W(0) / W(max(nodes, 1))
	near := 0
	for i, key := range sample[1:] {
		if key-sample[i] < leaf/4 {
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

// errLackingNodes is why a batch with updates in place is not dispatched again: those leaves that had room are changed
// by then, and nothing may be added twice.
var errLackingNodes = errors.New(
	"btree: the pool had not the nodes that were set aside for the batch, and some of it is done")

// batched does a batch of updates node by node.
func (t *dictionary[W]) batched(ctx context.Context, kind structures.Kind, b structures.Batch[W, W],
	status []structures.Status) error {
	n := len(b.Keys)
	var short error
	if t.settle(t.stream); !t.shared { // there, chunks have claims
		inserts := insertions(kind, b.Kinds, n)
		short = t.reserve(ctx, inserts, Batched)
		if short != nil && !pipeline.Short(short) {
			return pipeline.NotBegun(status, n, short)
		}
		t.known.inserted += uint64(inserts)
	}
	columns := []pipeline.Column{pipeline.In(b.Keys), pipeline.In(b.Values), pipeline.In(b.Kinds), {}}
	if status != nil {
		columns[3] = pipeline.Statuses(status)
	}
	folds := recording.UpdatesInPlace(kind, b.Kinds)
	defer t.calm(t.visits)
	turns := new(pipeline.Turns)
	t.batches.batched.Add(1)
	left, err := t.pipelines.Run(ctx, n, columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			if folds && c.Retry {
				return errLackingNodes
			}
			var slabs *claim
			if t.shared || short != nil || c.Retry { // they find room one by one, as far as there is any
				if err := turns.Wait(context.WithoutCancel(ctx)); err != nil {
					return err
				}
				inserts := insertions(kind, pipeline.Cut(b.Kinds, c.First, c.First+c.Count), c.Count)
				var err error
				if slabs, err = t.roomForChunk(ctx, kind, inserts, c.Retry); err != nil {
					return err
				}
			}
			turns.Take(s)
			err := t.recordBatched(ctx, s, batched{
				Kind: kind, Folds: folds, Keys: c.Columns[0], Values: c.Columns[1], Kinds: c.Columns[2],
				Statuses: c.Columns[3],
				Pending:  c.Pending, N: c.Count, claim: slabs,
			})
			if err != nil {
				return t.abandon(err, slabs)
			}
			t.recorded(s, slabs)
			return nil
		},
		Recover:  t.makeRoom,
		Progress: t.o.Progress,
		Turns:    turns,
	})
	return pipeline.Stopped(status, left, err)
}

// roomForChunk has the pool have room for a chunk of a batch. retry: there was none, whatever is known of it.
func (t *tree) roomForChunk(ctx context.Context, kind structures.Kind, inserts int, retry bool) (*claim, error) {
	t.known.unsure = t.known.unsure || retry
	if t.shared && kind != structures.Delete {
		all, err := t.claimsFor(ctx, inserts, inserts)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	err := t.reserve(ctx, inserts, Batched)
	t.known.inserted += uint64(inserts)
	return nil, err
}
