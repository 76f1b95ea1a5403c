package ordered

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

var _ structures.Queries[uint32, uint32] = (*Reader[uint32])(nil)

// Successor finds the least key above each key.
func (r *Reader[W]) Successor(ctx context.Context, keys []W) (structures.Neighbors[W, W], error) {
	return r.Neighbors(ctx, structures.Successor, keys)
}

// Predecessor finds the greatest key below each key.
func (r *Reader[W]) Predecessor(ctx context.Context, keys []W) (structures.Neighbors[W, W], error) {
	return r.Neighbors(ctx, structures.Predecessor, keys)
}

// Floor finds the greatest key up to each key.
func (r *Reader[W]) Floor(ctx context.Context, keys []W) (structures.Neighbors[W, W], error) {
	return r.Neighbors(ctx, structures.Floor, keys)
}

// Ceil finds the least key from each key on.
func (r *Reader[W]) Ceil(ctx context.Context, keys []W) (structures.Neighbors[W, W], error) {
	return r.Neighbors(ctx, structures.Ceil, keys)
}

// Ascend returns the pairs of a range in key order.
func (r *Reader[W]) Ascend(ctx context.Context, keys structures.Range[W]) iter.Seq2[structures.Pair[W, W], error] {
	return r.Walk(ctx, keys, false)
}

// Descend returns them in the opposite order.
func (r *Reader[W]) Descend(ctx context.Context, keys structures.Range[W]) iter.Seq2[structures.Pair[W, W], error] {
	return r.Walk(ctx, keys, true)
}

// All returns all pairs in key order.
func (r *Reader[W]) All(ctx context.Context) iter.Seq2[structures.Pair[W, W], error] {
	return r.Walk(ctx, structures.AllKeys[W](), false)
}
