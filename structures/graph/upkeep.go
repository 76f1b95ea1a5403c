package graph

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

type bucketsPush struct {
	Graph  Description
	Hubs   hubsPush
	Extent uint32
	First  uint32
	Last   uint32
}

type surveyPush struct {
	Graph  Description
	Hubs   hubsPush
	Rows   uint64
	Extent uint32
	First  uint32
	Last   uint32
}

// flush compacts adjacencies in place, so that deleted edges no longer take slots, and returns slabs to the pool (FLUSH
// of the slab hash). After it, vertices without neighbors have no slab, unless they have several buckets. If the
// context ends, each bucket is either compacted or as it was. The caller has entered.
func (g *Graph) flush(ctx context.Context, extent int) error {
	all := extent + g.hubs.buckets
	for first := 0; first < all; first += g.tilesADispatch() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		last := min(first+g.tilesADispatch(), all)
		err := recording.Run(g.h.Stream, func() error {
			k, err := g.flushKernel().Kernel(g.h.Kernels, g.h.Stream)
			if err != nil {
				return err
			}
			g.timed("flush", func() {
				k.Dispatch(g.h.Stream, g.walkGroups(last-first), bucketsPush{g.description(), g.hubs.push(),
					uint32(extent), uint32(first), uint32(last)})
			})
			return nil
		})
		if err != nil {
			return err
		}
		if told := gate.Told(ctx); told != nil {
			told(last, all)
		}
	}
	return nil
}

// Rehash gives vertices the buckets that their degrees need at Options.Load, if they have too few or far too many. It
// also compacts adjacencies in place, so that deleted edges no longer take slots, and returns slabs to the pool.
// Insertions from Go slices give more buckets to vertices above Options.MaxLoad; insertions on streams do not.
//
// Rehash waits for the streams that use the graph. Errors: vk.ErrUnsubmitted if one of them has recorded work and not
// submitted it, *vk.OutOfMemoryError, *vk.LimitError, vk.ErrClosed, the context's. After an error the graph has
// the same edges and works.
func (g *Graph) Rehash(ctx context.Context) error {
	ctx, end := g.handle().Progress.Begin(ctx)
	defer end()
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	counts, err := g.counts(ctx, g.h.Stream)
	if err != nil {
		return err
	}
	if _, err := g.regrow(ctx, counts, fitting); err != nil {
		return err
	}
	return g.flush(ctx, int(counts[countExtent]))
}

// Clear removes all edges and vertices.
func (g *Graph) Clear(ctx context.Context) error {
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	g.h.Changes.Made()
	fresh, err := freshKernel().Kernel(g.h.Kernels, g.h.Stream)
	if err == nil && !g.h.Shares {
		g.failures = 0
		if err = g.h.Pool.Reset(context.WithoutCancel(ctx)); err == nil {
			err = g.h.Pool.SetAside(ctx)
		}
	} else if err == nil {
		err = g.releaseAll()
	}
	if err != nil {
		return err
	}
	g.hubs.free()
	g.hubs = hubs{}
	g.hold()
	return recording.Run(g.h.Stream, func() error {
		fresh.Dispatch(g.h.Stream, groupsOf(g.capacity()), freshPush{g.vertices.Address(), 0, uint32(g.capacity())})
		g.h.Stream.Fill(g.counters, 0, g.counters.Len(), 0)
		return nil
	})
}

// Stats are the measurements of a graph.
type Stats struct {
	Vertices int    // without deleted ones
	Extent   int    // one more than the greatest vertex, deleted ones included
	Arcs     uint64 // in an undirected graph two for each edge, one for a loop
	Loops    uint64 // edges from a vertex to itself

	MinDegree, MaxDegree int
	MeanDegree           float64
	Lone                 int // vertices without neighbors

	Tombstones uint64 // slots of deleted edges; Rehash reclaims them
	Buckets    uint64 // buckets that have slabs
	Hubs       int    // buckets of vertices with several buckets
	Slabs      uint64 // base slabs and those after them
	Longest    int    // number of slabs of the longest bucket

	Utilization float64 // bytes of arcs / bytes of slabs
	ArcBytes    float64 // bytes of slabs and descriptors for each arc

	Bytes uint64          // device memory of descriptors, hubs and pool
	Pool  alloc.PoolStats // the whole pool, also if it is shared

	// Timings are the times of the stages of Build, Rehash and DeleteVertices on the device since the last Stats, by
	// stage. It is empty without Options.Timed.
	Timings []vk.Timing
}

