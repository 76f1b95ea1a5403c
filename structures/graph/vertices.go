package graph

import (
	"context"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type verticesPush struct {
	Graph    Description
	IDs      uint64
	Statuses uint64
	Gone     uint64
	Pending  uint64
	Count    uint32
	Extent   uint32
	Retry    uint32
}

type sweepPush struct {
	Graph  Description
	Hubs   hubsPush
	Gone   uint64
	Extent uint32
	First  uint32
	Last   uint32
}

// InsertVertices adds vertices: Inserted, or Found if a vertex is there. A vertex that was deleted comes back without
// edges. All lesser numbers that were never vertices become vertices, too. Errors: those of InsertEdges.
func (g *Graph) InsertVertices(ctx context.Context, ids []uint32) ([]structures.Status, error) {
	status := make([]structures.Status, len(ids))
	return pipeline.Made(status, g.changeVertices(ctx, ids, status, false))
}

// DeleteVertices deletes vertices with all their edges, in a directed graph also the arcs that lead to them: Deleted or
// Absent. Their slabs return to the pool. If numbers in the batch are equal, one is Deleted. InsertVertices, or an
// edge, adds a deleted vertex again.
//
// A batch reads all buckets of the graph once, whatever its size, which takes some milliseconds for each gigabyte of
// slabs. So no reverse adjacencies are needed (section 5.4.4 of the dissertation does the same for directed graphs).
// Errors: vk.ErrClosed; *structures.PendingError around *vk.OutOfMemoryError, vk.ErrUnsubmitted or the context's, and
// then no vertex was deleted.
func (g *Graph) DeleteVertices(ctx context.Context, ids []uint32) ([]structures.Status, error) {
	status := make([]structures.Status, len(ids))
	return pipeline.Made(status, g.changeVertices(ctx, ids, status, true))
}

func (g *Graph) changeVertices(ctx context.Context, ids []uint32, status []structures.Status, deletes bool) error {
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return pipeline.NotBegun(status, len(ids), err)
	}
	defer g.h.Leave()
	kind := structures.Insert
	if deletes {
		kind = structures.Delete
	}
	g.h.Meter.Batch(kind, len(ids))
	if len(ids) == 0 {
		return nil
	}
	counts, err := g.counts(ctx, g.h.Stream)
	if err != nil {
		return pipeline.NotBegun(status, len(ids), err)
	}
	g.h.Changes.Made()
	if deletes {
		err = g.deleteVertices(ctx, ids, status, counts)
	} else {
		err = g.insertVertices(ctx, ids, status, counts)
	}
	return pipeline.Stopped(status, len(ids), err)
}

// bitmap returns a buffer with a bit for each vertex.
func (g *Graph) bitmap(vertices int) (*vk.Buffer[uint32], error) {
	return vk.NewBuffer[uint32](g.h.Device, (vertices+31)/32)
}

// mark runs vertices.comp for a batch.
func (g *Graph) mark(ctx context.Context, ids []uint32, status []structures.Status, extent int, deletes bool,
	gone func() uint64, room func(context.Context, int, bool) error) error {
	columns := []pipeline.Column{pipeline.In(ids), pipeline.Statuses(status)}
	_, err := g.h.Pipelines.Run(ctx, len(ids), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			k, err := verticesKernel(deletes).Kernel(g.h.Kernels, s)
			if err != nil {
				return err
			}
			p := verticesPush{Graph: g.description(), IDs: c.Columns[0], Statuses: c.Columns[1], Gone: gone(),
				Pending: c.Pending, Count: uint32(c.Count), Extent: uint32(extent)}
			if c.Retry {
				p.Retry = 1
			}
			k.Dispatch(s, groupsOf(c.Count), p)
			return nil
		},
		Recover: room,
	})
	return err
}

// insertVertices adds the vertices of a batch.
func (g *Graph) insertVertices(ctx context.Context, ids []uint32, status []structures.Status,
	counts [counterWords]uint32) error {
	// Descriptors come first, so that the bitmap has a bit for each.
	if wanted := edgelist.Extent(ids); wanted > int64(g.capacity()) {
		if err := checkExtent(wanted); err != nil {
			return err
		}
		if err := g.makeVertices(ctx, int(wanted)); err != nil {
			return err
		}
	}
	named, err := g.bitmap(g.capacity())
	if err != nil {
		return err
	}
	defer named.Free()
	g.h.Stream.Fill(named, 0, named.Len(), 0)
	if err := g.h.Stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	return g.mark(ctx, ids, status, int(counts[countExtent]), false, named.Address, nil)
}

// deleteVertices marks vertices, and sweeps all buckets. Once it has marked a vertex, it does not stop.
func (g *Graph) deleteVertices(ctx context.Context, ids []uint32, status []structures.Status,
	counts [counterWords]uint32) error {
	extent := int(counts[countExtent])
	sweep, bury, err := g.sweepers(ctx)
	if err != nil {
		return err
	}
	gone, err := g.bitmap(max(extent, 1))
	if err != nil {
		return err
	}
	defer gone.Free()
	g.h.Stream.Fill(gone, 0, gone.Len(), 0)
	if err := g.h.Stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	marking := g.mark(ctx, ids, status, extent, true, gone.Address, nil)
	// Marked vertices must be deleted, even after an error.
	return joint.Error(marking, recording.Run(g.h.Stream, func() error {
		g.timed("sweep", func() {
			g.ranges(extent+g.hubs.buckets, func(first, count int) {
				sweep.Dispatch(g.h.Stream, g.walkGroups(count), sweepPush{Graph: g.description(), Hubs: g.hubs.push(),
					Gone: gone.Address(), Extent: uint32(extent), First: uint32(first), Last: uint32(first + count)})
			})
		})
		bury.Dispatch(g.h.Stream, groupsOf(extent), sweepPush{Graph: g.description(), Gone: gone.Address(),
			Last: uint32(extent)})
		return nil
	}))
}

