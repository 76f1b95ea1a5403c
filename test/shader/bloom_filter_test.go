package shader

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/test/bloom"
	"github.com/vkds/vkds/test/pass"
)

type bloomPush struct {
	Bloom               filter.Description
	Keys, Hashes, Found uint64
	Count, Inserts      uint32
}

// Keys that differ in little: in one word, in one bit, by one; and many equal ones beside each other.
func bloomKeys[N number]() (keys []N) {
	for i := range uint64(300) {
		keys = append(keys, N(i), N(i<<20), N(i<<32), N(i<<50), N(math.MaxUint64-i), N(i%3))
	}
	for bit := range 64 {
		keys = append(keys, N(uint64(1)<<bit), N(^(uint64(1) << bit)))
	}
	rnd := random(21)
	for range 1001 { // of which the last subgroup has lanes with nothing to do
		keys = append(keys, N(rnd.Uint64()))
	}
	return keys
}

// A filter's hashes, its bits and its answers are those of the model, for tiles of all widths.
func TestBloomFilter(t *testing.T) {
	t.Run("k32", func(t *testing.T) { testBloomFilter[uint32](t, "test/bloom_filter.k32") })
	t.Run("k64", func(t *testing.T) { testBloomFilter[uint64](t, "test/bloom_filter.k64") })
}

func testBloomFilter[N number](t *testing.T, module string) {
	r, keys := newRig(t), bloomKeys[N]()
	n := len(keys) / 2
	r.eachWidthTo(32, func(t *testing.T, width int) {
		k := kernel[bloomPush](t, r, module, map[string]uint32{"TILE": uint32(width)})
		for _, blocks := range []int{1, 2, 7, 500} {
			model := bloom.New(blocks)
			bloom.Insert(model, keys[:n]...)
			words := put(r, make([]uint32, len(model)))
			hashes, found := room[uint32](r, 2*len(keys)), room[uint32](r, len(keys))
			p := bloomPush{Bloom: filter.Description{Blocks: words.Address(), Count: uint32(blocks)},
				Keys: put(r, keys).Address(), Hashes: hashes.Address(), Found: found.Address(), Count: uint32(n),
				Inserts: 1}
			run(r, k, n, p)
			requireWords(t, model, get(r, words), "the bits of %d blocks", blocks)
			p.Count, p.Inserts = uint32(len(keys)), 0
			run(r, k, len(keys), p)
			var wantHashes, want []uint32
			for i, key := range keys {
				block, in := bloom.Hash(key)
				wantHashes = append(wantHashes, block, in)
				there := uint32(0)
				if bloom.Contains(model, key) {
					there = 1
				}
				require.True(t, i >= n || there == 1, "key %#x is there", key)
				want = append(want, there)
			}
			requireWords(t, wantHashes, get(r, hashes), "hashes")
			requireWords(t, want, get(r, found), "answers of %d blocks", blocks)
			requireWords(t, model, get(r, words), "the bits of %d blocks, after lookups", blocks)
			r.release()
		}
	})
}

// In a large filter the keys of a block have almost the same first hash, so that their bits depend on the second one.
// Of such a filter only some blocks are looked at, with keys that were made to be theirs. The share of absent keys that
// are found wrongly follows from the numbers of keys in the blocks.
func TestBloomFilterOfManyBlocks(t *testing.T) {
	pass.OneWidth(t, "the host does all of it, and TestBloomFilter compares the device with it")
	of := func(low func(i int) uint32) func(first uint32, i int) (at, in uint32) {
		return func(first uint32, i int) (at, in uint32) { return bloom.Hash(keyOf(first, low(i))) }
	}
	for name, hash := range map[string]func(first uint32, i int) (at, in uint32){
		"32 bits":             func(first uint32, _ int) (at, in uint32) { return bloom.Hash(unmix(first)) },
		"random low words":    of(func(i int) uint32 { return unmix(uint32(i)) }),
		"ascending low words": of(func(i int) uint32 { return uint32(i) }),
		"few low words":       of(func(i int) uint32 { return uint32(i&3) << 20 }),
	} {
		for _, log := range []int{12, 20, 24} {
			t.Run(fmt.Sprintf("%s, 2^%d blocks", name, log), func(t *testing.T) { inOneOfMany(t, log, hash) })
		}
	}
}

// keyOf is a key of 64 bits by its first hash and its low word.
func keyOf(first, low uint32) uint64 {
	ofLow, _ := bloom.Hash(low)
	return uint64(ofLow^unmix(first))<<32 | uint64(low)
}

func inOneOfMany(t *testing.T, log int, hash func(first uint32, i int) (at, in uint32)) {
	rnd := random(8)
	const blocks, keys = 2048, 2048 * 24
	model, load := make([][bloom.BlockWords]uint32, blocks), make([]int, blocks)
	universe := blocks << (32 - log) // of first hashes
	order := func(uint32) uint32 { return rnd.Uint32N(uint32(universe)) }
	if universe < 1<<24 { // each once
		all := rnd.Perm(universe)
		order = func(i uint32) uint32 { return uint32(all[i]) }
	}
	expected, variance, wrong := 0.0, 0.0, 0.0
	for i := range 6 * keys {
		want := order(uint32(i))
		at, in := hash(want, i)
		if at != want { // require.Equal would take most of the test's time
			t.Fatalf("the first hash is %#x, want %#x", at, want)
		}
		block, there := at>>(32-log), true
		for w, bit := range bloom.Bits(in) {
			if i < keys {
				model[block][w] |= bit
			}
			there = there && model[block][w]&bit != 0
		}
		if i < keys {
			load[block]++
			continue
		}
		p := math.Pow(1-math.Pow(31.0/32, float64(load[block])), 8)
		expected, variance = expected+p, variance+p*(1-p)
		if there {
			wrong++
		}
	}
	// The bits of a block vary, too, which all lookups in it share: hence 6 deviations.
	require.InDelta(t, expected, wrong, 6*math.Sqrt(variance))
}
