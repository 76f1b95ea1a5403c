package bench

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
)

const rankIterations = 20

// What analytics read.
const (
	onCSR  = "csr"  // compressed sparse rows
	onLive = "live" // the dynamic graph itself, built in bulk. It has weights for shortest paths only.
	onWorn = "worn" // the same, after half as many other edges were inserted and deleted again
)

// analyzed is a graph on the device and on the host, with an Analyzer.
type analyzed struct {
	csr                       *graph.CSR
	live                      *graph.Graph // nil: the rows are analyzed
	weighted                  bool
	on                        *analytics.Analyzer
	offsets, targets, weights []uint32
	sources                   []uint32 // where searches begin, one after the other
}

func (a *analyzed) close() {
	if a != nil {
		a.closeLive()
		a.csr.Close()
	}
}

func (a *analyzed) closeLive() {
	a.on.Close()
	a.live.Close()
	a.on, a.live = nil, nil
}

func (a *analyzed) vertices() int { return len(a.offsets) - 1 }

func (a *analyzed) row(v int) []uint32 { return a.targets[a.offsets[v]:a.offsets[v+1]] }

// graph returns the setting's graph, and makes it if necessary. The weight of an edge, from 1 to 64, does not depend on
// its direction.
func (s *session) graph() *analyzed {
	if s.analyzed != nil {
		return s.analyzed
	}
	arcs := s.arcs()
	e := arcs.edges(s.n, func(i int) int { return i })
	e.Weights = make([]uint32, s.n)
	fill(e.Weights, func(i int) uint32 {
		low, high := min(e.From[i], e.To[i]), max(e.From[i], e.To[i])
		return 1 + scramble(low*0x9e3779b1^scramble(high)^arcs.seed)%64
	})
	a := &analyzed{csr: must(graph.BuildCSR(s.ctx, s.d, e,
		graph.CSROptions{Vertices: arcs.vertices, DropLoops: true, Symmetric: true}))}
	s.analyzed = a
	var err error
	a.offsets, a.targets, a.weights, err = a.csr.Slices(s.ctx)
	ok(err)
	for rng := rand.New(rand.NewPCG(uint64(s.o.Seed), 0)); len(a.sources) < 7; {
		if v := rng.IntN(arcs.vertices); len(a.row(v)) > 0 {
			a.sources = append(a.sources, uint32(v))
		}
	}
	return a
}

// analyzer returns the setting's graph with its Analyzer. weights: the measured operation uses weights.
func (s *session) analyzer(weights bool) *analyzed {
	a := s.graph()
	if a.on != nil && (a.live == nil || a.weighted == weights) {
		return a
	}
	if s.at.On == onCSR {
		a.on = analytics.New(a.csr)
		return a
	}
	a.closeLive()
	a.weighted = weights
	a.live = must(graph.Build(s.ctx, s.d, a.csr, graph.Options{Weighted: weights, Load: s.at.Load}))
	if s.at.On == onWorn {
		s.wear(a)
	}
	a.on = analytics.NewLive(a.live)
	return a
}

// wear inserts and deletes edges that the graph does not have.
func (s *session) wear(a *analyzed) {
	const batch = 1 << 20
	rng := rand.New(rand.NewPCG(uint64(s.o.Seed), 1))
	for left := len(a.targets) / 4; left > 0; left -= batch {
		var e, gone graph.Edges
		for range min(left, batch) {
			e.From, e.To = append(e.From, rng.Uint32N(uint32(a.vertices()))),
				append(e.To, rng.Uint32N(uint32(a.vertices())))
		}
		if a.weighted { // edges that are there keep their weights
			e.Weights = make([]uint32, len(e.From))
		}
		statuses := make([]structures.Status, len(e.From))
		ok(a.live.UpdateEdgesInto(s.ctx, structures.InsertUnique, e, statuses))
		for i, status := range statuses {
			if status == structures.Inserted {
				gone.From, gone.To = append(gone.From, e.From[i]), append(gone.To, e.To[i])
			}
		}
		must(a.live.DeleteEdges(s.ctx, gone))
	}
}

// algorithm runs once, from a vertex if it is a search. It returns how long the device took, and a function that checks
// the result.
type algorithm func(s *session, a *analyzed, from uint32) (took time.Duration, check func())

// analysis measures an algorithm. The algorithm returns the device's time, because its work may take several
// submissions. A run counts as rounds operations for each arc. In each run a search begins at another vertex. The
// result of the last run is checked.
func analysis(rounds int, weights bool, do algorithm) func(*session) {
	return func(s *session) {
		a := s.analyzer(weights)
		m := s.measurement(a.vertices(), rounds*a.csr.Arcs)
		m.Form = s.graphName() + ", " + s.at.On
		run := 0
		var took time.Duration
		var check func()
		m = s.calls(m, s.heat, func() {
			took, check = do(s, a, a.sources[run%len(a.sources)])
			run++
		}, func() []vk.Timing { return []vk.Timing{{Duration: took}} }, "")
		check()
		s.add(m)
	}
}

func (s *session) bfs(a *analyzed, from uint32) (time.Duration, func()) {
	r := must(a.on.BFS(s.ctx, from, analytics.BFSOptions{}))
	return r.Elapsed, func() { s.checkDistances(a, from, r.Distances, false) }
}

func (s *session) sssp(a *analyzed, from uint32) (time.Duration, func()) {
	r := must(a.on.SSSP(s.ctx, from, analytics.SSSPOptions{}))
	return r.Elapsed, func() { s.checkDistances(a, from, r.Distances, true) }
}

