package bench

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

// GraphKind is how the edges of a graph are made, of which a vertex has 16 on average.
type GraphKind uint8

const (
	// Uniform edges have random ends.
	Uniform GraphKind = iota
	// RMAT edges are those of a recursive matrix (Chakrabarti, Zhan and Faloutsos, 2004) by Graph500's shares, 0.57,
	// 0.19, 0.19 and 0.05, the vertices' numbers permuted: a few hubs have a large part of them.
	RMAT
	// Grid edges lead from each place of a square grid to its four neighbours; those of batches are uniform ones.
	Grid
	// OneHub edges are uniform, but that every second one is from the same vertex.
	OneHub
)

var graphKindNames = enum.Names[GraphKind]{"uniform", "rmat", "grid", "hub"}

func (k GraphKind) String() string { return graphKindNames.String(k) }

// Graphs are all of them, by their names.
var Graphs = enum.Of("graph", Uniform, RMAT, Grid, OneHub)

const edgeFactor = 16

// arcs are the edges of a graph, each a function of its index; those behind the first n are a batch's.
type arcs struct {
	kind     GraphKind
	seed     uint32
	n        int
	vertices int // a power of two, or of a grid a square
	scale    int
	side     int
}

func newArcs(kind GraphKind, seed uint32, n int) arcs {
	a := arcs{kind: kind, seed: seed, n: n, scale: max(2, bits.Len(uint(n/edgeFactor))-1)}
	a.vertices = 1 << a.scale
	if kind == Grid {
		for a.side = 2; 4*a.side*(a.side-1) < n; a.side++ {
		}
		a.vertices = a.side * a.side
	}
	return a
}

// random is a number of edge i's own.
func (a arcs) random(i, salt int) uint32 {
	x := uint64(a.seed)<<32 ^ uint64(i)*0x9e3779b97f4a7c15 ^ uint64(salt)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return uint32(x >> 32)
}

// at is edge i, which is no loop.
func (a arcs) at(i int) (from, to uint32) {
	switch {
	case a.kind == RMAT:
		from, to = a.matrix(i)
	case a.kind == Grid && i < a.n:
		return a.step(i)
	default:
		from, to = a.random(i, 1)%uint32(a.vertices), a.random(i, 2)%uint32(a.vertices)
		if a.kind == OneHub && i%2 == 0 {
			from = 1
		}
	}
	if from == to {
		to = (to + 1) % uint32(a.vertices)
	}
	return from, to
}

// matrix is edge i of a recursive matrix.
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

// step is edge i of a grid, row by row: to the right, to the left, down, up.
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

// graphRun is a graph that is measured, with its edges and those of a batch in device buffers.
type graphRun struct {
	*session
	arcs    arcs
	batch   int
	pool    *alloc.SlabPool
	graph   *graph.Graph
	ordered *graph.Ordered
	all     graph.DeviceEdges // the first n
	more    graph.DeviceEdges // the batch
}

// onGraph measures something with a batch of new edges, or of some that are there.
func onGraph(fresh bool, measure func(*graphRun, context.Context) error) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		r := &graphRun{session: s, arcs: newArcs(s.at.graph, s.seed(), s.n), batch: max(1, s.at.batch)}
		err := r.init(ctx, fresh)
		if err == nil {
			err = measure(r, ctx)
		}
		return errors.Join(err, r.close())
	}
}

func (s *session) seed() uint32 { return s.o.Seed }

func (r *graphRun) init(ctx context.Context, fresh bool) (err error) {
	if r.all, err = r.edges(ctx, "all", r.n, func(i int) int { return i }); err != nil {
		return err
	}
	return r.choose(ctx, fresh)
}

// choose makes the batch.
func (r *graphRun) choose(ctx context.Context, fresh bool) (err error) {
	r.more, err = r.edges(ctx, "batch", r.batch, func(i int) int { return r.chosen(i, fresh) })
	return err
}

// chosen is which edge is the i-th of the batch: a new one, or one that is there.
func (r *graphRun) chosen(i int, fresh bool) int {
	if fresh {
		return r.n + i
	}
	return int(uint64(r.arcs.random(i, 77)) * uint64(r.n) >> 32)
}

