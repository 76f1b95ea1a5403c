package primitives

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// rig is an open device with the primitives under test.
type rig struct {
	t       *testing.T
	d       *vk.Device
	s       *vk.Stream
	p       *Primitives
	buffers []interface{ Free() }
	draw    *rand.Rand // of someLength
}

func newRig(t *testing.T, options ...Options) *rig {
	t.Helper()
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	r := &rig{t: t, d: testdevice.Open(t)}
	r.p = New(r.d, o)
	var err error
	r.s, err = r.d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		r.release()
		require.NoError(t, r.s.Close())
		require.NoError(t, r.p.Close())
	})
	return r
}

// eachForm runs a test in every form that an operation has.
func eachForm(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Run("single pass", func(t *testing.T) { test(t, newRig(t, Options{Form: SinglePass})) })
	t.Run("single pass, never waiting", func(t *testing.T) {
		r := newRig(t, Options{Form: SinglePass})
		r.p.patience = 0
		test(t, r)
	})
	t.Run("multi pass", func(t *testing.T) { test(t, newRig(t, Options{Form: MultiPass})) })
}

// release frees the buffers of upload, room and scratch.
func (r *rig) release() {
	for _, b := range r.buffers {
		b.Free()
	}
	r.buffers = nil
}

// upload returns a buffer with these elements. release frees it.
func upload[T vk.Element](r *rig, data []T) *vk.Buffer[T] {
	r.t.Helper()
	b, err := vk.NewBuffer[T](r.d, len(data))
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	require.NoError(r.t, b.Upload(r.t.Context(), 0, data))
	return b
}

// number is an element of either width.
type number interface {
	uint32 | uint64
	vk.Element
}

// widthOf returns the width of T.
func widthOf[T number]() structures.Width { return structures.Width(bits.Len64(uint64(^T(0))) / 64) }

// room returns a buffer of n words, all set to untouched. Guard words follow them, which download checks. release frees
// it.
func room(r *rig, n int) *vk.Buffer[uint32] { return roomOf[uint32](r, n) }

// roomOf returns room for n numbers, all of whose words are untouched.
func roomOf[T number](r *rig, n int) *vk.Buffer[T] {
	r.t.Helper()
	b, err := vk.NewBuffer[T](r.d, n+guard)
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	r.s.Fill(b, 0, b.Len(), untouched)
	return b
}

const (
	untouched = 0xbad0feed
	guard     = 64
)

// download returns the first n numbers of a room, and requires its other words to be untouched.
func download[T number](r *rig, b *vk.Buffer[T], n int) []T {
	r.t.Helper()
	data := make([]T, b.Len())
	require.NoError(r.t, b.Download(r.t.Context(), 0, data))
	both := uint64(untouched<<32 | untouched)
	for i, x := range data[n:] {
		if x != T(both) {
			require.FailNow(r.t, "written beyond the end", "number %d of %d is %#x", n+i, n, x)
		}
	}
	return data[:n]
}

// scratch returns the address of the given number of bytes, whose words are untouched. release frees them.
func (r *rig) scratch(bytes int) uint64 {
	r.t.Helper()
	return room(r, (bytes+3)/4).Address()
}

// run waits for the recorded work, and requires that recording succeeded.
func (r *rig) run(recorded error) {
	r.t.Helper()
	require.NoError(r.t, recorded)
	require.NoError(r.t, r.s.Wait(r.t.Context()))
}

// eachLength runs a test with three arrays of n elements: the host knows the length; only the device knows the length,
// and the bound is greater; the length on the device is greater than the bound.
func eachLength(r *rig, n int, test func(l Length, name string)) {
	r.t.Helper()
	for kind := range 3 {
		l, name := lengthOf(r, n, kind)
		test(l, name)
	}
}

