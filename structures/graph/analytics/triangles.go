package analytics

import (
	"context"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// TrianglesResult is a number of triangles.
type TrianglesResult struct {
	Count   uint64        // sets of three vertices that are neighbors of each other
	Elapsed time.Duration // how long the device worked, including the choice of directions; 0 if it has no clock
}

type (
	orientPush struct {
		Graph         rowsPush
		Flags, Counts uint64
		Part          dispatched
	}
	orientedRowsPush struct {
		Offsets, Flags, Sums, NewOffsets uint64
		Vertices, Arcs                   uint32
	}
	trianglesPush struct {
		Graph         rowsPush
		ArcsAt, Count uint64
		Part          dispatched
	}
)

const triangleGroup = 128

// Triangles counts the triangles of an undirected graph. Loops belong to no triangle. Errors: ErrDirected,
// *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: each edge is directed to the end with more neighbors (Chiba and Nishizeki, Arboricity and Subgraph Listing
// Algorithms, 1985), and rows are intersected by binary search (Hu, Liu and Huang, TriCore, 2018). On a live graph, one
// arc of each edge is copied into rows, one word each, and the graph is asked for the edge that would close a triangle
// (Awad, Fully Concurrent GPU Data Structures, 2022, chapter 5).
func (a *Analyzer) Triangles(ctx context.Context) (r TrianglesResult, err error) {
	err = a.run(ctx, func(w *workspace) error {
		switch {
		case !w.symmetric:
			return ErrDirected
		case w.arcs == 0:
			return nil
		case w.on != nil:
			return w.trianglesByEdges(&r)
		}
		o, err := w.newOrientation()
		if err != nil {
			return err
		}
		if r.Elapsed, err = w.do(o.count); err != nil {
			return err
		}
		words, err := w.download(o.counts, 4)
		r.Count = number(words, 1)
		return err
	})
	return r, err
}

// orientation is the graph with one arc of each edge.
type orientation struct {
	w                                              *workspace
	flags, sums, offsets, targets, counts, scratch *vk.Buffer[uint32]
}

func (w *workspace) newOrientation() (*orientation, error) {
	o := &orientation{w: w}
	words := groups(w.arcs, 32)
	scratch := max(w.bulk.Scratch(primitives.ScanArgs{Length: primitives.Length{N: words}}),
		w.bulk.Scratch(primitives.CompactArgs{})) / 4
	return o, w.rooms(room{"flags", words, &o.flags}, room{"sums", words, &o.sums},
		room{"oriented offsets", w.vertices + 1, &o.offsets}, room{"oriented targets", w.arcs, &o.targets},
		room{"counts", 4, &o.counts}, room{"scratch", scratch, &o.scratch})
}

// orient records the choice of one arc of each edge. Then counts has the number of these arcs.
func (o *orientation) orient() error {
	w := o.w
	all := groups(w.arcs, 8*triangleGroup)
	if err := inDispatches(w, orientKernel(), all, w.dispatches(), func(part dispatched) orientPush {
		return orientPush{w.push, o.flags.Address(), o.sums.Address(), part}
	}); err != nil {
		return err
	}
	if err := w.bulk.Scan(w.s, primitives.ScanArgs{In: o.sums.Address(), Out: o.sums.Address(),
		Length: primitives.Length{N: groups(w.arcs, 32)}, Scratch: o.scratch.Address()}); err != nil {
		return err
	}
	if err := dispatch(w, orientedRowsKernel(), groups(w.vertices+1, triangleGroup),
		orientedRowsPush{w.g.Offsets.Address(), o.flags.Address(), o.sums.Address(), o.offsets.Address(),
			uint32(w.vertices), uint32(w.arcs)}); err != nil {
		return err
	}
	return w.bulk.Compact(w.s, primitives.CompactArgs{Keys: w.g.Targets.Address(), Flags: o.flags.Address(),
		OutKeys: o.targets.Address(), OutCount: o.counts.Address(), Length: primitives.Length{N: w.arcs},
		Scratch: o.scratch.Address()})
}

func (o *orientation) count() error {
	w := o.w
	if err := recording.Clear(w.kernels, w.s, o.counts.Address(), o.counts.Len()); err != nil {
		return err
	}
	if err := o.orient(); err != nil {
		return err
	}
	oriented := rowsPush{[3]uint64{o.offsets.Address(), o.targets.Address(), 0}, uint32(w.vertices), uint32(w.arcs)}
	all := groups(w.arcs/2, triangleGroup)
	return inDispatches(w, trianglesKernel(), all, groups(all, dispatchGroups), func(part dispatched) trianglesPush {
		return trianglesPush{oriented, o.counts.Address(), o.counts.AddressOf(2), part}
	})
}
