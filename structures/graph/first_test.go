package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

func TestFirst(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachSort(t, func(t *testing.T, o Options) {
			g := newGraph(t, d, o)
			r := rand.New(rand.NewPCG(1, 2))
			const n = 20000
			e := Edges{From: make([]uint32, n), To: make([]uint32, n)}
			if o.Weighted {
				e.Weights = make([]uint32, n)
			}
			type arc struct{ from, to uint32 }
			want := map[arc]uint32{}
			for i := range n {
				e.From[i], e.To[i] = r.Uint32N(1000), r.Uint32N(1000)
				if i%2 == 0 {
					e.From[i] = 7
					e.To[i] = r.Uint32N(3000)
				}
				w := uint32(0)
				if o.Weighted {
					w = r.Uint32()
					e.Weights[i] = w
				}
				if e.From[i] == e.To[i] && !o.SelfLoops {
					continue
				}
				want[arc{e.From[i], e.To[i]}] = w
				if !o.Directed {
					want[arc{e.To[i], e.From[i]}] = w
				}
			}
			st, err := g.InsertEdges(t.Context(), e)
			require.NoError(t, err)
			counts := map[structures.Status]int{}
			for _, s := range st {
				counts[s]++
			}
			t.Log(counts, len(want), g.Metrics())
			var q Edges
			for a := range 3000 {
				for b := range 50 {
					q.From, q.To = append(q.From, uint32(a)), append(q.To, uint32(b*60))
				}
			}
			weights, found, err := g.FindEdges(t.Context(), q)
			require.NoError(t, err)
			for i := range found {
				w, ok := want[arc{q.From[i], q.To[i]}]
				require.Equal(t, ok, found[i], "%d %d", q.From[i], q.To[i])
				require.Equal(t, w, weights[i])
			}
			st, err = g.DeleteEdges(t.Context(), e)
			require.NoError(t, err)
			found, err = g.HasEdges(t.Context(), q)
			require.NoError(t, err)
			for i := range found {
				require.False(t, found[i])
			}
		})
	})
}