// edges puts edges into device buffers.
func (r *graphRun) edges(ctx context.Context, name string, n int, of func(i int) int) (e graph.DeviceEdges, err error) {
	e.Count = n
	e.From, err = r.words(ctx, "graph from "+name, n, func(i int) uint32 { from, _ := r.arcs.at(of(i)); return from })
	if err == nil {
		e.To, err = r.words(ctx, "graph to "+name, n, func(i int) uint32 { _, to := r.arcs.at(of(i)); return to })
	}
	return e, err
}

// build makes the graph of the first n edges, and a pool with room for a batch.
func (r *graphRun) build(ctx context.Context) error {
	if err := r.close(); err != nil {
		return err
	}
	blocks := (r.n/8+2*r.arcs.vertices+r.batch/4)/alloc.BlockSlabs + 64
	pool, err := alloc.NewSlabPool(ctx, r.d, alloc.PoolOptions{Blocks: blocks})
	if err != nil {
		return err
	}
	r.pool = pool
	r.graph, err = graph.Build(ctx, r.d, r.all, graph.Options{Directed: true, Vertices: r.arcs.vertices,
		Pool: pool, Tile: r.at.tile, Timed: true})
	return err
}

func (r *graphRun) close() (err error) {
	if r.graph != nil {
		err = r.graph.Close()
	}
	if r.pool != nil {
		err = errors.Join(err, r.pool.Close())
	}
	if r.ordered != nil {
		err = errors.Join(err, r.ordered.Close())
	}
	r.graph, r.pool, r.ordered = nil, nil, nil
	return err
}

// distinct is how many different edges there are among the first n and a batch.
func (r *graphRun) distinct(batch bool) uint64 {
	keys := make([]uint64, r.n, r.n+r.batch)
	put := func(to []uint64, of func(i int) int) {
		_ = each(len(to), func(i int) error {
			a, b := r.arcs.at(of(i))
			to[i] = uint64(a)<<32 | uint64(b)
			return nil
		})
	}
	put(keys, func(i int) int { return i })
	if batch {
		keys = keys[:r.n+r.batch]
		put(keys[r.n:], func(i int) int { return r.n + i })
	}
	slices.Sort(keys)
	return uint64(len(slices.Compact(keys)))
}

// has checks that the graph has so many edges, and that its memory is sound.
func (r *graphRun) has(ctx context.Context, edges uint64) error {
	_, got, err := r.graph.Size(ctx)
	if err != nil {
		return err
	}
	if got != edges {
		return r.wrong("%d edges, not %d", got, edges)
	}
	return r.graph.Check(ctx)
}

// allFound checks that the batch's edges are there, or that none is.
func (r *graphRun) allFound(ctx context.Context, there bool) error {
	found, err := vk.NewBuffer[uint8](r.d, (r.batch+3)/4*4)
	if err != nil {
		return err
	}
	defer found.Free()
	err = r.graph.On(r.stream).Find(graph.DeviceLookups{Count: r.batch, From: r.more.From, To: r.more.To, Found: found})
	if err == nil {
		err = r.stream.Wait(context.WithoutCancel(ctx))
	}
	if err != nil {
		return err
	}
	bytes := make([]uint8, r.batch)
	if err := found.Download(ctx, 0, bytes); err != nil {
		return err
	}
	return each(r.batch, func(i int) error {
		if (bytes[i] == 1) != there {
			return r.wrong("edge %d of the batch: found %v, want %v", i, bytes[i] == 1, there)
		}
		return nil
	})
}

func (r *graphRun) result(operations int) Measurement {
	m := r.measurement(r.n, operations)
	m.Form, m.Batch = r.at.graph.String(), r.batch
	return m
}

