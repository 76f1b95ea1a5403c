package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
)

// analyses are the rows of algorithms on graphs. A run's operations are arcs of the graph, in PageRank once an
// iteration; the device's time is what the algorithm says itself, for what it records may take several submissions.
var analyses = []row{
	{"breadth-first search", map[string]cell{
		"graph": {Op{"bfs", "distances from one vertex to all, by arcs", true, "graph"}, (*session).bfs},
	}},
	{"shortest paths", map[string]cell{
		"graph": {Op{"sssp", "distances from one vertex to all, by weights from 1 to 64", true, "graph"},
			(*session).sssp},
	}},
	{"PageRank", map[string]cell{
		"graph": {Op{"pagerank", fmt.Sprintf("%d iterations of PageRank", rankIterations), true, "graph"},
			(*session).pageRank},
	}},
	{"triangles", map[string]cell{
		"graph": {Op{"triangles", "the number of triangles, orientation included", true, "graph"},
			(*session).triangles},
	}},
	{"connected components", map[string]cell{
		"graph": {Op{"components", "the component of each vertex", true, "graph"}, (*session).components},
	}},
	{"cores", map[string]cell{
		"graph": {Op{"kcore", "the core number of each vertex", true, "graph"}, (*session).cores},
	}},
}

const rankIterations = 20

// analyzed is a graph on the device and on the host.
type analyzed struct {
	csr                       *graph.CSR
	on                        *analytics.Analyzer
	offsets, targets, weights []uint32
	sources                   []uint32 // that searches begin at, one after the other
}

func (a *analyzed) close() {
	if a != nil {
		a.on.Close()
		a.csr.Close()
	}
}

func (a *analyzed) vertices() int { return len(a.offsets) - 1 }

func (a *analyzed) row(v int) []uint32 { return a.targets[a.offsets[v]:a.offsets[v+1]] }

const mostWeight = 64 // of an edge; the least is 1

// weightedEdges are the edges of a graph, each once or more, and how many vertices it has. An edge's weight is its own,
// whichever way it comes.
func weightedEdges(a arcs) (vertices int, from, to, weights []uint32) {
	from, to, weights = make([]uint32, a.n), make([]uint32, a.n), make([]uint32, a.n)
	_ = each(a.n, func(i int) error {
		from[i], to[i] = a.at(i)
		low, high := min(from[i], to[i]), max(from[i], to[i])
		weights[i] = 1 + scramble(low*0x9e3779b1^scramble(high)^a.seed)%mostWeight
		return nil
	})
	return a.vertices, from, to, weights
}

// graph makes the setting's graph if it isn't there yet.
func (s *session) graph(ctx context.Context) (*analyzed, error) {
	if s.analyzed != nil {
		return s.analyzed, nil
	}
	vertices, from, to, weights := weightedEdges(newArcs(s.at.graph, s.o.Seed, s.n))
	csr, err := graph.BuildCSR(ctx, s.d, from, to, weights,
		graph.CSROptions{Vertices: vertices, DropLoops: true, Symmetric: true})
	if err != nil {
		return nil, err
	}
	a := &analyzed{csr: csr, on: analytics.New(csr)}
	s.analyzed = a
	if a.offsets, a.targets, a.weights, err = csr.Slices(ctx); err != nil {
		return nil, err
	}
	const sources = 7
	for rng := rand.New(rand.NewPCG(uint64(s.o.Seed), 0)); len(a.sources) < sources; {
		if v := rng.IntN(vertices); len(a.row(v)) > 0 {
			a.sources = append(a.sources, uint32(v))
		}
	}
	return a, nil
}

// analyze measures calls, each of which says how long the device took; i counts them. The last one's result is checked.
func (s *session) analyze(ctx context.Context, rounds int, call func(a *analyzed, i int) (time.Duration, error),
	check func(a *analyzed, i int) error) error {
	a, err := s.graph(ctx)
	if err != nil {
		return err
	}
	m := s.measurement(a.vertices(), rounds*a.csr.Arcs)
	m.Form = s.at.graph.String()
	var device []vk.Timing
	i := -1
	m, err = s.measureWall(ctx, m, s.heat, func(context.Context) error {
		i++
		took, err := call(a, i)
		device = append(device, vk.Timing{Duration: took})
		return err
	}, func() []vk.Timing {
		all := device
		device = nil
		return all
	}, "")
	if err == nil {
		err = check(a, i)
	}
	return s.add(m, err)
}

func (s *session) bfs(ctx context.Context) error {
	var r analytics.BFSResult
	return s.analyze(ctx, 1, func(a *analyzed, i int) (_ time.Duration, err error) {
		r, err = a.on.BFS(ctx, a.source(i), analytics.BFSOptions{})
		return r.Device, err
	}, func(a *analyzed, i int) error { return s.checkDistances(a, a.source(i), r.Distances, false) })
}

func (s *session) sssp(ctx context.Context) error {
	var r analytics.SSSPResult
	return s.analyze(ctx, 1, func(a *analyzed, i int) (_ time.Duration, err error) {
		r, err = a.on.SSSP(ctx, a.source(i), analytics.SSSPOptions{})
		return r.Device, err
	}, func(a *analyzed, i int) error { return s.checkDistances(a, a.source(i), r.Distances, true) })
}

func (s *session) pageRank(ctx context.Context) error {
	var r analytics.PageRankResult
	return s.analyze(ctx, rankIterations, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.PageRank(ctx, analytics.PageRankOptions{Iterations: rankIterations, Tolerance: -1})
		return r.Device, err
	}, func(a *analyzed, _ int) error { return s.checkRanks(a, r.Ranks) })
}

func (s *session) triangles(ctx context.Context) error {
	var r analytics.TrianglesResult
	return s.analyze(ctx, 1, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.Triangles(ctx)
		return r.Device, err
	}, func(a *analyzed, _ int) error {
		if want := a.countTriangles(); r.Triangles != want {
			return s.wrong("%d triangles, but there are %d", r.Triangles, want)
		}
		return nil
	})
}

func (s *session) components(ctx context.Context) error {
	var r analytics.ComponentsResult
	return s.analyze(ctx, 1, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.Components(ctx)
		return r.Device, err
	}, func(a *analyzed, _ int) error { return s.checkComponents(a, r.Labels) })
}

func (s *session) cores(ctx context.Context) error {
	var r analytics.CoresResult
	return s.analyze(ctx, 1, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.Cores(ctx)
		return r.Device, err
	}, func(a *analyzed, _ int) error { return s.checkCores(a, r.Cores) })
}

func (a *analyzed) source(i int) uint32 { return a.sources[i%len(a.sources)] }
