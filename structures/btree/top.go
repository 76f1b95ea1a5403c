package btree

import (
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// top is the prefix index, where searches begin by the first bits of a key (BTreePrefixIndex of
// shaders/include/btree_prefix_index.glsl). It is made anew for each batch of queries that is large enough to pay for
// it, so that nothing has to keep it right.
type top struct {
	Entries uint64 // 0 and 0: searches begin at the root
	Bits    uint32
}

const (
	topEntryBytes  = 8
	minTopBits     = 8
	maxTopBits     = 19
	queriesAnEntry = 4 // log2
	nodesAnEntry   = 1 // log2: the nodes just above the leaves are fewer than the entries, so that most of them are found

	// Of queries in about the order of their keys, which have their part of the top in the caches.
	maxOrderedTopBits     = 24
	orderedQueriesAnEntry = 2
	orderedNodesAnEntry   = 0

	// Of batches that ask for order beside updates: each visit of a node that is saved there is a dear one.
	maxBesideTopBits     = 20
	besideQueriesAnEntry = 2

	topStepBits = 5 // a top of more than maxTopBits begins where one of so many bits less leads, while nothing changes the tree
)

// topBits returns log2 of the entries of a top for n queries, 0 for none.
func (t *Tree) topBits(n int) int {
	return t.topBitsOf(n, queriesAnEntry, nodesAnEntry, maxTopBits)
}

// orderedTopBits is topBits for queries in about the order of their keys.
func (t *Tree) orderedTopBits(n int) int {
	return t.topBitsOf(n, orderedQueriesAnEntry, orderedNodesAnEntry, maxOrderedTopBits)
}

// besideTopBits is topBits for operations that ask for order beside updates.
func (t *Tree) besideTopBits(n int) int {
	return t.topBitsOf(n, besideQueriesAnEntry, nodesAnEntry, maxBesideTopBits)
}

func (t *Tree) topBitsOf(n, queries, nodes, most int) int {
	if t.queries.topBits >= 0 {
		return t.queries.topBits
	}
	b := min(bits.Len(uint(n))-1-queries, bits.Len64(t.nodes)-1-nodes, most)
	if b < minTopBits {
		return 0
	}
	return b
}

func topBytes(bits int) int {
	if bits == 0 {
		return 0
	}
	size := topEntryBytes << bits
	if bits > maxTopBits {
		size += topBytes(bits - topStepBits)
	}
	return size
}

type topPush struct {
	Tree      Device
	Top, From top
}

// recordTop records the making of a top at an address, while nothing changes the tree.
func (t *Tree) recordTop(s *vk.Stream, at uint64, bits int) (top, error) {
	var from top
	if bits > maxTopBits {
		var err error
		if from, err = t.recordTop(s, at+topEntryBytes<<bits, bits-topStepBits); err != nil {
			return top{}, err
		}
	}
	return t.recordTopBy(s, "prefix_index.readonly", at, bits, from)
}

// recordTopBeside is recordTop while the tree may be changed: in one step, however many bits.
func (t *Tree) recordTopBeside(s *vk.Stream, at uint64, bits int) (top, error) {
	return t.recordTopBy(s, "prefix_index.concurrent", at, bits, top{})
}

func (t *Tree) recordTopBy(s *vk.Stream, module string, at uint64, bits int, from top) (top, error) {
	if bits == 0 {
		return top{}, nil
	}
	k, err := kernel[topPush](t, s, module, 1)
	if err != nil {
		return top{}, err
	}
	made := top{at, uint32(bits)}
	k.Dispatch(s, groups(1<<bits), topPush{t.device(), made, from})
	return made, nil
}
