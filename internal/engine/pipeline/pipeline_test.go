package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// echo is shaders/test/words.comp: it copies words from one address to another.
type echo struct {
	From  uint64
	To    uint64
	Count uint32
}

// rig is a pipeline with a kernel for its tasks.
type rig struct {
	t *testing.T
	f *Pool
	k *vk.Kernel[echo]
	// pendings is the number of operations that each of the next records leaves pending. Later records leave none.
	pendings []uint32
	records  []Chunk
	recovers []string
	told     []int
	counts   *vk.HostBuffer[uint32]
}

// newRig makes a pipeline of small chunks, which works in the host's memory if a chunk takes up to so many bytes.
func newRig(t *testing.T, chunk, direct int) *rig {
	d := testdevice.Open(t)
	m, err := kernels.Load("test/words")
	require.NoError(t, err)
	k, err := vk.NewKernel[echo](d, m, vk.KernelOptions{})
	require.NoError(t, err)
	counts, err := vk.NewHostBuffer[uint32](d, 64)
	require.NoError(t, err)
	f := &rig{t: t, f: NewPool(d), k: k, counts: counts}
	f.f.chunk, f.f.direct = chunk, direct
	t.Cleanup(func() {
		require.NoError(t, f.f.Close())
		require.NoError(t, f.f.Close())
		k.Free()
		counts.Free()
	})
	return f
}

// eachWay runs a test with copies to the device, without, and with copies of large chunks.
func eachWay(t *testing.T, test func(t *testing.T, direct int)) {
	t.Run("direct", func(t *testing.T) { test(t, math.MaxInt) })
	t.Run("copied", func(t *testing.T) { test(t, 0) })
	t.Run("either", func(t *testing.T) { test(t, 800) })
}

// task copies column 0 to column 1.
func (f *rig) task() Task {
	return Task{
		Record: func(s *vk.Stream, c Chunk) error {
			f.k.Dispatch(s, (c.Count+f.k.Workgroup()-1)/f.k.Workgroup(),
				echo{c.Columns[0], c.Columns[1], uint32(c.Count)})
			if len(f.pendings) != 0 {
				at := len(f.records)
				f.counts.Slice()[at] = f.pendings[0]
				f.pendings = f.pendings[1:]
				f.k.Dispatch(s, 1, echo{f.counts.AddressOf(at), c.Pending, 1})
			}
			f.records = append(f.records, c)
			return nil
		},
		Recover: func(_ context.Context, pending int, stuck bool) error {
			f.recovers = append(f.recovers, fmt.Sprint(pending, stuck))
			return nil
		},
		Progress: func(done, total int) { f.told = append(f.told, done, total) },
	}
}

func TestSizes(t *testing.T) {
	eachWay(t, func(t *testing.T, direct int) {
		const chunk = 1000
		f := newRig(t, chunk, direct)
		for _, n := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk, 3*chunk + 1, 7*chunk + 13, 5} {
			f.records, f.told = nil, nil
			in, out := make([]uint32, n), make([]uint32, n)
			for i := range in {
				in[i] = uint32(i * 7)
			}
			require.NoError(t, run(f.f, t.Context(), n, []Column{In(in), Out(out)}, f.task()))
			for i := range out {
				if out[i] != in[i] {
					t.Fatalf("of %d: element %d is %d", n, i, out[i])
				}
			}
			require.Equal(t, (n+chunk-1)/chunk, len(f.records))
			next := 0
			for i, c := range f.records {
				require.Equal(t, next, c.First)
				require.False(t, c.Retry)
				next += c.Count
				require.Equal(t, []int{min(next, n), n}, f.told[2*i:2*i+2])
			}
			require.Equal(t, n, next)
		}
	})
}