// The layout of survey.comp's rows, in words.
const (
	surveyRows     = 64
	surveyRowWords = 16
)

// stats is Inspection.Stats.
func (g *Graph) stats(ctx context.Context) (Stats, error) {
	if err := g.handle().EnterAfterAll(ctx); err != nil {
		return Stats{}, err
	}
	defer g.h.Leave()
	counts, err := g.counts(ctx, g.h.Stream)
	if err != nil {
		return Stats{}, err
	}
	s := Stats{
		Vertices: int(counts[countExtent]) - int(counts[countDeleted]), Extent: int(counts[countExtent]),
		Loops: uint64(counts[countLoops]), Hubs: g.hubs.buckets,
	}
	if err := g.survey(ctx, &s); err != nil {
		return Stats{}, err
	}
	pool, err := g.h.Pool.Stats(ctx)
	if err != nil {
		return Stats{}, err
	}
	s.Pool = alloc.PoolStats(pool)
	s.Timings = g.h.Stream.Timings()
	s.Bytes = g.vertices.Bytes() + g.counters.Bytes() + g.hubs.bytes() + s.Pool.Bytes
	edge := 4.0
	if g.o.Weighted {
		edge = 8
	}
	if s.Slabs != 0 {
		s.Utilization = float64(s.Arcs) * edge / (float64(s.Slabs) * slabWords * 4)
	}
	if s.Arcs != 0 {
		s.ArcBytes = (float64(s.Slabs)*slabWords*4 + float64(s.Extent)*vertexWords*4) / float64(s.Arcs)
	}
	if s.Vertices != 0 {
		s.MeanDegree = float64(s.Arcs) / float64(s.Vertices)
	}
	return s, nil
}

// survey measures all buckets.
func (g *Graph) survey(ctx context.Context, into *Stats) error {
	rows, err := vk.NewBuffer[uint32](g.h.Device, surveyRows*surveyRowWords)
	if err != nil {
		return err
	}
	defer rows.Free()
	all := into.Extent + g.hubs.buckets
	words := make([]uint32, rows.Len())
	least := uint32(0) // the complement of the least degree, so that the greatest value counts
	for first := 0; first < all; first += g.tilesADispatch() {
		last := min(first+g.tilesADispatch(), all)
		err := recording.Run(g.h.Stream, func() error {
			k, err := g.surveyKernel().Kernel(g.h.Kernels, g.h.Stream)
			if err != nil {
				return err
			}
			g.h.Stream.Fill(rows, 0, rows.Len(), 0)
			k.Dispatch(g.h.Stream, g.walkGroups(last-first), surveyPush{g.description(), g.hubs.push(), rows.Address(),
				uint32(into.Extent), uint32(first), uint32(last)})
			return nil
		})
		if err == nil {
			err = rows.Download(ctx, 0, words)
		}
		if err != nil {
			return err
		}
		for r := 0; r < len(words); r += surveyRowWords {
			row := words[r : r+surveyRowWords]
			into.Arcs += uint64(row[0])
			into.Tombstones += uint64(row[1])
			into.Slabs += uint64(row[2])
			into.Longest = max(into.Longest, int(row[3]))
			into.MaxDegree = max(into.MaxDegree, int(row[4]))
			into.Lone += int(row[5])
			into.Buckets += uint64(row[6])
			least = max(least, row[7])
		}
	}
	if into.Vertices != 0 {
		into.MinDegree = int(^least)
	}
	return nil
}
