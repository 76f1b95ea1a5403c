package snapshots

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

// movingBatch is a batch of insertions, deletions and ranges on random keys below a limit, of which each key is updated
// once, and what the tree holds behind it.
func movingBatch[W structures.Word](rng *rand.Rand, n, limit int, held map[W]W) structures.Batch[W, W] {
	b := structures.Batch[W, W]{Width: 4, OwnMoments: true}
	for i, at := range rng.Perm(limit)[:n] {
		key, value := W(at)*3, W(rng.Uint32())
		kind := []structures.Kind{structures.Insert, structures.InsertAdd, structures.Delete, structures.FindRange,
			structures.CountRange, structures.FindSuccessor, structures.FindFloor, structures.Find}[i%8]
		switch kind {
		case structures.Insert:
			held[key] = value
		case structures.InsertAdd:
			held[key] += value
		case structures.Delete:
			delete(held, key)
		}
		b.Kinds, b.Keys, b.Values = append(b.Kinds, kind), append(b.Keys, key), append(b.Values, value)
		b.Highs = append(b.Highs, key+30)
	}
	return b
}

// Batches of which each query sees a moment of its own, from slices, with snapshots of the host's open and without:
// the tree holds what their updates come to, each pair of a range was there before or behind the batch, snapshots hold
// what they held, and with the last one nothing is kept. In between come batches without, whose updates take no latch.
func TestOwnMoments(t *testing.T) {
	t.Run("32", testOwnMoments[uint32])
	t.Run("64", testOwnMoments[uint64])
}

func testOwnMoments[W structures.Word](t *testing.T) {
	const limit, rounds = 3000, 9
	tree := newTree[W, W](t, btree.Options{})
	rng := rand.New(rand.NewPCG(5, 5))
	held := map[W]W{}
	type kept struct {
		s    *btree.Snapshot[W, W]
		want map[W]W
	}
	var open []kept
	for round := range rounds {
		if round%3 == 1 {
			open = append(open, kept{take(t, tree), maps.Clone(held)})
		}
		before := maps.Clone(held)
		b := movingBatch(rng, 2000, limit, held)
		if round%4 == 3 {
			b.OwnMoments = false
		}
		r, err := tree.Apply(t.Context(), b)
		require.NoError(t, err)
		requireMoments(t, b, r, before, held)
		if round == 0 {
			v, err := tree.Inspect().Versions(t.Context())
			require.NoError(t, err)
			require.NotZero(t, v.Bytes, "the queries took snapshots")
			require.Zero(t, v.Kept, "and they ended")
		}
		require.NoError(t, tree.Inspect().Check(t.Context()))
		now := take(t, tree)
		require.Equal(t, held, pairs(t, now), "round %d", round)
		require.NoError(t, now.Close())
		for _, k := range open {
			require.Equal(t, k.want, pairs(t, k.s), "round %d", round)
		}
		if round%3 == 2 && round != rounds-1 {
			require.NoError(t, open[0].s.Close())
			open = open[1:]
		}
	}
	for _, k := range open {
		require.NoError(t, k.s.Close())
	}
	v, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Kept)
	require.Zero(t, v.Snapshots)
}

// requireMoments looks at what a batch has answered: what its queries found was there before or behind it.
func requireMoments[W structures.Word](t *testing.T, b structures.Batch[W, W], r structures.Results[W, W],
	before, behind map[W]W) {
	was := func(key, value W) bool {
		old, there := before[key]
		new, here := behind[key]
		return there && old == value || here && new == value
	}
	for i, k := range b.Kinds {
		require.NotEqual(t, structures.Pending, r.Status[i])
		switch {
		case k == structures.FindRange:
			from, to := r.Ranges.Offsets[i], r.Ranges.Offsets[i+1]
			keys, values := r.Ranges.Keys[from:to], r.Ranges.Values[from:to]
			require.True(t, slices.IsSorted(keys))
			for j, key := range keys {
				require.True(t, key >= b.Keys[i] && key <= b.Highs[i], "%d of %d", key, b.Keys[i])
				require.True(t, was(key, values[j]), "%d of %d", key, b.Keys[i])
			}
		case k.Ordered() && k != structures.CountRange && r.Status[i] == structures.Found:
			require.True(t, was(r.Keys[i], r.Values[i]), "%d of %d", r.Keys[i], b.Keys[i])
		}
	}
}
