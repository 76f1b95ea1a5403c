package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// BoundsArgs are the operands of Bounds.
type BoundsArgs struct {
	Keys    uint64 // address of Length keys, ascending
	Length  Length
	Width   structures.Width // of keys and queries
	Queries uint64           // address of Count keys
	Count   Length
	Out     uint64 // address of Count words for the bounds
	Upper   bool   // count the keys that are at most a query, rather than those below it
	Sorted  bool   // the queries ascend, which is faster
	Scratch uint64 // as many bytes as Scratch says
}

type boundsPush struct {
	Keys          uint64
	KeyCount      length
	Queries       uint64
	QueryCount    length
	Bounds, Index uint64
	Upper, Rounds uint32
}

type boundsIndexPush struct {
	Keys     uint64
	KeyCount length
	Index    uint64
}

type boundsSortedPush struct {
	Keys           uint64
	KeyCount       length
	Queries        uint64
	QueryCount     length
	Bounds, Splits uint64
	Upper          uint32
}

// The greatest numbers of keys per query for which an index, or a merge, is faster. Sampling the keys for an index
// takes time for each key and saves reads for each query. Merging keys and queries reads all keys.
const (
	keysAnIndexedQuery = 32
	keysAMergedQuery   = 32
)

// searchTop is the number of an index's keys that a workgroup keeps in shared memory. Nodes of wider keys have half as
// many keys, and a step in shared memory costs far less than reading a node.
var searchTop = [...]int{structures.Bits32: 512, structures.Bits64: 1024}

// boundsLanes is about the number of lanes that fill a large device.
const boundsLanes = 1 << 18

// indexKeys returns the number of keys that an index of n keys has room for, as shaders/primitives/search_index.glsl
// divides it.
func indexKeys(n, top int, w structures.Width) (keys int) {
	node := 3 - int(w)
	for shift := node; n>>(shift-node) > top; shift += node {
		keys += (n>>shift | (1<<node - 1)) + 1
	}
	return keys
}

// boundsScratch returns the bytes of scratch memory that Bounds needs for up to count queries in an array of up to n
// keys of a width.
func (p *Primitives) boundsScratch(n, count int, w structures.Width) int {
	if checkWidth(w) != nil {
		return 0
	}
	n, count = max(n, 0), max(count, 0)
	return max(w.Bytes()*indexKeys(n, searchTop[w], w), 4*p.mergeShape(w, false).splits(n+count))
}

func (a BoundsArgs) kernel(p *Primitives, top int) recording.Spec[boundsPush] {
	return recording.Of[boundsPush](recording.OfKeys("primitives/bounds", a.Width), min(256, p.d.Info().MaxWorkgroup),
		recording.Constant("SEARCH_TOP", uint32(top)))
}

func (a BoundsArgs) indexKernel(top int) recording.Spec[boundsIndexPush] {
	return recording.Of[boundsIndexPush](recording.OfKeys("primitives/bounds_index", a.Width), 0,
		recording.Constant("SEARCH_TOP", uint32(top)))
}

func (a BoundsArgs) sortedKernel(shape mergeShape) recording.Spec[boundsSortedPush] {
	return recording.Of[boundsSortedPush](recording.OfKeys("primitives/bounds_sorted", a.Width), shape.workgroup,
		shape.constant())
}

func (a BoundsArgs) kernels(p *Primitives) recording.Table {
	top := searchTop[a.Width]
	return recording.Table{a.kernel(p, top), a.indexKernel(top), a.sortedKernel(p.mergeShape(a.Width, false)),
		splitKernel(a.Width)}
}

// boundsPlan says how bounds are found.
type boundsPlan struct {
	merged  bool // by merging queries and keys
	alone   bool // if merged: each workgroup finds its own tile
	indexed bool // if not merged: by an index rather than by bisection
	top     int  // keys of the index that a workgroup keeps
	rounds  int  // queries a lane
}

// Bounds records a search for many queries in a sorted array. Each result is an index of the array, or its length. Out
// may be Queries if these have 32 bits and are not Sorted; nothing else may overlap.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
//
// Sorted queries are merged with the keys (Green, McColl and Bader, GPU Merge Path, 2012). Other queries descend a
// static B-tree without pointers that is made for the call (Rao and Ross, Cache Conscious Indexing for Decision-Support
// in Main Memory, 1999). A node is as large as one memory access.
func (p *Primitives) Bounds(s *vk.Stream, a BoundsArgs) error {
	return p.whole(s, func() error {
		if err := checkWidth(a.Width); err != nil {
			return err
		}
		n, count := a.Length.N, a.Count.N
		return p.bounds(s, a, boundsPlan{
			merged: a.Sorted && n <= keysAMergedQuery*count, alone: n+count <= mergeAlone,
			indexed: n <= keysAnIndexedQuery*count, top: searchTop[a.Width],
			// Each workgroup loads the top. More queries a lane make that cheap; fewer keep the whole device busy.
			rounds: min(max(count/boundsLanes, 1), 4),
		})
	})
}

func (p *Primitives) bounds(s *vk.Stream, a BoundsArgs, plan boundsPlan) error {
	for _, l := range []Length{a.Length, a.Count} {
		if err := l.check(); err != nil {
			return err
		}
	}
	if a.Count.N == 0 {
		return nil
	}
	if a.Keys == 0 && a.Length.N > 0 || a.Queries == 0 || a.Out == 0 || a.Scratch == 0 {
		return ErrNoMemory
	}
	if plan.merged {
		return p.boundsByMerge(s, a, plan)
	}
	return p.boundsBySearch(s, a, plan)
}

func (p *Primitives) boundsByMerge(s *vk.Stream, a BoundsArgs, plan boundsPlan) error {
	shape := p.mergeShape(a.Width, false)
	k, err := a.sortedKernel(shape).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	push := boundsSortedPush{
		Keys: a.Keys, KeyCount: a.Length.device(), Queries: a.Queries, QueryCount: a.Count.device(),
		Bounds: a.Out, Upper: word(a.Upper),
	}
	first, second := Run{Keys: a.Queries, Length: a.Count}, Run{Keys: a.Keys, Length: a.Length}
	if a.Upper {
		first, second = second, first
	}
	if !plan.alone {
		push.Splits = a.Scratch
		if err := p.split(s, a.Width, first, second, ^uint64(0), shape, a.Scratch); err != nil {
			return err
		}
	}
	k.Dispatch(s, groups(a.Length.N+a.Count.N, shape.tile()), push)
	return nil
}

func (p *Primitives) boundsBySearch(s *vk.Stream, a BoundsArgs, plan boundsPlan) error {
	k, err := a.kernel(p, plan.top).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	push := boundsPush{
		Keys: a.Keys, KeyCount: a.Length.device(), Queries: a.Queries, QueryCount: a.Count.device(),
		Bounds: a.Out, Upper: word(a.Upper), Rounds: uint32(plan.rounds),
	}
	if keys := indexKeys(a.Length.N, plan.top, a.Width); plan.indexed && keys > 0 {
		index, err := a.indexKernel(plan.top).Kernel(p.kernels, s)
		if err != nil {
			return err
		}
		push.Index = a.Scratch
		index.Dispatch(s, groups(keys, index.Workgroup()), boundsIndexPush{a.Keys, push.KeyCount, push.Index})
	}
	k.Dispatch(s, groups(a.Count.N, k.Workgroup()*plan.rounds), push)
	return nil
}

// word returns a condition as a word for shaders.
func word(condition bool) uint32 {
	if condition {
		return 1
	}
	return 0
}
