package graph

import (
	"context"
	"io"
	"iter"
)

// open is what is asked of the snapshot, or, for a nil pointer, of one that is not open.
func (s *OrderedSnapshot) open() *orderedArcs {
	if s == nil {
		return new(orderedArcs)
	}
	return &s.orderedArcs
}

// Vertices is how many there were. Errors: vk.ErrClosed, the context's.
func (s *OrderedSnapshot) Vertices(ctx context.Context) (n int, err error) {
	return s.open().Vertices(ctx)
}

// Edges is how many there were. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (s *OrderedSnapshot) Edges(ctx context.Context) (edges uint64, err error) {
	return s.open().Edges(ctx)
}

// FindEdges looks each edge up, as Ordered.FindEdges does.
func (s *OrderedSnapshot) FindEdges(ctx context.Context, e Edges) (weights []uint32, found []bool, err error) {
	return s.open().FindEdges(ctx, e)
}

// HasEdges returns whether each edge was there, as Ordered.HasEdges does.
func (s *OrderedSnapshot) HasEdges(ctx context.Context, e Edges) ([]bool, error) {
	return s.open().HasEdges(ctx, e)
}

// FindEdgesInto is FindEdges into the caller's slices, each as long as the batch or nil: then it is not wanted.
func (s *OrderedSnapshot) FindEdgesInto(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	return s.open().FindEdgesInto(ctx, e, weights, found)
}

// Degrees returns how many neighbours each vertex had, as Ordered.Degrees does.
func (s *OrderedSnapshot) Degrees(ctx context.Context, vertices []uint32) (degrees []uint32, err error) {
	return s.open().Degrees(ctx, vertices)
}

// Neighbors returns the neighbours of each vertex, as Ordered.Neighbors does.
func (s *OrderedSnapshot) Neighbors(ctx context.Context, vertices []uint32) (Neighbors, error) {
	return s.open().Neighbors(ctx, vertices)
}

// NeighborsBetween returns the neighbours in each range, as Ordered.NeighborsBetween does.
func (s *OrderedSnapshot) NeighborsBetween(ctx context.Context, ranges []NeighborRange) (n Neighbors, err error) {
	return s.open().NeighborsBetween(ctx, ranges)
}

// CommonNeighbors returns the vertices that both ends of each pair had arcs to, as Ordered.CommonNeighbors does.
func (s *OrderedSnapshot) CommonNeighbors(ctx context.Context, pairs Edges) (n Neighbors, err error) {
	return s.open().CommonNeighbors(ctx, pairs)
}

// NeighborsOf returns the neighbours of a vertex one by one, as Ordered.NeighborsOf does. Changes of the graph do not
// end it.
func (s *OrderedSnapshot) NeighborsOf(ctx context.Context, vertex uint32) iter.Seq2[Edge, error] {
	return s.open().NeighborsOf(ctx, vertex)
}

// AllEdges returns the edges, as Ordered.AllEdges does. Changes of the graph do not end it.
func (s *OrderedSnapshot) AllEdges(ctx context.Context) iter.Seq2[Edge, error] {
	return s.open().AllEdges(ctx)
}

// Chunks is AllEdges with many edges at a time, in slices that are valid until the next ones come.
func (s *OrderedSnapshot) Chunks(ctx context.Context) iter.Seq2[Edges, error] {
	return s.open().Chunks(ctx)
}

// Export returns all edges, as AllEdges has them. Errors: those of Degrees.
func (s *OrderedSnapshot) Export(ctx context.Context) (all Edges, err error) {
	return s.open().Export(ctx)
}

// CSR makes compressed sparse rows in device memory, as Ordered.CSR does.
func (s *OrderedSnapshot) CSR(ctx context.Context) (csr *CSR, err error) {
	return s.open().CSR(ctx)
}

// ExportCSR returns the graph as compressed sparse rows in Go slices, as Graph.ExportCSR does.
func (s *OrderedSnapshot) ExportCSR(ctx context.Context) (offsets, targets, weights []uint32, err error) {
	return s.open().ExportCSR(ctx)
}

// Save writes the graph as it was, as Ordered.Save does. What changes the graph need not wait until it ends.
func (s *OrderedSnapshot) Save(ctx context.Context, w io.Writer) (n int64, err error) {
	return s.open().Save(ctx, w)
}

// WriteTo is Save without a context: io.WriterTo.
func (s *OrderedSnapshot) WriteTo(w io.Writer) (int64, error) {
	return s.open().WriteTo(w)
}
