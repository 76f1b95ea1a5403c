package graph

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/vk"
)

// Save writes the graph as Graph.Save does, so that Load and vkds read it, too, and returns how many bytes w took. It
// is one call: what changes the graph of Ordered.Now waits until it ends, and w must not use that graph. Errors: w's,
// vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (v *View) Save(ctx context.Context, w io.Writer) (n int64, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		edges, err := v.count(ctx)
		if err != nil {
			return err
		}
		h := v.o.header(int(v.extent.Load()), edges)
		n, err = transfer.Save(ctx, w, h, v.o.columns(), savedPairs(v.chunks(ctx), nil, v.o.Weighted))
		return err
	})
	return n, err
}

// LoadOrdered makes an Ordered of what any graph has saved, to the end of r: with directions, weights, self loops and
// vertices as it had, whatever the options say of these, those that were deleted without edges. Errors:
// *structures.SavedError, also of what is no graph; r's own; those of NewOrdered and of InsertEdges.
func LoadOrdered(ctx context.Context, d *vk.Device, r io.Reader, o OrderedOptions) (*Ordered, error) {
	var read Options
	in, vertices, err := read.open(r)
	if err != nil {
		return nil, err
	}
	o.Directed, o.Weighted, o.SelfLoops, o.Vertices = read.Directed, read.Weighted, read.SelfLoops, int(vertices)
	g, err := NewOrdered(ctx, d, o)
	if err != nil {
		return nil, err
	}
	insert := func(e Edges) error {
		_, err := g.InsertEdges(ctx, e)
		return pipeline.Cause(err)
	}
	if err := transfer.Filled(g, func() error {
		_, err := readEdges(in, vertices, o.Weighted, insert)
		return err
	}); err != nil {
		return nil, err
	}
	return g, nil
}
