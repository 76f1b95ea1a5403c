package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Calls that read all nodes or leaves of a tree first list them, from the root down, because the pool may have slabs of
// others. For each depth, a dispatch lists the children of the nodes listed before. From each child it follows the side
// links until the next child of the same parent, to find nodes that have no parent yet.

// poolSlabs returns the number of slabs of the pool, allocated or not.
func (t *tree) poolSlabs() int { return t.blocks() * slabs.BlockSlabs }

// listing is the memory for a list of the nodes: Listed of shaders/btree/listed.glsl. The addresses come first.
type listing struct {
	Inner                 uint64 // slabs of the inner nodes, by depth, the root first
	Lows, Leaves          uint64 // of the leaves: the least key of the range, and the slab; in no order
	Counts                uint64 // words: the inner nodes of each depth, and from leavesListed on other counts
	InnerMost, LeavesMost uint32 // how many there is room for
}

// The indices of a listing's counts.
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

// leaves returns the number of listed leaves, for work recorded later on the same stream.
func (l listing) leaves() primitives.Length {
	return primitives.Length{N: int(l.LeavesMost), At: l.Counts + 4*leavesListed}
}

type listPush struct {
	Tree   Description
	Listed listing
	Marks  uint64
	Depth  uint32
}

// mostWalkers is the greatest number of invocations of a dispatch in which each reads one node after the other.
const mostWalkers = 1 << 18

// walkers returns the number of workgroups for so many invocations.
func (t *tree) walkers(invocations int) int {
	most := mostWalkers
	if t.Device.Info().Type == vk.CPU {
		most = 1 << 10 // few, because unused depths are dispatched, too
	}
	return groups(min(max(invocations, 1), most))
}

// recordList records the listing of all nodes of a tree whose root has at most the level height, on any stream, and
// doesn't wait. If there is not enough room, only the counts are right. If marks is not 0, it lists the nodes that can
// be reached in a tree that may be corrupt, with leaves among the inner nodes. marks is the address of a word for each
// slab of the pool, 0 before.
func (t *tree) recordList(s *vk.Stream, l listing, height int, marks uint64) error {
	k, err := t.listKernel(marks != 0).Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	if err := t.clear(s, l.Counts, listedCounters); err != nil {
		return err
	}
	const lanes = 16 // for each node
	k.Dispatch(s, 1, listPush{t.description(), l, marks, 0})
	for depth, most := uint32(1), 1; depth <= uint32(height); depth++ {
		k.Dispatch(s, t.walkers(most*lanes), listPush{t.description(), l, marks, depth})
		most = min(most*lanes, int(l.InnerMost)) // usually enough; otherwise an invocation reads several nodes
	}
	return nil
}

// leafOrder is the division of the scratch memory of recordLeafOrder.
type leafOrder struct{ lows, leaves, sort uint64 }

func (t *tree) leafOrderIn(p *recording.Parts, leaves int) leafOrder {
	return leafOrder{p.Take(t.width.Bytes() * leaves), p.Take(4 * leaves),
		p.Take(t.primitives.Scratch(primitives.SortArgs{Length: primitives.Length{N: leaves}, Values: recording.Align,
			Widths: primitives.Widths{Key: t.width}}))}
}

// recordLeafOrder records the sorting of the listed leaves by their least keys. n is their number.
func (t *tree) recordLeafOrder(s *vk.Stream, l listing, n primitives.Length, o leafOrder) error {
	return t.primitives.Sort(s, primitives.SortArgs{
		Keys: l.Lows, Values: l.Leaves, OutKeys: o.lows, OutValues: o.leaves, Widths: primitives.Widths{Key: t.width},
		Length: n, Scratch: o.sort,
	})
}

// clear records that words are set to 0.
func (t *tree) clear(s *vk.Stream, target uint64, words int) error {
	return recording.Clear(t.Kernels, s, target, words)
}

// listed is a finished listing.
type listed struct {
	listing
	counts [listedCounters]uint32
	report []uint32           // the words written by the work recorded after the listing
	memory *vk.Buffer[uint32] // to be freed
}

