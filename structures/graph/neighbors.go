package graph

import (
	"context"
	"errors"
	"iter"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/vk"
)

// Neighbors are the neighbors of some vertices. Vertex i has the neighbors Targets[Offsets[i]:Offsets[i+1]], in no
// order. Weights has the weights of the edges to them; it is nil if the graph has none.
type Neighbors struct {
	Offsets []int
	Targets []uint32
	Weights []uint32
}

// Of returns the neighbors of vertex i, and the weights of the edges to them.
func (n Neighbors) Of(i int) (targets, weights []uint32) {
	targets = n.Targets[n.Offsets[i]:n.Offsets[i+1]]
	if n.Weights != nil {
		weights = n.Weights[n.Offsets[i]:n.Offsets[i+1]]
	}
	return targets, weights
}

type collectPush struct {
	Graph    Description
	Hubs     hubsPush
	Vertices uint64
	Cursors  uint64
	Offsets  uint64
	Targets  uint64
	Weights  uint64
	Count    uint32
	First    uint32
	Last     uint32
	Room     uint32
}

// arcsAPart is about the number of arcs that are copied to the host at a time.
const arcsAPart = 1 << 21

// Neighbors returns the neighbors of each vertex, in a directed graph the targets of its arcs. A number that is not a
// vertex has none. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (g *Graph) Neighbors(ctx context.Context, vertices []uint32) (Neighbors, error) {
	if err := g.handle().EnterQuery(ctx); err != nil {
		return Neighbors{}, err
	}
	defer g.h.LeaveShared()
	g.h.Meter.Query(len(vertices))
	return g.neighbors(ctx, vertices)
}

// neighbors is Neighbors for a caller that has entered.
func (g *Graph) neighbors(ctx context.Context, vertices []uint32) (Neighbors, error) {
	n := Neighbors{Offsets: make([]int, len(vertices)+1)}
	degrees, tiles, err := g.degrees(ctx, vertices, true)
	if err != nil {
		return Neighbors{}, err
	}
	for i, degree := range degrees {
		n.Offsets[i+1] = n.Offsets[i] + int(degree)
	}
	n.Targets = make([]uint32, n.Offsets[len(vertices)])
	if g.o.Weighted {
		n.Weights = make([]uint32, len(n.Targets))
	}
	return n, g.h.Pipelines.Do(ctx, func(s *vk.Stream) error {
		for first := 0; first < len(vertices); {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			// As many vertices as have about arcsAPart arcs, but at least one.
			end := first + 1
			for end < len(vertices) && end-first < arcsAPart && n.Offsets[end+1]-n.Offsets[first] <= arcsAPart {
				end++
			}
			if err := g.collect(ctx, s, vertices[first:end], tiles[first:end], n, first); err != nil {
				return err
			}
			first = end
		}
		return nil
	})
}

// collect copies the neighbors of some of the vertices, which begin at index first, to the host.
func (g *Graph) collect(ctx context.Context, s *vk.Stream, vertices, tiles []uint32, n Neighbors, first int) error {
	count, from, to := len(vertices), n.Offsets[first], n.Offsets[first+len(vertices)]
	if from == to {
		return nil
	}
	// One upload has the vertices, the tiles and the arcs before each, and cursors.
	words := make([]uint32, 4*count)
	places, offsets, sum := words[count:2*count], words[2*count:3*count], uint32(0)
	copy(words, vertices)
	for i := range vertices {
		places[i], offsets[i] = sum, uint32(n.Offsets[first+i]-from)
		sum += tiles[i]
	}
	columns := 1
	if g.o.Weighted {
		columns = 2
	}
	room, err := vk.NewBuffer[uint32](g.h.Device, len(words)+columns*(to-from))
	if err != nil {
		return err
	}
	defer room.Free()
	if err := room.Upload(ctx, 0, words); err != nil {
		return err
	}
	push := collectPush{
		Hubs: hubsPush{Offsets: room.AddressOf(count), Vertices: uint32(count)}, Vertices: room.Address(),
		Offsets: room.AddressOf(2 * count), Cursors: room.AddressOf(3 * count), Targets: room.AddressOf(4 * count),
		Count: uint32(count), Room: uint32(to - from),
	}
	if g.o.Weighted {
		push.Weights = room.AddressOf(4*count + to - from)
	}
	err = recording.Run(s, func() error { return g.recordCollect(s, push, int(sum)) })
	if err == nil {
		err = room.Download(ctx, 4*count, n.Targets[from:to])
	}
	if err == nil && g.o.Weighted {
		err = room.Download(ctx, 4*count+to-from, n.Weights[from:to])
	}
	return err
}

// recordCollect records the writing of neighbors by that many tiles.
func (g *Graph) recordCollect(s *vk.Stream, push collectPush, tiles int) error {
	k, err := g.collectKernel().Kernel(g.h.Kernels, s)
	if err != nil {
		return err
	}
	// The push constants of dispatches differ only in their seeds.
	push.Graph = g.description()
	g.ranges(tiles, func(first, count int) {
		push.First, push.Last = uint32(first), uint32(first+count)
		k.Dispatch(s, g.walkGroups(count), push)
	})
	return nil
}

