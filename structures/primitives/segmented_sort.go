package primitives

import (
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// SegmentedSortArgs are the operands of SegmentedSort.
type SegmentedSortArgs struct {
	Keys, Values       uint64 // addresses of Length elements each; Values 0: keys alone
	OutKeys, OutValues uint64 // the same, for the result
	Widths             Widths // of the keys, and of the values if there are any
	Length             Length // of all segments together; the last offset is the actual length
	// address of Segments+1 words: the first index of each segment, beginning with 0, and the end of the last one
	Offsets  uint64
	Segments int    // any number; each may have any length, also 0
	Longest  int    // an upper bound of the length of a segment; 0: not known
	Scratch  uint64 // as many bytes as Scratch says
}

// segmentTile is the layout of workgroups in shaders/primitives/segment_tile.glsl.
type segmentTile struct{ workgroup, items int }

// segmentTile returns the tile for sorts of keys of this width. A tile has a key and a word for each element in shared
// memory.
func (p *Primitives) segmentTile(w structures.Width) segmentTile {
	t, info := segmentTile{workgroup: 256, items: 9}, p.d.Info()
	for t.workgroup > info.MaxWorkgroup || (w.Bytes()+4)*t.elements()+8 > info.SharedBytes {
		t.workgroup /= 2
	}
	return t
}

func (t segmentTile) elements() int { return t.workgroup * t.items }
func (t segmentTile) stride() int   { return t.elements() / 4 * 3 }

// fits returns the length up to which a segment is certain to be sorted by one workgroup.
func (t segmentTile) fits() int { return t.elements() - t.stride() }

func (t segmentTile) constant() recording.Specialization {
	return recording.Constant("SEGMENT_ITEMS", uint32(t.items))
}

type segmentSortPush struct {
	Keys, Values, OutKeys, OutValues, Offsets uint64
	Segments, Most                            uint32
}

type segmentSurveyPush struct {
	Offsets, Sizes uint64
	Segments       uint32
}

type segmentGatherPush struct {
	Keys, Offsets, Starts                 uint64
	Count                                 length
	LongKeys, Indices, Sources, InSegment uint64
	Segments                              uint32
}

type segmentNumberPush struct {
	Order, InSegment uint64
	Count            length
	Sorted           uint64
}

type segmentPlacePush struct {
	Keys, Values, OutKeys, OutValues, Order, Sources uint64
	Count                                            length
}

func (a SegmentedSortArgs) kernel(tile segmentTile) recording.Spec[segmentSortPush] {
	return recording.Of[segmentSortPush](a.Widths.module("primitives/segmented_sort", true), tile.workgroup,
		tile.constant())
}

func (t segmentTile) surveyKernel() recording.Spec[segmentSurveyPush] {
	return recording.Of[segmentSurveyPush]("primitives/segmented_sort_survey", t.workgroup, t.constant())
}

func (a SegmentedSortArgs) gatherKernel(tile segmentTile) recording.Spec[segmentGatherPush] {
	return recording.Of[segmentGatherPush](recording.OfKeys("primitives/segmented_sort_gather", a.Widths.Key),
		tile.workgroup, tile.constant())
}

func segmentNumberKernel() recording.Spec[segmentNumberPush] {
	return recording.Of[segmentNumberPush]("primitives/segmented_sort_number", 0)
}

func (a SegmentedSortArgs) placeKernel() recording.Spec[segmentPlacePush] {
	return recording.Of[segmentPlacePush](a.Widths.module("primitives/segmented_sort_place", true), 0)
}

func (a SegmentedSortArgs) kernels(p *Primitives) recording.Table {
	tile := p.segmentTile(a.Widths.Key)
	all := recording.Table{a.kernel(tile), tile.surveyKernel(), a.gatherKernel(tile), segmentNumberKernel(),
		a.placeKernel()}
	for _, o := range []Operation{
		SortArgs{Widths: a.Widths, Values: a.Values},                         // a single segment,
		SortArgs{Widths: Widths{Key: a.Widths.Key}, Values: recording.Align}, // or long ones by key
		SortArgs{Values: recording.Align},                                    // and by number
		ScanArgs{},
	} {
		all = append(all, o.kernels(p)...)
	}
	return all
}

// segmentedSortPlan is the division of the scratch memory of a segmented sort.
type segmentedSortPlan struct {
	// the number of elements of long segments before each segment, and in all
	starts, total             uint64
	sources, segments         uint64
	keys, indices             uint64
	sortedKeys, sortedIndices uint64
	scan, sort                uint64
	bytes                     uint64
}

func (p *Primitives) segmentedSortPlan(n, segments int, w structures.Width, scratch uint64) (plan segmentedSortPlan) {
	s := recording.Parts{Base: scratch}
	plan.starts, plan.total = s.Take(4*segments), s.Take(4)
	for _, array := range []*uint64{&plan.sources, &plan.segments, &plan.indices, &plan.sortedIndices} {
		*array = s.Take(4 * n)
	}
	plan.keys, plan.sortedKeys = s.Take(w.Bytes()*n), s.Take(w.Bytes()*n)
	plan.scan = s.Take(p.scanScratch(segments, structures.Bits32))
	plan.sort = s.Take(max(p.sortScratch(n, true, Widths{Key: w}), p.sortScratch(n, true, Widths{})))
	plan.bytes = s.Used
	return plan
}

// segmentedSortScratch returns the bytes of scratch memory that SegmentedSort needs for up to n elements of these
// widths in the given number of segments. longest is an upper bound of the length of a segment, or 0 if none is known.
func (p *Primitives) segmentedSortScratch(n, segments, longest int, w Widths) int {
	if w.check() != nil {
		return 0
	}
	n, segments = max(0, min(n, MaxLength)), max(0, segments)
	if !p.segmentTile(w.Key).tooShort(n, longest) {
		return recording.Align
	}
	bytes := int(p.segmentedSortPlan(n, segments, w.Key, 0).bytes)
	if segments == 1 { // sorted like any other array
		bytes = max(bytes, p.sortScratch(n, true, w))
	}
	return bytes
}

// tooShort reports whether a segment may be too long for a workgroup.
func (t segmentTile) tooShort(n, longest int) bool {
	return n > t.fits() && (longest == 0 || longest > t.fits())
}

// SegmentedSort records a stable, ascending sort of each segment of an array. The input is not changed. The output and
// the scratch memory must not overlap it or each other.
//
// Short segments are sorted in shared memory, many by one workgroup. The elements of all long segments are collected,
// and sorted by key and then by segment. If Longest excludes long segments, this part is left out, which saves about
// twenty dispatches.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) SegmentedSort(s *vk.Stream, a SegmentedSortArgs) error {
	return p.whole(s, func() error { return p.segmentedSort(s, a) })
}

