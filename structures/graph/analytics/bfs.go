package analytics

import (
	"context"
	"time"
)

// BFSOptions say how a breadth-first search is done, and what it returns. The zero value returns distances.
type BFSOptions struct {
	// Parents asks for the vertex that each was reached from, too.
	Parents bool
	// TopDown has rounds expand frontiers always. Otherwise large ones of an undirected graph are reached from the
	// other side.
	TopDown bool
}

// BFSResult is what a breadth-first search found.
type BFSResult struct {
	// Distances are in arcs from the source, Unreached where no path leads.
	Distances []uint32
	// Parents are of each vertex one before it on a shortest path, the source of itself, and Unreached of who is not
	// reached; nil unless asked for. Of several that do, any is the parent.
	Parents []uint32
	Rounds  int           // expansions of frontiers: one more than the greatest distance, or as many
	Device  time.Duration // how long the device worked; 0 where it has no clock
}

// BFS returns the distances of all vertices from one, along arcs. Errors: *graph.VertexError, *vk.OutOfMemoryError,
// vk.ErrClosed, the context's.
//
// Source: Beamer, Asanovic and Patterson, Direction-Optimizing Breadth-First Search, 2012; expansion after Merrill,
// Garland and Grimshaw, Scalable GPU Graph Traversal, 2012.
func (a *Analyzer) BFS(ctx context.Context, source uint32, o BFSOptions) (r BFSResult, err error) {
	err = a.run(ctx, func(w *workspace) error {
		if err := w.vertex(source); err != nil {
			return err
		}
		words := (w.vertices + 127) / 128 * 4 // of a bitmap
		parents := 0
		if o.Parents {
			parents = w.vertices
		}
		t, err := w.newTraversal("bfs", 2*words, parents)
		if err != nil {
			return err
		}
		t.push.More = uint32(min(uint64(w.arcs), most32))
		if w.symmetric && !o.TopDown {
			t.push.Own = 1
		}
		if err := t.run(func() error { return t.begin(source, 2*words, true, o.Parents, 0) }); err != nil {
			return err
		}
		r.Rounds, r.Device = int(t.rounds), t.device
		if r.Distances, err = w.download(w.buffers["values"], w.vertices); err == nil && o.Parents {
			r.Parents, err = w.download(w.buffers["extra"], w.vertices)
		}
		return err
	})
	return r, err
}