// AllVertices returns the vertices in ascending order. It reads them in parts, and the graph must not change in
// between. An error comes last, with no vertex: structures.ErrChanged if the graph has changed, and those of Size.
func (g *Graph) AllVertices(ctx context.Context) iter.Seq2[uint32, error] {
	return transfer.Sequence(func(yield func(uint32) bool) error {
		w := walk{g: g, step: 1 << 20}
		for {
			part, err := w.vertices(ctx)
			if err != nil || part == nil {
				return err
			}
			for _, v := range part {
				if !yield(v) {
					return nil
				}
			}
		}
	})
}

// AllEdges returns the edges, those of an undirected graph once each with the lesser end as From, ascending by From. It
// reads them in parts, and the graph must not change in between. An error comes last, with no edge:
// structures.ErrChanged if the graph has changed, and those of Size. Graph.CSR and CSR.Slices are faster if you need
// all arcs at once.
func (g *Graph) AllEdges(ctx context.Context) iter.Seq2[Edge, error] {
	return oneByOne(g.chunks(ctx, false))
}

// oneByOne returns the edges of chunks one by one.
func oneByOne(chunks iter.Seq2[Edges, error]) iter.Seq2[Edge, error] {
	return transfer.Sequence(func(yield func(Edge) bool) error {
		for e, err := range chunks {
			if err != nil {
				return err
			}
			for i, from := range e.From {
				one := Edge{From: from, To: e.To[i]}
				if e.Weights != nil {
					one.Weight = e.Weights[i]
				}
				if !yield(one) {
					return nil
				}
			}
		}
		return nil
	})
}

// chunks returns the edges, many at a time, in slices that are valid until the next ones. in says that the caller has
// entered.
func (g *Graph) chunks(ctx context.Context, in bool) iter.Seq2[Edges, error] {
	return transfer.Sequence(func(yield func(Edges) bool) error {
		w := walk{g: g, parts: recording.Walk{In: in}, step: 1 << 16}
		for {
			e, more, err := w.edges(ctx)
			if err != nil || !more || len(e.From) != 0 && !yield(e) {
				return err
			}
		}
	})
}

// walk reads the vertices of a graph in parts. Others may change the graph between parts.
type walk struct {
	g       *Graph
	parts   recording.Walk
	counted bool // the extent is known
	extent  int
	next    int // vertex
	step    int // vertices at a time
}

// do runs a part, unless the graph has changed since the first one.
func (w *walk) do(ctx context.Context, part func() error) error {
	if !w.g.made() {
		return vk.ErrNotOpen
	}
	leave, err := w.parts.Enter(ctx, &w.g.h.Changes, w.g.h.EnterQuery, w.g.h.LeaveShared)
	if err != nil {
		return err
	}
	defer leave()
	if !w.counted {
		err := w.g.h.Pipelines.Do(ctx, func(s *vk.Stream) error {
			counts, err := w.g.counts(ctx, s)
			w.extent = int(counts[countExtent])
			return err
		})
		if err != nil {
			return err
		}
		w.counted = true
	}
	return part()
}

// vertices returns the vertices of the next part, nil after the last one.
func (w *walk) vertices(ctx context.Context) (part []uint32, err error) {
	err = w.do(ctx, func() error {
		n := min(w.step, w.extent-w.next)
		if n == 0 {
			return nil
		}
		words := make([]uint32, vertexWords*n)
		if err := w.g.vertices.Download(ctx, vertexWords*w.next, words); err != nil {
			return err
		}
		part = make([]uint32, 0, n)
		for i := range n {
			if words[vertexWords*i+3]&deleted == 0 {
				part = append(part, uint32(w.next+i))
			}
		}
		w.next += n
		return nil
	})
	return part, err
}

// edges returns the edges of the next part. more is false after the last one. If the device has no memory for the part,
// edges returns none, and the next parts are smaller.
func (w *walk) edges(ctx context.Context) (e Edges, more bool, err error) {
	err = w.do(ctx, func() error {
		n := min(w.step, w.extent-w.next)
		if n == 0 {
			return nil
		}
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = uint32(w.next + i)
		}
		found, err := w.g.neighbors(ctx, ids)
		if n > 1 && errors.Is(err, vk.ErrNoRoom) {
			w.step, more = n/2, true
			return nil
		}
		if err != nil {
			return err
		}
		for i, from := range ids {
			targets, weights := found.Of(i)
			for j, to := range targets {
				if to < from && !w.g.o.Directed {
					continue
				}
				e.From, e.To = append(e.From, from), append(e.To, to)
				if weights != nil {
					e.Weights = append(e.Weights, weights[j])
				}
			}
		}
		w.next += n
		more = true
		return nil
	})
	return e, more, err
}
