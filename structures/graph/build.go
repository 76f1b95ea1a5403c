package graph

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Source is the input of Build and BuildCSR: Edges, DeviceEdges, or a *CSR. Only types of this package are a Source.
type Source interface {
	graphOf(ctx context.Context, d *vk.Device, o Options) (*Graph, error)
	rowsOf(ctx context.Context, d *vk.Device, o CSROptions) (*CSR, error)
}

// Build makes a graph of edges. It sorts the arcs, gives each vertex the buckets that its degree needs, and writes each
// bucket once (the bulk build of section 5.5.2 of the dissertation, with slabs allocated in bulk by known degrees). If
// edges are equal, the last weight stays.
//
// Build takes 24 to 64 bytes of temporary memory for each arc. If the device has less, Build inserts Edges batch by
// batch, and returns *vk.OutOfMemoryError for the other sources.
//
// For DeviceEdges, Options.Vertices is the number of vertices. The arcs of a *CSR can make a directed graph, and those
// of a Symmetric one an undirected graph, too; the *CSR stays open. A graph without weights ignores the weights of
// DeviceEdges and of rows.
//
// Errors: those of New and of InsertEdges, *VertexError, and *vk.OptionError if the rows do not fit the
// options.
func Build(ctx context.Context, d *vk.Device, from Source, o Options) (*Graph, error) {
	return from.graphOf(ctx, d, o)
}

func (e Edges) graphOf(ctx context.Context, d *vk.Device, o Options) (*Graph, error) {
	if err := o.rules().Check(edgelist.Edges(e)); err != nil {
		return nil, err
	}
	extent := edgelist.Extent(e.From, e.To)
	if err := checkExtent(extent); err != nil {
		return nil, err
	}
	o.Vertices = max(o.Vertices, int(extent))
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	if err = g.inside(ctx, func() error { return g.buildAlone(ctx, e) }); pipeline.Short(err) && len(e.From) > 0 {
		_, err = g.InsertEdges(ctx, e)
	}
	if err != nil {
		return nil, joint.Error(pipeline.Cause(err), g.Close())
	}
	return g, nil
}

func (e DeviceEdges) graphOf(ctx context.Context, d *vk.Device, o Options) (*Graph, error) {
	if e.Stream != nil {
		if err := cmp.Or(d.Accept("stream", e.Stream), e.Stream.Wait(ctx)); err != nil {
			return nil, err
		}
	}
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	return g.built(g.inside(ctx, func() error { return g.build(ctx, e, g.arcs() == 2) }))
}

// built returns the graph, or closes it if building it has failed.
func (g *Graph) built(err error) (*Graph, error) {
	if err != nil {
		return nil, joint.Error(err, g.Close())
	}
	return g, nil
}

func (g *CSR) graphOf(ctx context.Context, d *vk.Device, o Options) (built *Graph, err error) {
	err = g.Use(ctx, func() error {
		switch {
		case !o.Directed && !g.Symmetric:
			return &vk.OptionError{Option: "Directed", Reason: "false, but the rows are not symmetric"}
		case o.Weighted && g.Weights == nil:
			return &vk.OptionError{Option: "Weighted", Reason: "true, but the rows have no weights"}
		}
		o.Vertices = max(o.Vertices, g.Vertices)
		x, err := New(ctx, g.d, o)
		if err != nil {
			return err
		}
		built, err = x.built(x.inside(ctx, func() error { return x.buildRows(ctx, g) }))
		return err
	})
	return built, err
}

// buildRows builds the graph of rows. The caller has entered.
func (g *Graph) buildRows(ctx context.Context, c *CSR) error {
	from, err := vk.NewBuffer[uint32](g.h.Device, c.Arcs)
	if err != nil {
		return err
	}
	defer from.Free()
	s := g.h.Stream
	err = recording.Run(s, func() error { return rows.RecordSources(g.h.Kernels, s, c.arrays(), from) })
	if err != nil {
		return err
	}
	return g.build(ctx, DeviceEdges{Count: c.Arcs, From: from, To: c.Targets, Weights: c.Weights}, false)
}

// buildAlone builds the empty graph of edges in Go slices. The caller has entered.
func (g *Graph) buildAlone(ctx context.Context, e Edges) error {
	on := DeviceEdges{Count: len(e.From)}
	defer func() {
		on.From.Free()
		on.To.Free()
		on.Weights.Free()
	}()
	for _, column := range []struct {
		words []uint32
		to    **vk.Buffer[uint32]
	}{{e.From, &on.From}, {e.To, &on.To}, {e.Weights, &on.Weights}} {
		if column.words == nil {
			continue
		}
		b, err := vk.NewBuffer[uint32](g.h.Device, len(column.words))
		if err != nil {
			return err
		}
		*column.to = b
		if err := b.Upload(ctx, 0, column.words); err != nil {
			return err
		}
	}
	return g.build(ctx, on, g.arcs() == 2)
}

type buildArcsPush struct {
	Graph      Description
	From       uint64
	To         uint64
	Weights    uint64
	Arcs       uint64
	ArcWeights uint64
	Wrong      uint64
	Count      uint32
	Both       uint32
	Loops      uint32
}

