package graph

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/rows"
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
		g.uses.Free(g.arrays().Free)
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
	b := rows.New(s)
	defer b.Free()
	edges := DeviceEdges{Count: len(e.From)}
	for _, part := range []struct {
		words []uint32
		to    **vk.Buffer[uint32]
	}{{e.From, &edges.From}, {e.To, &edges.To}, {e.Weights, &edges.Weights}} {
		if part.words == nil {
			continue
		}
		if *part.to, err = b.Room(len(part.words)); err != nil {
			return nil, err
		}
		if err = (*part.to).Upload(ctx, 0, part.words); err != nil {
			return nil, err
		}
	}
	return build(ctx, b, d, edges, o)
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
	b := rows.New(s)
	defer b.Free()
	return build(ctx, b, d, e, o)
}

// build makes rows of edges, with a builder's temporary memory.
func build(ctx context.Context, b *rows.Builder, d *vk.Device, e DeviceEdges, o CSROptions) (*CSR, error) {
	if err := o.admits(e.Count); err != nil {
		return nil, err
	}
	a, err := b.Build(ctx, rows.Edges{Count: e.Count, From: e.From, To: e.To, Weights: e.Weights}, rows.Options(o))
	return csrOf(d, a, o, err)
}

// admits returns an error if rows can't be made of so many edges.
func (o CSROptions) admits(edges int) error {
	if edges > 0 && o.Vertices == 0 {
		return &VertexError{^uint32(0), 0}
	}
	if o.Symmetric {
		edges *= 2
	}
	return checkSizes(o.Vertices, edges)
}

// csrOf returns rows that a builder has made, or its error.
func csrOf(d *vk.Device, a rows.Arrays, o CSROptions, err error) (*CSR, error) {
	switch {
	case err == rows.ErrVertex:
		return nil, &VertexError{^uint32(0), o.Vertices}
	case err != nil:
		return nil, err
	}
	return newCSR(d, Rows{Vertices: a.Vertices, Arcs: a.Arcs, Offsets: a.Offsets, Targets: a.Targets,
		Weights: a.Weights, Symmetric: o.Symmetric}), nil
}

// arrays returns the buffers.
func (r Rows) arrays() rows.Arrays {
	return rows.Arrays{Vertices: r.Vertices, Arcs: r.Arcs, Offsets: r.Offsets, Targets: r.Targets, Weights: r.Weights}
}