func (l *listed) free() { l.memory.Free() }

// inner returns the number of inner nodes.
func (l *listed) inner() (n int) {
	for _, count := range l.counts[:depths] {
		n += int(count)
	}
	return n
}

func (l *listed) leafCount() int { return int(l.counts[leavesListed]) }

// list lists all nodes in memory that the caller frees. Errors: *CorruptError if the nodes don't form a tree,
// *vk.OutOfMemoryError.
func (t *tree) list(ctx context.Context) (listed, error) {
	return t.listWith(ctx, 0, func(listing, uint64) error { return nil })
}

// room is what a listing has room for: numbers of nodes, and the greatest level of the root.
type room struct{ inner, leaves, height int }

// listWith is list with more work, which record records after the listing in the same batch, and which writes a report
// of so many words. listWith first estimates the number of nodes. If there are more, it starts again.
func (t *tree) listWith(ctx context.Context, report int,
	record func(l listing, report uint64) error) (listed, error) {
	guess := int(min(t.known.about()+t.known.about()/8+64, uint64(t.poolSlabs())))
	r := room{inner: guess/3 + 64, leaves: guess, height: t.known.height}
	if r.height == 0 {
		r.height = depths - 1
	}
	for {
		l, err := t.listOnce(ctx, r, report, record)
		if err != nil {
			return listed{}, err
		}
		height, fits := int(l.counts[heightListed]), l.inner() <= r.inner && l.leafCount() <= r.leaves
		broken := l.counts[brokenListed] != 0 || fits && l.leafCount() == 0 // every tree has a leaf
		if fits && height <= r.height && !broken {
			t.known.height = height
			return l, nil
		}
		l.free()
		if height > r.height {
			r.height = depths - 1 // without trust in the root's level
			continue
		}
		r.inner, r.leaves = max(2*r.inner, l.inner()), max(r.leaves, l.leafCount())
		if most := 2 * t.poolSlabs(); broken || r.inner > most || r.leaves > most {
			return listed{}, t.corrupt(ctx)
		}
	}
}

// listOnce lists the nodes that there is room for, and counts all nodes.
func (t *tree) listOnce(ctx context.Context, r room, report int,
	record func(l listing, report uint64) error) (listed, error) {
	var p recording.Parts
	p.Take(4 * report) // next to the counts, to be downloaded with them
	counts := int(p.Used / 4)
	listingIn(&p, r.inner, r.leaves, t.width)
	memory, err := vk.NewBuffer[uint32](t.Device, int(p.Used/4))
	if err != nil {
		return listed{}, err
	}
	p = recording.Parts{Base: memory.Address()}
	reportAt := p.Take(4 * report)
	nodes := listingIn(&p, r.inner, r.leaves, t.width)
	err = recording.Run(t.Stream, func() error {
		if err := t.recordList(t.Stream, nodes, r.height, 0); err != nil {
			return err
		}
		return record(nodes, reportAt)
	})
	l, words := listed{listing: nodes, memory: memory}, make([]uint32, counts+listedCounters)
	if err == nil {
		err = memory.Download(ctx, 0, words)
	}
	if err != nil {
		l.free()
		return listed{}, err
	}
	l.report = words[:report]
	copy(l.counts[:], words[counts:])
	return l, nil
}

