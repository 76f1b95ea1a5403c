package btree

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// difference is a key whose value differs between two snapshots.
type difference[W structures.Word] struct {
	key, old, new W
	kind          structures.Kind
}

// differ returns the differences between two models, in key order.
func differ[W structures.Word](was, is modelOf[W]) (all []difference[W]) {
	both := maps.Clone(was)
	maps.Copy(both, is)
	keys, _ := both.sorted()
	for _, key := range keys {
		old, had := was[key]
		new, has := is[key]
		switch {
		case !had:
			all = append(all, difference[W]{key, 0, new, structures.InsertUnique})
		case !has:
			all = append(all, difference[W]{key, old, 0, structures.Delete})
		case old != new:
			all = append(all, difference[W]{key, old, new, structures.Insert})
		}
	}
	return all
}

// requireDiff compares the differences between two snapshots, read room at a time.
func requireDiff[W structures.Word](t *testing.T, older, newer kept[W], room int, what string) {
	want := differ(older.want, newer.want)
	for from := W(0); ; {
		var c changed[W, W]
		all, err := older.view.diff(t.Context(), newer.view.view, uint64(from), room, &c)
		require.NoError(t, err)
		require.Equal(t, len(want), all, what)
		for i, key := range c.Keys {
			require.Equal(t, want[0], difference[W]{key, c.Old[i], c.New[i], c.Kinds[i]}, what)
			want, from = want[1:], key+1
		}
		require.Equal(t, min(room, all), len(c.Keys), what)
		if len(want) == 0 {
			return
		}
	}
}

// The differences that the device finds between any two snapshots are those of their models: after updates on both
// paths, for leaves that were split and emptied since, after versions were freed in between, with tiles of any width,
// and in parts of any size.
func TestDiff(t *testing.T) {
	testDiff[uint32](t)
	testDiff[uint64](t)
}

func testDiff[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	for path, tile := range map[Path]int{Concurrent: 1, Batched: min(maxTile, d.SubgroupSize())} {
		t.Run(fmt.Sprintf("%v, %v", path, structures.WidthOf[W]()), func(t *testing.T) {
			rng := random(uint64(path) + uint64(tile))
			tree, now := newTreeOf[W](t, d, Options{Path: path, Tile: tile}), modelOf[W]{}
			updateSome(t, tree, now, rng, 1)
			var open []kept[W]
			for round := range 16 {
				v, err := tree.Snapshot(t.Context())
				require.NoError(t, err)
				open = append(open, kept[W]{v, maps.Clone(now)})
				if round%5 != 4 { // otherwise the next snapshot has the same time
					updateSome(t, tree, now, rng, round)
				}
				if i := rng.IntN(len(open)); round > closedAtOnce && i != 0 {
					require.NoError(t, open[i].view.Close())
					open = append(open[:i], open[i+1:]...)
				}
				i, j := rng.IntN(len(open)), len(open)-1
				for _, k := range []int{i, rng.IntN(i + 1)} {
					requireDiff(t, open[k], open[j], 1<<14, fmt.Sprintf("round %d, from %d to %d", round, k, j))
					j = i
				}
			}
			requireDiff(t, open[0], open[len(open)-1], 64, "page by page")
			for _, k := range open {
				require.NoError(t, k.view.Close())
			}
			requireClosed(t, tree, now)
		})
	}
}
