package lsm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// One chunk of a batch from Go slices was submitted, and the submission of the next one fails. Only the second one is
// undone.
func TestDroppedChunk(t *testing.T) {
	d := testdevice.Open(t)
	l, err := newLSM(t.Context(), d, saved.Pairs[uint32, uint32](), Options{Batch: 32})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	keys := testdevice.Upload(t, d, make([]uint32, 96))
	u := (*updater)(l)
	b := sorted.Batch{Kind: structures.Insert, Keys: keys.Address(), Values: keys.Address(), N: 96}
	one, two := testdevice.Stream(t, d), testdevice.Stream(t, d)
	require.NoError(t, u.Reserve(one, b))
	require.NoError(t, u.Update(t.Context(), one, b))
	p, err := one.Submit()
	require.NoError(t, err)
	submitted := l.state
	two.After(p)
	require.NoError(t, u.Reserve(two, b))
	require.NoError(t, u.Update(t.Context(), two, b))
	two.Discard()
	l.settle()
	require.Equal(t, submitted, l.state)
	require.NoError(t, one.Wait(t.Context()))
}
