package btree

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type exportPush struct {
	Tree                                 Device
	Slabs, Counts, Offsets, Keys, Values uint64
	Leaves                               uint32
}

// export records the writing of all pairs in key order, of leaves that were listed. Counts and Offsets are a word a leaf,
// scan is the primitive's scratch.
func (t *Tree) export(s *vk.Stream, p exportPush, scan uint64) error {
	tile := t.tiles.walk
	count, err := kernel[exportPush](t, "export", tile, recording.Constant("COUNT_ALONE", 1))
	if err != nil {
		return err
	}
	write, err := kernel[exportPush](t, "export", tile, recording.Constant("COUNT_ALONE", 0))
	if err != nil {
		return err
	}
	leaves := int(p.Leaves)
	count.Dispatch(s, groups(leaves*tile), p)
	err = t.primitives.Scan(s, primitives.ScanArgs{
		In: p.Counts, Out: p.Offsets, Length: primitives.Length{N: leaves}, Scratch: scan,
	})
	if err != nil {
		return err
	}
	write.Dispatch(s, groups(leaves*tile), p)
	return nil
}

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
	leaves, pairs := int(v.levels[0].Nodes), int(v.levels[0].Slots)
	var p recording.Parts
	var l listing
	var e exportPush
	var scan uint64
	plan := func() {
		l = t.listingIn(&p, leaves)
		e = exportPush{Tree: t.device(), Counts: p.Take(4 * leaves), Offsets: p.Take(4 * leaves), Keys: p.Take(4 * pairs), Values: p.Take(4 * pairs)}
		e.Slabs, e.Leaves = l.slabs, uint32(leaves)
		scan = p.Take(t.primitives.ScanScratch(leaves))
	}
	plan()
	if err := t.roomFor(ctx, nodesFor(pairs, fill)); err != nil {
		return err
	}
	scratch, err := vk.NewBuffer[byte](t.d, int(p.Used))
	if err != nil {
		return err
	}
	defer scratch.Free()
	p = recording.Parts{Base: scratch.Address()}
	plan()
	err = t.list(t.stream, leafLevel, l)
	if err == nil {
		err = t.export(t.stream, e, scan)
	}
	if err == nil {
		err = t.bulkSorted(t.stream, bulk{e.Keys, e.Values, pairs, fill})
	}
	if err != nil {
		t.stream.Discard()
		return err
	}
	return t.stream.Wait(context.WithoutCancel(ctx))
}
