package recording_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// counting is shaders/primitives/iota.comp: it writes 0, 1, 2, and so on.
type counting struct {
	To    uint64
	Count uint32
}

// All users of a device share its kernels, however many ask at once, and the kernels stay when these users end.
func TestKernelsAreShared(t *testing.T) {
	d := testdevice.Open(t)
	first, second := NewKernels(d), NewKernels(d)
	all := make([]*vk.Kernel[counting], 16)
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			k, err := Of[counting]("primitives/iota", 64).Kernel([]*Kernels{first, second}[i%2], nil)
			if err == nil {
				all[i] = k
			}
		})
	}
	asking.Wait()
	require.NotNil(t, all[0])
	for _, k := range all {
		require.Same(t, all[0], k)
	}
	wider, err := Of[counting]("primitives/iota", 128).Kernel(first, nil)
	require.NoError(t, err)
	require.NotSame(t, all[0], wider)
	require.Equal(t, 128, wider.Workgroup())

	first.Close()
	_, err = Of[counting]("primitives/iota", 64).Kernel(first, nil)
	require.ErrorIs(t, err, vk.ErrClosed)
	k, err := Of[counting]("primitives/iota", 64).Kernel(second, nil)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	to, err := vk.NewBuffer[uint32](d, 100)
	require.NoError(t, err)
	defer to.Free()
	k.Dispatch(s, 2, counting{to.Address(), 100})
	require.NoError(t, s.Wait(t.Context()))
	got := make([]uint32, 100)
	require.NoError(t, to.Download(t.Context(), 0, got))
	for i, word := range got {
		require.EqualValues(t, i, word)
	}

	other := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 30}) // another device
	theirs, err := Of[counting]("primitives/iota", 64).Kernel(NewKernels(other), nil)
	require.NoError(t, err)
	require.NotSame(t, k, theirs)
}

// A kernel that could not be made is tried again by the next call, and a closed device has no kernels.
func TestKernelsThatCantBeMade(t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 30}) // its own device, because the test closes it
	kernels := NewKernels(d)
	_, err := Of[counting]("primitives/iota", d.Info().MaxWorkgroup*2).Kernel(kernels, nil)
	var module *vk.ModuleError
	require.ErrorAs(t, err, &module)
	_, err = Of[counting]("primitives/iota", d.Info().MaxWorkgroup*2).Kernel(kernels, nil)
	require.ErrorAs(t, err, &module)
	require.NoError(t, d.Close())
	_, err = Of[counting]("primitives/iota", 64).Kernel(kernels, nil)
	require.ErrorIs(t, err, vk.ErrClosed)
}

// Numbers that 32 bits cannot hold return an error before anything is recorded. No product or sum is truncated.
func TestBatchesThatAreTooLong(t *testing.T) {
	d := testdevice.Open(t)
	b := testdevice.Room[uint32](t, d, 8)
	var long *structures.CountError
	var length *structures.LengthError
	require.NoError(t, Need(d, b, "keys", 8, 8))
	require.ErrorAs(t, Need(d, b, "keys", 8, 9), &length)
	require.ErrorAs(t, Need(d, b, "keys", MaxBatch+1, 0), &long)
	require.ErrorAs(t, Need(d, b, "keys", 1<<32+1, 0), &long)
	require.ErrorAs(t, Need(d, b, "keys", -1, 0), &long, "less than none")
	first := math.MaxInt
	require.ErrorAs(t, Need(d, b, "keys", 2, first+2), &length, "a sum that has passed the greatest int")

	for _, c := range []struct {
		count, width, places int
		tooLong              bool
	}{
		{0, 0, 0, false}, {3, 5, 15, false}, {1<<32 - 1, 1, 1<<32 - 1, false},
		{1 << 16, 1<<16 - 1, 1<<32 - 1<<16, false},
		{1 << 16, 1 << 16, 0, true}, {1 << 31, 3, 0, true}, {1 << 40, 1 << 40, 0, true},
		{math.MaxInt, math.MaxInt, 0, true},
	} {
		places, err := Windows(c.count, c.width)
		require.Equal(t, c.places, places, "%+v", c)
		require.Equal(t, c.tooLong, err != nil, "%+v: %v", c, err)
		if c.tooLong {
			require.ErrorAs(t, err, &long)
		}
	}
	_, err := Windows(-1, 5)
	require.ErrorAs(t, err, &long, "less than none")
	_, err = Windows(5, -1)
	require.ErrorAs(t, err, &length)
}

// The memory of a closed stream is freed when another stream takes memory.
func TestMemoryOfClosedStreams(t *testing.T) {
	d := testdevice.Open(t)
	scratch, own := NewScratch(d), NewOwn(d)
	var uses vk.Uses
	stays := testdevice.Stream(t, d)
	var first [2]uint64
	for i := range 10 {
		s, err := d.NewStream()
		require.NoError(t, err)
		for _, s := range []*vk.Stream{s, stays} {
			_, err = scratch.Take(s, 1<<16)
			require.NoError(t, err)
			_, _, err = own.Batch(s, structures.Insert, structures.DeviceBatch{Count: 100}, true)
			require.NoError(t, err)
			require.NoError(t, s.Wait(t.Context()))
		}
		require.NoError(t, s.Close())
		if i == 0 {
			first = [2]uint64{scratch.Bytes(), own.Bytes()}
		}
		require.Equal(t, first, [2]uint64{scratch.Bytes(), own.Bytes()})
	}
	scratch.Release(&uses)
	own.Release(&uses)
}
