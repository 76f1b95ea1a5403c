package analytics

import (
	"context"
	"math"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// source is the graph of one call: its sizes, and what kernels need to read it.
type source struct {
	vertices  int
	arcs      int
	symmetric bool
	parts     int // of rows: the number of entries of a queue that has all vertices
	push      rowsPush
	degrees   uint64 // address of the argument of degree_at in shaders/analytics/neighbors.glsl

	device graph.Description // of a live graph
	looked time.Duration     // how long the device took to measure the graph
}

// rowsPush is Rows of shaders/analytics/neighbors_csr.glsl, or of neighbors_live.glsl.
type rowsPush struct {
	Memory          [3]uint64 // offsets, targets, weights; or two arrays of the pool, and descriptors
	Vertices, Bound uint32    // Bound: arcs; or blocks of the pool
}

func rowsOf(g *graph.CSR) rowsPush {
	return rowsPush{[3]uint64{g.Offsets.Address(), g.Targets.Address(), g.Weights.Address()}, uint32(g.Vertices),
		uint32(g.Arcs)}
}

func sourceOf(g *graph.CSR) source {
	return source{vertices: g.Vertices, arcs: g.Arcs, symmetric: g.Symmetric, parts: g.Vertices + g.Arcs/frontierPart,
		push: rowsOf(g), degrees: g.Offsets.Address()}
}

const (
	measures   = 2 // numbers that live_measure.comp computes
	measured   = 8 // vertices of each of its invocations
	most32     = math.MaxUint32
	liveMargin = 1 << 16 // more than the lanes that may read beyond the pool's last slot
)

// live measures a live graph. The graph does not change meanwhile.
func (w *workspace) live(at graph.Description) (err error) {
	o := w.on.Inspect().Options()
	slots := slabhash.SlotsAt(structures.Bits32, !o.Weighted)
	if most := (most32 - liveMargin) / uint64(slots); uint64(at.Pool.Blocks)<<10 > most {
		return &vk.LimitError{What: "slabs of a live graph",
			Want: uint64(at.Pool.Blocks) << 10, Most: most}
	}
	w.source = source{symmetric: !o.Directed, device: at, degrees: at.Vertices,
		push: rowsPush{[3]uint64{at.Pool.Table, at.Pool.Units, at.Vertices}, at.Capacity, at.Pool.Blocks}}
	var found *vk.Buffer[uint32]
	if found, err = w.room("measures", 2*measures+1); err != nil {
		return err
	}
	if w.looked, err = w.do(func() error {
		if err := recording.Clear(w.kernels, w.s, found.Address(), found.Len()); err != nil {
			return err
		}
		return dispatch(w, w.measureKernel(), groups(int(at.Capacity), measured*largeGroup),
			traversalPush{Graph: w.push, Values: found.Address(), Marks: at.Counters})
	}); err != nil {
		return err
	}
	words, err := w.download(found, 2*measures+1)
	if err != nil {
		return err
	}
	w.vertices = int(min(words[2*measures], at.Capacity))
	w.arcs, w.parts = int(number(words, 0)), int(number(words, 1))
	w.push.Vertices = uint32(w.vertices)
	return nil
}

// vertex returns an error if the graph does not have the vertex.
func (s *source) vertex(v uint32) error {
	if int64(v) >= int64(s.vertices) {
		return &graph.VertexError{Vertex: int64(v), Vertices: s.vertices}
	}
	return nil
}

// Bounds of a dispatch, because desktops end a dispatch that takes 2 s. A kernel that reads one or two places for each
// arc gets dispatchArcs arcs on average (a row is not divided). A kernel that may look at 64 places for each arc gets
// dispatchGroups workgroups of 128 arcs. A device that reads 2^27 places a second takes 0.5 s and 1 s for these.
var (
	dispatchArcs   = 1 << 26
	dispatchGroups = 1 << 14
)

// dispatches returns the number of dispatches for a pass over all arcs.
func (s *source) dispatches() int { return max(1, groups(s.arcs, dispatchArcs)) }

// submittedArcs is the number of arcs that one submission may read, because some drivers end one that takes 10 s.
var submittedArcs = 1 << 30

// passes returns how many passes over all arcs to record at a time, at most most.
func (s *source) passes(most int) int { return max(1, min(most, submittedArcs/max(1, s.arcs))) }

// use calls f while the graph does not change.
func (a *Analyzer) use(ctx context.Context, f func(look func(*workspace) error) error) error {
	if a.on != nil {
		return a.on.InShaders().Use(ctx, func(at graph.Description) error {
			return f(func(w *workspace) error { return w.live(at) })
		})
	}
	return a.g.Use(ctx, func() error {
		return f(func(w *workspace) error {
			w.source = sourceOf(a.g)
			return nil
		})
	})
}
