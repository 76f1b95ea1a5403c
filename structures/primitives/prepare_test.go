package primitives

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// madeKernels counts the kernels that a device makes.
type madeKernels struct {
	slog.Handler
	n *atomic.Int32
}

func (m madeKernels) Enabled(context.Context, slog.Level) bool { return true }

func (m madeKernels) WithAttrs([]slog.Attr) slog.Handler { return m }

func (m madeKernels) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "kernel made" {
		m.n.Add(1)
	}
	return nil
}

// After Prepare, no operation makes a kernel, and each has enough scratch memory.
func TestPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels there are is the host's business")
	var made atomic.Int32
	d := testdevice.Open(t, vk.Options{CacheDir: "none", Logger: slog.New(madeKernels{slog.DiscardHandler, &made})})
	s := testdevice.Stream(t, d)
	const n = 1 << 14
	zeros := testdevice.Upload(t, d, make([]uint32, 2*n)).Address()
	out, more := testdevice.Room[uint32](t, d, 2*n).Address(), testdevice.Room[uint32](t, d, n).Address()
	least := testdevice.Room[uint32](t, d, n).Address()
	length, run := Length{N: n}, Run{Keys: zeros, Length: Length{N: n}}
	for _, form := range []Form{SinglePass, MultiPass} {
		p := New(d, Options{Form: form})
		all := []Operation{
			SortArgs{Keys: zeros, Values: zeros, OutKeys: out, OutValues: more, Length: length},
			SegmentedSortArgs{Keys: zeros, OutKeys: out, Length: length, Offsets: zeros, Segments: 3},
			TopKArgs{Keys: zeros, OutKeys: out, OutValues: more, K: 100, Length: length},
			PartitionArgs{Keys: zeros, OutKeys: out, Length: length, Bits: 4},
			ScanArgs{In: zeros, Out: out, Length: length},
			ReduceArgs{In: zeros, Out: out, Length: length},
			MergeArgs{A: run, B: run, OutKeys: out},
			CompactArgs{Keys: zeros, Flags: zeros, OutKeys: out, Length: length},
			RunLengthArgs{Keys: zeros, OutKeys: out, OutCounts: more, Length: length},
			ReduceByKeyArgs{Keys: zeros, Values: zeros, OutKeys: out, OutCounts: more, OutMins: least, Length: length},
			BoundsArgs{Keys: zeros, Length: length, Queries: zeros, Count: length, Out: out},
			HistogramArgs{Keys: zeros, Out: out, Bits: 8, Length: length},
		}
		for _, o := range all {
			require.NoError(t, p.Prepare(t.Context(), o))
			before, scratch := made.Load(), testdevice.Room[uint8](t, d, max(1, p.Scratch(o))).Address()
			var err error
			switch a := o.(type) {
			case SortArgs:
				a.Scratch = scratch
				for _, shorter := range []int{1, 100, 2049, n} { // which may have kernels of their own
					a.Length.N = shorter
					err = cmp.Or(err, p.Sort(s, a))
				}
			case SegmentedSortArgs:
				a.Scratch = scratch
				err = p.SegmentedSort(s, a)
			case TopKArgs:
				a.Scratch = scratch
				err = p.TopK(s, a)
			case PartitionArgs:
				a.Scratch = scratch
				err = p.Partition(s, a)
			case ScanArgs:
				a.Scratch = scratch
				err = p.Scan(s, a)
			case ReduceArgs:
				a.Scratch = scratch
				err = p.Reduce(s, a)
			case MergeArgs:
				a.Scratch = scratch
				err = p.Merge(s, a)
			case CompactArgs:
				a.Scratch = scratch
				err = p.Compact(s, a)
			case RunLengthArgs:
				a.Scratch = scratch
				err = p.RunLength(s, a)
			case ReduceByKeyArgs:
				a.Scratch = scratch
				err = p.ReduceByKey(s, a)
			case BoundsArgs:
				a.Scratch = scratch
				err = p.Bounds(s, a)
			case HistogramArgs:
				err = p.Histogram(s, a)
			}
			require.NoError(t, err, "%T", o)
			require.NoError(t, s.Wait(t.Context()))
			require.Equal(t, before, made.Load(), "kernels made by %T", o)
		}
		require.NotZero(t, made.Load())
		require.NoError(t, p.Close())
		require.ErrorIs(t, p.Prepare(t.Context(), all[0]), vk.ErrClosed)
	}
}
