package btree

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// orders returns keys in ascending order, in random order, and alternating from both ends: each order stresses
// different nodes.
func orders(keys []uint32) map[string][]uint32 {
	n := len(keys)
	ends := make([]uint32, n)
	for i := range ends {
		ends[i] = uint32(i / 2)
		if i%2 == 1 {
			ends[i] = ^uint32(i / 2)
		}
	}
	return map[string][]uint32{"random": keys, "ascending": ramp(n, 0, 1),
		"descending": ramp(n, ^uint32(0), ^uint32(0)), "ends": ends}
}

func TestConcurrentInsertionsFromAnEmptyTree(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng := random(1)
		for name, keys := range orders(uniqueKeys(rng, 3000)) {
			t.Run(name, func(t *testing.T) {
				tree := newTree(t, d, Options{Tile: tile, Path: Concurrent})
				values := randomWords(rng, len(keys))
				statuses, err := tree.Insert(t.Context(), keys, values)
				require.NoError(t, err)
				for i, s := range statuses {
					require.Equal(t, structures.Inserted, s, "operation %d", i)
				}
				requireTree(t, tree, model{}.insert(keys, values))
				values = randomWords(rng, len(keys))
				statuses, err = tree.Insert(t.Context(), keys, values)
				require.NoError(t, err)
				for i, s := range statuses {
					require.Equal(t, structures.Assigned, s, "operation %d", i)
				}
				requireTree(t, tree, model{}.insert(keys, values))
			})
		}
	})
}

func TestConcurrentDeletionsAndInsertions(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng := random(2)
		tree := newTree(t, d, Options{Tile: tile, Path: Concurrent})
		m := model{}
		all := uniqueKeys(rng, 2000)
		for round := range 6 {
			t.Run(fmt.Sprint(round), func(t *testing.T) {
				rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				some := all[:1500]
				values := randomWords(rng, len(some))
				statuses, err := tree.Insert(t.Context(), some, values)
				require.NoError(t, err)
				for i, s := range statuses {
					want := structures.Inserted
					if _, there := m[some[i]]; there {
						want = structures.Assigned
					}
					require.Equal(t, want, s, "insertion %d of key %#x", i, some[i])
				}
				m.insert(some, values)
				requireTree(t, tree, m)
				rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				some = all[:1500]
				statuses, err = tree.Delete(t.Context(), some)
				require.NoError(t, err)
				for i, s := range statuses {
					want := structures.Deleted
					if _, there := m[some[i]]; !there {
						want = structures.Absent
					}
					require.Equal(t, want, s, "deletion %d of key %#x", i, some[i])
					delete(m, some[i])
				}
				requireTree(t, tree, m)
			})
		}
	})
}
