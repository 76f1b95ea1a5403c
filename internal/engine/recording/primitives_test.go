package recording_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// If any one kernel of a primitive can't be made, the primitive writes nothing. Earlier work of the batch runs only if
// none of the primitive was recorded.
func TestEveryKernelOfPrimitivesFails(t *testing.T) {
	d := testdevice.Open(t)
	b := buffers{t, d}
	s := testdevice.Stream(t, d)
	const n = 1 << 14
	in, out, values := b.words(keysOf(n, 0)...), b.room(2*n), b.room(n)
	sorted := make([]uint32, n)
	for i := range sorted {
		sorted[i] = uint32(3 * i)
	}
	ascending, offsets, own := b.words(sorted...), b.words(0, 5000, 5001, n), b.words(0)
	length := primitives.Length{N: n}
	for _, form := range []primitives.Form{primitives.SinglePass, primitives.MultiPass} {
		p := primitives.New(d, primitives.Options{Form: form})
		defer p.Close()
		all := primitives.Length{N: n}
		room := max(p.Scratch(primitives.SortArgs{Length: all, Values: 1}),
			p.Scratch(primitives.SegmentedSortArgs{Length: all, Segments: 3}),
			p.Scratch(primitives.BoundsArgs{Length: all, Count: all}), p.Scratch(primitives.ScanArgs{Length: all}),
			p.Scratch(primitives.MergeArgs{A: primitives.Run{Length: primitives.Length{N: 2 * n}}}),
			p.Scratch(primitives.CompactArgs{}), p.Scratch(primitives.PartitionArgs{Bits: 8}),
			p.Scratch(primitives.RunLengthArgs{}), p.Scratch(primitives.TopKArgs{Length: all, K: n}),
			p.Scratch(primitives.ReduceArgs{Length: all}), 1<<16)
		scratch := testdevice.Room[uint8](t, d, room).Address()
		run := primitives.Run{Keys: ascending.Address(), Length: length}
		for name, record := range map[string]func() error{
			"Sort": func() error {
				return p.Sort(s, primitives.SortArgs{Keys: in.Address(), Values: in.Address(), OutKeys: out.Address(),
					OutValues: values.Address(), Length: length, Scratch: scratch})
			},
			"SegmentedSort": func() error {
				return p.SegmentedSort(s, primitives.SegmentedSortArgs{Keys: in.Address(), OutKeys: out.Address(),
					Length: length, Offsets: offsets.Address(), Segments: 3, Scratch: scratch})
			},
			"TopK": func() error {
				return p.TopK(s, primitives.TopKArgs{Keys: in.Address(), OutKeys: out.Address(),
					OutValues: values.Address(), K: 1000, Length: length, Scratch: scratch})
			},
			"Scan": func() error {
				return p.Scan(s, primitives.ScanArgs{In: in.Address(), Out: out.Address(), Length: length,
					Scratch: scratch})
			},
			"Compact": func() error {
				return p.Compact(s, primitives.CompactArgs{Keys: in.Address(), Flags: ascending.Address(),
					OutKeys: out.Address(), Length: length, Scratch: scratch})
			},
			"Partition": func() error {
				return p.Partition(s, primitives.PartitionArgs{Keys: in.Address(), OutKeys: out.Address(),
					Length: length, Bits: 4, Scratch: scratch})
			},
			"Reduce": func() error {
				return p.Reduce(s, primitives.ReduceArgs{In: in.Address(), Out: out.Address(), Length: length,
					Scratch: scratch})
			},
			"RunLength": func() error {
				return p.RunLength(s, primitives.RunLengthArgs{Keys: in.Address(), OutKeys: out.Address(),
					OutCounts: values.Address(), Length: length, Scratch: scratch})
			},
			"Histogram": func() error {
				return p.Histogram(s, primitives.HistogramArgs{Keys: in.Address(), Out: out.Address(), Bits: 8,
					Length: length})
			},
			"Merge": func() error {
				return p.Merge(s, primitives.MergeArgs{A: run, B: run, OutKeys: out.Address(), Scratch: scratch})
			},
			"Bounds": func() error {
				return p.Bounds(s, primitives.BoundsArgs{Keys: ascending.Address(), Length: length,
					Queries: in.Address(), Count: length, Out: out.Address(), Scratch: scratch})
			},
			"Iota": func() error { return p.Iota(s, out.Address(), n) },
		} {
			t.Run(name, func(t *testing.T) { endEach(t, s, record, own, out) })
		}
	}
}

// endEach ends a recorded call at each of its kernels.
func endEach(t *testing.T, s *vk.Stream, record func() error, own, out *vk.Buffer[uint32]) {
	for n := 1; ; n++ {
		s.Fill(out, 0, out.Len(), untouched)
		s.Fill(own, 0, 1, 0)
		require.NoError(t, s.Wait(t.Context()))
		reached := failAt(t, n)
		s.Fill(own, 0, 1, 1)
		err := record()
		if !reached() {
			require.NoError(t, err)
			require.Greater(t, n, 1)
			require.NoError(t, s.Wait(t.Context()))
			require.NotEqual(t, uint32(untouched), testdevice.Download(t, out, 1)[0])
			return
		}
		require.ErrorIs(t, err, errStage)
		sent := s.Wait(t.Context())
		require.Equal(t, sent == nil, testdevice.Download(t, own, 1)[0] == 1)
		require.True(t, n > 1 || sent == nil)
		for _, word := range testdevice.Download(t, out, out.Len()) {
			require.Equal(t, uint32(untouched), word)
		}
	}
}