// reach lists the nodes that can be reached in a tree that may be corrupt, with leaves among the inner nodes. record
// records more work after the listing. The caller frees the memory.
func (t *tree) reach(ctx context.Context, record func(l listing, marks uint64) error) (listed, error) {
	slabs := t.poolSlabs()
	marks, err := vk.NewBuffer[uint32](t.Device, slabs)
	if err != nil {
		return listed{}, err
	}
	defer marks.Free()
	var p recording.Parts
	listingIn(&p, slabs, 0, t.width)
	memory, err := vk.NewBuffer[uint32](t.Device, int(p.Used/4))
	if err != nil {
		return listed{}, err
	}
	p = recording.Parts{Base: memory.Address()}
	nodes := listingIn(&p, slabs, 0, t.width)
	err = recording.Run(t.Stream, func() error {
		t.Stream.Fill(marks, 0, marks.Len(), 0)
		if err := t.recordList(t.Stream, nodes, depths-1, marks.Address()); err != nil {
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

// corrupt returns the error of a tree whose nodes can't be listed.
func (t *tree) corrupt(ctx context.Context) error {
	if err := t.check(ctx, nil); err != nil {
		return err
	}
	return &structures.StuckError{} // Check found nothing wrong, but the listing failed
}

type exportPush struct {
	Tree                                 Description
	Slabs, Counts, Offsets, Keys, Values uint64
	Leaves                               recording.Length
	Capacity                             uint32
}

// exported are all pairs of a tree in key order, in device memory.
type exported struct {
	memory           *vk.Buffer[uint32] // to be freed
	pairs            int
	keysAt, valuesAt int // where they begin in memory, in words
}

// exportAll writes all pairs in key order into new memory. The tree must not have changed since the survey, and the
// survey's list must be valid.
func (t *tree) exportAll(v survey) (exported, error) {
	leaves, pairs := int(v.levels[0].Nodes), int(v.levels[0].Slots)
	if lanes := leaves * t.tiles.walk; pairs > recording.MaxBatch || lanes > recording.MaxBatch {
		return exported{}, &structures.CountError{What: "pairs of a tree", N: int(pairs), Most: recording.MaxBatch}
	}
	var size recording.Parts
	t.exportIn(&size, leaves, pairs)
	memory, err := vk.NewBuffer[uint32](t.Device, int(size.Used/4))
	if err != nil {
		return exported{}, err
	}
	e, order, scan := t.exportIn(&recording.Parts{Base: memory.Address()}, leaves, pairs)
	err = recording.Run(t.Stream, func() error {
		if err := t.recordLeafOrder(t.Stream, v.listed.listing, primitives.Length{N: leaves}, order); err != nil {
			return err
		}
		return t.newest().export(t.Stream, e, scan, 0, true)
	})
	if err != nil {
		memory.Free()
		return exported{}, err
	}
	at := func(address uint64) int { return int(address-memory.Address()) / 4 }
	return exported{memory, pairs, at(e.Keys), at(e.Values)}, nil
}

// exportIn divides memory for the export of so many leaves and pairs. It begins with the pairs.
func (t *tree) exportIn(p *recording.Parts, leaves, pairs int) (e exportPush, order leafOrder, scan uint64) {
	e = exportPush{Tree: t.description(), Keys: p.Take(t.width.Bytes() * pairs),
		Values: p.Take(t.width.Bytes() * pairs),
		Counts: p.Take(4 * leaves), Offsets: p.Take(4 * leaves)}
	order = t.leafOrderIn(p, leaves)
	scan = p.Take(t.primitives.Scratch(primitives.ScanArgs{Length: primitives.Length{N: leaves}}))
	e.Slabs, e.Leaves, e.Capacity = order.leaves, recording.Length{N: uint32(leaves)}, uint32(pairs)
	return e, order, scan
}

// export records the counting of the pairs of listed and sorted leaves, with a prefix sum. It writes the number of all
// pairs at total, if that is not 0, and, if pairs is set, the pairs in key order. Counts and Offsets have a word for
// each leaf; scan is the scratch memory of the prefix sum.
func (r recorder) export(s *vk.Stream, p exportPush, scan, total uint64, pairs bool) error {
	tile := r.tiles.walk
	count, err := r.exportKernel(r.past(), true).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	leaves := int(p.Leaves.N)
	count.Dispatch(s, groups(leaves*tile), p)
	err = r.primitives.Scan(s, primitives.ScanArgs{
		In: p.Counts, Out: p.Offsets, Length: primitives.Length{N: leaves, At: p.Leaves.At}, Total: total,
		Scratch: scan,
	})
	if err != nil || !pairs {
		return err
	}
	write, err := r.exportKernel(r.past(), false).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	write.Dispatch(s, groups(leaves*tile), p)
	return nil
}