func TestColumns(t *testing.T) {
	type small uint8
	eachWay(t, func(t *testing.T, direct int) {
		f := newRig(t, 100, direct)
		const n = 250
		bytes, both, none := make([]small, n), make([]uint64, n), []uint32(nil)
		for i := range both {
			bytes[i], both[i] = small(i), uint64(i)<<32|uint64(i)
		}
		runs := 0
		require.NoError(t, run(f.f, t.Context(), n, []Column{In(none), {}, In(bytes), Through(both, both), Out(none)},
			Task{
				Record: func(s *vk.Stream, c Chunk) error {
					require.Zero(t, c.Columns[0])
					require.Zero(t, c.Columns[1])
					require.Zero(t, c.Columns[4])
					for _, i := range []int{2, 3} {
						require.NotZero(t, c.Columns[i])
						require.Zero(t, c.Columns[i]%16, "columns may be read by vectors")
					}
					// The bytes of the chunk are written to the upper half of its first pairs.
					f.k.Dispatch(s, 1, echo{c.Columns[2], c.Columns[3] + 4, 1})
					runs++
					return nil
				},
			}))
		require.Equal(t, 3, runs)
		for i, v := range both {
			want := uint64(i)<<32 | uint64(i)
			if i%100 == 0 {
				first := uint64(*(*uint32)(unsafe.Pointer(&bytes[i])))
				want = first<<32 | uint64(i)
			}
			if v != want {
				t.Fatalf("element %d is %#x, want %#x", i, v, want)
			}
		}
		for i, b := range bytes {
			require.Equal(t, small(i), b, "what only goes in is left alone")
		}
	})
}

// If recording submits work in order to wait for it, the work sees all of its chunk, while the next chunk is copied
// into its slot.
func TestRecordsThatWait(t *testing.T) {
	eachWay(t, func(t *testing.T, direct int) {
		const chunk, n = 1 << 16, 7<<16 + 5 // large enough for the copies to take their time
		f := newRig(t, chunk, direct)
		in, out := make([]uint32, n), make([]uint32, n)
		task := f.task()
		record := task.Record
		task.Record = func(s *vk.Stream, c Chunk) error {
			if err := record(s, c); err != nil {
				return err
			}
			return s.Wait(t.Context())
		}
		for round := range uint32(5) { // over the last round's words
			for i := range in {
				in[i] = uint32(i) + round<<24
			}
			require.NoError(t, run(f.f, t.Context(), n, []Column{In(in), Out(out)}, task))
			for i := range out {
				if out[i] != in[i] {
					t.Fatalf("round %d: element %d is %#x, not %#x", round, i, out[i], in[i])
				}
			}
		}
	})
}

// If the recording of a chunk submits a part and then finds too little room, none of it is running when its memory is
// given back, because another chunk or another user may then use the memory.
func TestNothingRunsBehindARefusal(t *testing.T) {
	eachWay(t, func(t *testing.T, direct int) {
		f := newRig(t, 1<<10, direct)
		long := testdevice.Room[uint32](t, f.f.d, 1<<22)
		task := f.task()
		record := task.Record
		var submitted vk.Point
		refused := false
		task.Record = func(s *vk.Stream, c Chunk) error {
			if refused {
				done, err := submitted.Done()
				require.NoError(t, err)
				require.True(t, done)
				return record(s, c)
			}
			refused = true
			for range 50 {
				s.Fill(long, 0, long.Len(), 0)
			}
			var err error
			submitted, err = s.Submit()
			require.NoError(t, err)
			done, err := submitted.Done()
			require.NoError(t, err)
			require.False(t, done, "else this shows nothing")
			return &vk.OutOfMemoryError{}
		}
		in, out := make([]uint32, 1<<10), make([]uint32, 1<<10)
		for i := range in {
			in[i] = uint32(i) + 1
		}
		require.NoError(t, run(f.f, t.Context(), len(in), []Column{In(in), Out(out)}, task))
		require.True(t, refused)
		require.Equal(t, in, out)
	})
}

// Pending operations are dispatched again after Recover, which is called when no chunk runs.
func TestRecovers(t *testing.T) {
	eachWay(t, func(t *testing.T, direct int) {
		f := newRig(t, 10, direct)
		f.pendings = []uint32{0, 3, 0, 3 /* again: */, 4, 4, 4, 4, 1, 0}
		in, out := make([]uint32, 40), make([]uint32, 40)
		for i := range in {
			in[i] = uint32(i + 1)
		}
		require.NoError(t, run(f.f, t.Context(), 40, []Column{In(in), Out(out)}, f.task()))
		for i := range out {
			require.Equal(t, in[i], out[i])
		}
		retries, firsts := 0, map[int]int{}
		for _, c := range f.records {
			firsts[c.First]++
			if c.Retry {
				retries++
			}
		}
		require.Equal(t, 4+retries, len(f.records))
		require.Len(t, firsts, 4)
		require.Equal(t, []string{"6 false", "8 false", "8 true", "1 false"}, f.recovers)
		require.Equal(t, []int{40, 40}, f.told[len(f.told)-2:])
	})
}

