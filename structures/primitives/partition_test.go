package primitives

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// requireParts fails unless destinations map each key to its place in parted, each place once, and parted is in the
// order of the keys' parts, which are 2^shift keys wide from low on.
func requireParts[K number](t testing.TB, keys, parted []K, destinations []uint32, low K, shift, last int,
	name string) {
	t.Helper()
	taken := make([]bool, len(keys))
	for i, k := range keys {
		at := destinations[i]
		if int(at) >= len(keys) || taken[at] || parted[at] != k {
			require.FailNow(t, "not brought to its place", "%s: key %d of %d, place %d", name, i, len(keys), at)
		}
		taken[at] = true
	}
	part := func(k K) uint64 { return min(uint64(max(k, low)-low)>>shift, uint64(last)) }
	ordered := slices.IsSortedFunc(parted, func(a, b K) int { return cmp.Compare(part(a), part(b)) })
	require.True(t, ordered, "%s: parts in order", name)
}

// clustered returns n keys from a range of the given width.
func clustered[K number](n int, low, width K) []K {
	keys := numbers(uint64(n)+5, n, width)
	for i := range keys {
		keys[i] += low
	}
	return keys
}

// partition divides keys into parts. It returns the first n of them in the new order, and the place of each. With
// pairs, each key has a value, and sources are written, too.
func partition[K number](r *rig, keys []K, l Length, n, log2 int, pairs bool) (parted []K, destinations []uint32) {
	r.t.Helper()
	given, each := keys, 1
	if pairs {
		given, each = make([]K, 2*len(keys)), 2
		for i, k := range keys {
			given[2*i], given[2*i+1] = k, K(i)
		}
	}
	in, out, to, from := upload(r, given), roomOf[K](r, len(given)), room(r, len(keys)), room(r, len(keys))
	a := PartitionArgs{
		Keys: in.Address(), Width: widthOf[K](), Pairs: pairs, OutKeys: out.Address(), Destinations: to.Address(),
		Length: l, Bits: log2,
		Scratch: r.scratch(r.p.Scratch(PartitionArgs{Bits: log2})),
	}
	if pairs {
		a.Sources = from.Address()
	}
	r.run(r.p.Partition(r.s, a))
	unchanged := make([]K, len(given))
	require.NoError(r.t, in.Download(r.t.Context(), 0, unchanged))
	requireWords(r.t, given, unchanged, "the input")
	sorted, destinations := download(r, out, each*n), download(r, to, n)
	if !pairs {
		return sorted, destinations
	}
	sources := download(r, from, n)
	parted = make([]K, n)
	for at := range parted {
		parted[at] = sorted[2*at]
		if i := sources[at]; sorted[2*at+1] != K(i) || int(i) >= n || int(destinations[i]) != at {
			require.FailNow(r.t, "sources", "place %d is from %d, and %d goes with its key", at, i, sorted[2*at+1])
		}
	}
	return parted, destinations
}

func testPartition[K number](r *rig, keys []K, l Length, n, log2 int, name string) {
	r.t.Helper()
	defer r.release()
	// With so few keys, the sample that determines the width of parts has all of them.
	low, shift := K(0), 0
	if n > 0 {
		low = slices.Min(keys[:n])
		shift = max(0, bits.Len64(uint64(slices.Max(keys[:n])-low))-log2)
	}
	for _, pairs := range []bool{false, true} {
		parted, destinations := partition(r, keys, l, n, log2, pairs)
		requireParts(r.t, keys[:n], parted, destinations, low, shift, 1<<log2-1, name)
	}
}

func TestPartition(t *testing.T) {
	r := newRig(t)
	testPartitions[uint32](r)
	testPartitions[uint64](r)
}

func testPartitions[K number](r *rig) {
	top := ^K(0)
	for _, log2 := range []int{1, 5, MaxPartitionBits} {
		for _, n := range []int{0, 1, 2, 33, 1000, 1024, 2047} {
			for name, keys := range map[string][]K{
				"random": numbers[K](uint64(n), n, 0), "equal": clustered(n, top-15, 1),
				"three": clustered(n, top-2, 3), "close together": clustered(n, top/2-15, 1000),
				"low": clustered[K](n, 0, 1<<20), "half": clustered(n, top/8, top/8*4),
			} {
				testPartition(r, keys, Length{N: n}, n, log2,
					fmt.Sprintf("%d bits, %d keys, %s, %v", log2, n, name, widthOf[K]()))
			}
		}
	}
	for _, n := range []int{0, 1, 2000} {
		eachLength(r, n, func(l Length, name string) {
			testPartition(r, numbers[K](uint64(n), l.N, 0), l, n, 8, name)
		})
	}
}

// Many keys, in any order: the sample does not have all of them, and workgroups do several tiles.
func TestPartitionOfManyKeys(t *testing.T) {
	r := newRig(t)
	testPartitionOfMany[uint32](r)
	testPartitionOfMany[uint64](r)
}

func testPartitionOfMany[K number](r *rig) {
	const n, log2 = 300_007, 8
	inputs := sortInputs[K](n)
	for i, name := range slices.Sorted(maps.Keys(inputs)) {
		// Inputs are keys alone and pairs in turn; at the other width, in the opposite turn.
		keys, pairs := inputs[name], (i%2 == 0) == (widthOf[K]() == structures.Bits64)
		parted, destinations := partition(r, keys, Length{N: n}, n, log2, pairs)
		requireParts(r.t, keys, parted, destinations, 0, 0, 0, name)
		// Parts are somewhat narrower than that, so keys that far apart are in order.
		width := (slices.Max(keys)-slices.Min(keys))>>(log2-1) + 2
		most := K(0)
		for i, k := range parted {
			if most > k && most-k > width {
				require.FailNow(r.t, "not in order", "%s: place %d holds %#x behind %#x", name, i, k, most)
			}
			most = max(most, k)
		}
		r.release()
	}
}

func TestPartitionErrors(t *testing.T) {
	r := newRig(t)
	good := PartitionArgs{Keys: 1 << 20, OutKeys: 1 << 20, Scratch: 1 << 20, Length: Length{N: 1}, Bits: 8}
	for _, change := range []func(a *PartitionArgs){
		func(a *PartitionArgs) { a.Keys = 0 },
		func(a *PartitionArgs) { a.OutKeys = 0 },
		func(a *PartitionArgs) { a.Scratch = 0 },
	} {
		a := good
		change(&a)
		require.ErrorIs(t, r.p.Partition(r.s, a), ErrNoMemory)
	}
	for _, b := range []int{-1, 0, MaxPartitionBits + 1} {
		a := good
		a.Bits = b
		var wrong *vk.OptionError
		require.ErrorAs(t, r.p.Partition(r.s, a), &wrong)
	}
	a := good
	a.Length.N = -1
	var length *structures.CountError
	require.ErrorAs(t, r.p.Partition(r.s, a), &length)
	a.Length.N = 0
	require.NoError(t, r.p.Partition(r.s, a), "nothing to part")
}
