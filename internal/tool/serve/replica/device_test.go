package replica

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Members on a device and in the host's memory answer the same, have the same pairs, and restore each other's
// snapshots.
func TestSameOnDevice(t *testing.T) {
	d := testdevice.Open(t)
	t.Run("numbers", func(t *testing.T) { testSame(t, d, integers) })
	t.Run("texts", func(t *testing.T) { testSame(t, d, Types{keytype.Text, keytype.Int64}) })
}

func testSame(t *testing.T, d *vk.Device, types Types) {
	ctx, w := t.Context(), wording{types}
	onDevice, err := newState(ctx, types, d)
	require.NoError(t, err)
	defer onDevice.close()
	inMemory, err := newState(ctx, types, nil)
	require.NoError(t, err)
	defer inMemory.close()
	kinds := []Kind{Get, Set, Set, Set, Add, Delete, Expire, Persist}
	for now := range int64(30) {
		ops := make([]Op, rand.IntN(600))
		for i := range ops {
			ops[i] = Op{Kind: kinds[rand.IntN(len(kinds))], Key: rand.Uint64N(500) << 55, Value: rand.Uint64N(9)}
			if ops[i].Kind == Expire || ops[i].Kind == Set && rand.IntN(2) == 0 {
				ops[i].Deadline = 1 + rand.Int64N(40)
			}
		}
		want, err := inMemory.apply(ctx, w.entry(now, ops...))
		require.NoError(t, err)
		got, err := onDevice.apply(ctx, w.entry(now, ops...))
		require.NoError(t, err)
		require.Equal(t, want, got)
		if now%10 == 9 {
			requireSame(t, inMemory, onDevice)
		}
		if now == 19 { // each goes on from the other's snapshot
			var files [2]bytes.Buffer
			for i, s := range []*state{inMemory, onDevice} {
				x, err := s.store(ctx)
				require.NoError(t, err)
				require.NoError(t, x.write(&files[i]))
				x.Release()
			}
			require.NoError(t, inMemory.restore(ctx, &files[1]))
			require.NoError(t, onDevice.restore(ctx, &files[0]))
			requireSame(t, inMemory, onDevice)
		}
	}
}

func requireSame(t *testing.T, a, b *state) {
	var pairs [2][]structures.Pair[uint64, uint64]
	for i, s := range []*state{a, b} {
		for p, err := range s.pairs.All(t.Context()) {
			require.NoError(t, err)
			pairs[i] = append(pairs[i], p)
		}
		require.EqualValues(t, len(pairs[i]), s.count.Load())
	}
	require.NotEmpty(t, pairs[0])
	require.Equal(t, pairs[0], pairs[1])
}
