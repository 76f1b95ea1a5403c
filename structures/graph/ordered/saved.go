package ordered

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/vk"
)

// Save writes the graph in the format of graph.Graph.Save, and returns the number of bytes. For a Now, updates of its
// graph wait until Save ends, and w must not use it. Errors: w's, vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (v *View) Save(ctx context.Context, w io.Writer) (n int64, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		edges, err := v.count(ctx)
		if err != nil {
			return err
		}
		h := v.rules.Header(int(v.extent.Load()), graph.DefaultLoad, edges)
		n, err = transfer.Save(ctx, w, h, v.rules.Columns(), v.edges(ctx))
		return err
	})
	return n, err
}

// Load makes a graph from the file of any graph. It reads r to its end. Directions, weights, self loops and vertices
// are those of the saved graph, whatever the options say. Deleted vertices become vertices without edges. Errors:
// *structures.SavedError, also if the file has no graph; r's own; those of New and of InsertEdges.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Graph, error) {
	in, err := edgelist.Open(r)
	if err != nil {
		return nil, err
	}
	o.Directed, o.Weighted, o.SelfLoops, o.Vertices = in.Directed, in.Weighted, in.SelfLoops, int(in.Vertices)
	g, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	if err := transfer.Filled(g, func() error {
		_, err := in.Each(func(e edgelist.Edges) error {
			_, err := g.InsertEdges(ctx, graph.Edges(e))
			return pipeline.Cause(err)
		})
		return err
	}); err != nil {
		return nil, err
	}
	return g, nil
}
