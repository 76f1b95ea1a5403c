package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
)

// analyses are the rows of algorithms on graphs. A run's operations are arcs of the graph, in PageRank once an
// iteration; the device's time is what the algorithm says itself, for what it records may take several submissions.
var analyses = []row{
	{"breadth-first search", map[string]cell{
		"graph": {Op{"bfs", "distances from one vertex to all, by arcs", true, "graph on"}, (*session).bfs},
	}},
	{"shortest paths", map[string]cell{
		"graph": {Op{"sssp", "distances from one vertex to all, by weights from 1 to 64", true, "graph on"},
			(*session).sssp},
	}},
	{"PageRank", map[string]cell{
		"graph": {Op{"pagerank", fmt.Sprintf("%d iterations of PageRank", rankIterations), true, "graph on"},
			(*session).pageRank},
	}},
	{"triangles", map[string]cell{
		"graph": {Op{"triangles", "the number of triangles, orientation included", true, "graph on"},
			(*session).triangles},
	}},
	{"triangles through a batch", map[string]cell{
		"graph": {Op{"triangles-through", "the triangles with an edge of a batch, by which a count is kept up", true,
			"graph on batch"}, (*session).trianglesThrough},
	}},
	{"connected components", map[string]cell{
		"graph": {Op{"components", "the component of each vertex", true, "graph on"}, (*session).components},
	}},
	{"cores", map[string]cell{
		"graph": {Op{"kcore", "the core number of each vertex", true, "graph on"}, (*session).cores},
	}},
}

const rankIterations = 20

// Analyzed is what analytics of graphs read.
type Analyzed uint8

const (
	// OnCSR: compressed sparse rows.
	OnCSR Analyzed = iota
	// OnLive: the dynamic graph itself, built in bulk; with weights for shortest paths alone.
	OnLive
	// OnWorn: the same, behind insertions of half as many other edges as it has, which were deleted again.
	OnWorn
)

var analyzedNames = enum.Names[Analyzed]{"csr", "live", "worn"}

func (a Analyzed) String() string { return analyzedNames.String(a) }

// Analyzeds are all of them, by their names.
var Analyzeds = enum.Of("graph to analyse", OnCSR, OnLive, OnWorn)

// analyzed is a graph on the device and on the host.
type analyzed struct {
	csr                       *graph.CSR
	live                      *graph.Graph // nil: the rows are analysed
	weighted                  bool
	on                        *analytics.Analyzer
	offsets, targets, weights []uint32
	sources                   []uint32 // that searches begin at, one after the other
}