// sweepers returns the kernels that delete marked vertices. They are made before any vertex is marked.
func (g *Graph) sweepers(ctx context.Context) (sweep, bury *vk.Kernel[sweepPush], err error) {
	err = recording.Run(g.h.Stream, func() (err error) {
		sweep, err = g.sweepKernel(false).Kernel(g.h.Kernels, g.h.Stream)
		if err == nil {
			bury, err = g.sweepKernel(true).Kernel(g.h.Kernels, g.h.Stream)
		}
		return err
	})
	return sweep, bury, err
}

type degreesPush struct {
	Graph    Description
	Vertices uint64
	Degrees  uint64
	Tiles    uint64
	Count    uint32
}

// recordDegrees records a kernel that writes degrees and numbers of buckets. If vertices is 0, it does so for the first
// count vertices.
func (g *Graph) recordDegrees(s *vk.Stream, vertices, degrees, tiles uint64, count int) error {
	k, err := degreesKernel().Kernel(g.h.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groupsOf(count), degreesPush{g.description(), vertices, degrees, tiles, uint32(count)})
	return nil
}

// Size returns the numbers of vertices and of edges. Errors: vk.ErrClosed, vk.ErrUnsubmitted if a stream has recorded
// updates and not submitted them, *vk.OutOfMemoryError, the context's.
func (g *Graph) Size(ctx context.Context) (vertices int, edges uint64, err error) {
	if err := g.handle().EnterQuery(ctx); err != nil {
		return 0, 0, err
	}
	defer g.h.LeaveShared()
	err = g.h.Pipelines.Do(ctx, func(s *vk.Stream) error {
		counts, err := g.counts(ctx, s)
		if err != nil {
			return err
		}
		vertices = int(counts[countExtent]) - int(counts[countDeleted])
		edges, err = g.edgesNow(ctx, s, counts)
		return err
	})
	return vertices, edges, err
}

// edgesNow returns the number of edges. The caller has entered.
func (g *Graph) edgesNow(ctx context.Context, s *vk.Stream, counts [counterWords]uint32) (uint64, error) {
	edges, err := g.arcsNow(ctx, s, int(counts[countExtent]))
	if !g.o.Directed {
		edges = (edges + uint64(counts[countLoops])) / 2
	}
	return edges, err
}

// arcsNow returns the number of arcs of the first extent vertices. The caller has entered.
func (g *Graph) arcsNow(ctx context.Context, s *vk.Stream, extent int) (uint64, error) {
	if extent == 0 {
		return 0, nil
	}
	scratch := g.bulk.Scratch(primitives.ReduceArgs{Sums: structures.Bits64})
	room, err := vk.NewBuffer[uint32](g.h.Device, 2+extent+scratch/4+recording.Align)
	if err != nil {
		return 0, err
	}
	defer room.Free()
	p := recording.Parts{Base: room.Address()}
	sum, degrees := p.Take(8), p.Take(4*extent)
	err = recording.Run(s, func() error {
		if err := g.recordDegrees(s, 0, degrees, 0, extent); err != nil {
			return err
		}
		return g.bulk.Reduce(s, primitives.ReduceArgs{In: degrees, Out: sum, Length: primitives.Length{N: extent},
			Sums: structures.Bits64, Scratch: p.Take(0)})
	})
	if err != nil {
		return 0, err
	}
	words := make([]uint32, 2)
	err = room.Download(ctx, 0, words)
	return uint64(words[0]) | uint64(words[1])<<32, err
}

// Degrees returns the number of neighbors of each vertex, in a directed graph of its arcs. A number that is not a
// vertex has none. Errors: those of Size.
func (g *Graph) Degrees(ctx context.Context, vertices []uint32) ([]uint32, error) {
	if err := g.handle().EnterQuery(ctx); err != nil {
		return nil, err
	}
	defer g.h.LeaveShared()
	g.h.Meter.Query(len(vertices))
	degrees, _, err := g.degrees(ctx, vertices, false)
	return degrees, err
}

// degrees is Degrees for a caller that has entered. With tiles it also returns the number of buckets of each vertex, 0
// if it has no slabs.
func (g *Graph) degrees(ctx context.Context, vertices []uint32, tiles bool) (degrees, buckets []uint32, err error) {
	degrees = make([]uint32, len(vertices))
	columns := []pipeline.Column{pipeline.In(vertices), pipeline.Out(degrees), {}}
	if tiles {
		buckets = make([]uint32, len(vertices))
		columns[2] = pipeline.Out(buckets)
	}
	_, err = g.h.Pipelines.Run(ctx, len(vertices), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return g.recordDegrees(s, c.Columns[0], c.Columns[1], c.Columns[2], c.Count)
		},
		Parts: pipeline.PartsOfQueries,
	})
	return degrees, buckets, err
}