// someLength runs a test with one of these, drawn anew for each call, but the same each time the test runs. It is for
// tests with hundreds of cases, which meet each kind of length often enough. With VKDS_STRESS, it tries all three.
func someLength(r *rig, n int, test func(l Length, name string)) {
	r.t.Helper()
	if stress.Level > 0 {
		eachLength(r, n, test)
		return
	}
	if r.draw == nil {
		name := fnv.New64()
		name.Write([]byte(r.t.Name()))
		r.draw = random(name.Sum64())
	}
	l, name := lengthOf(r, n, r.draw.IntN(3))
	test(l, name)
}

func lengthOf(r *rig, n, kind int) (l Length, name string) {
	r.t.Helper()
	word := func(value uint32) uint64 { return upload(r, []uint32{value}).Address() }
	switch kind {
	case 0:
		return Length{N: n}, fmt.Sprintf("%d", n)
	case 1:
		most := n + n/2 + 3
		return Length{N: most, At: word(uint32(n))}, fmt.Sprintf("%d on the device, at most %d", n, most)
	default:
		return Length{N: n, At: word(math.MaxUint32)}, fmt.Sprintf("%d on the device, which says more", n)
	}
}

// lengths returns the lengths for tests of an operation: small ones, and those next to powers of two up to most.
func lengths(most int) []int {
	all := []int{0, 1, 2, 3, 5, 31, 32, 33, 100}
	for n := 128; n <= most; n *= 4 {
		all = append(all, n-1, n, n+1)
	}
	return append(all, most-7)
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 4)) }

// words returns n words below a bound; 0 stands for 2^32.
func words(seed uint64, n int, below uint32) []uint32 { return numbers(seed, n, below) }

// numbers returns n numbers below a bound; 0: any numbers.
func numbers[T number](seed uint64, n int, below T) []T {
	g, all := random(seed), make([]T, n)
	for i := range all {
		if all[i] = T(g.Uint64()); below != 0 {
			all[i] %= below
		}
	}
	return all
}

// edges returns the numbers of which either word has all bits clear or all bits set, and their neighbors. At 64 bits,
// some of them differ only in the high word, or only in the low one.
func edges[T number]() (all []T) {
	for _, high := range []uint64{0, 1, math.MaxUint32 - 1, math.MaxUint32} {
		for _, low := range []uint64{0, 1, math.MaxUint32 - 1, math.MaxUint32} {
			if widthOf[T]() == structures.Bits64 || high == 0 {
				all = append(all, T(high<<32|low))
			}
		}
	}
	return all
}

// requireWords is require.Equal for many words, or numbers: it names the first that differs.
func requireWords[T number](t testing.TB, want, got []T, format string, arguments ...any) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	what := fmt.Sprintf(format, arguments...)
	require.Equal(t, len(want), len(got), "%s: length", what)
	for i := range want {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i], "%s: number %d of %d", what, i, len(want))
		}
	}
}

// eachRound runs a test of an operation that divides an array into chunks, with many chunks and with few.
func eachRound(t *testing.T, s *shape, test func(t *testing.T, r *rig)) {
	t.Run("in one round", func(t *testing.T) { test(t, newRig(t, Options{Form: MultiPass})) })
	t.Run("in rounds", func(t *testing.T) {
		inRounds(t, s)
		test(t, newRig(t, Options{Form: MultiPass}))
	})
}

// inRounds limits the chunks of an operation until the end of the test, so that each workgroup does several parts.
func inRounds(t *testing.T, s *shape) {
	chunks := s.chunks
	s.chunks = 3
	t.Cleanup(func() { s.chunks = chunks })
}

// long skips a test that takes too much time or memory for daily runs, or needs buffers that the device does not have.
func long(t *testing.T) {
	if stress.Level == 0 {
		t.Skip("takes gigabytes and minutes: set VKDS_STRESS=1")
	}
	if i := testdevice.Open(t).Info(); i.MaxBufferBytes < 5<<29 {
		t.Skipf("takes buffers of more than 2^31 bytes: those of %s end at %d", i.Name, i.MaxBufferBytes)
	}
}
