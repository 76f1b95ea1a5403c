package btree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// After random histories, in which batches fail because the pool is full or a context ends, and with open snapshots
// that are closed in any order, each snapshot has kept its content. When the last one is closed, the pool has only the
// tree's nodes, and the memory of versions is freed.
func TestAccountsClose(t *testing.T) {
	pass.OneWidth(t, "the host reckons the room")
	full := 0
	for seed := range uint64(1 + 4*min(stress.Level, 1)) {
		for _, path := range []Path{Concurrent, Batched} {
			full += testAccounts[uint32](t, path, seed) + testAccounts[uint64](t, path, seed)
		}
	}
	require.NotZero(t, full, "the pool was never full") // how often depends on when contexts end
}

// testAccounts returns how often the pool was full.
func testAccounts[W structures.Word](t *testing.T, path Path, seed uint64) (full int) {
	const blocks = 2
	what := fmt.Sprintf("%v, %v, seed %d", path, structures.WidthOf[W](), seed)
	rng := random(seed + 100)
	o := Options{Path: path, MaxBytes: blocks * alloc.BlockSlabs * 4 * nodeWords}
	tree := newTreeOf[W](t, testdevice.Open(t), o)
	now := modelOf[W]{}
	var open []kept[W]
	for round := range 24 {
		if rng.IntN(2) == 0 {
			v, err := tree.Snapshot(t.Context())
			require.NoError(t, err)
			open = append(open, kept[W]{v, maps.Clone(now)})
		}
		if isFull := failing(t, tree, now, rng); isFull {
			full++
		}
		if len(open) > 3 || rng.IntN(5) == 0 && len(open) != 0 {
			i := rng.IntN(len(open))
			require.NoError(t, open[i].view.Close())
			open = slices.Delete(open, i, i+1)
		}
		if len(open) != 0 && round%6 == 5 {
			requireView(t, open[rng.IntN(len(open))], rng, what)
		}
	}
	rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for _, k := range open {
		requireView(t, k, rng, what)
		require.NoError(t, k.view.Close())
	}
	var limit *vk.LimitError
	if err := tree.Grow(t.Context(), 0); errors.As(err, &limit) {
		require.NoError(t, tree.Check(t.Context())) // nodes may lack parents, but none is lost
	} else {
		require.NoError(t, err)
		requireClosed(t, tree, now)
	}
	left, err := tree.Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, left.Kept)
	require.Zero(t, left.Snapshots)
	require.LessOrEqual(t, left.Bytes, tree.Pool.Bytes()/spareVersions, what)
	return full
}

// failing does a batch that may fail, on a tree and its model. It reports whether the pool was full.
func failing[W structures.Word](t *testing.T, tree *dictionary[W], now modelOf[W], rng *rand.Rand) (full bool) {
	ctx, cancel := t.Context(), func() {}
	if rng.IntN(4) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(4000))*time.Microsecond)
	}
	defer cancel()
	keys := make([]W, 1+rng.IntN(4000))
	for i := range keys {
		keys[i] = W(rng.Uint64())
	}
	var err error
	if held, _ := now.sorted(); len(held) != 0 && rng.IntN(3) == 0 {
		for i := range keys {
			keys[i] = held[rng.IntN(len(held))]
		}
		_, err = tree.Delete(ctx, keys)
	} else {
		_, err = tree.Insert(ctx, keys, keys)
	}
	if err != nil {
		var limit *vk.LimitError
		full = errors.As(err, &limit)
		require.True(t, full || errors.Is(err, context.DeadlineExceeded), "%v", err)
	}
	had, values, err := numbers.All(t.Context(), tree)
	require.NoError(t, err)
	clear(now)
	now.insert(had, values)
	return full
}
