package graph

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// MaxVertices and MaxArcs are the most that a CSR may have.
const (
	MaxVertices = 1 << 30
	MaxArcs     = primitives.MaxLength
)

// Rows are what a CSR holds: the targets of each vertex's arcs in ascending order, one row behind the other.
type Rows struct {
	Vertices  int
	Arcs      int
	Offsets   *vk.Buffer[uint32] // Vertices+1 words: vertex v has the arcs Offsets[v] … Offsets[v+1]-1
	Targets   *vk.Buffer[uint32] // a word an arc
	Weights   *vk.Buffer[uint32] // a word an arc; nil: there are none
	Symmetric bool               // each arc has its opposite, of the same weight
	Trusted   bool               // NewCSR doesn't read the offsets to check them
}

// CSR is a graph as compressed sparse rows. It doesn't change. Several goroutines may use one; its Rows are for
// reading.
type CSR struct {
	Rows

	d    *vk.Device
	gate *gate.Gate
	uses vk.Uses
}

// OffsetError says that a row doesn't begin where the one before it ends, or that the last one doesn't end with the
// arcs.
type OffsetError struct {
	Vertex int    // the offset's place
	Offset uint32 // what is there
	Least  uint32 // what may be there,
	Most   uint32 // at most
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf("offset %d of the rows is %d, but %d to %d can be there", e.Vertex, e.Offset, e.Least, e.Most)
}

// NewCSR makes a CSR of buffers that hold one, which Close frees. Unless the rows are Trusted, it reads the offsets
// to check them. Errors: *structures.CountError, *structures.LengthError where a buffer is too short, *OffsetError,
// those of vk.Device.Accept, the context's.
func NewCSR(ctx context.Context, d *vk.Device, r Rows) (*CSR, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := checkSizes(r.Vertices, r.Arcs); err != nil {
		return nil, err
	}
	weighted := r.Arcs
	if r.Weights == nil {
		weighted = 0
	}
	if err := cmp.Or(recording.Need(d, r.Offsets, "words of offsets", r.Vertices, r.Vertices+1),
		recording.Need(d, r.Targets, "targets", r.Arcs, r.Arcs),
		recording.Need(d, r.Weights, "weights", r.Arcs, weighted)); err != nil {
		return nil, err
	}
	if !r.Trusted {
		if err := r.checkOffsets(ctx); err != nil {
			return nil, err
		}
	}
	return newCSR(d, r), nil
}

// checkOffsets checks that the offsets go from 0 to the number of arcs and never down.
func (r Rows) checkOffsets(ctx context.Context) error {
	const atOnce = 1 << 20
	words, before := make([]uint32, min(atOnce, r.Vertices+1)), uint32(0)
	for at := 0; at <= r.Vertices; at += len(words) {
		words = words[:min(len(words), r.Vertices+1-at)]
		if err := r.Offsets.Download(ctx, at, words); err != nil {
			return err
		}
		for i, offset := range words {
			least, most := before, uint32(r.Arcs)
			if at+i == r.Vertices {
				least = most
			}
			if at+i == 0 {
				most = 0
			}
			if offset < least || offset > most {
				return &OffsetError{at + i, offset, least, most}
			}
			before = offset
		}
	}
	return nil
}

func newCSR(d *vk.Device, r Rows) *CSR { return &CSR{Rows: r, d: d, gate: gate.New()} }

func checkSizes(vertices, arcs int) error {
	if vertices < 0 || vertices > MaxVertices {
		return &structures.CountError{What: "vertices", N: vertices, Most: MaxVertices}
	}
	if arcs < 0 || arcs > MaxArcs {
		return &structures.CountError{What: "arcs", N: arcs, Most: MaxArcs}
	}
	return nil
}

// Device is the device that the graph is on.
func (g *CSR) Device() *vk.Device {
	if !g.made() {
		return nil
	}
	return g.d
}

// made says whether a constructor has made the rows.
func (g *CSR) made() bool { return g != nil && g.gate != nil }

// Use runs f while the graph stays open: Close waits for it. Errors: vk.ErrClosed, the context's if that has ended
// before, and f's.
func (g *CSR) Use(ctx context.Context, f func() error) error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	if err := g.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer g.gate.LeaveShared()
	return f()
}

// UsedOn notes that what was recorded into a stream so far names the graph's buffers: Close frees them behind it.
func (g *CSR) UsedOn(s *vk.Stream) {
	if g.made() {
		g.uses.On(s)
	}
}

