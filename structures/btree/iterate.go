package btree

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Ascend returns the pairs of a range in key order, read page by page. The tree must not change meanwhile. If the device
// fails or ctx ends, so does the sequence, and the function returned tells why.
func (t *Tree) Ascend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return t.reader.Walk(ctx, r, false)
}

// Descend is Ascend from the greatest key down.
func (t *Tree) Descend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return t.reader.Walk(ctx, r, true)
}

// All returns all pairs in key order, as Ascend does.
func (t *Tree) All(ctx context.Context) (iter.Seq2[uint32, uint32], func() error) {
	return t.Ascend(ctx, structures.AllKeys)
}
