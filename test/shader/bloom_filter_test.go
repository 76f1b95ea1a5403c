package shader

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/test/bloom"
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
