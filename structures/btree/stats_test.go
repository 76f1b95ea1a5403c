package btree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// requireStats holds the statistics against the nodes themselves.
func requireStats(t testing.TB, tree *Tree) Stats {
	t.Helper()
	s, err := tree.Stats(t.Context())
	require.NoError(t, err)
	n, err := tree.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.Pairs, n)
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(nodes), s.Nodes)
	require.Equal(t, nodes[0].Level, s.Height)
	require.Len(t, s.Levels, s.Height+1)
	want := make([]Level, s.Height+1)
	for _, node := range nodes {
		l := &want[node.Level]
		l.Level = node.Level
		l.Nodes++
		l.Slots += uint64(len(node.Keys))
		l.Fill = float64(l.Slots) / float64(Slots*l.Nodes)
	}
	require.Equal(t, want, s.Levels)
	require.Equal(t, want[0].Slots, s.Pairs)
	require.Equal(t, want[0].Fill, s.Fill)
	require.Equal(t, 128*s.Nodes, s.Bytes)
	require.Equal(t, tree.pool.Bytes(), s.PoolBytes)
	if s.Pairs != 0 {
		require.InDelta(t, float64(s.Bytes)/float64(s.Pairs), s.BytesPerPair, 1e-9)
	}
	return s
}

func TestStats(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	for _, n := range []int{0, 1, 300, 20000} {
		rng := random(uint64(n))
		rebuild(t, tree, uniqueKeys(rng, n), randomWords(rng, n))
		s := requireStats(t, tree)
		require.EqualValues(t, n, s.Pairs)
		if n > 1000 {
			require.InDelta(t, 0.5, s.Fill, 0.01)
		}
	}
}
