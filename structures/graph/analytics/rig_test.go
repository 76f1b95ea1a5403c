package analytics_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// edges are those of a graph on the host.
type edges struct {
	name        string
	vertices    int
	from, to, w []uint32
	undirected  bool
}

func (e *edges) add(a, b int, w uint32) {
	e.from, e.to, e.w = append(e.from, uint32(a)), append(e.to, uint32(b)), append(e.w, w)
}

// The shapes that algorithms go wrong at: random ones with isolated vertices and many components, a long path, a grid,
// stars whose hub's row has several parts, and a clique.
func random(rng *rand.Rand, vertices, n int, undirected bool) *edges {
	e := &edges{name: "random", vertices: vertices, undirected: undirected}
	for range n {
		e.add(rng.IntN(vertices), rng.IntN(vertices), 1+rng.Uint32N(20))
	}
	return e
}

func grid(side int, rng *rand.Rand) *edges {
	e := &edges{name: "grid", vertices: side * side, undirected: true}
	for y := range side {
		for x := range side {
			if x+1 < side {
				e.add(y*side+x, y*side+x+1, 1+rng.Uint32N(64))
			}
			if y+1 < side {
				e.add(y*side+x, y*side+x+side, 1+rng.Uint32N(64))
			}
		}
	}
	return e
}

func path(n int, undirected bool) *edges {
	e := &edges{name: "path", vertices: n, undirected: undirected}
	for i := range n - 1 {
		e.add(i, i+1, 3)
	}
	return e
}

// stars are hubs, each with leaves of its own, and the hubs a path.
func stars(hubs, leaves int) *edges {
	e := &edges{name: "stars", vertices: hubs * (leaves + 1), undirected: true}
	for h := range hubs {
		hub := h * (leaves + 1)
		for l := range leaves {
			e.add(hub, hub+1+l, uint32(l%7)+1)
		}
		if h > 0 {
			e.add(hub, hub-leaves-1, 1)
		}
	}
	return e
}

func clique(n int) *edges {
	e := &edges{name: "clique", vertices: n, undirected: true}
	for i := range n {
		for j := range i {
			e.add(i, j, uint32(i*j%11)+1)
		}
	}
	return e
}

// rmat is a Kronecker graph of 2^scale vertices, whose degrees differ as those of real ones.
func rmat(scale, factor int, rng *rand.Rand) *edges {
	e := &edges{name: "rmat", vertices: 1 << scale, undirected: true}
	for range factor << scale {
		a, b := 0, 0
		for range scale {
			a, b = 2*a, 2*b
			switch x := rng.Float64(); {
			case x < 0.57:
			case x < 0.76:
				b++
			case x < 0.95:
				a++
			default:
				a++
				b++
			}
		}
		e.add(a, b, 1+rng.Uint32N(64))
	}
	return e
}

// shapes are graphs of each kind, small.
func shapes() []*edges {
	rng := rand.New(rand.NewPCG(1, 5))
	return []*edges{
		{name: "one vertex", vertices: 1, undirected: true},
		random(rng, 2, 1, true),
		random(rng, 300, 150, true),
		random(rng, 300, 150, false),
		random(rng, 1000, 4000, true),
		random(rng, 1000, 4000, false),
		path(700, true),
		path(300, false),
		grid(24, rng),
		stars(3, 2500),
		clique(70),
		rmat(11, 16, rng),
	}
}

// rows are the neighbours of each vertex by a Go slice, and the weights beside them: what a CSR of the edges has.
type neighbor struct{ to, w uint32 }

func (e *edges) rows() [][]neighbor {
	last := make([]map[uint32]uint32, e.vertices)
	put := func(a, b, w uint32) {
		if last[a] == nil {
			last[a] = map[uint32]uint32{}
		}
		last[a][b] = w
	}
	for i := range e.from {
		if e.from[i] == e.to[i] {
			continue
		}
		put(e.from[i], e.to[i], e.w[i])
		if e.undirected {
			put(e.to[i], e.from[i], e.w[i])
		}
	}
	rows := make([][]neighbor, e.vertices)
	for v, row := range last {
		for to, w := range row {
			rows[v] = append(rows[v], neighbor{to, w})
		}
	}
	return rows
}

// analyzer is one of the edges, without loops, until the test's end.
func (e *edges) analyzer(t testing.TB, d *vk.Device) *Analyzer {
	t.Helper()
	g, err := graph.BuildCSR(t.Context(), d, graph.Edges{From: e.from, To: e.to, Weights: e.w},
		graph.CSROptions{Vertices: e.vertices, DropLoops: true, Symmetric: e.undirected})
	require.NoError(t, err)
	return analyzerOf(t, g)
}

// analyzerOf is one of rows, both of them until the test's end.
func analyzerOf(t testing.TB, g *graph.CSR) *Analyzer {
	a := New(g)
	t.Cleanup(func() {
		require.NoError(t, a.Close())
		require.NoError(t, g.Close())
	})
	return a
}

// eachShape runs a test on graphs of each kind: on compressed sparse rows and where they are, with weights and, unless
// these count, without. In short runs a kind has one of these forms.
func eachShape(t *testing.T, weights bool, test func(t *testing.T, e *edges, a *Analyzer)) {
	eachForm(t, shapes(), weights, test)
}

// eachForm is eachShape for given graphs.
func eachForm(t *testing.T, all []*edges, weights bool, test func(t *testing.T, e *edges, a *Analyzer)) {
	d := testdevice.Open(t)
	type form struct {
		name string
		of   func(e *edges, t testing.TB, d *vk.Device) *Analyzer
	}
	forms := []form{{"csr", (*edges).analyzer}, {"worn", (*edges).worn}}
	if !weights {
		forms = append(forms, form{"fresh", (*edges).fresh})
	}
	for i, e := range all {
		t.Run(e.name, func(t *testing.T) {
			for j, f := range forms {
				if !testing.Short() || i%len(forms) == j {
					t.Run(f.name, func(t *testing.T) { test(t, e, f.of(e, t, d)) })
				}
			}
		})
	}
}
