package graph

import (
	"context"
	"io"
	"iter"
)

// open is what is asked of the graph, or, for a nil pointer, of one that is not open.
func (g *Ordered) open() *orderedArcs {
	if g == nil {
		return new(orderedArcs)
	}
	return &g.orderedArcs
}

// Vertices is how many there are. Errors: vk.ErrClosed, the context's.
func (g *Ordered) Vertices(ctx context.Context) (n int, err error) {
	return g.open().Vertices(ctx)
}

// Edges is how many there are. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (g *Ordered) Edges(ctx context.Context) (edges uint64, err error) {
	return g.open().Edges(ctx)
}

// FindEdges looks each edge up: its weight, 0 if it is absent or the graph has none, and whether it is there. Weights
// of e are not looked at. Errors: vk.ErrClosed, *structures.LengthError, *vk.OutOfMemoryError, the context's.
func (g *Ordered) FindEdges(ctx context.Context, e Edges) (weights []uint32, found []bool, err error) {
	return g.open().FindEdges(ctx, e)
}

// HasEdges answers of each edge whether it is there. Errors: those of FindEdges.
func (g *Ordered) HasEdges(ctx context.Context, e Edges) ([]bool, error) {
	return g.open().HasEdges(ctx, e)
}

// FindEdgesInto is FindEdges into the caller's slices, each as long as the batch or nil: then it is not wanted.
func (g *Ordered) FindEdgesInto(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	return g.open().FindEdgesInto(ctx, e, weights, found)
}

// Degrees returns how many neighbours each vertex has, in a directed graph those that its arcs lead to; none has what
// is no vertex. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (g *Ordered) Degrees(ctx context.Context, vertices []uint32) (degrees []uint32, err error) {
	return g.open().Degrees(ctx, vertices)
}

// Neighbors returns the neighbours of each vertex, ascending, in a directed graph those that its arcs lead to; none of
// what is no vertex. Errors: those of Degrees.
func (g *Ordered) Neighbors(ctx context.Context, vertices []uint32) (Neighbors, error) {
	return g.open().Neighbors(ctx, vertices)
}

// NeighborsBetween returns the neighbours in each range, ascending. Errors: those of Degrees.
func (g *Ordered) NeighborsBetween(ctx context.Context, ranges []NeighborRange) (n Neighbors, err error) {
	return g.open().NeighborsBetween(ctx, ranges)
}

// CommonNeighbors returns, ascending, the vertices that both ends of each pair have arcs to; weights of pairs are not
// looked at, nor whether the pair itself is an edge, and the result has none. The neighbours of the end that has fewer
// are looked up at the other one. Errors: *structures.LengthError and those of Degrees.
func (g *Ordered) CommonNeighbors(ctx context.Context, pairs Edges) (n Neighbors, err error) {
	return g.open().CommonNeighbors(ctx, pairs)
}

// NeighborsOf returns the neighbours of a vertex one by one, as an Edge each, ascending, read part by part. An error
// comes last, with no edge: structures.ErrChanged where the graph was changed before the last part was read, which may
// be the first.
func (g *Ordered) NeighborsOf(ctx context.Context, vertex uint32) iter.Seq2[Edge, error] {
	return g.open().NeighborsOf(ctx, vertex)
}

// AllEdges returns the edges, those of an undirected graph once each, From being the lesser end, ascending by From and
// then by To. They are read as NeighborsOf reads.
func (g *Ordered) AllEdges(ctx context.Context) iter.Seq2[Edge, error] {
	return g.open().AllEdges(ctx)
}

// Chunks is AllEdges with many edges at a time, in slices that are valid until the next ones come.
func (g *Ordered) Chunks(ctx context.Context) iter.Seq2[Edges, error] {
	return g.open().Chunks(ctx)
}

// Export returns all edges, as AllEdges has them. Errors: those of Degrees.
func (g *Ordered) Export(ctx context.Context) (all Edges, err error) {
	return g.open().Export(ctx)
}

// CSR makes compressed sparse rows in device memory, which their user closes, of the graph as it is: for analytics. The
// targets of a row ascend, and come so from the tree. Errors: those of Graph.CSR.
func (g *Ordered) CSR(ctx context.Context) (csr *CSR, err error) {
	return g.open().CSR(ctx)
}

// ExportCSR returns the graph as compressed sparse rows in Go slices, as Graph.ExportCSR does.
func (g *Ordered) ExportCSR(ctx context.Context) (offsets, targets, weights []uint32, err error) {
	return g.open().ExportCSR(ctx)
}

// Save writes the graph as Graph.Save does, so that Load and vkds read it, too, and returns how many bytes w took. It
// is one call: what changes the graph waits until it ends, and w must not use the graph. Errors: w's, vk.ErrClosed,
// *vk.OutOfMemoryError, the context's.
func (g *Ordered) Save(ctx context.Context, w io.Writer) (n int64, err error) {
	return g.open().Save(ctx, w)
}

// WriteTo is Save without a context: io.WriterTo.
func (g *Ordered) WriteTo(w io.Writer) (int64, error) {
	return g.open().WriteTo(w)
}
