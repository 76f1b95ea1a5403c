package btree

import (
	"context"
	"math"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/structures"
)

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
