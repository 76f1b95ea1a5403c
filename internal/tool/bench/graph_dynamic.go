package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures/graph/analytics"
)

// batchOfEdges are edges of the graph, as many as a batch has and random ones, as if they had just come; some come
// twice, and some in the other direction.
func (s *session) batchOfEdges(a *analyzed) (from, to []uint32) {
	edges := newArcs(s.at.graph, s.o.Seed, s.n)
	for i := 0; len(from) < s.batch; i++ {
		if u, v := edges.at(int(uint64(edges.random(i, 77)) * uint64(s.n) >> 32)); u != v {
			from, to = append(from, u), append(to, v)
		}
	}
	return from, to
}

// without is the graph less some edges, on the host alone.
func (a *analyzed) without(from, to []uint32) *analyzed {
	gone := map[[2]uint32]bool{}
	for i := range from {
		gone[[2]uint32{from[i], to[i]}], gone[[2]uint32{to[i], from[i]}] = true, true
	}
	less := &analyzed{offsets: make([]uint32, 1, len(a.offsets))}
	for v := range a.vertices() {
		for _, u := range a.row(v) {
			if !gone[[2]uint32{uint32(v), u}] {
				less.targets = append(less.targets, u)
			}
		}
		less.offsets = append(less.offsets, uint32(len(less.targets)))
	}
	return less
}

// trianglesThrough measures what keeps a count of triangles up behind a batch of edges.
func (s *session) trianglesThrough(ctx context.Context) error {
	var r analytics.TrianglesResult
	a, err := s.analyzer(ctx, false)
	if err != nil {
		return err
	}
	from, to := s.batchOfEdges(a)
	m := s.measurement(a.vertices(), s.batch)
	m.Batch = s.batch
	return s.analyzeOf(ctx, a, m, func(a *analyzed, _ int) (_ time.Duration, err error) {
		r, err = a.on.TrianglesThroughEdges(ctx, from, to)
		return r.Elapsed, err
	}, func(a *analyzed, _ int) error {
		if want := a.countTriangles() - a.without(from, to).countTriangles(); r.Count != want {
			return s.wrong("%d triangles through the batch, but there are %d", r.Count, want)
		}
		return nil
	})
}