type buildMarkPush struct {
	Arcs, Flags uint64
	Count       uint32
}

type buildRowsPush struct {
	Arcs     uint64
	Begins   uint64
	Needs    uint64
	Count    recording.Length
	Vertices uint32
	Slots    uint32
	Each     float32
	Most     uint32
}

type buildFillPush struct {
	Graph    Description
	Arcs     uint64
	Weights  uint64
	Begins   uint64
	Places   uint64
	Needs    uint64
	Counts   uint64
	Vertices uint32
	Base     uint32
	First    uint32
	Last     uint32
	Count    uint32
}

type buildEndPush struct {
	Graph    Description
	Begins   uint64
	Places   uint64
	Needs    uint64
	Vertices uint32
	Base     uint32
}

// building has the addresses of the temporary memory of a bulk build.
type building struct {
	room     *vk.Buffer[uint32]
	vertices int
	arcs     int // including equal ones

	unsorted, sorted                uint64 // 64 bits for each arc
	weights, sortedWeights          uint64 // 0: none
	flags, scratch                  uint64
	begins, needs, places           uint64
	wrong, count, slabs             uint64 // words
	slabsInAll, base, loops, wrongs uint32
}

// lay divides the memory, and returns its size in bytes.
func (b *building) lay(g *Graph, base uint64) int {
	p := recording.Parts{Base: base}
	words := p.Take(12)
	b.wrong, b.count, b.slabs = words, words+4, words+8
	b.unsorted, b.sorted = p.Take(8*b.arcs), p.Take(8*b.arcs)
	if g.o.Weighted {
		b.weights, b.sortedWeights = p.Take(4*b.arcs), p.Take(4*b.arcs)
	}
	b.flags = p.Take((b.arcs + 31) / 32 * 4)
	b.begins, b.needs, b.places = p.Take(4*(b.vertices+1)), p.Take(4*b.vertices), p.Take(4*b.vertices)
	sort := primitives.SortArgs{Length: primitives.Length{N: b.arcs}, Values: b.weights, Widths: widths}
	b.scratch = p.Take(max(g.bulk.Scratch(sort), g.bulk.Scratch(primitives.CompactArgs{}),
		g.bulk.Scratch(primitives.ScanArgs{Length: primitives.Length{N: b.vertices}})))
	return int(p.Used)
}

// widths are the widths of arcs and weights.
var widths = primitives.Widths{Key: structures.Bits64, Value: structures.Bits32}

// build builds the empty graph of edges in device buffers. both says that an edge is two arcs. After an error the graph
// is still empty. The caller has entered.
func (g *Graph) build(ctx context.Context, e DeviceEdges, both bool) error {
	b := &building{vertices: g.o.Vertices, arcs: e.Count}
	if both {
		b.arcs *= 2
	}
	err := cmp.Or(rows.CheckSizes(b.vertices, b.arcs), recording.Need(g.h.Device, e.From, "sources", e.Count, e.Count),
		recording.Need(g.h.Device, e.To, "targets", e.Count, e.Count))
	if g.o.Weighted && err == nil {
		err = recording.Need(g.h.Device, e.Weights, "weights", e.Count, e.Count)
	}
	if err != nil || e.Count == 0 {
		return err
	}
	if b.vertices == 0 {
		return &VertexError{-1, 0}
	}
	if b.room, err = vk.NewBuffer[uint32](g.h.Device, (b.lay(g, 0)+3)/4); err != nil {
		return err
	}
	defer b.room.Free()
	b.lay(g, b.room.Address())
	if err := g.sortArcs(b, e, both); err != nil {
		return err
	}
	if b.wrongs != 0 {
		return &VertexError{-1, b.vertices}
	}
	if b.slabsInAll == 0 { // all edges are loops
		return context.Cause(ctx)
	}
	return g.buildSlabs(ctx, b)
}

// sortArcs makes arcs of edges, sorts them, removes equal ones and loops, and finds the buckets that each vertex needs.
func (g *Graph) sortArcs(b *building, e DeviceEdges, both bool) error {
	err := recording.Run(g.h.Stream, func() (err error) {
		if err := recording.Clear(g.h.Kernels, g.h.Stream, b.wrong, 3); err != nil {
			return err
		}
		for _, stage := range []struct {
			name   string
			record func() error
		}{
			{"arcs", func() error { return g.recordArcs(b, e, both) }},
			{"sort", func() error { return g.recordSort(b) }},
			{"compact", func() error { return g.recordCompact(b) }},
			{"rows", func() error { return g.recordNeeds(b) }},
		} {
			g.timed(stage.name, func() { err = cmp.Or(err, stage.record()) })
		}
		g.h.Stream.Copy(g.host, 0, b.room, int(b.wrong-b.room.Address()), 12)
		return err
	})
	words := g.host.Slice()
	b.wrongs, b.slabsInAll = words[0], words[2]
	return err
}

