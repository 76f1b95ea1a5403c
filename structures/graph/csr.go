package graph

import (
	"cmp"
	"context"
	"fmt"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/vk"
)

// MaxVertices and MaxArcs are the greatest numbers of vertices and arcs of a CSR.
const (
	MaxVertices = edgelist.MaxVertices
	MaxArcs     = rows.MaxArcs
)

// Rows describes compressed sparse rows: the targets of each vertex's arcs in ascending order, row after row.
type Rows struct {
	Vertices  int
	Arcs      int
	Offsets   *vk.Buffer[uint32] // Vertices+1 words: vertex v has the arcs Offsets[v] … Offsets[v+1]-1
	Targets   *vk.Buffer[uint32] // a word for each arc
	Weights   *vk.Buffer[uint32] // a word for each arc, as in Edges; nil: no weights
	Symmetric bool               // each arc has an opposite arc of the same weight
	Trusted   bool               // NewCSR does not read the offsets to check them
}

// CSR is a graph as compressed sparse rows. It does not change, and is safe for many goroutines. Do not write to its
// Rows.
type CSR struct {
	Rows

	d      *vk.Device
	gate   *gate.Gate
	uses   vk.Uses
	unique bool // no arcs are equal
}

// OffsetError reports that a row begins before the previous one, or that the last row does not end with the arcs.
type OffsetError struct {
	Vertex int    // index of the offset
	Offset uint32 // its value
	Least  uint32 // the least valid value
	Most   uint32 // the greatest valid value
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf("offset %d of the rows is %d, but must be %d to %d", e.Vertex, e.Offset, e.Least, e.Most)
}

// NewCSR makes a CSR of buffers, which Close frees. Unless the rows are Trusted, it reads the offsets to check them.
// Errors: *structures.CountError; *structures.LengthError if a buffer is too short; *OffsetError; those of
// vk.Device.Accept; the context's.
func NewCSR(ctx context.Context, d *vk.Device, r Rows) (*CSR, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := rows.CheckSizes(r.Vertices, r.Arcs); err != nil {
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

// checkOffsets returns an error unless the offsets ascend from 0 to the number of arcs.
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

func newCSR(d *vk.Device, r Rows) *CSR { return &CSR{Rows: r, d: d, gate: gate.New("CSR")} }

// Device returns the device that the graph is on.
func (g *CSR) Device() *vk.Device {
	if !g.made() {
		return nil
	}
	return g.d
}

// made reports whether a constructor has made the rows.
func (g *CSR) made() bool { return g != nil && g.gate != nil }

// Use calls f while the graph stays open: Close waits for it. Errors: vk.ErrClosed, the context's if it has ended
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

// UsedOn tells the graph that the work recorded into a stream so far uses its buffers. Close frees them after that
// work.
func (g *CSR) UsedOn(s *vk.Stream) {
	if g.made() {
		g.uses.On(s)
	}
}

// Close frees the buffers after the calls and the work that use them. Further calls do nothing.
func (g *CSR) Close() error {
	if !g.made() {
		return vk.ErrNotOpen
	}
	return g.gate.Close(func() error {
		g.gate.End()
		g.uses.Free(g.arrays().Free)
		return nil
	})
}

// Slices copies the graph to the host. weights is nil if the graph has none. Errors: vk.ErrClosed, the context's, those
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

// CSROptions say how a CSR is made of edges. The zero value keeps all edges: directed, with loops.
type CSROptions struct {
	// Vertices is the number of vertices. 0, for edges in Go slices only: one more than the greatest vertex.
	Vertices int
	// DropLoops leaves out edges from a vertex to itself.
	DropLoops bool
	// Symmetric adds the opposite arc of each edge.
	Symmetric bool
}

// DeviceEdges are edges in device buffers.
type DeviceEdges struct {
	Count    int // 0: none, and no buffers are needed
	From, To *vk.Buffer[uint32]
	Weights  *vk.Buffer[uint32] // nil: no weights
	// Stream, if not nil, has recorded work that fills the buffers. Build and BuildCSR wait for it.
	Stream *vk.Stream
}

// VertexError reports a vertex that the graph does not have, or that no graph can have.
type VertexError struct {
	Vertex   int64 // -1: one of edges in device buffers
	Vertices int   // how many the graph has, or MaxVertices; the greatest vertex is one less
}

func (e *VertexError) Error() string {
	which := "a vertex of an edge"
	if e.Vertex >= 0 {
		which = fmt.Sprintf("vertex %d", e.Vertex)
	}
	return fmt.Sprintf("%s is out of range: vertices are less than %d", which, e.Vertices)
}

// checkExtent returns an error if a graph cannot grow to that many vertices.
func checkExtent(extent int64) error {
	if extent > MaxVertices {
		return &VertexError{extent - 1, MaxVertices}
	}
	return nil
}

// BuildCSR makes rows of edges in any order. If edges are equal, the last weight stays. For DeviceEdges,
// CSROptions.Vertices is the number of vertices. BuildCSR takes 24 bytes of device memory for each arc, 32 with
// weights.
//
// Errors: *structures.LengthError, *structures.CountError, *VertexError, *vk.OutOfMemoryError, vk.ErrClosed if a *CSR
// is closed, the context's.
func BuildCSR(ctx context.Context, d *vk.Device, from Source, o CSROptions) (*CSR, error) {
	return from.rowsOf(ctx, d, o)
}

func (e Edges) rowsOf(ctx context.Context, d *vk.Device, o CSROptions) (*CSR, error) {
	if err := cmp.Or(d.Err(), edgelist.Edges(e).Check(e.Weights != nil)); err != nil {
		return nil, err
	}
	extent := edgelist.Extent(e.From, e.To)
	if o.Vertices == 0 {
		if err := checkExtent(extent); err != nil {
			return nil, err
		}
		o.Vertices = int(extent)
	}
	if extent > int64(o.Vertices) {
		return nil, &VertexError{extent - 1, o.Vertices}
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

// build makes rows of edges, with the temporary memory of a builder.
func build(ctx context.Context, b *rows.Builder, d *vk.Device, e DeviceEdges, o CSROptions) (*CSR, error) {
	if err := o.admits(e.Count); err != nil {
		return nil, err
	}
	a, err := b.Build(ctx, rows.Edges{Count: e.Count, From: e.From, To: e.To, Weights: e.Weights}, rows.Options(o))
	return csrOf(d, a, o, err)
}

// admits returns an error if rows cannot be made of that many edges.
func (o CSROptions) admits(edges int) error {
	if edges > 0 && o.Vertices == 0 {
		return &VertexError{-1, 0}
	}
	if o.Symmetric {
		edges *= 2
	}
	return rows.CheckSizes(o.Vertices, edges)
}

// csrOf returns rows that a builder has made, or its error.
func csrOf(d *vk.Device, a rows.Arrays, o CSROptions, err error) (*CSR, error) {
	switch {
	case err == rows.ErrVertex:
		return nil, &VertexError{-1, o.Vertices}
	case err != nil:
		return nil, err
	}
	c := newCSR(d, Rows{Vertices: a.Vertices, Arcs: a.Arcs, Offsets: a.Offsets, Targets: a.Targets,
		Weights: a.Weights, Symmetric: o.Symmetric})
	c.unique = true
	return c, nil
}

// arrays returns the buffers.
func (r Rows) arrays() rows.Arrays {
	return rows.Arrays{Vertices: r.Vertices, Arcs: r.Arcs, Offsets: r.Offsets, Targets: r.Targets, Weights: r.Weights}
}
