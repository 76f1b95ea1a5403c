package btree

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Trees that updates of either path have been at are checked, counted, exported, repaired and compacted, and go on from
// there.
func TestUpkeepAfterUpdates(t *testing.T) {
	d := openDevice(t)
	for _, path := range []Path{Concurrent, Batched} {
		t.Run(fmt.Sprint(path), func(t *testing.T) {
			rng := random(9)
			tree := newTree(t, d, Options{Path: path})
			want := model{}
			for round, n := range []int{500, 3000, 12000} {
				keys, values := uniqueKeys(rng, n), randomWords(rng, n)
				_, err := tree.Insert(t.Context(), keys, values)
				require.NoError(t, err)
				want.insert(keys, values)
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
		})
	}
}
