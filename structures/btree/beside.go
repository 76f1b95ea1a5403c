package btree

import (
	"cmp"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

type besidePush struct {
	Tree                                   Device
	Top                                    uint64
	Keys, Values, Kinds, Statuses, Pending uint64
	Ranges, Counts, OutKeys, OutValues     uint64
	Count, RangeCount, Width, Rounds       uint32
}

// ApplyBesideOn records a batch as ApplyOn does, and ranges that are read beside it, in one dispatch. A range is not one
// moment: each pair in its result was in the tree at some time of the dispatch, and what was there all the time is in
// it; keys ascend, and none comes twice. A range that was given up has the count ^uint32(0): RangesOf answers it when
// the tree is at rest. Errors: those of ApplyOn and RangesOf.
func (t *Tree) ApplyBesideOn(s *vk.Stream, kind structures.Kind, b DeviceBatch, w DeviceWindow) error {
	if err := cmp.Or(t.admits(kind, b), w.check()); err != nil {
		return err
	}
	t.expect(kind, b.Count)
	bits := t.topBits(b.Count + w.Count)
	scratch, err := t.scratch.Take(s, topBytes(bits))
	if err != nil {
		return err
	}
	top, err := t.recordTopBeside(s, scratch, bits)
	if err != nil {
		return err
	}
	k, err := kernel[besidePush](t, t.updating("beside"), t.tiles.walk,
		recording.Constant("KIND", uint32(kind)), recording.Constant("BTREE_TORN", t.torn()))
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(b.Count)+groups(w.Count), besidePush{
		Tree: t.device(), Top: top.Entries, Keys: b.Keys.Address(), Values: b.Values.Address(), Kinds: b.Kinds.Address(),
		Statuses: b.Status.Address(), Pending: b.Left.Address(), Ranges: w.Ranges.Address(), Counts: w.Counts.Address(),
		OutKeys: w.Keys.Address(), OutValues: w.Values.Address(), Count: uint32(b.Count), RangeCount: uint32(w.Count),
		Width: uint32(w.Width), Rounds: t.rounds | top.Bits<<24,
	})
	return nil
}

type neighborBesidePush struct {
	Tree                                     Device
	Keys, OutKeys, OutValues, Statuses, Left uint64
	Count, Strict, Resume, Rounds            uint32
}

// NeighborBesideOn records the search for neighbors as NeighborOn does, while other streams may change the tree. A
// neighbor that is found was there at some time of the search, and no key that was there all the time is nearer.
func (t *Tree) NeighborBesideOn(s *vk.Stream, to structures.Direction, n structures.DeviceNeighbors) error {
	if err := t.checkNeighbors(n); err != nil || n.Count == 0 {
		return err
	}
	upward, strict := sense(to)
	k, err := kernel[neighborBesidePush](t, t.atomics("neighbor_beside"), t.tiles.walk,
		recording.Constant("UPWARD", word(upward)), recording.Constant("BTREE_TORN", t.torn()))
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(n.Count), neighborBesidePush{
		t.device(), n.Keys.Address(), n.OutKeys.Address(), n.OutValues.Address(), n.Status.Address(), n.Left.Address(),
		uint32(n.Count), word(strict), word(n.Resume), t.rounds,
	})
	return nil
}
