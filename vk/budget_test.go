package vk

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Buffers of a budget cannot exceed it. They count until they are freed, and they also count for the device.
func TestBudget(t *testing.T) {
	d := openFor(t, Options{MemoryLimit: 1 << 20})
	b := d.Budget("Most", 1<<16)
	start, _ := d.Memory()
	whole, err := NewBuffer[uint32](b, 1<<12)
	require.NoError(t, err)
	host, err := NewHostBuffer[byte](b, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1<<14+256, b.Used())

	_, err = NewBuffer[byte](b, 3<<14)
	what := "bytes of device memory (16640 in use and 49152 more)"
	require.Equal(t, &LimitError{What: what, Want: 1<<16 + 256, Most: 1 << 16, Option: "Most"}, err)
	require.Equal(t, err, b.Fits(1<<14, 1<<15))
	require.NoError(t, b.Fits(3<<14-256))
	var size *LimitError
	_, err = NewBuffer[byte](b, -1)
	require.ErrorAs(t, err, &size)
	require.EqualValues(t, 1<<14+256, b.Used(), "what was refused doesn't count")

	whole.Free()
	whole.Free()
	host.Free()
	require.Zero(t, b.Used())
	now, _ := d.Memory()
	require.Equal(t, start, now)

	counts := d.Budget("", 0) // only the device's limit applies
	_, err = NewBuffer[byte](counts, 1<<21)
	var memory *OutOfMemoryError
	require.ErrorAs(t, err, &memory)
	require.Zero(t, counts.Used())

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if some, err := NewBuffer[byte](b, 1<<14); err == nil {
					require.LessOrEqual(t, b.Used(), uint64(1<<16))
					some.Free()
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, b.Used())
	require.NoError(t, d.Accept("budget", b))
	var none *Budget
	_, err = NewBuffer[byte](none, 1)
	require.Equal(t, ErrNotOpen, err)
	require.Equal(t, ErrNotOpen, none.Fits(1))
}
