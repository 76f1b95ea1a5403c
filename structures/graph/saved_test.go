package graph_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"pgregory.net/rapid"
)

// A graph that is saved and loaded is the same, deleted vertices among its own; a damaged one is refused by name.
func TestSaved(t *testing.T) {
	pass.OneWidth(t, "what is saved depends on no width")
	d := testdevice.Open(t)
	graphoracle.EachSort(t, func(t *testing.T, o Options) {
		rapid.Check(t, func(rt *rapid.T) {
			g, err := New(t.Context(), d, o)
			require.NoError(rt, err)
			defer func() { require.NoError(rt, g.Close()) }()
			w := graphoracle.New(o)
			for range rapid.IntRange(0, 4).Draw(rt, "batches") {
				step(rt, t, g, w, 300)
			}
			var file bytes.Buffer
			n, err := g.Save(t.Context(), &file)
			require.NoError(rt, err)
			require.EqualValues(rt, file.Len(), n)
			whole := bytes.Clone(file.Bytes())
			other, err := Load(t.Context(), d, &file, Options{})
			require.NoError(rt, err)
			requireSame(rt, t, other, w)
			require.NoError(rt, other.Close())

			var damaged *structures.SavedError
			_, err = Load(t.Context(), d, bytes.NewReader(whole[:rapid.IntRange(0, len(whole)-1).Draw(rt, "cut")]),
				Options{})
			require.ErrorAs(rt, err, &damaged)
			whole[rapid.IntRange(0, len(whole)-1).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			_, err = Load(t.Context(), d, bytes.NewReader(whole), Options{})
			require.ErrorAs(rt, err, &damaged)
		})
	})
	m, err := slabhash.New[uint64, uint64](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	defer m.Close()
	var file bytes.Buffer
	_, err = m.Save(t.Context(), &file)
	require.NoError(t, err)
	_, err = Load(t.Context(), d, &file, Options{})
	require.ErrorIs(t, err, structures.ErrNotSaved)
}
