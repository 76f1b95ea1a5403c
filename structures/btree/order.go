package btree

import (
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Queries are first partitioned by their keys if there are at least so many queries and nodes. Below, that takes longer
// than it saves. The limit is in nodes, not pairs, because nodes fill the cache: orderedNodes are 160 MiB, and the H200
// has 60 MB of L2.
const (
	orderedQueries = 1 << 23
	orderedRanges  = 1 << 22
	orderedNodes   = 5 << 18

	// Searches for neighbors fetch two words each, so partitioning pays only in larger trees.
	orderedNeighborNodes = 1 << 21

	// If at least longWindow pairs are written for each range, partitioning saves more.
	longWindow         = 32
	orderedLongWindows = 1 << 21
	orderedLongNodes   = 1 << 19
)

// inOrder reports whether lookups are partitioned first.
func (t *tree) inOrder(n int, order structures.LookupOrder) bool {
	return t.ordered(n, orderedQueries, orderedNodes, order)
}

// ordersNeighbors is inOrder for searches for neighbors.
func (t *tree) ordersNeighbors(n int) bool {
	return t.ordered(n, orderedQueries, orderedNeighborNodes, t.queries.order)
}

// rangesInOrder is inOrder for ranges.
func (t *tree) rangesInOrder(n int) bool {
	return t.ordered(n, orderedRanges, orderedNodes, t.queries.order)
}

// windowsInOrder is inOrder for ranges of which up to width pairs are written.
func (t *tree) windowsInOrder(n, width int) bool {
	if width >= longWindow {
		return t.ordered(n, orderedLongWindows, orderedLongNodes, t.queries.order)
	}
	return t.rangesInOrder(n)
}

func (t *tree) ordered(n, least int, nodes uint64, order structures.LookupOrder) bool {
	if order == structures.AutoOrder {
		return t.Device.Info().Type != vk.CPU && n >= least && t.known.about() >= nodes
	}
	return order == structures.SortedFirst
}

// pointPlan is the division of the scratch memory of lookups and of searches for neighbors.
type pointPlan struct {
	indexBits    int
	index        uint64
	keys         uint64 // partitioned; later, in the same memory, the values found, or the neighbors' keys
	destinations uint64 // of each partitioned key
	bytes        uint64 // for each partitioned query: whether its key was found, or its status
	values       uint64 // the neighbors' values, partitioned
	partition    uint64
	size         int
}

func (t *tree) pointPlan(n int, ordered bool, scratch uint64) pointPlan {
	p := recording.Parts{Base: scratch}
	q := pointPlan{indexBits: t.indexBits(n)}
	if ordered {
		q.indexBits = t.orderedIndexBits(n)
		q.keys, q.destinations, q.bytes = p.Take(t.width.Bytes()*n), p.Take(4*n), p.Take(recording.Padded(n))
		q.partition = p.Take(t.primitives.Scratch(primitives.PartitionArgs{Bits: t.queries.partBits}))
	}
	q.index = p.Take(t.indexBytes(q.indexBits))
	q.size = int(p.Used)
	return q
}

// neighborPlan is a pointPlan with room for values.
func (t *tree) neighborPlan(n int, ordered bool, scratch uint64) pointPlan {
	q := t.pointPlan(n, ordered, scratch)
	if ordered {
		p := recording.Parts{Base: scratch, Used: uint64(q.size)}
		q.values = p.Take(t.width.Bytes() * n)
		q.size = int(p.Used)
	}
	return q
}

// recordOrder records the partitioning of keys.
func (t *tree) recordOrder(s *vk.Stream, keys uint64, n primitives.Length, plan pointPlan) error {
	return t.primitives.Partition(s, primitives.PartitionArgs{
		Keys: keys, Width: t.width, OutKeys: plan.keys, Destinations: plan.destinations, Length: n,
		Bits: t.queries.partBits, Scratch: plan.partition,
	})
}

// fetch are the operands of recordFetch: addresses. Each query has a word of the width, and perhaps a byte.
type fetch struct {
	destinations   uint64 // of each partitioned query
	width          structures.Width
	words, toWords uint64
	bytes, toBytes uint64 // 0 and 0: none
	usual          uint32 // the byte of all queries whose word is not 0
}

type fetchPush struct {
	Destinations, FromWords, FromBytes, Words, Bytes uint64
	Count                                            recording.Length
	Usual                                            uint32
}

// fetchWorkgroup, times the four answers that a lane fetches, is the tile of the partition: the answers of a tile are
// next to each other in each part.
const fetchWorkgroup = 1024

// recordFetch records that the results of partitioned queries are put into the order of the batch.
func (t *tree) recordFetch(s *vk.Stream, n primitives.Length, f fetch) error {
	k, err := t.fetchKernel(f.width).Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	each := 4 * k.Workgroup()
	k.Dispatch(s, (n.N+each-1)/each, fetchPush{
		f.destinations, f.words, f.bytes, f.toWords, f.toBytes, recording.Length{At: n.At, N: uint32(n.N)}, f.usual,
	})
	return nil
}

// prefixIndex maps the first bits of a key to the node where its search begins (BTreePrefixIndex of
// shaders/include/btree_prefix_index.glsl). It is made for each batch that is large enough to pay for it, so it needs
// no maintenance.
type prefixIndex struct {
	Entries uint64 // 0 and 0: searches begin at the root
	Bits    uint32
}

const (
	indexEntryBytes = 8
	indexBegin      = recording.Align // bytes before the entries of an index of 64-bit keys, for the range of the keys
	minIndexBits    = 8
	maxIndexBits    = 19
	queriesAnEntry  = 4 // log2, like the next one
	// the nodes just above the leaves are fewer than the entries, so that most of them are found
	nodesAnEntry = 1

	// For partitioned queries, whose part of the index is in the caches.
	maxOrderedIndexBits   = 24
	orderedQueriesAnEntry = 2
	orderedNodesAnEntry   = 0

	// For ordered queries while other operations update: there each visit of a node is expensive.
	maxConcurrentIndexBits   = 20
	concurrentQueriesAnEntry = 2

	// In the read-only phase, an index of more than maxIndexBits bits is made from one with indexStepBits fewer bits.
	indexStepBits = 5
)

// indexBits returns log2 of the entries of a prefix index for n queries, 0 for none.
func (t *tree) indexBits(n int) int {
	return t.indexBitsOf(n, queriesAnEntry, nodesAnEntry, maxIndexBits)
}

// orderedIndexBits is indexBits for partitioned queries.
func (t *tree) orderedIndexBits(n int) int {
	return t.indexBitsOf(n, orderedQueriesAnEntry, orderedNodesAnEntry, maxOrderedIndexBits)
}

// concurrentIndexBits is indexBits for ordered queries that run while others update.
func (t *tree) concurrentIndexBits(n int) int {
	return t.indexBitsOf(n, concurrentQueriesAnEntry, nodesAnEntry, maxConcurrentIndexBits)
}

func (t *tree) indexBitsOf(n, queries, nodes, most int) int {
	if t.queries.indexBits >= 0 {
		return t.queries.indexBits
	}
	b := min(bits.Len(uint(n))-1-queries, bits.Len64(t.known.about())-1-nodes, most)
	if b < minIndexBits {
		return 0
	}
	return b
}

func (t *tree) indexBytes(bits int) int {
	if bits == 0 {
		return 0
	}
	size := t.entriesEnd(bits)
	if bits > maxIndexBits {
		size += t.indexBytes(bits - indexStepBits)
	}
	return size
}

// entriesEnd returns where the entries of an index end, in bytes from its address.
func (t *tree) entriesEnd(bits int) int {
	if t.width == structures.Bits64 {
		return indexBegin + indexEntryBytes<<bits
	}
	return indexEntryBytes << bits
}

type indexPush struct {
	Tree        Description
	Index, From prefixIndex
}

// askedFor are the keys for which a prefix index is made. number is how many there are.
type askedFor struct {
	keys   uint64
	ranges bool // keys come in pairs, of which the first counts
	number recording.Length
}

type rangePush struct {
	Index    prefixIndex
	KeyShift uint32
	_        uint32
	Keys     uint64
	Number   recording.Length
}

// recordIndex records the making of a prefix index at an address, while nothing changes the tree.
func (t *tree) recordIndex(s *vk.Stream, at uint64, bits int, keys askedFor) (prefixIndex, error) {
	var from prefixIndex
	if bits > maxIndexBits {
		var err error
		coarse := at + uint64(t.entriesEnd(bits))
		if from, err = t.recordIndex(s, coarse, bits-indexStepBits, keys); err != nil {
			return prefixIndex{}, err
		}
	}
	if err := t.recordPrefixes(s, at, bits, keys); err != nil {
		return prefixIndex{}, err
	}
	return t.recordEntries(s, indexModule, at, bits, from)
}

// recordConcurrentIndex is recordIndex while the tree may change. It makes the index in one step, for any number of
// bits.
func (t *tree) recordConcurrentIndex(s *vk.Stream, at uint64, bits int, keys askedFor) (prefixIndex, error) {
	if err := t.recordPrefixes(s, at, bits, keys); err != nil {
		return prefixIndex{}, err
	}
	return t.recordEntries(s, concurrentIndexModule, at, bits, prefixIndex{})
}

// recordPrefixes records the choice of the range of keys for an index of 64-bit keys. Record the entries after it:
// inside Stream.Concurrent there is no barrier between the two.
func (t *tree) recordPrefixes(s *vk.Stream, at uint64, bits int, keys askedFor) error {
	if bits == 0 || t.width == structures.Bits32 {
		return nil
	}
	k, err := t.prefixesKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	shift := uint32(3)
	if keys.ranges {
		shift++
	}
	k.Dispatch(s, 1, rangePush{Index: prefixIndex{at, uint32(bits)}, KeyShift: shift, Keys: keys.keys,
		Number: keys.number})
	return nil
}

// rangeWorkgroup is how many lanes read a sample of the keys.
const rangeWorkgroup = 256

// recordEntries records the making of the entries of an index.
func (t *tree) recordEntries(s *vk.Stream, module string, at uint64, bits int,
	from prefixIndex) (prefixIndex, error) {
	if bits == 0 {
		return prefixIndex{}, nil
	}
	k, err := t.indexKernel(module).Kernel(t.Kernels, s)
	if err != nil {
		return prefixIndex{}, err
	}
	made := prefixIndex{at, uint32(bits)}
	k.Dispatch(s, groups(1<<bits), indexPush{t.description(), made, from})
	return made, nil
}
