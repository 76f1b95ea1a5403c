package btree

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// update does a batch of updates of one kind. Without statuses the batched path saves a sort. Errors are those of
// Insert; *structures.PendingError says how many operations are not done.
func (t *tree) update(ctx context.Context, r request) error {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.Enter(ctx); err != nil {
		return pipeline.NotBegun(r.Status, r.N, err)
	}
	defer t.Leave()
	if err := t.keeps(ctx, nil, r.N); err != nil {
		return pipeline.NotBegun(r.Status, r.N, err)
	}
	t.Changes.Made()
	t.Meter.Batch(r.Kind, r.N)
	if t.path(r) == Batched {
		return t.batched(ctx, r)
	}
	t.batches.concurrent.Add(1)
	return t.concurrent(ctx, &r)
}

// updates reports whether a batch may be a batch of updates of a kind.
func updates(kind structures.Kind) bool {
	return kind == structures.Delete || kind.Inserts() && kind != structures.InsertDuplicate
}

// checkUpdate returns an error if a batch can't be a batch of updates of a kind.
func checkUpdate(kind structures.Kind) error {
	if !updates(kind) {
		return &structures.KindError{Kind: kind}
	}
	return nil
}

// batchedFrom is the number of operations from which on the batched path is faster (docs/notes/measurements.md).
const batchedFrom = 3 << 19

// path returns the path for a batch of updates.
func (t *tree) path(r request) Path {
	switch nodes := t.known.about(); {
	case t.o.Path != AutoPath:
		return t.o.Path
	case r.N >= batchedFrom, uint64(r.N) > nodes, !t.Device.Has(vk.Int64Atomics):
		return Batched
	case clustered(r.N, r.Keys, nodes, t.width):
		return Batched
	}
	return Concurrent
}

// clustered reports whether many keys of a batch fall into the same leaves of a tree of so many nodes, as ascending
// keys do. Concurrent operations would then wait for each other. clustered reads a sample of the keys, and assumes that
// the tree's keys are spread evenly over all keys. It doesn't sort the sample, which would take longer than a small
// batch does on a GPU.
func clustered(n int, keys pipeline.Column, nodes uint64, w structures.Width) bool {
	if n < 64 {
		return false
	}
	places := make([]int, min(n, max(256, min(n/4, 1024))))
	for i := range places {
		places[i] = i * n / len(places)
	}
	halves := math.MaxUint64 / max(ordered.LastKey(w)/max(nodes, 1)/2, 1) // of leaves, among 2⁶⁴ keys

	// A half of a leaf has a bit, which it shares with few others.
	var taken [1 << 10]uint64
	met := 0
	for _, key := range pipeline.Words[uint64](keys.Pick(places)) {
		half, _ := bits.Mul64(key, halves)
		hash := half * 0x9e3779b97f4a7c15 >> 48
		if bit := uint64(1) << (hash % 64); taken[hash/64]&bit == 0 {
			taken[hash/64] |= bit
		} else {
			met++
		}
	}
	return met > len(places)/8
}

// insertions returns how many of n operations may insert. The others need no room.
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

// errLackingNodes is the error of a batch with updates in place that lacks nodes. It can't be dispatched again: leaves
// with room have changed already, and no value may be added twice.
var errLackingNodes = errors.New(
	"btree: the pool lacks nodes that the batch has claimed, and some of the batch is done")

// batched does a batch of updates on the batched path.
func (t *tree) batched(ctx context.Context, r request) error {
	var short error
	if t.settle(t.Stream); !t.Shares { // otherwise chunks have claims
		inserts := insertions(r.Kind, r.Kinds, r.N)
		short = t.reserve(ctx, inserts, Batched)
		if short != nil && !pipeline.Short(short) {
			return pipeline.NotBegun(r.Status, r.N, short)
		}
		t.known.inserted += uint64(inserts)
	}
	columns := []pipeline.Column{r.Keys, r.Values, pipeline.In(r.Kinds), {}}
	if r.Status != nil {
		columns[3] = pipeline.Statuses(r.Status)
	}
	folds := recording.UpdatesInPlace(r.Kind, r.Kinds)
	defer t.calm(t.visits)
	turns := new(pipeline.Turns)
	t.batches.batched.Add(1)
	left, err := t.Pipelines.Run(ctx, r.N, columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			if folds && c.Retry {
				return errLackingNodes
			}
			var slabs *claim
			if t.Shares || short != nil || c.Retry { // each chunk gets room while there is any
				if err := turns.Wait(context.WithoutCancel(ctx)); err != nil {
					return err
				}
				inserts := insertions(r.Kind, pipeline.Cut(r.Kinds, c.First, c.First+c.Count), c.Count)
				var err error
				if slabs, err = t.roomForChunk(ctx, r.Kind, inserts, c.Retry); err != nil {
					return err
				}
			}
			turns.Take(s)
			err := t.recordBatched(ctx, s, batched{
				Kind: r.Kind, Folds: folds, Keys: c.Columns[0], Values: c.Columns[1], Kinds: c.Columns[2],
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
		Progress: gate.Told(ctx),
		Turns:    turns,
	})
	return pipeline.Stopped(r.Status, left, err)
}

// roomForChunk makes room in the pool for a chunk of a batch. retry says that there was too little room, so the known
// numbers are wrong.
func (t *tree) roomForChunk(ctx context.Context, kind structures.Kind, inserts int, retry bool) (*claim, error) {
	t.known.unsure = t.known.unsure || retry
	if t.Shares && kind != structures.Delete {
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

// deleteRange removes the keys of each range, one range after the other, and returns how many keys each range removed.
// If ranges overlap, the first one counts the keys that they share. It lists parts of the ranges in device memory, and
// deletes them by the batched path; it calls Clear to delete all keys. No other work may use the tree.
//
// Errors: *structures.PendingError, with the number of ranges that may still have keys, around those of Count,
// *vk.OutOfMemoryError or the context's. The counts are then those of the keys removed so far; the same call again
// removes the others.
func (t *tree) deleteRange(ctx context.Context, ranges []structures.Range[uint64]) ([]uint32, error) {
	d := ordered.NewDeletion(ranges, t.width)
	if err := t.Enter(ctx); err != nil {
		return d.NotBegun(err)
	}
	defer t.Leave()
	t.Changes.Made()
	if d.Everything() && !t.versions.protect() {
		return d.Result(t.deleteAll(ctx, d))
	}
	return d.Result(t.deletePieces(ctx, d))
}

// deletePieces deletes the keys of ranges in parts.
func (t *tree) deletePieces(ctx context.Context, d *ordered.Deletion) error {
	if err := t.keeps(ctx, nil, math.MaxInt); err != nil {
		return err
	}
	return t.reader.DeleteEach(ctx, t.Stream, d, func(keys uint64, n int) error {
		return t.recordBatches(ctx, t.Stream, batched{Kind: structures.Delete, Keys: keys, N: n}, nil)
	})
}

// deleteAll counts the keys of ranges of all keys, and empties the tree.
func (t *tree) deleteAll(ctx context.Context, d *ordered.Deletion) error {
	if err := t.Uses.Rest(ctx); err != nil {
		return err
	}
	if _, err := t.reader.Measure(ctx, d); err != nil {
		return err
	}
	err := t.empty(ctx)
	if err == nil {
		d.Finish()
	}
	return err
}
