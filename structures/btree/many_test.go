package btree

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/vk"
)

// Many small trees in one pool, as for the vertices of a graph. The test logs the time and memory of each tree, and
// checks that each has its own pairs. With VKDS_STRESS=1 there are 1,000 trees.
func TestManyTreesInAPool(t *testing.T) {
	pass.OneWidth(t, "what many trees take depends on no subgroup size")
	trees := 200
	if stress.Level > 0 {
		trees = 1000 * stress.Level
	}
	d := openDevice(t)
	pool := sharedPool(t, d, alloc.PoolOptions{})
	rng := random(6)
	all, models := make([]*dictionary[uint32], trees), make([]model, trees)
	insert := func(tree *dictionary[uint32], m model, n int) {
		keys, values := uniqueKeys(rng, n), randomWords(rng, n)
		_, err := tree.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		m.insert(keys, values)
	}
	first := newTree(t, d, Options{Pool: pool})
	insert(first, model{}, 20) // makes the kernels
	insert(first, model{}, 2)
	device, host := inUse(d)
	begin := time.Now()
	for i := range all {
		all[i], models[i] = newTree(t, d, Options{Pool: pool}), model{}
		insert(all[i], models[i], 1+i%20)
		insert(all[i], models[i], 1+i%7)
	}
	took := time.Since(begin)
	deviceNow, hostNow := inUse(d)
	t.Logf("%d trees: %v each, %d bytes of device memory and %d of Go's", trees, took/time.Duration(trees),
		(deviceNow-device)/uint64(trees), (hostNow-host)/uint64(trees))
	require.Less(t, deviceNow-device, uint64(trees)*(64<<10), "device memory")
	nodes := int(requireStats(t, first).Nodes)
	for i, tree := range all {
		keys, values := models[i].sorted()
		got, found, err := tree.Find(t.Context(), keys)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		require.Equal(t, values, got)
		if i%(trees/20) == 0 {
			requireTree(t, tree, models[i])
			require.NoError(t, tree.Check(t.Context()))
		}
	}
	for i, tree := range all {
		if i%2 == 0 {
			require.NoError(t, tree.Close())
		} else {
			nodes += int(requireStats(t, tree).Nodes)
		}
	}
	require.Equal(t, nodes, allocated(t, pool), "slabs of the trees that are left")
	for _, tree := range append(all, first) {
		require.NoError(t, tree.Close())
	}
	require.Zero(t, allocated(t, pool))
}

// inUse returns how many bytes of a device's memory and of Go's are in use.
func inUse(d *vk.Device) (device, host uint64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	device, _ = d.Memory()
	return device, m.HeapAlloc
}