func (s *session) pageRank(a *analyzed, _ uint32) (time.Duration, func()) {
	r := must(a.on.PageRank(s.ctx, analytics.PageRankOptions{Iterations: rankIterations, Tolerance: -1}))
	return r.Elapsed, func() { s.checkRanks(a, r.Ranks) }
}

func (s *session) components(a *analyzed, _ uint32) (time.Duration, func()) {
	r := must(a.on.Components(s.ctx))
	return r.Elapsed, func() { s.checkComponents(a, r.Labels) }
}

func (s *session) cores(a *analyzed, _ uint32) (time.Duration, func()) {
	r := must(a.on.Cores(s.ctx))
	return r.Elapsed, func() { s.checkCores(a, r.Cores) }
}

func (s *session) triangles(a *analyzed, _ uint32) (time.Duration, func()) {
	r := must(a.on.Triangles(s.ctx))
	return r.Elapsed, func() {
		if want := a.triangles(); r.Count != want {
			s.fail("%d triangles, but there are %d", r.Count, want)
		}
	}
}

// checkDistances checks distances with all arcs: no arc makes a distance shorter, and for each vertex but the source
// some arc gives exactly its distance.
func (s *session) checkDistances(a *analyzed, source uint32, distances []uint32, weighted bool) {
	if distances[source] != 0 {
		s.fail("the source is %d from itself", distances[source])
	}
	each(a.vertices(), func(v int) {
		reached := uint32(v) == source || distances[v] == analytics.Unreached
		for i := a.offsets[v]; i < a.offsets[v+1]; i++ { // arcs have opposites of the same weight
			from, weight := distances[a.targets[i]], uint64(1)
			if weighted {
				weight = uint64(a.weights[i])
			}
			if from == analytics.Unreached {
				continue
			}
			through := uint64(from) + weight
			if uint64(distances[v]) > through {
				s.fail("vertex %d: distance %d, but %d by way of %d", v, distances[v], through, a.targets[i])
			}
			reached = reached || uint64(distances[v]) == through
		}
		if !reached {
			s.fail("vertex %d: distance %d, but no arc gives it", v, distances[v])
		}
	})
}

// checkRanks compares ranks with those of a computation in double precision.
func (s *session) checkRanks(a *analyzed, ranks []float32) {
	const damping, most = 0.85, 1e-3
	n := a.vertices()
	now, gifts := make([]float64, n), make([]float64, n)
	for v := range now {
		now[v] = 1 / float64(n)
	}
	for range rankIterations {
		dangling := 0.0
		for v := range now {
			arcs := len(a.row(v))
			if gifts[v] = now[v] / float64(arcs); arcs == 0 {
				gifts[v] = 0
				dangling += now[v]
			}
		}
		each(n, func(v int) {
			sum := 0.0
			for _, u := range a.row(v) {
				sum += gifts[u]
			}
			now[v] = (1-damping+damping*dangling)/float64(n) + damping*sum
		})
	}
	off := 0.0
	for v, rank := range ranks {
		off += math.Abs(float64(rank) - now[v])
	}
	if !(off < most) {
		s.fail("ranks are off by %g together", off)
	}
}

// triangles returns the number of triangles. For each arc to a vertex of higher degree, it intersects the rows of such
// arcs of both ends.
func (a *analyzed) triangles() uint64 {
	up := make([][]uint32, a.vertices())
	before := func(u, v int) bool {
		du, dv := len(a.row(u)), len(a.row(v))
		return du < dv || du == dv && u < v
	}
	each(len(up), func(u int) {
		for _, v := range a.row(u) {
			if before(u, int(v)) {
				up[u] = append(up[u], v)
			}
		}
	})
	var total atomic.Uint64
	each(len(up), func(u int) {
		n := uint64(0)
		for _, v := range up[u] {
			n += uint64(inBoth(up[u], up[v]))
		}
		total.Add(n)
	})
	return total.Load()
}

// inBoth returns how many numbers two ascending lists share.
func inBoth(a, b []uint32) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
			n++
		}
	}
	return n
}

// checkComponents compares labels with the least vertices of sets that arcs join.
func (s *session) checkComponents(a *analyzed, labels []uint32) {
	parents := make([]uint32, a.vertices())
	for v := range parents {
		parents[v] = uint32(v)
	}
	least := func(v uint32) uint32 {
		for parents[v] != v {
			parents[v] = parents[parents[v]]
			v = parents[v]
		}
		return v
	}
	for v := range parents {
		for _, u := range a.row(v) {
			x, y := least(uint32(v)), least(u)
			parents[max(x, y)] = min(x, y)
		}
	}
	for v, label := range labels {
		if want := least(uint32(v)); label != want {
			s.fail("vertex %d: component %d, not %d", v, label, want)
		}
	}
}

// checkCores peels one vertex after the other, with the buckets of Batagelj and Zaversnik.
func (s *session) checkCores(a *analyzed, cores []uint32) {
	n := a.vertices()
	left, most := make([]int, n), 0
	for v := range left {
		left[v] = len(a.row(v))
		most = max(most, left[v])
	}
	buckets := make([][]uint32, most+1)
	for v, d := range left {
		buckets[d] = append(buckets[d], uint32(v))
	}
	done := make([]bool, n)
	for k := 0; k <= most; k++ {
		for len(buckets[k]) > 0 {
			v := buckets[k][len(buckets[k])-1]
			buckets[k] = buckets[k][:len(buckets[k])-1]
			if done[v] {
				continue
			}
			done[v] = true
			if cores[v] != uint32(k) {
				s.fail("vertex %d: core %d, not %d", v, cores[v], k)
			}
			for _, u := range a.row(int(v)) {
				if !done[u] && left[u] > k {
					left[u]--
					buckets[left[u]] = append(buckets[left[u]], u)
				}
			}
		}
	}
}