func (p *Primitives) segmentedSort(s *vk.Stream, a SegmentedSortArgs) error {
	if err := a.Widths.check(); err != nil {
		return err
	}
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := (Length{N: a.Segments}).check(); err != nil {
		return err
	}
	n := a.Length.N
	if n == 0 || a.Segments == 0 {
		return nil
	}
	if a.Keys == 0 || a.OutKeys == 0 || (a.Values == 0) != (a.OutValues == 0) || a.Offsets == 0 || a.Scratch == 0 {
		return ErrNoMemory
	}
	tile := p.segmentTile(a.Widths.Key)
	long := tile.tooShort(n, a.Longest)
	if a.Segments == 1 && long {
		return p.Sort(s, SortArgs{
			Keys: a.Keys, Values: a.Values, OutKeys: a.OutKeys, OutValues: a.OutValues, Widths: a.Widths,
			Length: Length{N: n, At: a.Offsets + 4}, Scratch: a.Scratch,
		})
	}
	k, err := a.kernel(tile).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(n, tile.stride()), segmentSortPush{
		a.Keys, a.Values, a.OutKeys, a.OutValues, a.Offsets, uint32(a.Segments), uint32(n),
	})
	if !long {
		return nil
	}
	return p.sortLongSegments(s, a, tile)
}

func (p *Primitives) sortLongSegments(s *vk.Stream, a SegmentedSortArgs, tile segmentTile) error {
	n := a.Length.N
	plan := p.segmentedSortPlan(n, a.Segments, a.Widths.Key, a.Scratch)
	all := Length{N: n, At: plan.total}

	// The size of the workgroup determines which segments are long.
	survey, err := tile.surveyKernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	gather, err := a.gatherKernel(tile).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	number, err := segmentNumberKernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	place, err := a.placeKernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}

	sizes := plan.keys // until the keys are written
	if a.Segments > n {
		sizes = plan.starts // there is no other room, and a scan in place costs little more
	}
	survey.Dispatch(s, groups(a.Segments, survey.Workgroup()), segmentSurveyPush{a.Offsets, sizes, uint32(a.Segments)})
	err = p.Scan(s, ScanArgs{In: sizes, Out: plan.starts, Length: Length{N: a.Segments}, Total: plan.total,
		Scratch: plan.scan})
	if err != nil {
		return err
	}
	gather.Dispatch(s, groups(n, gather.Workgroup()), segmentGatherPush{
		a.Keys, a.Offsets, plan.starts, all.device(), plan.keys, plan.indices, plan.sources, plan.segments,
		uint32(a.Segments),
	})
	err = p.Sort(s, SortArgs{
		Keys: plan.keys, Values: plan.indices, OutKeys: plan.sortedKeys, OutValues: plan.sortedIndices,
		Length: all, Widths: Widths{Key: a.Widths.Key}, Scratch: plan.sort,
	})
	if err != nil {
		return err
	}
	number.Dispatch(s, groups(n, number.Workgroup()),
		segmentNumberPush{plan.sortedIndices, plan.segments, all.device(), plan.keys})
	err = p.Sort(s, SortArgs{
		Keys: plan.keys, Values: plan.sortedIndices, OutKeys: plan.sortedKeys, OutValues: plan.indices,
		Length: all, Bits: max(1, bits.Len(uint(n/tile.fits()))), Scratch: plan.sort,
	})
	if err != nil {
		return err
	}
	place.Dispatch(s, groups(n, place.Workgroup()), segmentPlacePush{
		a.Keys, a.Values, a.OutKeys, a.OutValues, plan.indices, plan.sources, all.device(),
	})
	return nil
}