func (a *analyzed) close() {
	if a == nil {
		return
	}
	if a.on != nil {
		a.on.Close()
	}
	if a.live != nil {
		a.live.Close()
	}
	a.csr.Close()
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
	csr, err := graph.BuildCSR(ctx, s.d, graph.Edges{From: from, To: to, Weights: weights},
		graph.CSROptions{Vertices: vertices, DropLoops: true, Symmetric: true})
	if err != nil {
		return nil, err
	}
	a := &analyzed{csr: csr}
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

// analyzer makes the Analyzer of what the setting says; weights count for what is measured, or they don't.
func (s *session) analyzer(ctx context.Context, weights bool) (a *analyzed, err error) {
	if a, err = s.graph(ctx); err != nil {
		return nil, err
	}
	switch {
	case a.on != nil && (a.live == nil || a.weighted == weights):
		return a, nil
	case s.at.analyzed == OnCSR:
		a.on = analytics.New(a.csr)
		return a, nil
	}
	if a.on != nil {
		a.on.Close()
		a.live.Close()
		a.on, a.live = nil, nil
	}
	if a.live, err = graph.Build(ctx, s.d, a.csr, graph.Options{Weighted: weights}); err != nil {
		return nil, err
	}
	a.weighted = weights
	if s.at.analyzed == OnWorn {
		if err := s.wear(ctx, a); err != nil {
			return nil, err
		}
	}
	a.on = analytics.NewLive(a.live)
	return a, nil
}

// wear has edges come and go that the graph doesn't have.
func (s *session) wear(ctx context.Context, a *analyzed) error {
	const batch = 1 << 20
	rng := rand.New(rand.NewPCG(uint64(s.o.Seed), 1))
	for left := len(a.targets) / 4; left > 0; left -= batch {
		var e, gone graph.Edges
		for range min(left, batch) {
			e.From, e.To = append(e.From, rng.Uint32N(uint32(a.vertices()))),
				append(e.To, rng.Uint32N(uint32(a.vertices())))
		}
		if a.weighted {
			e.Weights = make([]uint32, len(e.From))
		}
		status := make([]structures.Status, len(e.From))
		// Edges that are there keep their weights.
		if err := a.live.UpdateEdgesInto(ctx, structures.InsertUnique, e, status); err != nil {
			return err
		}
		for i, s := range status {
			if s == structures.Inserted {
				gone.From, gone.To = append(gone.From, e.From[i]), append(gone.To, e.To[i])
			}
		}
		if _, err := a.live.DeleteEdges(ctx, gone); err != nil {
			return err
		}
	}
	return nil
}

// analyze measures calls, each of which says how long the device took; i counts them. The last one's result is checked.
func (s *session) analyze(ctx context.Context, rounds int, weights bool,
	call func(a *analyzed, i int) (time.Duration, error), check func(a *analyzed, i int) error) error {
	a, err := s.analyzer(ctx, weights)
	if err != nil {
		return err
	}
	return s.analyzeOf(ctx, a, s.measurement(a.vertices(), rounds*a.csr.Arcs), call, check)
}

// analyzeOf is analyze of what is opened, for a measurement that is begun.
func (s *session) analyzeOf(ctx context.Context, a *analyzed, m Measurement,
	call func(a *analyzed, i int) (time.Duration, error), check func(a *analyzed, i int) error) error {
	m.Form = s.at.graph.String() + ", " + s.at.analyzed.String()
	var device []vk.Timing
	i := -1
	m, err := s.measureWall(ctx, m, s.heat, func(context.Context) error {
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
	return s.analyze(ctx, 1, false, func(a *analyzed, i int) (_ time.Duration, err error) {
		r, err = a.on.BFS(ctx, a.source(i), analytics.BFSOptions{})
		return r.Elapsed, err
	}, func(a *analyzed, i int) error { return s.checkDistances(a, a.source(i), r.Distances, false) })
}

func (s *session) sssp(ctx context.Context) error {
	var r analytics.SSSPResult
	return s.analyze(ctx, 1, true, func(a *analyzed, i int) (_ time.Duration, err error) {
		r, err = a.on.SSSP(ctx, a.source(i), analytics.SSSPOptions{})
		return r.Elapsed, err
	}, func(a *analyzed, i int) error { return s.checkDistances(a, a.source(i), r.Distances, true) })
}

func (s *session) pageRank(ctx context.Context) error {
	var r analytics.PageRankResult
	return s.analyze(ctx, rankIterations, false, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.PageRank(ctx, analytics.PageRankOptions{Iterations: rankIterations, Tolerance: -1})
		return r.Elapsed, err
	}, func(a *analyzed, _ int) error { return s.checkRanks(a, r.Ranks) })
}

func (s *session) triangles(ctx context.Context) error {
	var r analytics.TrianglesResult
	return s.analyze(ctx, 1, false, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.Triangles(ctx)
		return r.Elapsed, err
	}, func(a *analyzed, _ int) error {
		if want := a.countTriangles(); r.Count != want {
			return s.wrong("%d triangles, but there are %d", r.Count, want)
		}
		return nil
	})
}

func (s *session) components(ctx context.Context) error {
	var r analytics.ComponentsResult
	return s.analyze(ctx, 1, false, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.Components(ctx)
		return r.Elapsed, err
	}, func(a *analyzed, _ int) error { return s.checkComponents(a, r.Labels) })
}

func (s *session) cores(ctx context.Context) error {
	var r analytics.CoresResult
	return s.analyze(ctx, 1, false, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.Cores(ctx)
		return r.Elapsed, err
	}, func(a *analyzed, _ int) error { return s.checkCores(a, r.Cores) })
}

func (a *analyzed) source(i int) uint32 { return a.sources[i%len(a.sources)] }
