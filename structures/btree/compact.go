package btree

import (
	"context"
	"fmt"
)

// Compact rebuilds the tree so that each node has that share of its slots in use, above 0 and up to 1; 0: Options.Fill.
// Empty leaves and erased slots are gone afterwards, and the nodes stand in memory level by level, as after Build. It
// takes 8 bytes of device memory a pair and some 40 a leaf meanwhile. Errors: *OptionError, *vk.OutOfMemoryError,
// *alloc.PoolFullError where more nodes would be needed than there is room for; after each of them the tree is as it was.
func (t *Tree) Compact(ctx context.Context, fill float64) error {
	if err := t.usable(ctx); err != nil {
		return err
	}
	if fill == 0 {
		fill = t.o.Fill
	}
	if !(fill > 0 && fill <= 1) {
		return &OptionError{"Fill", fmt.Sprintf("%g, but it is above 0 and up to 1", fill)}
	}
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	if err := t.roomFor(ctx, nodesFor(int(v.levels[0].Slots), fill)); err != nil {
		return err
	}
	e, err := t.recordExport(v)
	if err != nil {
		return err
	}
	defer e.memory.Free()
	if err := t.bulkSorted(t.stream, bulk{e.memory.AddressOf(e.keysAt), e.memory.AddressOf(e.valuesAt), e.pairs, fill}); err != nil {
		t.stream.Discard()
		return err
	}
	return t.stream.Wait(context.WithoutCancel(ctx))
}
