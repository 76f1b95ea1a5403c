package btree

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// requireStats compares the statistics with the nodes.
func requireStats[W structures.Word](t testing.TB, tree *dictionary[W]) Stats {
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
		l.Fill = float64(l.Slots) / float64(uint64(tree.geometry().slots)*l.Nodes)
	}
	require.Equal(t, want, s.Levels)
	require.Equal(t, want[0].Slots, s.Pairs)
	require.Equal(t, want[0].Fill, s.Fill)
	require.Equal(t, 128*s.Nodes, s.NodeBytes)
	require.Equal(t, tree.Pool.Bytes(), s.Bytes)
	if s.Pairs != 0 {
		require.InDelta(t, float64(s.NodeBytes)/float64(s.Pairs), s.BytesPerPair, 1e-9)
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

// Statistics take memory for a list of the nodes, and free it.
func TestStatsKeepNoMemory(t *testing.T) {
	d := openDevice(t)
	keys := ramp(20000, 0, 3)
	tree := buildTree(t, d, keys, keys, Options{})
	before, _ := d.Memory()
	_, err := tree.Stats(t.Context())
	require.NoError(t, err)
	after, _ := d.Memory()
	require.Equal(t, before, after)
}

// Batches on streams count like those from Go slices, once each, even if Finish continues them several times. Queries
// don't count.
func TestBatchesAreCounted(t *testing.T) {
	pass.OneDriver(t, "the host counts the batches")
	d := openDevice(t)
	tree := newTree(t, d, Options{Path: Concurrent})
	rng := random(3)
	keys := uniqueKeys(rng, 20000)
	s := testdevice.Stream(t, d)
	b := structures.DeviceBatch{
		Count: len(keys), Keys: testdevice.Upload(t, d, keys), Values: testdevice.Upload(t, d, keys),
		Status: testdevice.Upload(t, d, make([]uint8, len(keys))), Left: testdevice.Upload(t, d, []uint32{0}),
	}
	require.NoError(t, tree.On(s).Apply(structures.Insert, b))
	require.NoError(t, s.Wait(t.Context()))
	require.NotZero(t, testdevice.Download(t, b.Left, 1)[0], "the pool suffices: there is nothing to finish")
	require.NoError(t, tree.On(s).Finish(t.Context(), structures.Insert, b))
	require.Equal(t, Batches{Concurrent: 1}, requireStats(t, tree).Batches)
	require.NoError(t, tree.On(s).Apply(structures.Find, b))
	require.NoError(t, tree.On(s).Apply(structures.Delete, b))
	require.NoError(t, tree.On(s).Update(t.Context(), structures.Insert,
		structures.DeviceBatch{Count: b.Count, Keys: b.Keys, Values: b.Values}))
	require.NoError(t, s.Wait(t.Context()))
	require.Equal(t, Batches{Concurrent: 2, Batched: 1}, requireStats(t, tree).Batches)
	for _, dropped := range []func(){
		s.Discard, func() { s.Fill(b.Left, 2, 1, 0); require.Error(t, s.Wait(t.Context())) }} {
		require.NoError(t, tree.On(s).Update(t.Context(), structures.Insert,
			structures.DeviceBatch{Count: b.Count, Keys: b.Keys, Values: b.Values}))
		require.NoError(t, tree.On(s).Apply(structures.Insert, b))
		dropped()
		require.Equal(t, Batches{Concurrent: 2, Batched: 1}, requireStats(t, tree).Batches)
	}
	_, err := tree.Delete(t.Context(), keys[:10])
	require.NoError(t, err)
	require.Equal(t, Batches{Concurrent: 3, Batched: 1}, requireStats(t, tree).Batches)
}

// If a tree is higher or lower than when its nodes were last listed, all of its leaves are listed.
func TestStatsOfOtherHeights(t *testing.T) {
	tree := newTree(t, openDevice(t), Options{})
	keys := ramp(5000, 1, 7)
	for _, path := range []func(){
		func() {
			_, err := tree.Insert(t.Context(), keys, keys)
			require.NoError(t, err)
		},
		func() { require.NoError(t, tree.Compact(t.Context(), 0.01)) },
		func() { require.NoError(t, tree.Compact(t.Context(), 1)) },
		func() { tree.known.height = 1 },
		func() { tree.known.height = depths - 1 },
	} {
		path()
		requireTree(t, tree, model{}.insert(keys, keys))
		height := requireStats(t, tree).Height
		require.Greater(t, height, 1)
		require.Equal(t, height, tree.known.height)
	}
}
