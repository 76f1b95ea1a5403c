package graph

import (
	"cmp"
	"context"
	"errors"
	"math/bits"

	"github.com/vkds/vkds/alloc"
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

// Build makes a graph of edges. It gives each vertex the buckets that its degree needs, sorts the arcs by their
// buckets, and writes each bucket once (the bulk build of section 5.5.2 of the dissertation, with slabs allocated in
// bulk by known degrees). If edges are equal, the last weight stays; where many are, Build takes about twice as long.
//
// Build takes 27 to 65 bytes of temporary memory for each arc, 8 for each vertex, and the edges if they come from Go
// slices. If the device has less, Build inserts Edges batch by
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
	e := DeviceEdges{Count: c.Arcs, From: from, To: c.Targets, Weights: c.Weights}
	err = g.buildArcs(ctx, &building{edges: e, offsets: c.Offsets.Address(), rows: c.Vertices, unique: c.unique,
		arcs: c.Arcs})
	if err == errEqual {
		return g.buildOnce(ctx, e, false)
	}
	return err
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

// buildEdges is BuildEdges of build.glsl.
type buildEdges struct {
	From, To           uint64
	Count, Both, Loops uint32
}

type buildDegreesPush struct {
	Edges          buildEdges
	Degrees, Noted uint64
	Vertices       uint32
}

type buildNeedsPush struct {
	Degrees, Offsets, Needs, Noted uint64
	Vertices, Slots                uint32
	Each                           float32
	Most                           uint32
}

type buildKeysPush struct {
	Edges                         buildEdges
	Weights, Places, Keys, Values uint64
	Buckets, Seed                 uint32
}

type buildOrderPush struct {
	Offsets, Places, Keys, Values uint64
	Shift, Vertices, Count        uint32
}

type buildRunsPush struct {
	Keys         uint64
	Shift, Count uint32
	Runs         uint64
	Buckets      uint32
}

type buildExtraPush struct {
	Runs, Extra, Many uint64
	Buckets, Slots    uint32
}

type buildSamplePush struct {
	Runs, Targets, Counts       uint64
	Shift, Buckets, Each, Count uint32
}

type buildFillPush struct {
	Pool                                                   alloc.PoolDescription
	Targets, Weights, Runs, Extra, Lengths, Places, Counts uint64
	Shift, Vertices, Base, Buckets, Slabs, First, Last     uint32
	Count, Loops                                           uint32
}

type buildEndPush struct {
	Graph               Description
	Places, Needs, Sums uint64
	Vertices, Base      uint32
}

// building is a bulk build.
type building struct {
	edges   DeviceEdges
	both    bool   // an edge is two arcs
	offsets uint64 // of compressed sparse rows with the same arcs; 0: none
	rows    int    // the number of rows
	unique  bool   // no arcs are equal
	arcs    int    // including equal ones and, unless the graph has them, loops
	inOrder bool   // the arcs are in the order of their vertices, of which none is a hub

	noted, total           uint64 // words
	needs, places, scratch uint64 // of vertices
	buckets                int    // of all vertices
	extra                  int    // slabs after their base slabs
	base                   uint32 // the first slab

	keys, values, sortedKeys, sortedValues uint64 // of arcs
	runs, extras, lengths, sums            uint64 // of buckets
	loops                                  uint32
}

// layVertices divides the memory for vertices, and returns its size in bytes.
func (b *building) layVertices(g *Graph, base uint64) int {
	p := recording.Parts{Base: base}
	words := p.Take(8)
	b.noted, b.total = words, words+4
	b.needs, b.places = p.Take(4*(g.o.Vertices+1)), p.Take(4*(g.o.Vertices+1))
	b.scratch = p.Take(g.bulk.Scratch(primitives.ScanArgs{Length: primitives.Length{N: g.o.Vertices + 1}}))
	return int(p.Used)
}

// layArcs divides the memory for arcs and buckets.
func (b *building) layArcs(g *Graph, base uint64) int {
	p := recording.Parts{Base: base}
	b.total = p.Take(16) // and counters of build_extra.comp and build_sample.comp
	key := 4 << b.shift(g)
	b.keys, b.sortedKeys = p.Take(key*b.arcs), p.Take(key*b.arcs)
	b.values, b.sortedValues = p.Take(4*b.arcs), p.Take(4*b.arcs)
	b.runs, b.extras = p.Take(8*b.buckets), p.Take(4*(b.buckets+1))
	b.lengths, b.sums = p.Take(4*(b.buckets+1)), p.Take(4*(b.buckets+1))
	b.scratch = p.Take(max(g.bulk.Scratch(b.sort(g)), g.bulk.Scratch(b.scan(0, 0))))
	return int(p.Used)
}

// shift is log2 of the words of a key.
func (b *building) shift(g *Graph) uint32 { return word(g.o.Weighted) }

// sort describes the sort of arcs by their buckets, as far as a sort's scratch memory depends on it.
func (b *building) sort(g *Graph) primitives.SortArgs {
	a := primitives.SortArgs{Keys: b.keys, Values: b.values, OutKeys: b.sortedKeys, OutValues: b.sortedValues,
		Length: primitives.Length{N: b.arcs}, Bits: bits.Len(uint(b.buckets)), Scratch: b.scratch}
	if g.o.Weighted {
		a.Widths, a.FirstBit = widths, 32
	}
	return a
}

// scan describes sums over buckets, the last of which is the sum of all.
func (b *building) scan(in, out uint64) primitives.ScanArgs {
	return primitives.ScanArgs{In: in, Out: out, Length: primitives.Length{N: b.buckets + 1}, Total: b.total,
		Scratch: b.scratch}
}

// widths are the widths of keys and weights of arcs.
var widths = primitives.Widths{Key: structures.Bits64, Value: structures.Bits32}

func (b *building) push(g *Graph) buildEdges {
	return buildEdges{b.edges.From.Address(), b.edges.To.Address(), uint32(b.edges.Count), word(b.both),
		word(g.o.SelfLoops)}
}

// build builds the empty graph of edges in device buffers. both says that an edge is two arcs. After an error the graph
// is still empty. The caller has entered.
func (g *Graph) build(ctx context.Context, e DeviceEdges, both bool) error {
	b := &building{edges: e, both: both, arcs: e.Count}
	if both {
		b.arcs *= 2
	}
	err := g.buildArcs(ctx, b)
	if err == errEqual {
		return g.buildOnce(ctx, e, both)
	}
	return err
}

// buildOnce is build by way of rows, which have each arc once.
func (g *Graph) buildOnce(ctx context.Context, e DeviceEdges, both bool) error {
	e.Stream = nil
	o := CSROptions{Vertices: g.o.Vertices, DropLoops: !g.o.SelfLoops, Symmetric: both}
	if !g.o.Weighted {
		e.Weights = nil
	}
	c, err := BuildCSR(ctx, g.h.Device, e, o)
	if err != nil {
		return err
	}
	defer c.Close()
	return g.buildRows(ctx, c)
}

// errEqual reports that many arcs are equal.
var errEqual = errors.New("graph: many arcs are equal")

// buildArcs is build. If many arcs are equal, the error is errEqual: their vertices would get too many buckets, or it
// would take too long to find them.
func (g *Graph) buildArcs(ctx context.Context, b *building) error {
	e := b.edges
	err := cmp.Or(rows.CheckSizes(g.o.Vertices, b.arcs),
		recording.Need(g.h.Device, e.From, "sources", e.Count, e.Count),
		recording.Need(g.h.Device, e.To, "targets", e.Count, e.Count))
	if g.o.Weighted && err == nil {
		err = recording.Need(g.h.Device, e.Weights, "weights", e.Count, e.Count)
	}
	if err != nil || e.Count == 0 {
		return err
	}
	if g.o.Vertices == 0 {
		return &VertexError{-1, 0}
	}
	ofVertices, err := vk.NewBuffer[uint32](g.h.Device, (b.layVertices(g, 0)+3)/4)
	if err != nil {
		return err
	}
	defer ofVertices.Free()
	b.layVertices(g, ofVertices.Address())
	if err := g.countArcs(b, ofVertices); err != nil {
		return err
	}
	if b.buckets == 0 { // all edges are loops
		return context.Cause(ctx)
	}
	ofArcs, err := vk.NewBuffer[uint32](g.h.Device, (b.layArcs(g, 0)+3)/4)
	if err != nil {
		return err
	}
	defer ofArcs.Free()
	b.layArcs(g, ofArcs.Address())
	return g.buildSlabs(ctx, b, ofArcs)
}

// stage records a kernel of a bulk build with that many invocations.
func stage[P any](g *Graph, of recording.Spec[P], invocations int, push P) error {
	return of.Dispatch(g.h.Kernels, g.h.Stream, groupsOf(invocations), push)
}

// countArcs finds the buckets that each vertex needs.
func (g *Graph) countArcs(b *building, room *vk.Buffer[uint32]) error {
	err := recording.Run(g.h.Stream, func() (err error) {
		g.h.Stream.Fill(room, 0, int(b.needs-room.Address())/4+g.o.Vertices+1, 0)
		needs := buildNeedsPush{Degrees: b.needs, Offsets: b.offsets, Needs: b.needs, Noted: b.noted,
			Vertices: uint32(g.o.Vertices), Slots: uint32(g.slots), Each: g.each(), Most: maxBuckets}
		degrees := b.needs
		if b.offsets != 0 {
			degrees, needs.Vertices = 0, uint32(b.rows) // the other vertices have no arcs
		}
		g.timed("degrees", func() {
			err = stage(g, buildDegreesKernel(), invocations(b.edges.Count),
				buildDegreesPush{b.push(g), degrees, b.noted, uint32(g.o.Vertices)})
			err = cmp.Or(err, stage(g, buildNeedsKernel(), int(needs.Vertices), needs),
				g.bulk.Scan(g.h.Stream, primitives.ScanArgs{In: b.needs, Out: b.places,
					Length: primitives.Length{N: g.o.Vertices + 1}, Total: b.total, Scratch: b.scratch}))
		})
		g.h.Stream.Copy(g.host, 0, room, int(b.noted-room.Address())/4, 2)
		return err
	})
	words := g.host.Slice()
	if b.buckets = int(words[1]); err == nil && words[0]&edgeWrong != 0 {
		err = &VertexError{-1, g.o.Vertices}
	}
	b.inOrder = b.offsets != 0 && words[0] == 0
	return err
}

// edgeWrong is BUILD_WRONG of build.glsl.
const edgeWrong = 1

// recordSorted records the sort of arcs by their buckets. In rows without hubs only few arcs have to move.
func (g *Graph) recordSorted(b *building, room *vk.Buffer[uint32]) (err error) {
	keys := buildKeysPush{Edges: b.push(g), Places: b.places, Keys: b.keys, Values: b.values,
		Buckets: uint32(b.buckets), Seed: g.o.Seed}
	if g.o.Weighted {
		keys.Weights = b.edges.Weights.Address()
	}
	if b.inOrder {
		keys.Keys, keys.Values = b.sortedKeys, b.sortedValues
	}
	g.timed("keys", func() { err = stage(g, buildKeysKernel(), invocations(b.edges.Count), keys) })
	if b.inOrder {
		g.timed("order", func() {
			err = cmp.Or(err, stage(g, buildOrderKernel(), b.rows, buildOrderPush{b.offsets, b.places, b.sortedKeys,
				b.sortedValues, 2 + b.shift(g), uint32(b.rows), uint32(b.arcs)}))
		})
	} else {
		g.timed("sort", func() { err = cmp.Or(err, g.bulk.Sort(g.h.Stream, b.sort(g))) })
	}
	g.timed("runs", func() {
		g.h.Stream.Fill(room, int(b.total-room.Address())/4, 4, 0)
		g.h.Stream.Fill(room, int(b.runs-room.Address())/4, int(b.lengths-b.runs)/4, 0)
		err = cmp.Or(err, stage(g, buildRunsKernel(), invocations(b.arcs+1), buildRunsPush{
			b.sortedKeys + 4*uint64(b.shift(g)), 2 + b.shift(g), uint32(b.arcs), b.runs, uint32(b.buckets)}))
		err = cmp.Or(err, stage(g, buildExtraKernel(), b.buckets, buildExtraPush{b.runs, b.extras, b.total + 4,
			uint32(b.buckets), uint32(g.slots)}), g.bulk.Scan(g.h.Stream, b.scan(b.extras, b.extras)))
		if !b.unique {
			targets, shift := b.targets(g)
			each := max(1, b.buckets/sampled)
			err = cmp.Or(err, stage(g, g.buildSampleKernel(), (b.buckets+each-1)/each*g.tiles.walk, buildSamplePush{
				b.runs, targets, b.total + 8, shift, uint32(b.buckets), uint32(each), uint32(b.arcs)}))
		}
	})
	g.h.Stream.Copy(g.host, 0, room, int(b.total-room.Address())/4, 4)
	return err
}

// sampled is how many buckets, of many, are at least looked at for equal arcs.
const sampled = 1 << 12

// targets returns the address of the targets of sorted arcs, and log2 of the bytes from one to the next.
func (b *building) targets(g *Graph) (at uint64, shift uint32) {
	if g.o.Weighted {
		return b.sortedKeys, 3
	}
	return b.sortedValues, 2
}

// invocations returns how many there are for that many items, with several for each (build.glsl).
func invocations(items int) int { return (items + 3) / 4 }

// buildSlabs writes the buckets, and then the descriptors.
func (g *Graph) buildSlabs(ctx context.Context, b *building, room *vk.Buffer[uint32]) error {
	if err := recording.Run(g.h.Stream, func() error { return g.recordSorted(b, room) }); err != nil {
		return err
	}
	words := g.host.Slice()
	b.extra = int(words[0])
	if !b.unique && (words[1] != 0 || uint64(words[3]) < uint64(words[2])*3/4) {
		return errEqual
	}
	r := regrowth{extent: g.o.Vertices, slabs: b.buckets + b.extra}
	next, err := g.hubsBehind(r)
	if err != nil {
		return err
	}
	if r.base, err = g.h.Pool.Claim(ctx, r.slabs); err != nil {
		next.free()
		if !b.unique && pipeline.Short(err) {
			return errEqual // fewer slabs may do
		}
		return err
	}
	b.base = r.base
	if err = g.fillSlabs(b, room); err == nil {
		r.slabs = b.buckets // the others are linked to them, or free
		err = g.endBuild(ctx, b)
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

// fillSlabs writes all buckets.
func (g *Graph) fillSlabs(b *building, room *vk.Buffer[uint32]) error {
	push := buildFillPush{Pool: g.description().Pool, Runs: b.runs, Extra: b.extras,
		Lengths: b.lengths, Places: b.places, Counts: g.host.Address(), Vertices: uint32(g.o.Vertices),
		Base: b.base, Buckets: uint32(b.buckets), Slabs: uint32(b.buckets + b.extra),
		Count: uint32(b.arcs), Loops: word(g.o.SelfLoops)}
	push.Targets, push.Shift = b.targets(g)
	if g.o.Weighted {
		push.Weights = b.sortedValues
	}
	loops := g.host.Slice()[:1]
	loops[0] = 0
	err := recording.Run(g.h.Stream, func() error {
		k, err := g.buildFillKernel(b.unique).Kernel(g.h.Kernels, g.h.Stream)
		if err != nil {
			return err
		}
		g.timed("fill", func() {
			g.ranges(b.buckets, func(first, count int) {
				push.First, push.Last = uint32(first), uint32(first+count)
				k.Dispatch(g.h.Stream, g.walkGroups(count), push)
			})
			g.h.Stream.Fill(room, int(b.lengths-room.Address())/4+b.buckets, 1, 0)
			err = g.bulk.Scan(g.h.Stream, b.scan(b.lengths, b.sums))
		})
		return err
	})
	b.loops = loops[0]
	return err
}

// endBuild writes the descriptors.
func (g *Graph) endBuild(ctx context.Context, b *building) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return recording.Run(g.h.Stream, func() (err error) {
		g.timed("end", func() {
			err = stage(g, buildEndKernel(), g.o.Vertices, buildEndPush{g.description(), b.places, b.needs, b.sums,
				uint32(g.o.Vertices), b.base})
		})
		return err
	})
}
