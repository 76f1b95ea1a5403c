package fold

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// sample is a batch in key order, and the contents before it.
type sample[N number] struct {
	keys, values, old []N
	sources           []uint32
	kinds, found      []uint8
}

// number is a key or a value.
type number interface {
	uint32 | uint64
	vk.Element
}

// keyOf returns ascending keys. Those of 64 bits differ in only one of their words.
func keyOf[N number](i int) N {
	if N(math.MaxUint32)+1 == 0 {
		return N(i) * 7919
	}
	return N(uint64(i/4)<<32 | uint64([]uint32{0, 1, 1 << 31, math.MaxUint32}[i%4]))
}

// value returns a random value, or one whose words are all ones or zero.
func value[N number](rng *rand.Rand) N {
	if rng.IntN(4) == 0 {
		return N([]uint64{0, 1, math.MaxUint32, math.MaxUint64 - math.MaxUint32, math.MaxUint64}[rng.IntN(5)])
	}
	return N(rng.Uint64())
}

// sampled makes a batch of n operations in which each key comes as often as times says.
func sampled[N number](rng *rand.Rand, n int, kinds []structures.Kind, times func() int) sample[N] {
	var b sample[N]
	for key := 0; len(b.keys) < n; key++ {
		old, found := value[N](rng), uint8(rng.IntN(2))
		for range min(times(), n-len(b.keys)) {
			b.keys, b.old, b.found = append(b.keys, keyOf[N](key)), append(b.old, old), append(b.found, found)
		}
	}
	b.sources = make([]uint32, n)
	for i, to := range rng.Perm(n) {
		b.sources[i] = uint32(to)
	}
	b.values, b.kinds = make([]N, n), make([]uint8, n)
	for i := range n {
		b.values[i], b.kinds[i] = value[N](rng), uint8(kinds[rng.IntN(len(kinds))])
	}
	return b
}

// requireFolded requires the result of a batch: for each key, that of its operations one after the other.
func (b sample[N]) requireFolded(t *testing.T, values []N, kinds []uint8) {
	t.Helper()
	for i := 0; i < len(b.keys); {
		value, there := b.old[i], b.found[i] != 0
		key := b.keys[i]
		for ; i < len(b.keys) && b.keys[i] == key; i++ {
			kind, own := structures.Kind(b.kinds[b.sources[i]]), b.values[b.sources[i]]
			switch {
			case kind == structures.Delete:
				there = false
				continue
			case there:
				own, _ = ordercheck.After(kind, value, own)
			}
			value, there = own, true
		}
		want := structures.Delete
		if there {
			want = structures.Insert
			require.Equal(t, value, values[i-1], "key %d, at position %d", key, i-1)
		}
		require.Equal(t, want, structures.Kind(kinds[i-1]), "key %d, at position %d", key, i-1)
	}
}

// The operations of a key have the result of one after the other, however they are divided among tiles.
func TestFold(t *testing.T) {
	t.Run("32 bits", func(t *testing.T) { testFold[uint32](t, structures.Bits32) })
	t.Run("64 bits", func(t *testing.T) { testFold[uint64](t, structures.Bits64) })
}

func testFold[N number](t *testing.T, width structures.Width) {
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	kernels := recording.NewKernels(d)
	all := []structures.Kind{
		structures.Insert, structures.InsertUnique, structures.InsertAdd, structures.InsertMin, structures.InsertMax,
		structures.Delete,
	}
	rng := rand.New(rand.NewPCG(12, 3))
	often := map[string]func() int{
		"once":    func() int { return 1 },
		"or more": func() int { return 1 + rng.IntN(5) },
		"often":   func() int { return 1 + rng.IntN(3*tile) },
		"all one": func() int { return 1 << 20 },
		"a tile":  func() int { return tile },
		"skewed":  func() int { return 1 << rng.IntN(12) },
	}
	for _, kind := range []structures.Kind{
		structures.InsertUnique, structures.InsertAdd, structures.InsertMin, structures.InsertMax, structures.Mixed,
	} {
		for name, times := range often {
			for _, n := range []int{1, tile - 1, tile, tile + 1, 2 * tile, 9*tile + 77} {
				t.Run(fmt.Sprint(kind, " ", name, " ", n), func(t *testing.T) {
					kinds := all
					if kind != structures.Mixed {
						kinds = []structures.Kind{kind}
					}
					b := sampled[N](rng, n, kinds, times)
					room := recording.Padded(n)
					numbers := func(v []N) *vk.Buffer[N] { return testdevice.Upload(t, d, v) }
					words := func(v []uint32) *vk.Buffer[uint32] { return testdevice.Upload(t, d, v) }
					bytes := func(v []uint8) *vk.Buffer[uint8] {
						return testdevice.Upload(t, d, slices.Grow(v, 4)[:room])
					}
					values, outKinds := testdevice.Upload(t, d, make([]N, n)), bytes(make([]uint8, n))
					err := Record(kernels, s, Args{
						Width: width, Kind: kind, Keys: numbers(b.keys).Address(), Sources: words(b.sources).Address(),
						Values: numbers(b.values).Address(), Kinds: bytes(b.kinds).Address(),
						Old: numbers(b.old).Address(), Found: bytes(b.found).Address(),
						OutValues: values.Address(), OutKinds: outKinds.Address(), N: n,
						Scratch: words(make([]uint32, Scratch(n)/4)).Address(),
					})
					require.NoError(t, err)
					require.NoError(t, s.Wait(t.Context()))
					b.requireFolded(t, testdevice.Download(t, values, n), testdevice.Download(t, outKinds, n))
				})
			}
		}
	}
}
