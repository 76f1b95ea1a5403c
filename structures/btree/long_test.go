package btree

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// Numbers that exceed 32 bits are refused with a typed error, before anything is recorded.
func TestTooLong(t *testing.T) {
	d := testdevice.Open(t)
	tree, err := makeDictionary[uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	defer tree.Close()
	s := testdevice.Stream(t, d)
	words := testdevice.Room[uint32](t, d, 8)
	var long *structures.CountError
	for _, width := range []int{1 << 30, 1 << 31, 1 << 61, math.MaxInt} { // times 4: too much for 32 bits
		err := tree.On(s).Apply(structures.FindRange,
			structures.DeviceBatch{Count: 4, Keys: words, Values: words, Highs: words, OutKeys: words, OutValues: words,
				Width: width})
		require.ErrorAs(t, err, &long, "windows of %d", width)
		err = tree.On(s).Window(structures.DeviceWindow{Count: 4, Ranges: words, Counts: words, Keys: words,
			Values: words, Width: width})
		require.ErrorAs(t, err, &long, "windows of %d", width)
	}
	require.ErrorAs(t, tree.On(s).Find(structures.DeviceLookups{Count: 1 << 32, Keys: words, Values: words}), &long)

	var length *structures.LengthError
	past := structures.DeviceBatch{First: math.MaxInt, Count: 8, Keys: words, Values: words}
	require.ErrorAs(t, tree.On(s).Update(t.Context(), structures.Insert, past), &length)
	require.ErrorAs(t, tree.On(s).Build(t.Context(), past), &length)

	var v survey
	v.levels[0].Nodes, v.levels[0].Slots = 1<<28, recording.MaxBatch+1
	_, err = tree.exportAll(v)
	require.ErrorAs(t, err, &long)
	require.Equal(t, recording.MaxBatch+1, long.N)
	require.NoError(t, s.Wait(t.Context()))
}
