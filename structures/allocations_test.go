package structures_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// Calls with the caller's own slices allocate little, whatever their length: a call of one key should not keep the
// garbage collector busy. More is allocated where a batch takes many kernels, or several goroutines to copy.
func TestAllocations(t *testing.T) {
	pass.OneWidth(t, "what Go allocates is the same at every width")
	if os.Getenv("VKDS_REORDERED") != "" {
		t.Skip("what puts commands into another order allocates")
	}
	d, ctx := testdevice.Open(t), t.Context()
	test := func(name string, updates int, x structures.Dictionary[uint32, uint32], err error) {
		require.NoError(t, err)
		defer x.Close()
		for _, n := range []int{1, 1000} {
			keys, values := make([]uint32, n), make([]uint32, n)
			for i := range keys {
				keys[i] = uint32(7 * i)
			}
			found, status := make([]bool, n), make([]structures.Status, n)
			update := func() { err = x.UpdateInto(ctx, structures.Insert, keys, keys, status) }
			update() // makes kernels, and room
			require.NoError(t, err)
			if n == 1 || updates == fewest {
				at := fmt.Sprintf("%s: allocations of an update of %d keys", name, n)
				require.LessOrEqual(t, allocations(update), updates, at)
				require.NoError(t, err)
			}
			find := func() { err = x.FindInto(ctx, keys, values, found) }
			find()
			require.NoError(t, err)
			require.Equal(t, keys, values)
			at := fmt.Sprintf("%s: allocations of a search of %d keys", name, n)
			require.LessOrEqual(t, allocations(find), 4, at)
			require.NoError(t, err)
		}
	}
	h, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Capacity: 1 << 16})
	test("hash table", fewest, h, err)
	s, err := sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
	test("sorted array", fewest+1, s, err)
	b, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	test("tree", fewest+1, b, err)
	l, err := lsm.New[uint32, uint32](ctx, d, lsm.Options{})
	test("LSM", 2*fewest+1, l, err)
}

const fewest = 8

// allocations returns how often a call allocates. Other goroutines' allocations are counted as well, so it is the least
// of several counts.
func allocations(call func()) int {
	least := math.MaxInt
	for range 10 {
		least = min(least, int(testing.AllocsPerRun(2, call)))
	}
	return least
}
