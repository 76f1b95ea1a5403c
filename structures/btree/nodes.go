package btree

import (
	"cmp"
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Node is a copy of a node, in words of one width, for drawing and inspection. The tree must not change while it is
// copied.
type Node[W structures.Word] struct {
	Ref       uint32 // the reference of its slab
	Level     int    // 0: a leaf
	Low, High W      // the least and the greatest key of its range, both inclusive, as words (structures.KeyCode)
	Link      uint32 // the right neighbor
	Last      bool   // there is no right neighbor, and Link has no meaning
	Latched   bool   // true only if the tree is corrupt, because no work runs that may hold latches
	// Keys and Values are the words of a leaf's pairs in key order, or the separators of an inner node and the
	// references of its children.
	Keys, Values []W
}

// The layout of a node in words, btree_node.glsl.
const (
	nodeWords = 32
	nodeBytes = 4 * nodeWords
	metaWord  = 28
	lowWord   = 29
	highWord  = 30
	linkWord  = 31

	noSlab = ^uint32(0)
)

type nodesPush struct {
	Pool         slabs.PoolDescription
	Slabs, Words uint64
	Count        uint32
}

// nodesAtOnce is how many nodes are copied from the device at once: 8 MiB.
const nodesAtOnce = 1 << 16

func (t *tree) nodes(ctx context.Context) ([]Node[uint64], error) {
	if err := t.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.Leave()
	l, err := t.reach(ctx, func(listing, uint64) error { return nil })
	if err != nil {
		return nil, err
	}
	defer l.free()
	slabs := make([]uint32, l.inner())
	if err := l.memory.Download(ctx, int(l.Inner-l.memory.Address())/4, slabs); err != nil {
		return nil, err
	}
	b, err := vk.NewBuffer[uint32](t.Device, min(len(slabs), nodesAtOnce)*nodeWords)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	all := make([]Node[uint64], 0, len(slabs))
	words := make([]uint32, b.Len())
	for first := 0; first < len(slabs); first += nodesAtOnce {
		part := slabs[first:min(first+nodesAtOnce, len(slabs))]
		if err := t.copyNodes(b, l.Inner+uint64(4*first), len(part)); err != nil {
			return nil, err
		}
		if err := b.Download(ctx, 0, words); err != nil {
			return nil, err
		}
		for i, slab := range part {
			all = append(all, t.decode(slab, words[i*nodeWords:][:nodeWords]))
		}
	}
	slices.SortFunc(all, func(a, b Node[uint64]) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High))
	})
	return all, nil
}

// copyNodes copies nodes whose slabs are listed in device memory.
func (t *tree) copyNodes(to *vk.Buffer[uint32], slabs uint64, count int) error {
	return recording.Run(t.Stream, func() error {
		k, err := t.nodesKernel().Kernel(t.Kernels, t.Stream)
		if err != nil {
			return err
		}
		k.Dispatch(t.Stream, groups(8*count), nodesPush{t.Pool.Description(), slabs, to.Address(), uint32(count)})
		return nil
	})
}

// slabReference is pool_slab of slab_alloc.glsl.
func (t *tree) slabReference(i int) uint32 {
	shift := t.Pool.Form()["POOL_SUPER_SHIFT"] + 10
	return uint32(i)>>shift<<24 | uint32(i)&(1<<shift-1)
}

// slabNumber is pool_number of slab_alloc.glsl.
func (t *tree) slabNumber(ref uint32) int {
	shift := t.Pool.Form()["POOL_SUPER_SHIFT"] + 10
	return int(ref>>24)<<shift + int(ref&0xffffff)
}

// word returns the key or value at an index of words.
func (t *tree) word(words []uint32, at int) uint64 {
	if t.width == structures.Bits64 {
		return uint64(words[at]) | uint64(words[at+1])<<32
	}
	return uint64(words[at])
}

// slot returns the pair in a slot of a node, or of a version.
func (t *tree) slot(words []uint32, i int) structures.Pair[uint64, uint64] {
	return structures.Pair[uint64, uint64]{Key: t.word(words, 2*i*t.words()), Value: t.word(words, (2*i+1)*t.words())}
}

func (t *tree) decode(ref uint32, w []uint32) Node[uint64] {
	g := t.geometry()
	n := Node[uint64]{
		Ref: ref, Level: int(w[g.meta] >> 1 & 15), Low: t.word(w, g.low), High: t.word(w, g.high),
		Link: w[g.link], Last: w[g.link] == noSlab, Latched: w[g.meta]&1 != 0,
	}
	if n.Level == 0 {
		n.Keys, n.Values = t.leafPairs(w, n.High)
		return n
	}
	for i := range g.slots {
		p := t.slot(w, i)
		if last := len(n.Keys) - 1; i == 0 || p.Key != n.Keys[last] || p.Value != n.Values[last] {
			n.Keys, n.Values = append(n.Keys, p.Key), append(n.Values, p.Value)
		}
	}
	return n
}

// leafPairs returns the pairs of a leaf, or of a version of one, in key order. high is the greatest key of the leaf's
// range.
func (t *tree) leafPairs(w []uint32, high uint64) (keys, values []uint64) {
	emptyKey := ordered.LastKey(t.width)
	if high == emptyKey {
		emptyKey = 0
	}
	var pairs []structures.Pair[uint64, uint64]
	for i := range t.geometry().slots {
		if p := t.slot(w, i); p.Key != emptyKey {
			pairs = append(pairs, p)
		}
	}
	slices.SortFunc(pairs, func(a, b structures.Pair[uint64, uint64]) int { return cmp.Compare(a.Key, b.Key) })
	for _, p := range pairs {
		keys, values = append(keys, p.Key), append(values, p.Value)
	}
	return keys, values
}
