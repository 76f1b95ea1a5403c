package btree

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A call with a number that only the device knows does not wait for it or submit what is recorded, even if that writes
// the number. The number is the one in the buffer when the batch runs.
func TestDeviceCountsAreNotWaitedFor(t *testing.T) {
	pass.OneDriver(t, "the host waits or doesn't")
	d := openDevice(t)
	s := testdevice.Stream(t, d)
	const n = 1000
	there, keys, values := ramp(n, 0, 2), ramp(n, n/2, 1), randomWords(random(3), n)
	word := testdevice.Room[uint32](t, d, 1)
	b := structures.DeviceBatch{
		Count: n, DeviceCount: word, Keys: testdevice.Upload(t, d, keys), Values: testdevice.Upload(t, d, values),
	}
	// do does a batch with said operations, once dropped and once not, on a tree of pairs. one applies an operation to
	// the model.
	do := func(said uint32, on func(tree *dictionary[uint32]) error, one func(m model, key, value uint32), m model) {
		tree, says := buildTree(t, d, there, there, Options{}), testdevice.Upload(t, d, []uint32{said})
		require.NoError(t, tree.Reserve(t.Context(), 4*n))
		require.NoError(t, word.Upload(t.Context(), 0, []uint32{^said}))
		record := func() {
			s.Copy(word, 0, says, 0, 1)
			submitted := false
			s.OnSubmit(func(vk.Point, bool) { submitted = true })
			require.NoError(t, on(tree))
			require.False(t, submitted)
		}
		record()
		s.Discard()
		require.Equal(t, ^said, testdevice.Download(t, word, 1)[0])
		requireTree(t, tree, model{}.insert(there, there))
		record()
		require.NoError(t, s.Wait(t.Context()))
		for i := range min(uint64(said), n) {
			one(m, keys[i], values[i])
		}
		requireTree(t, tree, m)
		require.NoError(t, tree.Check(t.Context()))
	}
	for _, said := range []uint32{0, 1, 700, n, n + 1, 1 << 31} {
		for kind := structures.Insert; kind <= structures.Delete; kind++ {
			if !updates(kind) {
				continue
			}
			one := func(m model, key, value uint32) {
				old, there := m[key]
				if there {
					value, _ = ordercheck.After(kind, old, value)
				}
				if m[key] = value; kind == structures.Delete {
					delete(m, key)
				}
			}
			do(said, func(tree *dictionary[uint32]) error { return tree.On(s).Update(t.Context(), kind, b) }, one,
				model{}.insert(there, there))
			do(said, func(tree *dictionary[uint32]) error { return tree.On(s).Apply(kind, b) }, one,
				model{}.insert(there, there))
		}
		do(said, func(tree *dictionary[uint32]) error { return tree.On(s).Build(t.Context(), b) },
			func(m model, key, value uint32) { m[key] = value }, model{})
	}
}
