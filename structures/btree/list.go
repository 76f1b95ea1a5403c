package btree

import (
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Trees own their pools, and nodes describe themselves. So all nodes of a level, or all nodes, are found by going over
// the pool, without a way from the root.

// poolSlabs is how many slabs the pool has, allocated or not.
func (t *Tree) poolSlabs() int { return t.blocks() * alloc.BlockSlabs }

// overSlabs calls do for runs of slabs, by their numbers, that one dispatch should do: so many that it stays far below
// what a watchdog allows.
func (t *Tree) overSlabs(do func(first, count int)) {
	atOnce := 1 << 26
	if t.d.Info().Type == vk.CPU {
		atOnce = 1 << 18
	}
	for first, all := 0, t.poolSlabs(); first < all; first += atOnce {
		do(first, min(atOnce, all-first))
	}
}

const (
	leafLevel   = 1 << 0
	innerLevels = 1<<16 - 1<<1
)

// listing is how the scratch of list is divided.
type listing struct {
	lows, slabs       uint64 // the nodes in key order: the least key that each is for, and its slab
	listed            uint64 // a word: how many there are
	anyLows, anySlabs uint64 // before they are sorted
	sort              uint64
	capacity          int
}

// listingIn divides memory for up to so many nodes.
func (t *Tree) listingIn(p *recording.Parts, capacity int) listing {
	l := listing{lows: p.Take(4 * capacity), slabs: p.Take(4 * capacity), listed: p.Take(4), capacity: capacity}
	rest := *p
	l.anyLows, l.anySlabs, l.sort = rest.Take(4*capacity), rest.Take(4*capacity), rest.Take(t.primitives.SortScratch(capacity, true))
	p.Used = rest.Used
	return l
}

type listPush struct {
	Tree                Device
	Lows, Slabs, Listed uint64
	Levels, Capacity    uint32
	First, Count        uint32
}

type clearPush struct {
	Target uint64
	N      uint32
}

// clear records that words become 0.
func (t *Tree) clear(s *vk.Stream, target uint64, words int) error {
	k, err := recording.Kernel[clearPush](t.kernels, s, "primitives/clear", workgroup)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(words), clearPush{target, uint32(words)})
	return nil
}

// list records the listing of the nodes of some levels, but for the root; in key order if that is one level.
func (t *Tree) list(s *vk.Stream, levels uint32, l listing) error {
	k, err := kernel[listPush](t, s, "list", 1)
	if err != nil {
		return err
	}
	if err := t.clear(s, l.listed, 1); err != nil {
		return err
	}
	push := listPush{Tree: t.device(), Lows: l.anyLows, Slabs: l.anySlabs, Listed: l.listed, Levels: levels, Capacity: uint32(l.capacity)}
	t.overSlabs(func(first, count int) {
		push.First, push.Count = uint32(first), uint32(count)
		k.Dispatch(s, groups(count), push)
	})
	return t.primitives.Sort(s, primitives.SortArgs{
		Keys: l.anyLows, Values: l.anySlabs, OutKeys: l.lows, OutValues: l.slabs,
		Length: primitives.Length{N: l.capacity, At: l.listed}, Scratch: l.sort,
	})
}
