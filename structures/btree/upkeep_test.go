package btree

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Trees after updates of both paths are checked, counted, exported, repaired, compacted, and then updated again.
func TestUpkeepAfterUpdates(t *testing.T) {
	d := openDevice(t)
	for _, path := range []Path{Concurrent, Batched} {
		t.Run(fmt.Sprint(path), func(t *testing.T) {
			rng := random(9)
			tree := newTree(t, d, Options{Path: path})
			want := model{}
			largest := uint64(0)
			for round, n := range []int{500, 3000, 30000} {
				keys, values := uniqueKeys(rng, n), randomWords(rng, n)
				_, err := tree.Insert(t.Context(), keys, values)
				require.NoError(t, err)
				want.insert(keys, values)
				largest = max(largest, tree.Pool.Bytes())
				gone := keys[:n/3]
				_, err = tree.Delete(t.Context(), gone)
				require.NoError(t, err)
				for _, key := range gone {
					delete(want, key)
				}
				require.NoError(t, tree.Check(t.Context()))
				requireTree(t, tree, want)
				requireExport(t, tree, want)
				s := requireStats(t, tree)
				if path == Concurrent {
					require.Positive(t, s.Batches.Concurrent)
				} else {
					require.Positive(t, s.Batches.Batched)
				}
				if round == 1 {
					require.NoError(t, tree.repair(t.Context()))
				} else {
					require.NoError(t, tree.Compact(t.Context(), 0.9))
				}
				require.NoError(t, tree.Check(t.Context()))
				requireTree(t, tree, want)
			}

			// Memory that is no longer needed is freed, and the tree grows again after that.
			keys, _ := want.sorted()
			_, err := tree.Delete(t.Context(), keys[100:])
			require.NoError(t, err)
			require.NoError(t, tree.Compact(t.Context(), 0))
			require.LessOrEqual(t, tree.Pool.Bytes(), largest/spacious)
			_, err = tree.Insert(t.Context(), keys, keys)
			require.NoError(t, err)
			require.NoError(t, tree.Check(t.Context()))
			requireTree(t, tree, model{}.insert(keys, keys))
		})
	}
}