// update measures a batch of one kind on the n edges: some, behind what makes them on the stream.
func (r *graphRun) update(ctx context.Context, kind structures.Kind, some graph.DeviceEdges, makes func() error) error {
	status, err := vk.NewBuffer[uint8](r.d, (r.batch+3)/4*4)
	if err != nil {
		return err
	}
	defer status.Free()
	before, behind := r.distinct(false), r.distinct(true)
	b := graph.DeviceBatch{Count: r.batch, From: some.From, To: some.To, Status: status, Left: r.left}
	return r.add(r.measure(ctx, task{
		Measurement: r.result(r.batch), pending: true,
		prepare: r.build,
		record: func() error {
			if err := makes(); err != nil {
				return err
			}
			return r.graph.On(r.stream).Update(ctx, kind, b)
		},
		check: func(ctx context.Context) error {
			if kind == structures.Delete {
				gone, err := r.outcomes(ctx, status, structures.Deleted)
				if err != nil {
					return err
				}
				return errors.Join(r.has(ctx, before-gone), r.allFound(ctx, false))
			}
			return errors.Join(r.has(ctx, behind), r.allFound(ctx, true))
		},
	}))
}

// outcomes counts the operations of one status.
func (r *graphRun) outcomes(ctx context.Context, status *vk.Buffer[uint8], of structures.Status) (n uint64, err error) {
	bytes := make([]uint8, r.batch)
	if err := status.Download(ctx, 0, bytes); err != nil {
		return 0, err
	}
	for _, s := range bytes {
		if s == uint8(of) {
			n++
		}
	}
	return n, nil
}

func (r *graphRun) insertEdges(ctx context.Context) error {
	return r.update(ctx, structures.Insert, r.more, func() error { return nil })
}

func (r *graphRun) deleteEdges(ctx context.Context) error {
	return r.update(ctx, structures.Delete, r.more, func() error { return nil })
}

// findEdges measures lookups of a batch of edges that are there.
func (r *graphRun) findEdges(ctx context.Context) error {
	found, err := vk.NewBuffer[uint8](r.d, (r.batch+3)/4*4)
	if err == nil {
		defer found.Free()
		err = r.build(ctx)
	}
	if err != nil {
		return err
	}
	l := graph.DeviceLookups{Count: r.batch, From: r.more.From, To: r.more.To, Found: found}
	return r.add(r.measure(ctx, task{
		Measurement: r.result(r.batch),
		record:      func() error { return r.graph.On(r.stream).Find(l) },
		check:       func(ctx context.Context) error { return r.allFound(ctx, true) },
	}))
}

// timings are those of the graph's stages since they were asked for.
func (r *graphRun) timings(ctx context.Context) func() []vk.Timing {
	return func() []vk.Timing {
		if r.graph == nil {
			return nil
		}
		stats, _ := r.graph.Stats(ctx) // a device that is lost shows elsewhere
		return stats.Timings
	}
}

// buildGraph measures the bulk build of n unsorted edges.
func (r *graphRun) buildGraph(ctx context.Context) error {
	m := r.result(r.n)
	m.Batch = 0
	m, err := r.measureWall(ctx, m, func(ctx context.Context) error { return r.heat(ctx) }, r.build,
		r.timings(ctx), "")
	if err == nil {
		err = r.has(ctx, r.distinct(false))
	}
	return r.add(m, err)
}

// deleteVertices measures the deletion of as many vertices as a batch has, or of half of them all.
func (r *graphRun) deleteVertices(ctx context.Context) error {
	n := min(r.batch, r.arcs.vertices/2)
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(uint64(i) * uint64(r.arcs.vertices) / uint64(n))
	}
	status := make([]structures.Status, n)
	m := r.result(n)
	m.Batch = n
	m, err := r.measureWall(ctx, m, func(ctx context.Context) error {
		return errors.Join(r.build(ctx), r.heat(ctx))
	}, func(ctx context.Context) (err error) {
		status, err = r.graph.DeleteVertices(ctx, ids)
		return err
	}, r.timings(ctx), "")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(status, func(s structures.Status) bool { return s != structures.Deleted }) {
		return r.wrong("a vertex was not deleted")
	}
	vertices, _, err := r.graph.Size(ctx)
	if err == nil && vertices != r.arcs.vertices-n {
		err = r.wrong("%d vertices, not %d", vertices, r.arcs.vertices-n)
	}
	if err == nil {
		err = r.graph.Check(ctx)
	}
	return r.add(m, err)
}
