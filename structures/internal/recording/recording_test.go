package recording

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// copying is shaders/test/words.comp: it copies words.
type copying struct {
	From, To uint64
	Count    uint32
}

// Kernels are shared by all who use a device, however many ask at once, and outlive those who asked.
func TestKernelsAreShared(t *testing.T) {
	d := testdevice.Open(t)
	first, second := NewKernels(d), NewKernels(d)
	all := make([]*vk.Kernel[copying], 16)
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			k, err := ask[copying]([]*Kernels{first, second}[i%2], "test/words", 64)
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
	wider, err := ask[copying](first, "test/words", 128)
	require.NoError(t, err)
	require.NotSame(t, all[0], wider)
	require.Equal(t, 128, wider.Workgroup())

	first.Close()
	_, err = ask[copying](first, "test/words", 64)
	require.ErrorIs(t, err, vk.ErrClosed)
	k, err := ask[copying](second, "test/words", 64)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	from, err := vk.NewBuffer[uint32](d, 100)
	require.NoError(t, err)
	defer from.Free()
	to, err := vk.NewBuffer[uint32](d, 100)
	require.NoError(t, err)
	defer to.Free()
	s.Fill(from, 0, 400, 7)
	k.Dispatch(s, 2, copying{from.Address(), to.Address(), 100})
	require.NoError(t, s.Wait(t.Context()))
	got := make([]uint32, 100)
	require.NoError(t, to.Download(t.Context(), 0, got))
	for _, word := range got {
		require.EqualValues(t, 7, word)
	}

	other := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 30}) // another device
	theirs, err := ask[copying](NewKernels(other), "test/words", 64)
	require.NoError(t, err)
	require.NotSame(t, k, theirs)
}

// What could not be made is tried again by the next one who asks, and a closed device has no kernels.
func TestKernelsThatCantBeMade(t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 30}) // of its own, to be closed
	kernels := NewKernels(d)
	_, err := ask[copying](kernels, "test/words", d.Info().MaxWorkgroup*2)
	var module *vk.ModuleError
	require.ErrorAs(t, err, &module)
	_, err = ask[copying](kernels, "test/words", d.Info().MaxWorkgroup*2)
	require.ErrorAs(t, err, &module)
	require.NoError(t, d.Close())
	_, err = ask[copying](kernels, "test/words", 64)
	require.ErrorIs(t, err, vk.ErrClosed)
}
