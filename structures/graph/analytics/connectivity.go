package analytics

import (
	"cmp"
	"context"
	"time"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
)

// Connectivity maintains the connected components of a graph whose edges are only inserted. An insertion reads no
// earlier edges. It is safe for many goroutines; calls run one at a time.
type Connectivity struct {
	gate *gate.Gate
	w    *workspace
	f    *forest
}

// NewConnectivity returns a Connectivity of that many vertices without edges. Errors: *structures.CountError,
// *vk.OutOfMemoryError, the context's.
func NewConnectivity(ctx context.Context, d *vk.Device, vertices int) (*Connectivity, error) {
	if vertices < 0 || vertices > graph.MaxVertices {
		return nil, &structures.CountError{What: "vertices", N: vertices, Most: graph.MaxVertices}
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	c := &Connectivity{gate: gate.New("Connectivity"), w: &workspace{
		Analyzer: &Analyzer{d: d, kernels: recording.NewKernels(d)}, s: s, buffers: map[string]*vk.Buffer[uint32]{}}}
	c.w.ctx = ctx
	if c.f, err = c.w.newForest(vertices); err == nil {
		_, err = c.f.finish(nil, c.f.begin)
	}
	if err != nil {
		_ = c.w.close()
		return nil, err
	}
	return c, nil
}

// turns returns the gate, nil if NewConnectivity has not made the Connectivity.
func (c *Connectivity) turns() *gate.Gate {
	if c == nil {
		return nil
	}
	return c.gate
}

// Prepare makes the kernels of Insert, so that the first Insert does not. Other calls wait for it. Errors: the
// context's, vk.ErrClosed, *vk.OutOfMemoryError, those of making a kernel.
func (c *Connectivity) Prepare(ctx context.Context) error {
	if err := c.turns().Enter(ctx); err != nil {
		return err
	}
	defer c.gate.Leave()
	return recording.Table{insertKernel(), compressKernel(), recording.ClearKernel()}.Prepare(ctx, c.w.d, nil)
}

type insertPush struct {
	Labels, Left, From, To uint64
	Edges, Vertices        uint32
}

// Insert adds edges, from[i] to to[i], and returns how long the device worked. After *structures.LengthError,
// *structures.CountError or *graph.VertexError nothing was added. After *vk.OutOfMemoryError, vk.ErrClosed or the
// context's error a part of the batch may have been added. It is safe to add the batch again.
func (c *Connectivity) Insert(ctx context.Context, from, to []uint32) (took time.Duration, err error) {
	if c.turns() == nil {
		return 0, vk.ErrNotOpen
	}
	if len(to) != len(from) {
		return 0, &structures.LengthError{Keys: len(from), Other: "vertices that edges lead to", Got: len(to)}
	}
	if len(from) > graph.MaxArcs {
		return 0, &structures.CountError{What: "edges", N: len(from), Most: graph.MaxArcs}
	}
	for i := range from {
		if most := max(from[i], to[i]); int64(most) >= int64(c.f.vertices) {
			return 0, &graph.VertexError{Vertex: int64(most), Vertices: c.f.vertices}
		}
	}
	if err := c.turns().Enter(ctx); err != nil {
		return 0, err
	}
	defer c.gate.Leave()
	if len(from) == 0 {
		return 0, nil
	}
	w, f := c.w, c.f
	w.ctx = ctx
	var a, b *vk.Buffer[uint32]
	// The work of a cancelled call may still use the memory.
	if err := cmp.Or(w.s.Wait(ctx), w.rooms(room{"from", len(from), &a}, room{"to", len(to), &b}),
		a.Upload(ctx, 0, from), b.Upload(ctx, 0, to)); err != nil {
		return 0, err
	}
	return f.finish(nil, func() error { return f.insert(a, b, len(from)) })
}

// insert records links along edges whose ends are in two buffers.
func (f *forest) insert(from, to *vk.Buffer[uint32], edges int) error {
	return cmp.Or(dispatch(f.w, insertKernel(), groups(edges, linkGroup), insertPush{f.labels.Address(),
		f.state.Address(), from.Address(), to.Address(), uint32(edges), uint32(f.vertices)}), f.compress())
}

// Components returns the present components. Their Elapsed is 0. Errors: vk.ErrClosed, the context's.
func (c *Connectivity) Components(ctx context.Context) (r ComponentsResult, err error) {
	if err := c.turns().Enter(ctx); err != nil {
		return r, err
	}
	defer c.gate.Leave()
	c.w.ctx = ctx
	if err := c.w.s.Wait(ctx); err != nil {
		return r, err
	}
	if r.Labels, err = c.w.download(c.f.labels, c.f.vertices); err == nil {
		r.Count, r.Largest = sizes(r.Labels)
	}
	return r, err
}

// Close waits for the calls that are running, and frees the memory. Further calls do nothing.
func (c *Connectivity) Close() error {
	return c.turns().Close(func() error {
		c.gate.End()
		return c.w.close()
	})
}
