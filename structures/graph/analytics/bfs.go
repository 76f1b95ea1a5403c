package analytics

import (
	"context"
	"time"
)

// BFSOptions are the options of BFS. With the zero value it returns distances.
type BFSOptions struct {
	// Parents asks for BFSResult.Parents, too.
	Parents bool
	// TopDown expands every frontier. Otherwise, if the frontier of an undirected graph is large, the vertices that are
	// not yet reached look for a neighbor in it.
	TopDown bool
}

// BFSResult is the result of a breadth-first search.
type BFSResult struct {
	// Distances has the number of arcs from the source to each vertex, Unreached if there is no path.
	Distances []uint32
	// Parents has for each vertex one that precedes it on a shortest path, any of several. That of the source is the
	// source, and that of a vertex without a path is Unreached. It is nil unless BFSOptions.Parents is set.
	Parents []uint32
	Rounds  int           // expansions of frontiers: the greatest distance, or one more
	Elapsed time.Duration // how long the device worked; 0 if it has no clock
}

// BFS returns the distance of every vertex from one source, in arcs. Errors: *graph.VertexError, *vk.OutOfMemoryError,
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
		r.Rounds, r.Elapsed = int(t.rounds), t.device
		if r.Distances, err = w.download(w.buffers["values"], w.vertices); err == nil && o.Parents {
			r.Parents, err = w.download(w.buffers["extra"], w.vertices)
		}
		return err
	})
	return r, err
}
