package btree

import (
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// prefixIndex says where searches begin by the first bits of a key (BTreePrefixIndex of
// shaders/include/btree_prefix_index.glsl). It is made anew for each batch of queries that is large enough to pay for
// it, so that nothing has to keep it right.
type prefixIndex struct {
	Entries uint64 // 0 and 0: searches begin at the root
	Bits    uint32
}

const (
	indexEntryBytes = 8
	minIndexBits    = 8
	maxIndexBits    = 19
	queriesAnEntry  = 4 // log2
	// log2: the nodes just above the leaves are fewer than the entries, so that most of them are found
	nodesAnEntry = 1

	// Of queries in about the order of their keys, which have their part of the index in the caches.
	maxOrderedIndexBits   = 24
	orderedQueriesAnEntry = 2
	orderedNodesAnEntry   = 0

	// Of batches that ask for order while others update: each visit of a node that is saved there is a dear one.
	maxConcurrentIndexBits   = 20
	concurrentQueriesAnEntry = 2

	// one of more than maxIndexBits begins where one of so many bits less leads, in the read-only phase
	indexStepBits = 5
)

// indexBits returns log2 of the entries of a prefix index for n queries, 0 for none.
func (t *tree[W]) indexBits(n int) int {
	return t.indexBitsOf(n, queriesAnEntry, nodesAnEntry, maxIndexBits)
}

// orderedIndexBits is indexBits for queries in about the order of their keys.
func (t *tree[W]) orderedIndexBits(n int) int {
	return t.indexBitsOf(n, orderedQueriesAnEntry, orderedNodesAnEntry, maxOrderedIndexBits)
}

// concurrentIndexBits is indexBits for operations that ask for order while others update.
func (t *tree[W]) concurrentIndexBits(n int) int {
	return t.indexBitsOf(n, concurrentQueriesAnEntry, nodesAnEntry, maxConcurrentIndexBits)
}

func (t *tree[W]) indexBitsOf(n, queries, nodes, most int) int {
	if t.queries.indexBits >= 0 {
		return t.queries.indexBits
	}
	b := min(bits.Len(uint(n))-1-queries, bits.Len64(t.known.about())-1-nodes, most)
	if b < minIndexBits {
		return 0
	}
	return b
}

func indexBytes(bits int) int {
	if bits == 0 {
		return 0
	}
	size := indexEntryBytes << bits
	if bits > maxIndexBits {
		size += indexBytes(bits - indexStepBits)
	}
	return size
}

type indexPush struct {
	Tree        Device
	Index, From prefixIndex
}

// recordIndex records the making of a prefix index at an address, while nothing changes the tree.
func (t *tree[W]) recordIndex(s *vk.Stream, at uint64, bits int) (prefixIndex, error) {
	var from prefixIndex
	if bits > maxIndexBits {
		var err error
		if from, err = t.recordIndex(s, at+indexEntryBytes<<bits, bits-indexStepBits); err != nil {
			return prefixIndex{}, err
		}
	}
	return t.recordIndexBy(s, "prefix_index", at, bits, from)
}

// recordConcurrentIndex is recordIndex while the tree may be changed: in one step, however many bits.
func (t *tree[W]) recordConcurrentIndex(s *vk.Stream, at uint64, bits int) (prefixIndex, error) {
	return t.recordIndexBy(s, "prefix_index_concurrent", at, bits, prefixIndex{})
}

func (t *tree[W]) recordIndexBy(s *vk.Stream, module string, at uint64, bits int,
	from prefixIndex) (prefixIndex, error) {
	if bits == 0 {
		return prefixIndex{}, nil
	}
	k, err := kernel[indexPush](t, s, t.sized(module), 1)
	if err != nil {
		return prefixIndex{}, err
	}
	made := prefixIndex{at, uint32(bits)}
	k.Dispatch(s, groups(1<<bits), indexPush{t.device(), made, from})
	return made, nil
}
