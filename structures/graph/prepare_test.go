package graph_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// After Prepare no call on a graph makes a kernel, be it one that grows, deletes or is asked for rows. Prepare makes
// every kernel of graphs that no constructor needs alone: one that is added has to be in its table.
func TestPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	recording.Undispatched(t)
	all := map[string]bool{}
	for _, o := range []Options{{Weighted: true, MaxBytes: 1 << 28}, {Directed: true, SelfLoops: true}} {
		d, kernels := testdevice.OpenNew(t)
		if !testdevice.BothForms(d) {
			o.MaxBytes = 1 << 28
		}
		g := newGraph(t, d, o) // which makes a kernel, too
		require.NoError(t, g.Prepare(t.Context()))
		for _, module := range kernels.Take() {
			name, _, _ := strings.Cut(module, ".")
			all[name] = true
		}
		require.NoError(t, g.Prepare(t.Context()))
		r := rand.New(rand.NewPCG(8, 9))
		for _, kind := range graphoracle.Kinds(o) {
			for _, n := range []int{3000, 20_000} {
				e := graphoracle.Spread(r, o, n)
				for i := range e.From {
					if i%2 == 0 && e.To[i] != 5 {
						e.From[i] = 5
					}
				}
				require.NoError(t, g.UpdateEdgesInto(t.Context(), kind, e, make([]structures.Status, len(e.From))))
				require.Empty(t, kernels.Take(), "%v of %d edges", kind, n)
			}
		}
		_, err := g.DeleteVertices(t.Context(), []uint32{5, 7})
		require.NoError(t, err)
		_, err = g.InsertVertices(t.Context(), []uint32{5, 1 << 20})
		require.NoError(t, err)
		_, err = g.InsertEdges(t.Context(), Edges{From: make([]uint32, 2000), To: numbered(2000, 1),
			Weights: weightsFor(o, 2000)})
		require.NoError(t, err)
		require.NoError(t, g.FindEdgesInto(t.Context(), Edges{From: []uint32{1}, To: []uint32{2}}, nil, nil))
		_, err = g.Neighbors(t.Context(), []uint32{0, 1})
		require.NoError(t, err)
		_, _, err = g.Size(t.Context())
		require.NoError(t, err)
		_, err = g.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.NoError(t, g.Rehash(t.Context()))
		require.NoError(t, g.Inspect().Check(t.Context()))
		for _, sorted := range []bool{false, true} {
			require.NoError(t, closed(g.CSR(t.Context(), sorted)))
		}
		require.NoError(t, g.Clear(t.Context()))
		require.Empty(t, kernels.Take())
	}
	for _, module := range shaders.Names() {
		name, _, _ := strings.Cut(module, ".")
		if strings.HasPrefix(name, "graph/") && !strings.HasPrefix(name, "graph/build_") &&
			!strings.HasPrefix(name, "graph/csr_") {
			require.True(t, all[name], "%s, which no Prepare makes", module)
		}
	}
}

// numbered returns n numbers from the first one on.
func numbered(n int, first uint32) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = first + uint32(i)
	}
	return all
}

// weightsFor returns weights for n edges, if the graph has weights.
func weightsFor(o Options, n int) []uint32 {
	if !o.Weighted {
		return nil
	}
	return make([]uint32, n)
}