func (g *Graph) recordArcs(b *building, e DeviceEdges, both bool) error {
	k, err := buildArcsKernel().Kernel(g.h.Kernels, g.h.Stream)
	if err != nil {
		return err
	}
	p := buildArcsPush{Graph: g.description(), From: e.From.Address(), To: e.To.Address(), Arcs: b.unsorted,
		ArcWeights: b.weights, Wrong: b.wrong, Count: uint32(e.Count)}
	p.Graph.Capacity = uint32(b.vertices)
	if g.o.Weighted {
		p.Weights = e.Weights.Address()
	}
	if both {
		p.Both = 1
	}
	if g.o.SelfLoops {
		p.Loops = 1
	}
	k.Dispatch(g.h.Stream, groupsOf(e.Count), p)
	return nil
}

func (g *Graph) recordSort(b *building) error {
	return g.bulk.Sort(g.h.Stream, primitives.SortArgs{Keys: b.unsorted, Values: b.weights, OutKeys: b.sorted,
		OutValues: b.sortedWeights, Length: primitives.Length{N: b.arcs}, Widths: widths, Scratch: b.scratch})
}

func (g *Graph) recordCompact(b *building) error {
	k, err := buildMarkKernel().Kernel(g.h.Kernels, g.h.Stream)
	if err != nil {
		return err
	}
	k.Dispatch(g.h.Stream, (b.arcs+127)/128, buildMarkPush{b.sorted, b.flags, uint32(b.arcs)})
	return g.bulk.Compact(g.h.Stream, primitives.CompactArgs{Keys: b.sorted, Values: b.sortedWeights, Flags: b.flags,
		OutKeys: b.unsorted, OutValues: b.weights, OutCount: b.count, Length: primitives.Length{N: b.arcs},
		Widths: widths, Scratch: b.scratch})
}

func (g *Graph) recordNeeds(b *building) error {
	k, err := buildRowsKernel().Kernel(g.h.Kernels, g.h.Stream)
	if err != nil {
		return err
	}
	k.Dispatch(g.h.Stream, groupsOf(b.vertices+1), buildRowsPush{
		Arcs: b.unsorted, Begins: b.begins, Needs: b.needs, Count: recording.Length{At: b.count, N: uint32(b.arcs)},
		Vertices: uint32(b.vertices), Slots: uint32(g.slots), Each: g.each(),
		Most: maxBuckets,
	})
	return g.bulk.Scan(g.h.Stream, primitives.ScanArgs{In: b.needs, Out: b.places,
		Length: primitives.Length{N: b.vertices}, Total: b.slabs, Scratch: b.scratch})
}

// buildSlabs writes the buckets, and then the descriptors.
func (g *Graph) buildSlabs(ctx context.Context, b *building) (err error) {
	if b.base, err = g.h.Pool.Claim(ctx, int(b.slabsInAll)); err != nil {
		return err
	}
	r := regrowth{extent: b.vertices, slabs: int(b.slabsInAll), base: b.base}
	next, err := g.hubsBehind(r)
	if err == nil {
		err = g.fillSlabs(ctx, b)
	}
	if err == nil {
		err = recording.Run(g.h.Stream, func() error {
			k, err := buildEndKernel().Kernel(g.h.Kernels, g.h.Stream)
			if err != nil {
				return err
			}
			g.timed("end", func() {
				k.Dispatch(g.h.Stream, groupsOf(b.vertices), buildEndPush{g.description(), b.begins, b.places, b.needs,
					uint32(b.vertices), b.base})
			})
			return nil
		})
	}
	if err != nil {
		next.free()
		return joint.Error(err, g.drop(r))
	}
	g.hubs.free()
	g.hubs = next
	g.hold()
	if err := g.setCounter(context.WithoutCancel(ctx), countLoops, b.loops); err != nil {
		return err
	}
	return g.findHubs(ctx)
}

// fillSlabs writes all buckets. It grows the pool and repeats if there were too few slabs.
func (g *Graph) fillSlabs(ctx context.Context, b *building) error {
	for {
		counts := g.host.Slice()[:2] // the number of buckets without a slab, and of loops
		clear(counts)
		err := recording.Run(g.h.Stream, func() error {
			k, err := g.buildFillKernel().Kernel(g.h.Kernels, g.h.Stream)
			if err != nil {
				return err
			}
			g.timed("fill", func() {
				g.ranges(int(b.slabsInAll), func(first, count int) {
					k.Dispatch(g.h.Stream, g.walkGroups(count), buildFillPush{
						Graph: g.description(), Arcs: b.unsorted, Weights: b.weights, Begins: b.begins,
						Places: b.places, Needs: b.needs, Counts: g.host.Address(), Vertices: uint32(b.vertices),
						Base: b.base, First: uint32(first), Last: uint32(first + count), Count: uint32(b.arcs),
					})
				})
			})
			return nil
		})
		if b.loops = counts[1]; err != nil || counts[0] == 0 {
			return cmp.Or(err, context.Cause(ctx))
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := g.h.Pool.Relieve(ctx, 0, 1, true); err != nil {
			return err
		}
	}
}
