package vk

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk/internal/native"
	"pgregory.net/rapid"
)

func TestOutOfMemory(t *testing.T) {
	const limit = 1 << 20
	d := openFor(t, Options{MemoryLimit: limit})
	used, budget := d.Memory()
	require.Zero(t, used)
	require.EqualValues(t, limit, budget)

	half := buffer[byte](t, d, limit/2)
	_, err := NewBuffer[byte](d, limit/2+1)
	var e *OutOfMemoryError
	require.ErrorAs(t, err, &e)
	require.Equal(t, &OutOfMemoryError{Bytes: limit/2 + 1, Used: limit / 2, Budget: limit}, e)
	// The remaining memory can still be allocated, to the last byte.
	rest := buffer[byte](t, d, limit/2)
	_, err = NewBuffer[byte](d, 0)
	require.ErrorAs(t, err, &e)
	half.Free()
	again := buffer[byte](t, d, limit/2)
	rest.Free()
	again.Free()
	used, _ = d.Memory()
	require.Zero(t, used)
}

func TestDriversBudget(t *testing.T) {
	for _, without := range [][]Feature{nil, {MemoryBudget}} {
		d := openFor(t, Options{Without: without})
		before, budget := d.Memory()
		require.Zero(t, before)
		require.Positive(t, budget)
		require.LessOrEqual(t, budget, d.Info().HeapBytes)
		b := buffer[uint32](t, d, 1000)
		used, _ := d.Memory()
		require.EqualValues(t, 4096, used)
		b.Free()
		if n := budget + 1<<30; n <= d.Info().MaxBufferBytes {
			_, err := NewBuffer[byte](d, int(n))
			var e *OutOfMemoryError
			require.ErrorAs(t, err, &e)
			require.EqualValues(t, n, e.Bytes)
		}
	}
}

// TestAllocationFails makes the driver's own calls fail.
func TestAllocationFails(t *testing.T) {
	failing := ""
	d := openFor(t, Options{fault: func(call string) native.Result {
		if call == failing {
			return native.ErrorOutOfDeviceMemory
		}
		return native.Success
	}})
	for _, failing = range []string{"vkAllocateMemory", "vkBindBufferMemory", "vkMapMemory"} {
		_, err := NewHostBuffer[byte](d, 1<<20)
		var e *OutOfMemoryError
		require.ErrorAs(t, err, &e, failing)
		require.EqualValues(t, 1<<20, e.Bytes)
	}
	failing = ""
	h, err := NewHostBuffer[byte](d, 1<<20)
	require.NoError(t, err)
	h.Free()
}

// TestSuballocation allocates and frees buffers at random. No two may overlap, all must be aligned, and adjacent holes
// must be joined.
func TestSuballocation(t *testing.T) {
	d := openFor(t, Options{})
	first, err := NewBuffer[byte](d, 1) // makes a shared block, which stays
	require.NoError(t, err)
	first.Free()
	rapid.Check(t, func(t *rapid.T) {
		var live []*Buffer[byte]
		defer func() {
			for _, b := range live {
				b.Free()
			}
			// No block is left, or the shared block of small buffers, with one hole.
			blocks := d.memory.device.blocks
			if len(blocks) > 1 || len(blocks) == 1 && !slices.Equal(blocks[0].holes, []hole{{0, sharedBytes}}) {
				t.Fatalf("left behind: %d blocks, holes of the first %v", len(blocks), blocks[0].holes)
			}
		}()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				live[i].Free()
				live = slices.Delete(live, i, i+1)
				continue
			}
			n := rapid.SampledFrom([]int{0, 1, 255, 256, 257, 4096, 100_000, smallLimit, smallLimit + 1}).Draw(t,
				"bytes")
			b, err := NewBuffer[byte](d, n)
			if err != nil {
				t.Fatal(err)
			}
			live = append(live, b)
			if b.Address()%grain != 0 {
				t.Fatalf("address %#x of a buffer of %d", b.Address(), n)
			}
			sorted := slices.SortedFunc(slices.Values(live), func(a, b *Buffer[byte]) int {
				if a.Address() < b.Address() {
					return -1
				}
				return 1
			})
			for i := 1; i < len(sorted); i++ {
				if sorted[i-1].Address()+max(1, sorted[i-1].Bytes()) > sorted[i].Address() {
					t.Fatalf("overlap at %#x", sorted[i].Address())
				}
			}
		}
	})
}

func TestManySmallBuffers(t *testing.T) {
	d := openFor(t, Options{})
	for range 10_000 {
		buffer[uint32](t, d, 64)
	}
	require.Len(t, d.memory.device.blocks, 1)
	used, _ := d.Memory()
	require.EqualValues(t, 10_000*256, used)
}
