package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// Counts and keys move to 64 bits before they could pass 32: keys within the second part of the file, and counts here
// after every part rather than after four billion keys.
func TestTallyWidens(t *testing.T) {
	const n = 2*batchLength + 12345
	keys := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		shift int
		limit uint64
	}{{0, batchLength}, {0, 1 << 32}, {33, 2 * batchLength}} {
		want := map[uint64]uint64{}
		data := make([]byte, 0, 8*n)
		for i := range n {
			k := keys.Uint64() >> (48 + keys.Uint32N(12))
			if i > batchLength {
				k <<= c.shift
			}
			want[k]++
			data = binary.LittleEndian.AppendUint64(data, k)
		}
		path := filepath.Join(t.TempDir(), "keys")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		count := &tally{global: &global{out: io.Discard, err: io.Discard}, flags: &pflag.FlagSet{}, limit: c.limit,
			loader: loader{ctx: context.Background(), opening: openAlready(testdevice.Open(t)),
				combine: structures.InsertAdd}}
		count.structure = known[find("slabhash")]
		columns := make([]input.Column, 1)
		require.NoError(t, setType(&columns[0], "hex"))
		require.NoError(t, count.read(path, input.Options{Format: input.U64LE, Columns: columns}))
		require.NoError(t, count.collect())
		wide := c.limit < 1<<32 || c.shift > 0
		assert.Equal(t, wide, count.width() == structures.Bits64)
		require.NoError(t, count.Close())
		assert.EqualValues(t, n, count.rows)
		got := map[uint64]uint64{}
		for i, k := range count.keys {
			got[k] += count.weights[i]
		}
		assert.Equal(t, want, got)
		assert.Len(t, count.keys, len(want))
	}
}

func TestTallyBest(t *testing.T) {
	type entry struct{ key, count uint64 }
	random := rand.New(rand.NewPCG(3, 4))
	var all []entry
	var count weighted
	for range 10_000 {
		e := entry{random.Uint64(), 1 + random.Uint64N(50)}
		all = append(all, e)
		count.keys, count.weights = append(count.keys, e.key), append(count.weights, e.count)
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key, b.key))
	})
	best := func(top int, minCount uint64) (got []entry) {
		best := count.best(top, minCount)
		for i, key := range best.keys {
			got = append(got, entry{key, best.weights[i]})
		}
		return got
	}
	for _, top := range []int{1, 10, 511, 512, 513, 5000, 9999, 10_000, 10_001, math.MaxInt} {
		assert.Equal(t, all[:min(top, len(all))], best(top, 0), "%d", top)
	}
	assert.Empty(t, best(0, 0))
	few := best(math.MaxInt, 45)
	assert.Equal(t, all[:len(few)], few)
	assert.EqualValues(t, 45, few[len(few)-1].count)
	assert.Less(t, all[len(few)].count, uint64(45))
}
