package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// CSR copies the graph to compressed sparse rows in device memory. The caller closes the result. A deleted vertex has
// an empty row. If sorted is set, the targets of each row ascend, as Rows requires. Otherwise they are in any order,
// which takes half the time and is enough for algorithms that read all of them. Rows of an undirected graph are
// Symmetric. Errors: vk.ErrClosed, *structures.CountError if there are more than MaxArcs arcs, *vk.OutOfMemoryError,
// the context's.
func (g *Graph) CSR(ctx context.Context, sorted bool) (*CSR, error) {
	if err := g.handle().EnterQuery(ctx); err != nil {
		return nil, err
	}
	defer g.h.LeaveShared()
	var r Rows
	err := g.h.Pipelines.Do(ctx, func(s *vk.Stream) (err error) {
		counts, err := g.counts(ctx, s)
		if err == nil {
			r, err = g.rows(ctx, s, int(counts[countExtent]), sorted)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Trusted = true
	csr, err := NewCSR(ctx, g.h.Device, r)
	if err != nil {
		r.free()
	}
	return csr, err
}

func (r Rows) free() { r.arrays().Free() }

// rows returns the rows of the first extent vertices. The caller has entered.
func (g *Graph) rows(ctx context.Context, s *vk.Stream, extent int, sorted bool) (r Rows, err error) {
	arcs, err := g.arcsNow(ctx, s, extent)
	if err != nil {
		return r, err
	}
	r = Rows{Vertices: extent, Arcs: int(arcs), Symmetric: !g.o.Directed}
	if err := rows.CheckSizes(r.Vertices, r.Arcs); err != nil {
		return r, err
	}
	if err = g.fillRows(ctx, s, &r); err == nil && sorted && arcs != 0 {
		err = g.sortRows(s, &r)
	}
	if err != nil {
		r.free()
	}
	return r, err
}

// fillRows makes the buffers of rows and fills them.
func (g *Graph) fillRows(ctx context.Context, s *vk.Stream, r *Rows) (err error) {
	if r.Offsets, err = vk.NewBuffer[uint32](g.h.Device, r.Vertices+1); err != nil {
		return err
	}
	if r.Targets, err = vk.NewBuffer[uint32](g.h.Device, r.Arcs); err != nil {
		return err
	}
	if g.o.Weighted {
		if r.Weights, err = vk.NewBuffer[uint32](g.h.Device, r.Arcs); err != nil {
			return err
		}
	}
	if r.Vertices == 0 {
		s.Fill(r.Offsets, 0, 1, 0)
		return s.Wait(ctx)
	}
	scan := g.bulk.Scratch(primitives.ScanArgs{Length: primitives.Length{N: r.Vertices}})
	room, err := vk.NewBuffer[uint32](g.h.Device, r.Vertices+scan/4+2*recording.Align)
	if err != nil {
		return err
	}
	defer room.Free()
	p := recording.Parts{Base: room.Address()}
	words := p.Take(4 * r.Vertices) // first degrees, then cursors
	return recording.Run(s, func() error {
		if err := g.recordDegrees(s, 0, words, 0, r.Vertices); err != nil {
			return err
		}
		err := g.bulk.Scan(s, primitives.ScanArgs{In: words, Out: r.Offsets.Address(),
			Length: primitives.Length{N: r.Vertices}, Total: r.Offsets.AddressOf(r.Vertices), Scratch: p.Take(scan)})
		if err != nil {
			return err
		}
		s.Fill(room, 0, r.Vertices, 0)
		return g.recordCollect(s, collectPush{Hubs: g.hubs.push(), Cursors: words, Offsets: r.Offsets.Address(),
			Targets: r.Targets.Address(), Weights: recording.At(r.Weights, 0), Count: uint32(r.Vertices),
			Room: uint32(r.Arcs),
		}, r.Vertices+g.hubs.buckets)
	})
}

// sortRows sorts the targets of each row.
func (g *Graph) sortRows(s *vk.Stream, r *Rows) (err error) {
	sorted := Rows{}
	defer func() { sorted.free() }() // at the end these are the unsorted buffers
	if sorted.Targets, err = vk.NewBuffer[uint32](g.h.Device, r.Arcs); err != nil {
		return err
	}
	if g.o.Weighted {
		if sorted.Weights, err = vk.NewBuffer[uint32](g.h.Device, r.Arcs); err != nil {
			return err
		}
	}
	sort := primitives.SegmentedSortArgs{
		Keys: r.Targets.Address(), Values: recording.At(r.Weights, 0), OutKeys: sorted.Targets.Address(),
		OutValues: recording.At(sorted.Weights, 0), Length: primitives.Length{N: r.Arcs},
		Offsets: r.Offsets.Address(), Segments: r.Vertices,
	}
	scratch, err := vk.NewBuffer[uint32](g.h.Device, (g.bulk.Scratch(sort)+3)/4)
	if err != nil {
		return err
	}
	defer scratch.Free()
	sort.Scratch = scratch.Address()
	err = recording.Run(s, func() error { return g.bulk.SegmentedSort(s, sort) })
	if err == nil {
		r.Targets, sorted.Targets = sorted.Targets, r.Targets
		r.Weights, sorted.Weights = sorted.Weights, r.Weights
	}
	return err
}
