package shader

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type btreeNodePush struct {
	Nodes, Keys, Outputs uint64
	Count                uint32
	Fills                uint32
	Root                 uint32
}

const (
	btreeNodeRoot = 7

	btreeSlots = 14
	slabNone   = ^uint32(0) // no slab, and no slot
)

// treeKey is one of few keys, so that nodes and searches meet, and at times one of the ends.
func treeKey(rng *rand.Rand) uint32 {
	return [...]uint32{rng.Uint32N(200), rng.Uint32N(200), ^rng.Uint32N(3), rng.Uint32N(3)}[rng.IntN(4)]
}

// Whatever a node holds, every tile width sees in it what a loop over its slots does.
func TestBTreeNode(t *testing.T) {
	r := newRig(t)
	const n = 2000
	rng := random(11)
	words, keys := make([]uint32, n*nodeWords), make([]uint32, n)
	for i := range keys {
		keys[i] = treeKey(rng)
		node := words[i*nodeWords:][:nodeWords]
		level := rng.Uint32N(3)
		low, high := treeKey(rng), treeKey(rng)
		low, high = min(low, high), max(low, high)
		node[28], node[29], node[30], node[31] = rng.Uint32N(2)|level<<1|rng.Uint32()<<5, low, high, rng.Uint32()
		if level != 0 {
			separators := make([]uint32, 1+rng.IntN(btreeSlots))
			for j := range separators {
				separators[j] = treeKey(rng)
			}
			separators[0] = low
			slices.Sort(separators)
			for s := range btreeSlots {
				j := min(s, len(separators)-1)
				node[2*s], node[2*s+1] = separators[j], uint32(1000*i+j)
			}
			continue
		}
		emptyKey := ^uint32(0)
		if keys[i] == emptyKey {
			emptyKey = 0
		}
		used := map[uint32]bool{emptyKey: true}
		for s := range btreeSlots {
			key := treeKey(rng)
			if used[key] || rng.IntN(3) == 0 {
				node[2*s], node[2*s+1] = emptyKey, rng.Uint32() // empty or erased
				continue
			}
			used[key] = true
			node[2*s], node[2*s+1] = key, rng.Uint32()
		}
	}
	in, at := put(r, words), put(r, keys)
	r.eachWidth(func(t *testing.T, width int) {
		k := kernel[btreeNodePush](t, r, "test/btree_node", map[string]uint32{"TILE": uint32(width)})
		outputs := room[uint32](r, n*width*16)
		for fills := range uint32(2) {
			run(r, k, n*width, btreeNodePush{in.Address(), at.Address(), outputs.Address(), n, fills, btreeNodeRoot})
			out := get(r, outputs)
			for i, key := range keys {
				want := btreeNodeModel(words[i*nodeWords:][:nodeWords], key, fills == 1)
				for lane := range width {
					got := out[(i*width+lane)*16:][:16]
					if want[4+1] == 0 {
						got[4], got[6] = want[4], want[6] // a leaf is not stepped through
					} else {
						copy(got[8:12], want[8:12]) // and an inner node not searched
					}
					if want[8] == slabNone {
						got[9] = want[9]
					}
					if want[10] == slabNone {
						got[11] = want[11]
					}
					requireWords(t, want[:], got, "node %d, lane %d, key %#x: %#x", i, lane, key,
						words[i*nodeWords:][:nodeWords])
				}
			}
		}
	})
}

// btreeNodeModel is what test/btree_node.comp writes.
func btreeNodeModel(node []uint32, key uint32, fills bool) (out [16]uint32) {
	meta, low, high, link := node[28], node[29], node[30], node[31]
	flag := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	copy(out[:], []uint32{meta, low, high, link})
	step, down := node[1], true
	for s := range btreeSlots {
		if node[2*s] <= key {
			step = node[2*s+1]
		}
	}
	switch {
	case key < low:
		step, down = btreeNodeRoot, false
	case key > high:
		step, down = link, false
	}
	copy(out[4:], []uint32{step, meta >> 1 & 15, flag(down), 0})
	emptyKey := ^uint32(0)
	if key == emptyKey {
		emptyKey = 0
	}
	view := []uint32{slabNone, 0, slabNone, 0}
	for s := btreeSlots - 1; s >= 0; s-- {
		if node[2*s] == key {
			view[0], view[1] = uint32(s), node[2*s+1]
		}
	}
	first := key * 0x9e3779b1 >> 28 // of the slots that the key's pair may come to
	for i := uint32(16); fills && i > 0; i-- {
		if s := (first + i - 1) & 15; s < btreeSlots && node[2*s] == emptyKey && node[2*s+1]&1 == 0 {
			view[2], view[3] = s, node[2*s+1]
		}
	}
	copy(out[8:], view)
	copy(out[12:], []uint32{flag(key < low || meta>>1&15 != 0), flag(key > high), flag(meta&1 != 0), link})
	return out
}
