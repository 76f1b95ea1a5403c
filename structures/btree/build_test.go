package btree

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

func TestNewIsEmpty(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	requireTree(t, tree, model{})
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	require.Len(t, nodes, 3)
}

func TestBuild(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		for _, fill := range []float64{0, 0.01, 0.3, 1} {
			for _, n := range []int{0, 1, 2, 7, 8, 14, 15, 50, 99, 1000, 5000} {
				rng := random(uint64(n))
				keys, values := uniqueKeys(rng, n), randomWords(rng, n)
				tree, err := Build(t.Context(), d, keys, values, Options{Fill: fill, Tile: tile})
				require.NoError(t, err)
				requireTree(t, tree, model{}.insert(keys, values))
				nodes, err := tree.Nodes(t.Context())
				require.NoError(t, err)
				leaf, _ := shares(tree.o.Fill)
				for _, node := range nodes {
					if node.Level == 0 {
						require.LessOrEqual(t, len(node.Keys), leaf)
					}
				}
				require.LessOrEqual(t, uint64(len(nodes)), tree.nodes, fmt.Sprintf("the bound for %d pairs, fill %g", n, fill))
				require.NoError(t, tree.Close())
			}
		}
	})
}

// Of equal keys the last one counts.
func TestBuildOfEqualKeys(t *testing.T) {
	d := openDevice(t)
	rng := random(1)
	for _, below := range []uint32{1, 2, 100, 3000} {
		keys, values := make([]uint32, 4000), randomWords(rng, 4000)
		for i := range keys {
			keys[i] = rng.Uint32N(below)
			if keys[i] == below-1 {
				keys[i] = ^uint32(0)
			}
		}
		requireTree(t, buildTree(t, d, keys, values, Options{}), model{}.insert(keys, values))
	}
}

func TestBuildRefuses(t *testing.T) {
	d := openDevice(t)
	_, err := Build(t.Context(), d, []uint32{1, 2}, []uint32{1}, Options{})
	var length *structures.LengthError
	require.ErrorAs(t, err, &length)
	var option *OptionError
	_, err = Build(t.Context(), d, nil, nil, Options{Fill: 1.5})
	require.ErrorAs(t, err, &option)
}

// A tree that is cleared is as a new one, whatever was in it.
func TestClear(t *testing.T) {
	d := openDevice(t)
	tree := buildTree(t, d, ramp(3000, 0, 7), ramp(3000, 1, 1), Options{})
	require.NoError(t, tree.Clear(t.Context()))
	requireTree(t, tree, model{})
}
