package btree

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// What goes over all nodes of a tree, or all leaves, has them listed first, from the root on: a pool may have others'
// slabs. A dispatch a depth lists the children of what the one before has listed, and walks along the side links from
// each child up to where its parent's next one begins, for the nodes that no parent has yet.

// poolSlabs is how many slabs the pool has, allocated or not.
func (t *tree) poolSlabs() int { return t.blocks() * alloc.BlockSlabs }

// listing is where the nodes of a tree are listed: Listed of shaders/btree/listed.glsl. The addresses come first.
type listing struct {
	Inner                 uint64 // slabs of the inner nodes, depth by depth from the root on
	Lows, Leaves          uint64 // of the leaves: the least key that each is for, and its slab; in no order
	Counts                uint64 // words: inner nodes of each depth, and from leavesListed on more
	InnerMost, LeavesMost uint32 // that there is room for
}

// What a listing's counts are, in words.
const (
	depths         = 16 // of a tree
	leavesListed   = depths
	heightListed   = depths + 1
	brokenListed   = depths + 2
	listedCounters = depths + 3
)

// listingIn divides memory for a listing with room for so many nodes.
func listingIn(p *recording.Parts, inner, leaves int, w structures.Width) listing {
	return listing{
		Counts: p.Take(4 * listedCounters), Inner: p.Take(4 * inner), Lows: p.Take(w.Bytes() * leaves),
		Leaves:    p.Take(4 * leaves),
		InnerMost: uint32(inner), LeavesMost: uint32(leaves),
	}
}

// leaves is how many leaves were listed, for who comes behind that in a stream.
func (l listing) leaves() primitives.Length {
	return primitives.Length{N: int(l.LeavesMost), At: l.Counts + 4*leavesListed}
}

type listPush struct {
	Tree   Device
	Listed listing
	Marks  uint64
	Depth  uint32
}

// mostWalkers bounds the invocations of a dispatch that each take one node after the other.
const mostWalkers = 1 << 18

// walkers is how many workgroups go over so many nodes.
func (t *tree) walkers(invocations int) int {
	most := mostWalkers
	if t.d.Info().Type == vk.CPU {
		most = 1 << 10 // depths that a tree hasn't are dispatched, too
	}
	return groups(min(max(invocations, 1), most))
}

// recordList records the listing of all nodes, on any stream, and doesn't wait. Of more than there is room for the
// counts alone are right.
func (t *tree) recordList(s *vk.Stream, l listing) error {
	return t.recordListBy(s, l, depths-1, 0)
}

// recordListBy is recordList of a tree whose root's level is so high at most, with marks; not 0: of whatever can be
// reached of a tree that may be corrupt, leaves among the inner nodes. They are a word a slab of the pool, which is 0
// before.
func (t *tree) recordListBy(s *vk.Stream, l listing, height int, marks uint64) error {
	k, err := kernel[listPush](t, s, t.sized("list"), 1, recording.Constant("ANY", word(marks != 0)))
	if err != nil {
		return err
	}
	if err := t.clear(s, l.Counts, listedCounters); err != nil {
		return err
	}
	const lanes = 16 // a node
	k.Dispatch(s, 1, listPush{t.device(), l, marks, 0})
	for depth, most := uint32(1), 1; depth <= uint32(height); depth++ {
		k.Dispatch(s, t.walkers(most*lanes), listPush{t.device(), l, marks, depth})
		most = min(most*lanes, int(l.InnerMost)) // as a rule: beyond that, invocations take several
	}
	return nil
}

// leafOrder is how the scratch of recordLeafOrder is divided.
type leafOrder struct{ lows, leaves, sort uint64 }

func (t *tree) leafOrderIn(p *recording.Parts, leaves int) leafOrder {
	return leafOrder{p.Take(t.width.Bytes() * leaves), p.Take(4 * leaves),
		p.Take(t.primitives.SortScratch(leaves, true, primitives.Widths{Key: t.width}))}
}

// recordLeafOrder records the sorting of the leaves that were listed by their lows, of which n says how many.
func (t *tree) recordLeafOrder(s *vk.Stream, l listing, n primitives.Length, o leafOrder) error {
	return t.primitives.Sort(s, primitives.SortArgs{
		Keys: l.Lows, Values: l.Leaves, OutKeys: o.lows, OutValues: o.leaves, Widths: primitives.Widths{Key: t.width},
		Length: n, Scratch: o.sort,
	})
}

// clear records that words become 0.
func (t *tree) clear(s *vk.Stream, target uint64, words int) error {
	return recording.Clear(t.kernels, s, target, words)
}

// listed is a listing that was made.
type listed struct {
	listing
	counts [listedCounters]uint32
	report []uint32           // what was recorded behind the listing has written
	memory *vk.Buffer[uint32] // that it has for itself, if any: to be freed
}

func (l *listed) free() { l.memory.Free() }

// inner is how many inner nodes there are, leaves how many leaves.
func (l *listed) inner() (n int) {
	for _, count := range l.counts[:depths] {
		n += int(count)
	}
	return n
}

func (l *listed) leafCount() int { return int(l.counts[leavesListed]) }

// list lists all nodes, in memory of its own, which is the caller's to be freed. Errors: *CorruptError where nodes are
// not as a tree's are, *vk.OutOfMemoryError.
func (t *tree) list(ctx context.Context) (l listed, err error) {
	own := &ownMemory{d: t.d}
	l, err = t.listIn(ctx, 0, own.take, func(listing, uint64) error { return nil })
	if err != nil {
		own.memory.Free()
		return l, err
	}
	l.memory = own.memory
	return l, nil
}

