package bench

import (
	"errors"
	"math/bits"
	"path/filepath"
	"slices"
	"time"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

// How the edges of a graph are made.
const (
	uniform = "uniform" // with random ends
	// rmat edges are those of a recursive matrix (Chakrabarti, Zhan and Faloutsos, 2004) with Graph500's shares, 0.57,
	// 0.19, 0.19 and 0.05, and with permuted numbers of vertices: a few hubs have a large part of them.
	rmat = "rmat"
	grid = "grid" // from each place of a square grid to its four neighbors; edges of batches are uniform
)

// arcs are the edges of a graph. Each is a function of its index. Those after the first n belong to batches.
type arcs struct {
	kind     string
	seed     uint32
	n        int
	vertices int // of rmat a power of two, of a grid a square
	scale    int
	side     int
	file     *graphfile.Graph // has the first n; nil: they are made
}

// newArcs returns the edges of made graphs, degree a vertex on average.
func newArcs(kind string, seed uint32, n int) arcs {
	a := arcs{kind: kind, seed: seed, n: n, scale: max(2, bits.Len(uint(n/degree))-1)}
	a.vertices = 1 << a.scale
	if kind == grid {
		for a.side = 2; 4*a.side*(a.side-1) < n; a.side++ {
		}
		a.vertices = a.side * a.side
	}
	return a
}

// arcs returns the edges of the setting's graph. Batches for the graph of a file have edges between random vertices.
func (s *session) arcs() arcs {
	if s.at.File == "" {
		return newArcs(s.at.Graph, s.o.Seed, s.n)
	}
	return arcs{seed: s.o.Seed, n: s.n, vertices: s.file.Vertices.Len(), file: s.file}
}

const degree = 16 // edges of a vertex, on average, of uniform and rmat graphs

// graphName returns the name of the setting's graph.
func (s *session) graphName() string {
	if s.at.File != "" {
		return filepath.Base(s.at.File)
	}
	return s.at.Graph
}

// load reads the graph of a file. If its edges have no direction, each has two arcs.
func (s *session) load(path string) {
	if s.at.File == path && s.file != nil {
		return
	}
	s.file = must(graphfile.Load(s.ctx, path, graphfile.LoadOptions{}))
	if s.file.Len() == 0 {
		ok(&vk.OptionError{Option: "--file " + path, Reason: "the graph has no edges"})
	}
	if !s.file.Directed {
		s.file.Edges = bothWays(s.file.Edges)
	}
}

// bothWays returns two arcs for each different edge. A file may list edges once or in both directions.
func bothWays(e graphfile.Edges) (arcs graphfile.Edges) {
	edges := make([]uint64, e.Len())
	fill(edges, func(i int) uint64 {
		return uint64(min(e.From[i], e.To[i]))<<32 | uint64(max(e.From[i], e.To[i]))
	})
	slices.Sort(edges)
	for _, edge := range slices.Compact(edges) {
		low, high := uint32(edge>>32), uint32(edge)
		arcs.From, arcs.To = append(arcs.From, low, high), append(arcs.To, high, low)
	}
	return arcs
}

// random returns a random number that depends on the index of an edge.
func (a arcs) random(i, salt int) uint32 {
	x := uint64(a.seed)<<32 ^ uint64(i)*0x9e3779b97f4a7c15 ^ uint64(salt)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return uint32(x >> 32)
}

// chosen returns the index of one of the first n edges, for operation i of a batch.
func (a arcs) chosen(i int) int { return int(uint64(a.random(i, 77)) * uint64(a.n) >> 32) }

// at returns edge i, which is not a loop.
func (a arcs) at(i int) (from, to uint32) {
	switch {
	case a.file != nil && i < a.n:
		return a.file.From[i], a.file.To[i]
	case a.kind == rmat:
		from, to = a.matrix(i)
	case a.kind == grid && i < a.n:
		return a.step(i)
	default:
		from, to = a.random(i, 1)%uint32(a.vertices), a.random(i, 2)%uint32(a.vertices)
	}
	if from == to {
		to = (to + 1) % uint32(a.vertices)
	}
	return from, to
}

// matrix returns edge i of a recursive matrix.
func (a arcs) matrix(i int) (from, to uint32) {
	for level := range a.scale {
		r := float64(a.random(i, 10+level)) / (1 << 32)
		from, to = from<<1, to<<1
		switch {
		case r < 0.57:
		case r < 0.76:
			to |= 1
		case r < 0.95:
			from |= 1
		default:
			from, to = from|1, to|1
		}
	}
	mask := uint32(a.vertices - 1)
	permuted := func(v uint32) uint32 { return (v*0x9e3779b1 + a.seed) & mask }
	return permuted(from), permuted(to)
}

// step returns edge i of a grid, row by row: to the right, to the left, down, up.
func (a arcs) step(i int) (from, to uint32) {
	side := uint32(a.side)
	pair := uint32(i/2) % (2 * side * (side - 1))
	if across := pair / 2; pair%2 == 0 {
		from = across/(side-1)*side + across%(side-1)
		to = from + 1
	} else {
		from = across
		to = from + side
	}
	if i%2 == 1 {
		return to, from
	}
	return from, to
}

// edges returns n edges in slices, by the indices that of returns.
func (a arcs) edges(n int, of func(i int) int) (e graph.Edges) {
	e.From, e.To = make([]uint32, n), make([]uint32, n)
	each(n, func(i int) {
		e.From[i], e.To[i] = a.at(of(i))
	})
	return e
}

// graphRun is a graph to be measured, with its edges and those of a batch in device buffers.
type graphRun struct {
	*session
	arcs  arcs
	pool  *alloc.SlabPool
	graph *graph.Graph
	all   graph.DeviceEdges // the first n edges
	more  graph.DeviceEdges // the batch
	found *vk.Buffer[uint8]
}

// onGraph measures an operation with a batch of new edges, or of existing ones.
func onGraph(fresh bool, measure func(*graphRun)) func(*session) {
	return func(s *session) {
		s.batch = max(1, s.at.Batch)
		r := &graphRun{session: s, arcs: s.arcs()}
		chosen := r.arcs.chosen
		if fresh {
			chosen = func(i int) int { return s.n + i }
		}
		r.all = r.upload("all", s.n, func(i int) int { return i })
		r.more = r.upload("batch", s.batch, chosen)
		r.found = must(vk.NewBuffer[uint8](s.d, (s.batch+3)/4*4))
		defer r.found.Free()
		defer func() { s.ending(); r.close() }()
		measure(r)
	}
}

// upload copies edges to device buffers.
func (r *graphRun) upload(name string, n int, of func(i int) int) graph.DeviceEdges {
	return graph.DeviceEdges{Count: n,
		From: r.words("graph from "+name, n, func(i int) uint32 { from, _ := r.arcs.at(of(i)); return from }),
		To:   r.words("graph to "+name, n, func(i int) uint32 { _, to := r.arcs.at(of(i)); return to })}
}

// build makes the graph of the first n edges, and a pool with room for a batch.
func (r *graphRun) build() { r.buildOf(r.all) }

// buildOf makes the graph of some of the edges, and a pool with room for all of them and a batch.
func (r *graphRun) buildOf(e graph.DeviceEdges) {
	ok(r.close())
	blocks := (int(float64(r.n)/(11*r.at.Load))+2*r.arcs.vertices+r.batch/4)/alloc.BlockSlabs + 64
	r.pool = must(alloc.NewSlabPool(r.ctx, r.d, alloc.PoolOptions{Blocks: blocks}))
	r.graph = must(graph.Build(r.ctx, r.d, e, graph.Options{Directed: true, Vertices: r.arcs.vertices,
		Pool: r.pool, Load: r.at.Load, Tile: r.at.Tile, Timed: true}))
}

func (r *graphRun) close() (err error) {
	if r.graph != nil {
		err = r.graph.Close()
	}
	if r.pool != nil {
		err = errors.Join(err, r.pool.Close())
	}
	r.graph, r.pool = nil, nil
	return err
}

// distinct returns the number of different edges among the first n.
func (r *graphRun) distinct(n int) uint64 {
	keys := make([]uint64, n)
	fill(keys, func(i int) uint64 { from, to := r.arcs.at(i); return uint64(from)<<32 | uint64(to) })
	slices.Sort(keys)
	return uint64(len(slices.Compact(keys)))
}

// has checks the graph's memory and its number of edges.
func (r *graphRun) has(edges uint64) {
	ok(r.graph.Inspect().Check(r.ctx))
	_, got, err := r.graph.Size(r.ctx)
	ok(err)
	if got != edges {
		r.fail("%d edges, not %d", got, edges)
	}
}

// allFound checks that all of the batch's edges are there, or that none is.
func (r *graphRun) allFound(there bool) {
	ok(r.graph.On(r.stream).Find(graph.DeviceLookups{Count: r.batch, From: r.more.From, To: r.more.To, Found: r.found}))
	r.wait()
	bytes := make([]uint8, r.batch)
	ok(r.found.Download(r.ctx, 0, bytes))
	each(r.batch, func(i int) {
		if (bytes[i] == 1) != there {
			r.fail("edge %d of the batch: found %v, want %v", i, bytes[i] == 1, there)
		}
	})
}

func (r *graphRun) result(operations int) Measurement {
	m := r.measurement(r.n, operations)
	m.Form, m.Batch = r.graphName(), r.batch
	if !r.op.Has("batch") {
		m.Batch = 0
	}
	return m
}

// update measures a batch of one kind on a graph of n edges.
func (r *graphRun) update(kind structures.Kind) {
	before, after := r.distinct(r.n), r.distinct(r.n+r.batch)
	b := graph.DeviceBatch{Count: r.batch, From: r.more.From, To: r.more.To, Status: r.found, Left: r.left}
	r.measure(r.result(r.batch), task{
		pending: true,
		prepare: r.build,
		record:  func() error { return r.graph.On(r.stream).Update(r.ctx, kind, b) },
		check: func() {
			if kind == structures.Insert {
				r.has(after)
				r.allFound(true)
				return
			}
			status, gone := make([]uint8, r.batch), uint64(0)
			ok(r.found.Download(r.ctx, 0, status))
			for _, s := range status {
				if s == uint8(structures.Deleted) {
					gone++
				}
			}
			r.has(before - gone)
			r.allFound(false)
		},
	})
}

// findEdges measures lookups of a batch of existing edges.
func (r *graphRun) findEdges() {
	r.build()
	l := graph.DeviceLookups{Count: r.batch, From: r.more.From, To: r.more.To, Found: r.found}
	r.measure(r.result(r.batch), task{
		record: func() error { return r.graph.On(r.stream).Find(l) },
		check:  func() { r.allFound(true) },
	})
}

// timings returns those of the graph's kernels.
func (r *graphRun) timings() []vk.Timing {
	if r.graph == nil {
		return nil
	}
	return must(r.graph.Inspect().Stats(r.ctx)).Timings
}

// buildGraph measures the bulk build of n unsorted edges.
func (r *graphRun) buildGraph() {
	m := r.calls(r.result(r.n), r.heat, r.build, r.timings, "")
	r.has(r.distinct(r.n))
	stats := must(r.graph.Inspect().Stats(r.ctx))
	m.Properties = []Property{{"utilization", stats.Utilization}, {"bytes/arc", stats.ArcBytes}}
	r.add(m)
}

// buildBatches measures the insertion of all edges into a graph without any, batch by batch. Each vertex has one
// bucket, because degrees are not known (section 5.5.2 of the dissertation, incremental build). If a batch leaves
// operations pending, because hubs need more buckets, its time includes the wall time of their completion.
func (r *graphRun) buildBatches() {
	none, want := r.all, r.distinct(r.n)
	none.Count = 0
	r.add(r.series(r.result(r.n), func() (device, wall []time.Duration) {
		r.buildOf(none)
		r.heat()
		for _, p := range chunks(r.n, r.batch) {
			b := graph.DeviceBatch{Count: p.count, From: r.room("graph from part", r.batch),
				To: r.room("graph to part", r.batch), Status: r.found, Left: r.left}
			r.stream.Copy(b.From, 0, r.all.From, p.first, p.count)
			r.stream.Copy(b.To, 0, r.all.To, p.first, p.count)
			r.wait()
			w, d := r.timed(func() error { return r.graph.On(r.stream).Update(r.ctx, structures.Insert, b) })
			if r.download(r.left, 1)[0] > 0 {
				start := time.Now()
				ok(r.graph.On(r.stream).Finish(r.ctx, structures.Insert, b))
				took := time.Since(start)
				*d, w = *d+took, w+took
			}
			device, wall = append(device, *d), append(wall, w)
		}
		r.has(want)
		return device, wall
	}))
}