// Close frees the buffers, behind the calls and the work that use them. Further calls do nothing.
func (g *CSR) Close() error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	leave, open, err := g.gate.Shut()
	if err != nil {
		return err
	}
	defer leave()
	if open {
		g.gate.End()
		g.uses.Free(func() {
			g.Offsets.Free()
			g.Targets.Free()
			g.Weights.Free()
		})
	}
	return nil
}

// Slices copies the graph to the host. weights is nil where there are none. Errors: vk.ErrClosed, the context's, those
// of the device.
func (g *CSR) Slices(ctx context.Context) (offsets, targets, weights []uint32, err error) {
	err = g.Use(ctx, func() error {
		offsets, targets = make([]uint32, g.Vertices+1), make([]uint32, g.Arcs)
		err := cmp.Or(g.Offsets.Download(ctx, 0, offsets), g.Targets.Download(ctx, 0, targets))
		if g.Weights != nil && err == nil {
			weights = make([]uint32, g.Arcs)
			err = g.Weights.Download(ctx, 0, weights)
		}
		return err
	})
	return offsets, targets, weights, err
}

// CSROptions say how a CSR is made of edges. The zero value keeps what comes: directed, with loops.
type CSROptions struct {
	// Vertices is how many there are. 0, with edges in Go slices alone: one more than the greatest id.
	Vertices int
	// DropLoops leaves out edges from a vertex to itself.
	DropLoops bool
	// Symmetric has each edge in both directions.
	Symmetric bool
}

// DeviceEdges are edges in device buffers.
type DeviceEdges struct {
	Count    int
	From, To *vk.Buffer[uint32]
	Weights  *vk.Buffer[uint32] // nil: there are none
	// Stream, if not nil, has recorded what fills the buffers: Build and BuildCSR wait for that.
	Stream *vk.Stream
}

// VertexError says that an edge has a vertex that is none. Vertex is ^0 of edges in device buffers.
type VertexError struct {
	Vertex   uint32
	Vertices int // that there are
}

func (e *VertexError) Error() string {
	if e.Vertex == ^uint32(0) {
		return fmt.Sprintf("an edge has a vertex that isn't among the graph's %d", e.Vertices)
	}
	return fmt.Sprintf("vertex %d isn't among the graph's %d", e.Vertex, e.Vertices)
}

// BuildCSR makes rows of edges in any order. Edges that come more than once become one, with the weight of the last.
// What is copied and what it takes to sort that have to fit into the device's memory at once: 24 bytes an arc, 32 with
// weights. Of DeviceEdges, CSROptions.Vertices says how many vertices there are.
//
// Errors: *structures.LengthError, *structures.CountError, *VertexError, *vk.OutOfMemoryError, vk.ErrClosed of a *CSR,
// the context's.
func BuildCSR(ctx context.Context, d *vk.Device, from Source, o CSROptions) (*CSR, error) {
	return from.rowsOf(ctx, d, o)
}

