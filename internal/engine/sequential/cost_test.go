package sequential_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
)

// Ordering the results of a batch of assignments costs little more than the assignments. The test compares with a mixed
// batch, which does the same assignments in no order. It takes the shortest of several times, of calls in turn, because
// other processes use the machine.
func TestOrderIsCheap(t *testing.T) {
	const n, rounds, most = 1 << 16, 7, 4 // a sort of all keys takes 6 times as long as the assignments
	d := testdevice.Open(t)
	dictionary, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Capacity: n})
	require.NoError(t, err)
	defer dictionary.Close()
	keys, values := make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i) * 2654435761
	}
	_, err = dictionary.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	rand.New(rand.NewPCG(36, 5)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	once, tenth := slices.Clone(keys), slices.Clone(keys)
	once[n-1] = once[0]
	copy(tenth[n-n/10:], tenth)
	for name, keys := range map[string][]uint32{"different": keys, "one twice": once, "a tenth twice": tenth} {
		t.Run(name, func(t *testing.T) {
			batch := u32.Batch{Kinds: slices.Repeat([]structures.Kind{structures.Insert}, n), Keys: keys,
				Values: values}
			ordered, concurrent := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for range rounds {
				begin := time.Now()
				_, err := dictionary.Apply(t.Context(), batch)
				require.NoError(t, err)
				between := time.Now()
				_, err = dictionary.Insert(t.Context(), keys, values)
				require.NoError(t, err)
				concurrent, ordered = min(concurrent, between.Sub(begin)), min(ordered, time.Since(between))
			}
			t.Logf("in order %v, in no order %v", ordered, concurrent)
			require.Less(t, ordered, most*concurrent)
		})
	}
}