// ownMemory is memory for a listing, made anew where there was not room enough.
type ownMemory struct {
	d      *vk.Device
	memory *vk.Buffer[uint32]
}

func (o *ownMemory) take(words int) (_ *vk.Buffer[uint32], err error) {
	o.memory.Free()
	o.memory, err = vk.NewBuffer[uint32](o.d, words)
	return o.memory, err
}

// listWith is list in the scratch of the tree's stream, where it stands until something else takes that. It does what
// record records behind the listing, in the same batch: that writes a report of so many words.
func (t *tree) listWith(ctx context.Context, report int,
	record func(l listing, report uint64) error) (listed, error) {
	return t.listIn(ctx, report, func(words int) (*vk.Buffer[uint32], error) {
		_, err := t.scratch.Take(t.stream, 4*words)
		return t.scratch.Of(t.stream), err
	}, record)
}

// room is what a listing can take: so many nodes, of a tree whose root's level is so high at most.
type room struct{ inner, leaves, height int }

// listIn lists all nodes in memory that take gives. There is room for about as many as there are said to be, and where
// there are more, all is done again.
func (t *tree) listIn(ctx context.Context, report int, take func(words int) (*vk.Buffer[uint32], error),
	record func(l listing, report uint64) error) (listed, error) {
	guess := int(min(t.known.about()+t.known.about()/8+64, uint64(t.poolSlabs())))
	r := room{inner: guess/3 + 64, leaves: guess, height: t.known.height}
	if r.height == 0 {
		r.height = depths - 1
	}
	for {
		l, err := t.listOnce(ctx, r, report, take, record)
		if err != nil {
			return listed{}, err
		}
		switch height := int(l.counts[heightListed]); {
		case height > r.height:
			r.height = depths - 1 // whatever the root says
			continue
		case l.counts[brokenListed] != 0:
			return listed{}, t.corrupt(ctx)
		case l.inner() <= r.inner && l.leafCount() <= r.leaves:
			if l.leafCount() == 0 { // though there was room for all that is above
				return listed{}, t.corrupt(ctx)
			}
			t.known.height = height
			return l, nil
		}
		r.inner, r.leaves = max(2*r.inner, l.inner()), max(r.leaves, l.leafCount())
		if most := 2 * t.poolSlabs(); r.inner > most || r.leaves > most {
			return listed{}, t.corrupt(ctx)
		}
	}
}

// listOnce lists the nodes that there is room for, and counts them all.
func (t *tree) listOnce(ctx context.Context, r room, report int, take func(words int) (*vk.Buffer[uint32], error),
	record func(l listing, report uint64) error) (listed, error) {
	var p recording.Parts
	p.Take(4 * report) // beside the counts, to be fetched with them
	counts := int(p.Used / 4)
	listingIn(&p, r.inner, r.leaves, t.width)
	size := int(p.Used / 4)
	begun := &struct {
		listing
		memory *vk.Buffer[uint32]
	}{}
	err := recording.Run(t.stream, func() (err error) {
		if begun.memory, err = take(size); err != nil {
			return err
		}
		p := recording.Parts{Base: begun.memory.Address()}
		reportAt := p.Take(4 * report)
		begun.listing = listingIn(&p, r.inner, r.leaves, t.width)
		if err := t.recordListBy(t.stream, begun.listing, r.height, 0); err != nil {
			return err
		}
		return record(begun.listing, reportAt)
	})
	l := listed{listing: begun.listing}
	if err != nil {
		return l, err
	}
	words := make([]uint32, counts+listedCounters)
	err = begun.memory.Download(ctx, 0, words)
	l.report = words[:report]
	copy(l.counts[:], words[counts:])
	return l, err
}

// reach lists whatever nodes can be reached, leaves among the inner ones, of a tree that may be corrupt, and does what
// record records behind that. The memory is the caller's, to be freed.
func (t *tree) reach(ctx context.Context, record func(l listing, marks uint64) error) (listed, error) {
	slabs := t.poolSlabs()
	marks, err := vk.NewBuffer[uint32](t.d, slabs)
	if err != nil {
		return listed{}, err
	}
	defer marks.Free()
	var p recording.Parts
	listingIn(&p, slabs, 0, t.width)
	memory, err := vk.NewBuffer[uint32](t.d, int(p.Used/4))
	if err != nil {
		return listed{}, err
	}
	p = recording.Parts{Base: memory.Address()}
	nodes := listingIn(&p, slabs, 0, t.width)
	err = recording.Run(t.stream, func() error {
		t.stream.Fill(marks, 0, int(marks.Bytes()), 0)
		if err := t.recordListBy(t.stream, nodes, depths-1, marks.Address()); err != nil {
			return err
		}
		return record(nodes, marks.Address())
	})
	l := listed{listing: nodes, memory: memory}
	if err == nil {
		err = l.memory.Download(ctx, 0, l.counts[:])
	}
	if err != nil {
		l.free()
		return listed{}, err
	}
	return l, nil
}

// corrupt says what is wrong with a tree whose nodes can't be listed.
func (t *tree) corrupt(ctx context.Context) error {
	if err := t.check(ctx, nil); err != nil {
		return err
	}
	return &structures.StuckError{} // the checker finds nothing wrong, and yet
}
