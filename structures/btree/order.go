package btree

import (
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
