package ordered

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

var _ structures.Queries = (*Reader)(nil)

// Successor finds the least key above each key.
func (r *Reader) Successor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return r.Neighbors(ctx, structures.Successor, keys)
}

// Predecessor finds the greatest key below each key.
func (r *Reader) Predecessor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return r.Neighbors(ctx, structures.Predecessor, keys)
}

// Floor finds the greatest key up to each key.
func (r *Reader) Floor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return r.Neighbors(ctx, structures.Floor, keys)
}

// Ceil finds the least key from each key on.
func (r *Reader) Ceil(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return r.Neighbors(ctx, structures.Ceil, keys)
}

// Ascend returns the pairs of a range in key order.
func (r *Reader) Ascend(ctx context.Context, keys structures.Range) iter.Seq2[structures.Pair, error] {
	return r.Walk(ctx, keys, false)
}

// Descend returns them in the opposite order.
func (r *Reader) Descend(ctx context.Context, keys structures.Range) iter.Seq2[structures.Pair, error] {
	return r.Walk(ctx, keys, true)
}

// All returns all pairs in key order.
func (r *Reader) All(ctx context.Context) iter.Seq2[structures.Pair, error] {
	return r.Walk(ctx, structures.AllKeys, false)
}
