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

	slabNone = ^uint32(0) // no slab, and no slot
)

// treeKey is one of few keys, so that nodes and searches meet, and at times one of the ends.
func treeKey(rng *rand.Rand) uint32 {
	return [...]uint32{rng.Uint32N(200), rng.Uint32N(200), ^rng.Uint32N(3), rng.Uint32N(3)}[rng.IntN(4)]
}

// treeNode is how a node of a width is laid out, in words, and what a test writes as a key, a number of 32 bits: at 64
// bits one whose order both words say, with its own ends.
type treeNode struct {
	module                string
	slots, pair           int
	meta, low, high, link int
	wide                  bool
}

var treeNodes = []treeNode{
	{"test/btree_node.k32v32", 14, 2, 28, 29, 30, 31, false}, {"test/btree_node.k64v64", 6, 4, 24, 26, 28, 30, true},
}

func (l treeNode) put(words []uint32, key uint32) {
	switch {
	case !l.wide:
		words[0] = key
	case key == ^uint32(0):
		words[0], words[1] = key, key
	default:
		words[0], words[1] = key<<28, key>>4
	}
}

// Whatever a node holds, every tile width sees in it what a loop over its slots does.
func TestBTreeNode(t *testing.T) {
	for _, l := range treeNodes {
		t.Run(l.module, func(t *testing.T) { testBTreeNode(t, l) })
	}
}

func testBTreeNode(t *testing.T, l treeNode) {
	r := newRig(t)
	const n = 2000
	rng := random(11)
	nodes, words := make([]treeNodeModel, n), make([]uint32, n*nodeWords)
	keys, keyWords := make([]uint32, n), make([]uint32, n*l.pair/2)
	for i := range keys {
		keys[i] = treeKey(rng)
		l.put(keyWords[i*l.pair/2:], keys[i])
		nodes[i] = randomTreeNode(rng, l.slots, keys[i], uint32(1000*i))
		l.write(words[i*nodeWords:][:nodeWords], nodes[i])
	}
	in, at := put(r, words), put(r, keyWords)
	r.eachWidth(func(t *testing.T, width int) {
		k := kernel[btreeNodePush](t, r, l.module, map[string]uint32{"TILE": uint32(width)})
		outputs := room[uint32](r, n*width*16)
		for fills := range uint32(2) {
			run(r, k, n*width, btreeNodePush{in.Address(), at.Address(), outputs.Address(), n, fills, btreeNodeRoot})
			out := get(r, outputs)
			for i, key := range keys {
				want := nodes[i].outcome(key, fills == 1, l.wide)
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
					requireWords(t, want[:], got, "node %d, lane %d, key %#x: %#x", i, lane, key, nodes[i])
				}
			}
		}
	})
}

// treeNodeModel is a node with keys of 32 bits.
type treeNodeModel struct {
	meta, low, high, link uint32
	keys, values          []uint32 // of the slots
}

func randomTreeNode(rng *rand.Rand, slots int, asked, children uint32) treeNodeModel {
	low, high := treeKey(rng), treeKey(rng)
	n := treeNodeModel{low: min(low, high), high: max(low, high), keys: make([]uint32, slots),
		values: make([]uint32, slots)}
	level := rng.Uint32N(3)
	n.meta, n.link = rng.Uint32N(2)|level<<1|rng.Uint32()<<5, rng.Uint32()
	if level != 0 {
		separators := make([]uint32, 1+rng.IntN(slots))
		for j := range separators {
			separators[j] = treeKey(rng)
		}
		separators[0] = n.low
		slices.Sort(separators)
		for s := range slots {
			j := min(s, len(separators)-1)
			n.keys[s], n.values[s] = separators[j], children+uint32(j)
		}
		return n
	}
	emptyKey := ^uint32(0)
	if asked == emptyKey {
		emptyKey = 0
	}
	used := map[uint32]bool{emptyKey: true}
	for s := range slots {
		key := treeKey(rng)
		n.keys[s], n.values[s] = key, rng.Uint32()
		if used[key] || rng.IntN(3) == 0 {
			n.keys[s] = emptyKey // empty or erased
		}
		used[key] = true
	}
	return n
}

// write lays a node out.
func (l treeNode) write(words []uint32, n treeNodeModel) {
	for s, key := range n.keys {
		l.put(words[l.pair*s:], key)
		words[l.pair*s+l.pair/2] = n.values[s]
	}
	words[l.meta], words[l.link] = n.meta, n.link
	l.put(words[l.low:], n.low)
	l.put(words[l.high:], n.high)
}

// outcome is what test/btree_node.comp writes.
func (n treeNodeModel) outcome(key uint32, fills, wide bool) (out [16]uint32) {
	flag := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	copy(out[:], []uint32{n.meta, n.low, n.high, n.link})
	step, down := n.values[0], true
	for s := range n.keys {
		if n.keys[s] <= key {
			step = n.values[s]
		}
	}
	switch {
	case key < n.low:
		step, down = btreeNodeRoot, false
	case key > n.high:
		step, down = n.link, false
	}
	copy(out[4:], []uint32{step, n.meta >> 1 & 15, flag(down), 0})
	emptyKey := ^uint32(0)
	if key == emptyKey {
		emptyKey = 0
	}
	view := []uint32{slabNone, 0, slabNone, 0}
	for s, held := range slices.Backward(n.keys) {
		if held == key {
			view[0], view[1] = uint32(s), n.values[s]
		}
	}
	first := key * 0x9e3779b1 >> 28 // of the slots that the key's pair may come to
	if wide {
		first = 0
	}
	for i := uint32(16); fills && i > 0; i-- {
		s := (first + i - 1) & 15
		if s < uint32(len(n.keys)) && n.keys[s] == emptyKey && n.values[s]&1 == 0 {
			view[2], view[3] = s, n.values[s]
		}
	}
	copy(out[8:], view)
	astray := key < n.low || n.meta>>1&15 != 0
	copy(out[12:], []uint32{flag(astray), flag(key > n.high), flag(n.meta&1 != 0), n.link})
	return out
}
