package saved_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/saved"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

func TestReadInfo(t *testing.T) {
	pass.OneWidth(t, "files are the same at every width")
	d := testdevice.Open(t)
	m := host.NewMap[time.Duration, float32]()
	_, err := m.Insert(t.Context(), []time.Duration{1, 2, 3}, []float32{4, 5, 6})
	require.NoError(t, err)
	set, err := slabhash.BuildSet(t.Context(), d, []uint32{1, 2}, slabhash.Options{})
	require.NoError(t, err)
	defer set.Close()
	f, err := filter.New[int32](t.Context(), d, filter.Options{})
	require.NoError(t, err)
	defer f.Close()
	g, err := graph.Build(t.Context(), d, graph.Edges{From: []uint32{1}, To: []uint32{2}}, graph.Options{})
	require.NoError(t, err)
	defer g.Close()
	for _, c := range []struct {
		of interface {
			Save(ctx context.Context, w io.Writer) (int64, error)
		}
		want saved.Info
	}{
		{m, saved.Info{Structure: "slabhash", Key: "int64", Value: "float32", Pairs: 3}},
		{set, saved.Info{Structure: "slabhash", Key: "uint32", Pairs: 2}},
		{f, saved.Info{Structure: "filter", Key: "int32"}},
		{g, saved.Info{Structure: "graph", Key: "uint64", Pairs: 1}},
	} {
		var file bytes.Buffer
		_, err := c.of.Save(t.Context(), &file)
		require.NoError(t, err)
		got, err := saved.ReadInfo(&file)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
		require.NotZero(t, file.Len(), "the pairs are not read")
	}
	_, err = saved.ReadInfo(strings.NewReader("key,value"))
	require.ErrorIs(t, err, structures.ErrNotSaved)
}