// Chunks with pending operations are dispatched again in the order of the batch, whichever slot is the next one.
func TestRecoversInOrder(t *testing.T) {
	for chunks := 1; chunks <= 5; chunks++ {
		f := newRig(t, 10, math.MaxInt)
		f.pendings = []uint32{1, 1, 1 /* again: */, 1, 1, 1}
		in, out := make([]uint32, 10*chunks), make([]uint32, 10*chunks)
		require.NoError(t, run(f.f, t.Context(), len(in), []Column{In(in), Out(out)}, f.task()))
		var retried []int
		for _, c := range f.records {
			if c.Retry {
				retried = append(retried, c.First)
			}
		}
		want := []int{0, 10, 20}[:min(chunks, 3)]
		require.Equal(t, want, retried[:len(want)])
		require.Equal(t, want, retried[len(want):2*len(want)])
	}
}

func run(p *Pool, ctx context.Context, n int, columns []Column, task Task) error {
	_, err := p.Run(ctx, n, columns, task)
	return err
}

var errTest = errors.New("no more")

func TestErrors(t *testing.T) {
	eachWay(t, func(t *testing.T, direct int) {
		in, out := make([]uint32, 60), make([]uint32, 60)
		for i := range in {
			in[i] = uint32(i + 1)
		}
		columns := []Column{In(in), Out(out)}
		f := newRig(t, 10, direct)
		reset := func() {
			f.records, f.recovers, f.told, f.pendings = nil, nil, nil, nil
			clear(out)
		}
		good := func() {
			t.Helper()
			reset()
			require.NoError(t, run(f.f, t.Context(), 60, columns, f.task()))
			for i := range out {
				require.Equal(t, in[i], out[i])
			}
		}
		good()

		// Record fails at the fifth chunk. Earlier chunks are done, and later ones do not begin.
		reset()
		task := f.task()
		record := task.Record
		task.Record = func(s *vk.Stream, c Chunk) error {
			if c.First == 40 {
				return errTest
			}
			return record(s, c)
		}
		require.ErrorIs(t, run(f.f, t.Context(), 60, columns, task), errTest)
		for i := range out {
			want := in[i]
			if i >= 40 {
				want = 0
			}
			require.Equal(t, want, out[i])
		}
		good()

		// Recover fails. Finished chunks have their outputs, and no other chunk begins.
		reset()
		f.pendings = []uint32{0, 5}
		task = f.task()
		task.Recover = func(context.Context, int, bool) error { return errTest }
		require.ErrorIs(t, run(f.f, t.Context(), 60, columns, task), errTest)
		require.Less(t, len(f.records), 6)
		for i := range len(f.records) * 10 {
			require.Equal(t, in[i], out[i])
		}
		for i := len(f.records) * 10; i < 60; i++ {
			require.Zero(t, out[i])
		}
		good()

		// If cancelled before, nothing begins. If cancelled during Recover, nothing more begins.
		reset()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, run(f.f, ctx, 60, columns, f.task()), context.Canceled)
		require.Empty(t, f.records)
		require.NoError(t, run(f.f, ctx, 0, columns, f.task()), "nothing to do is done")
		ctx, cancel = context.WithCancel(t.Context())
		f.pendings = []uint32{1, 1, 1, 1, 1, 1, 1}
		task = f.task()
		task.Recover = func(context.Context, int, bool) error { cancel(); return nil }
		require.ErrorIs(t, run(f.f, ctx, 60, columns, task), context.Canceled)
		require.LessOrEqual(t, len(f.records), 6)
		good()
	})
}

func TestWithoutMemory(t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 20})
	f := NewPool(d)
	defer f.Close()
	n := 1 << 16
	data := make([]uint64, n)
	record := func(*vk.Stream, Chunk) error { return nil }
	var memory *vk.OutOfMemoryError
	var counts []int
	counted := func(_ *vk.Stream, c Chunk) error { counts = append(counts, c.Count); return nil }
	columns := []Column{Through(data, data), Through(data, data), Through(data, data)}
	require.NoError(t, run(f, t.Context(), n, columns, Task{Record: counted}), "in parts")
	require.Less(t, counts[0], n)
	counts = nil
	require.ErrorAs(t, run(f, t.Context(), n, columns, Task{Record: counted, Whole: true}), &memory)
	require.Empty(t, counts, "a part of what is to be whole")
	full := func(*vk.Stream, Chunk) error { return &vk.OutOfMemoryError{} }
	require.ErrorAs(t, run(f, t.Context(), n, columns, Task{Record: full}), &memory)
	require.NoError(t, run(f, t.Context(), 100, []Column{Through(data[:100], data[:100])}, Task{Record: record}),
		"a smaller one")
}