func (e Edges) rowsOf(ctx context.Context, d *vk.Device, o CSROptions) (*CSR, error) {
	if err := cmp.Or(d.Err(), e.check(e.Weights != nil)); err != nil {
		return nil, err
	}
	extent := extentOf(e.From, e.To)
	if o.Vertices == 0 {
		if err := checkExtent(extent); err != nil {
			return nil, err
		}
		o.Vertices = int(extent)
	}
	if extent > int64(o.Vertices) {
		return nil, &VertexError{uint32(extent - 1), o.Vertices}
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := newBuilder(d, s)
	defer b.free()
	edges := DeviceEdges{Count: len(e.From)}
	for _, part := range []struct {
		words []uint32
		to    **vk.Buffer[uint32]
	}{{e.From, &edges.From}, {e.To, &edges.To}, {e.Weights, &edges.Weights}} {
		if part.words == nil {
			continue
		}
		if *part.to, err = b.room(len(part.words)); err != nil {
			return nil, err
		}
		if err = (*part.to).Upload(ctx, 0, part.words); err != nil {
			return nil, err
		}
	}
	return b.build(ctx, edges, o)
}

func (e DeviceEdges) rowsOf(ctx context.Context, d *vk.Device, o CSROptions) (*CSR, error) {
	weighted := e.Count
	if e.Weights == nil {
		weighted = 0
	}
	if err := cmp.Or(d.Err(), recording.Need(d, e.From, "vertices that edges come from", e.Count, e.Count),
		recording.Need(d, e.To, "vertices that edges lead to", e.Count, e.Count),
		recording.Need(d, e.Weights, "weights", e.Count, weighted)); err != nil {
		return nil, err
	}
	if s := e.Stream; s != nil {
		if err := cmp.Or(d.Accept("stream", s), s.Wait(ctx)); err != nil {
			return nil, err
		}
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := newBuilder(d, s)
	defer b.free()
	return b.build(ctx, e, o)
}

// csrBuilder makes one graph, with memory that goes when it is there.
type csrBuilder struct {
	d       *vk.Device
	s       *vk.Stream
	kernels *recording.Kernels
	bulk    *primitives.Primitives
	buffers []*vk.Buffer[uint32]

	edges DeviceEdges
	o     CSROptions
	arcs  int // before equal ones become one
	bits  int // of an id
}

func newBuilder(d *vk.Device, s *vk.Stream) *csrBuilder {
	return &csrBuilder{d: d, s: s, kernels: recording.NewKernels(d), bulk: primitives.New(d, primitives.Options{})}
}

// room is memory for so many words, until the end.
func (b *csrBuilder) room(words int) (*vk.Buffer[uint32], error) {
	buffer, err := recording.Room(b.s, words)
	if err == nil {
		b.buffers = append(b.buffers, buffer)
	}
	return buffer, err
}

func (b *csrBuilder) free() {
	b.s.Finally(func() {
		for _, buffer := range b.buffers {
			buffer.Free()
		}
	})
}

func (b *csrBuilder) build(ctx context.Context, e DeviceEdges, o CSROptions) (*CSR, error) {
	b.edges, b.o, b.arcs = e, o, e.Count
	if o.Symmetric {
		b.arcs *= 2
	}
	if err := checkSizes(o.Vertices, b.arcs); err != nil {
		return nil, err
	}
	if e.Count > 0 && o.Vertices == 0 {
		return nil, &VertexError{^uint32(0), 0}
	}
	b.bits = max(1, bits.Len(uint(max(0, o.Vertices-1))))
	sorted, err := b.sort(ctx)
	if err != nil {
		return nil, err
	}
	return b.rows(ctx, sorted)
}

// sortedArcs are arcs in the order of rows, each of them once: keys of 64 bits, and weights, if there are any, or, in
// wide, numbers of 64 bits with weights in their upper halves.
type sortedArcs struct {
	keys, weights, wide *vk.Buffer[uint32]
	arcs                int

	export func() error             // records, in front of all else, that the arcs come here; nil: they are here
	alone  func(func() error) error // runs what records and submits, while nothing else may; nil: anything may
}

type csrKeysPush struct {
	From, To, Weights, Keys, ArcWeights, Wrong uint64
	Edges, Vertices, Bits, Both                uint32
}

type csrMarkPush struct {
	Keys, Flags       uint64
	Arcs, Bits, Loops uint32
}

const csrWorkgroup = 128

func groups(n int) int { return (n + csrWorkgroup - 1) / csrWorkgroup }

// sort makes arcs of the edges, sorts them and leaves out what is not to stay.
func (b *csrBuilder) sort(ctx context.Context) (out sortedArcs, err error) {
	if b.arcs == 0 {
		out.keys, err = b.room(2)
		return out, cmp.Or(err, b.s.Wait(ctx))
	}
	widths := primitives.Widths{Key: structures.Bits64, Value: structures.Bits32}
	weighted := b.edges.Weights != nil
	weights := 0
	if weighted {
		weights = b.arcs
	}
	scratch := max(b.bulk.SortScratch(b.arcs, weighted, widths), b.bulk.CompactScratch(b.arcs))
	var room [7]*vk.Buffer[uint32]
	for i, words := range []int{2 * b.arcs, 2 * b.arcs, weights, weights, (b.arcs + 31) / 32, 2, (scratch + 3) / 4} {
		if room[i], err = b.room(words); err != nil {
			return out, err
		}
	}
	keys, sorted, values, sortedValues, flags, counts := room[0], room[1], room[2], room[3], room[4], room[5]
	from := values // of the arcs
	if !b.o.Symmetric {
		from = b.edges.Weights
	}
	err = b.s.Whole(func() error {
		if err := b.makeKeys(keys, values, counts); err != nil {
			return err
		}
		sort := primitives.SortArgs{Keys: keys.Address(), OutKeys: sorted.Address(),
			Length: primitives.Length{N: b.arcs}, Widths: widths, Bits: 2 * b.bits, Scratch: room[6].Address()}
		compact := primitives.CompactArgs{Keys: sorted.Address(), Flags: flags.Address(), OutKeys: keys.Address(),
			OutCount: counts.AddressOf(1), Length: sort.Length, Widths: widths, Scratch: sort.Scratch}
		if weighted {
			sort.Values, sort.OutValues = from.Address(), sortedValues.Address()
			compact.Values, compact.OutValues = sort.OutValues, values.Address()
		}
		return cmp.Or(b.bulk.Sort(b.s, sort), b.mark(sorted, flags), b.bulk.Compact(b.s, compact))
	})
	if err == nil {
		err = b.s.Wait(ctx)
	}
	var word [2]uint32
	if err == nil {
		err = recording.Left(ctx, b.s, counts, word[:])
	}
	if err == nil && word[0] != 0 {
		err = &VertexError{^uint32(0), b.o.Vertices}
	}
	out = sortedArcs{keys: keys, arcs: int(word[1])}
	if weighted {
		out.weights = values
	}
	return out, err
}

func (b *csrBuilder) makeKeys(keys, values, counts *vk.Buffer[uint32]) error {
	k, err := recording.Kernel[csrKeysPush](b.kernels, b.s, "graph/csr_keys", csrWorkgroup)
	if err != nil {
		return err
	}
	if err := recording.Clear(b.kernels, b.s, counts.Address(), counts.Len()); err != nil {
		return err
	}
	push := csrKeysPush{b.edges.From.Address(), b.edges.To.Address(), b.edges.Weights.Address(), keys.Address(),
		values.Address(), counts.Address(), uint32(b.edges.Count), uint32(b.o.Vertices), uint32(b.bits), 0}
	if b.o.Symmetric {
		push.Both = 1
	}
	k.Dispatch(b.s, groups(b.edges.Count), push)
	return nil
}

func (b *csrBuilder) mark(sorted, flags *vk.Buffer[uint32]) error {
	k, err := recording.Kernel[csrMarkPush](b.kernels, b.s, "graph/csr_mark", csrWorkgroup)
	if err != nil {
		return err
	}
	push := csrMarkPush{sorted.Address(), flags.Address(), uint32(b.arcs), uint32(b.bits), 1}
	if b.o.DropLoops {
		push.Loops = 0
	}
	k.Dispatch(b.s, groups(b.arcs), push)
	return nil
}

type csrRowsPush struct {
	Keys, Offsets, Targets uint64
	Wide, Weights          uint64
	Arcs, Vertices, Bits   uint32
}

// rows makes the graph of its arcs.
func (b *csrBuilder) rows(ctx context.Context, sorted sortedArcs) (g *CSR, err error) {
	g = newCSR(b.d, Rows{})
	g.Vertices, g.Arcs, g.Symmetric = b.o.Vertices, sorted.arcs, b.o.Symmetric
	defer func() {
		if failed := g; err != nil {
			b.s.Finally(func() { _ = failed.Close() })
			g = nil
		}
	}()
	if g.Offsets, err = recording.Room(b.s, g.Vertices+1); err != nil {
		return g, err
	}
	if g.Targets, err = recording.Room(b.s, g.Arcs); err != nil {
		return g, err
	}
	if sorted.weights != nil || sorted.wide != nil {
		if g.Weights, err = recording.Room(b.s, g.Arcs); err != nil {
			return g, err
		}
	}
	k, err := recording.Kernel[csrRowsPush](b.kernels, b.s, "graph/csr_rows", csrWorkgroup)
	if err != nil {
		return g, err
	}
	record := func() error {
		if sorted.export != nil {
			if err := sorted.export(); err != nil {
				return err
			}
		}
		if sorted.weights != nil && g.Arcs > 0 {
			b.s.Copy(g.Weights, 0, sorted.weights, 0, 4*g.Arcs)
		}
		push := csrRowsPush{Keys: sorted.keys.Address(), Offsets: g.Offsets.Address(), Targets: g.Targets.Address(),
			Arcs: uint32(g.Arcs), Vertices: uint32(g.Vertices), Bits: uint32(b.bits)}
		if sorted.wide != nil {
			push.Wide, push.Weights = sorted.wide.Address(), g.Weights.Address()
		}
		k.Dispatch(b.s, groups(max(g.Arcs, g.Vertices+1)), push)
		return nil
	}
	submit := func() error {
		if err := b.s.Whole(record); err != nil {
			return err
		}
		_, err := b.s.Submit()
		return err
	}
	if sorted.alone != nil {
		err = sorted.alone(submit)
	} else {
		err = submit()
	}
	if err == nil {
		err = b.s.Wait(ctx)
	}
	return g, err
}
