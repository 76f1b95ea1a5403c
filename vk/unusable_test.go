package vk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Options that are not valid return an error that names them, before Open looks for a device.
func TestOptionsThatCanNotBe(t *testing.T) {
	for option, o := range map[string]Options{
		"Without":      {Without: []Feature{Int64, "nonsense"}, Device: "none such"},
		"StagingBytes": {StagingBytes: -1, Device: "none such"},
	} {
		var e *OptionError
		_, err := Open(o)
		require.ErrorAs(t, err, &e, option)
		require.Equal(t, option, e.Option)
		_, err = Adopt(Handles{}, o)
		require.ErrorAs(t, err, &e, option)
	}
	all := []Feature{Int64, Int64Atomics, MemoryBudget, ExecutableStatistics, Timestamps}
	require.NoError(t, Options{Without: all}.check())
	require.NoError(t, Options{StagingBytes: 1}.check())
}

// A zero or nil buffer acts like one without elements.
func TestZeroBuffers(t *testing.T) {
	for _, b := range []*Buffer[uint32]{nil, {}} {
		require.Zero(t, b.Len())
		require.Zero(t, b.Bytes())
		require.Zero(t, b.Address())
		require.EqualValues(t, 8, b.AddressOf(2))
		require.NoError(t, b.Upload(t.Context(), 0, nil))
		var e *RangeError
		require.ErrorAs(t, b.Upload(t.Context(), 0, []uint32{1}), &e)
		require.ErrorAs(t, b.Download(t.Context(), 0, make([]uint32, 1)), &e)
		b.Free()
	}
	for _, b := range []*HostBuffer[uint32]{nil, {}} {
		require.Zero(t, b.Len())
		require.Zero(t, b.Bytes())
		require.Zero(t, b.Address())
		require.EqualValues(t, 8, b.AddressOf(2))
		require.Empty(t, b.Slice())
		b.Free()
	}
}
