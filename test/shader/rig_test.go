// Package shader tests the device-side library: each function of shaders/include is driven by a small kernel of
// shaders/test, and its answers are compared with a model in Go.
package shader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// rig is an open device with what the tests do on it.
type rig struct {
	t       *testing.T
	d       *vk.Device
	s       *vk.Stream
	buffers []interface{ Free() }
}

func newRig(t *testing.T, options ...vk.Options) *rig {
	t.Helper()
	r := &rig{t: t, d: testdevice.Open(t, options...)}
	var err error
	r.s, err = r.d.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		r.release()
		require.NoError(t, r.s.Close())
	})
	return r
}

// eachProtocol runs a test with 64-bit atomics, where the device has them, and without, unless other runs have that.
func eachProtocol(t *testing.T, test func(t *testing.T, r *rig, wide bool)) {
	t.Run("a64", func(t *testing.T) {
		r := newRig(t)
		if !r.d.Has(vk.Int64Atomics) {
			t.Skipf("%s has no 64-bit atomics", r.d.Info().Name)
		}
		test(t, r, true)
	})
	t.Run("a32", func(t *testing.T) {
		if testdevice.OneProtocol(testdevice.Open(t)) {
			t.Skip("other runs have this protocol")
		}
		test(t, newRig(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}), false)
	})
}

// eachWidth runs a test for every width of tiles that work on nodes; for the widest in short runs, of kernels that
// SwiftShader compiles for long: the others are lavapipe's at as many lanes.
func (r *rig) eachWidth(test func(t *testing.T, width int)) {
	if testing.Short() {
		width := min(8, r.d.SubgroupSize())
		r.t.Run(fmt.Sprintf("tile%d", width), func(t *testing.T) { test(t, width) })
		return
	}
	r.eachWidthTo(8, test)
}

// eachWidthTo runs a test for every tile width of the device, up to one.
func (r *rig) eachWidthTo(widest int, test func(t *testing.T, width int)) {
	for width := 1; width <= min(widest, r.d.SubgroupSize()); width *= 2 {
		r.t.Run(fmt.Sprintf("tile%d", width), func(t *testing.T) { test(t, width) })
	}
}

// release frees all buffers that put and room made.
func (r *rig) release() {
	for _, b := range r.buffers {
		b.Free()
	}
	r.buffers = nil
}

// room is a buffer of n elements, all of whose bits are set, until release.
func room[T vk.Element](r *rig, n int) *vk.Buffer[T] {
	b, err := vk.NewBuffer[T](r.d, n)
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	whole := n
	if b.Bytes() < 4*uint64(n) {
		whole = n &^ 3 // bytes, of which Fill takes whole words
	}
	if whole > 0 {
		r.s.Fill(b, 0, whole, ^uint32(0))
		require.NoError(r.t, r.s.Wait(r.t.Context()))
	}
	return b
}

// put is a buffer with these elements, until release.
func put[T vk.Element](r *rig, data []T) *vk.Buffer[T] {
	b, err := vk.NewBuffer[T](r.d, len(data))
	require.NoError(r.t, err)
	r.buffers = append(r.buffers, b)
	require.NoError(r.t, b.Upload(r.t.Context(), 0, data))
	return b
}

func get[T vk.Element](r *rig, b *vk.Buffer[T]) []T {
	data := make([]T, b.Len())
	require.NoError(r.t, b.Download(r.t.Context(), 0, data))
	return data
}

// kernel makes a kernel of a module, until the test's end.
func kernel[P any](t *testing.T, r *rig, module string, constants map[string]uint32) *vk.Kernel[P] {
	t.Helper()
	m, err := kernels.Load(module)
	require.NoError(t, err)
	k, err := vk.NewKernel[P](r.d, m, vk.KernelOptions{Constants: constants})
	require.NoError(t, err)
	t.Cleanup(k.Free)
	return k
}

// run dispatches at least so many invocations and waits for them.
func run[P any](r *rig, k *vk.Kernel[P], invocations int, p P) {
	k.Dispatch(r.s, (invocations+k.Workgroup()-1)/k.Workgroup(), p)
	require.NoError(r.t, r.s.Wait(r.t.Context()))
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 4)) }

// requireWords is require.Equal for words, quick where they are equal.
func requireWords[N number](t require.TestingT, want, got []N, format string, arguments ...any) {
	if !slices.Equal(want, got) {
		require.Equal(t, want, got, fmt.Sprintf(format, arguments...))
	}
}
