package analytics

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// ComponentsResult says which vertices are connected.
type ComponentsResult struct {
	Labels  []uint32      // for each vertex the least vertex of its component
	Count   int           // number of components
	Largest int           // number of vertices of the largest one
	Elapsed time.Duration // how long the device worked; 0 if it has no clock
}

// Components returns the connected components, of a directed graph the weakly connected components, which ignore
// directions. Errors: *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Sutton, Ben-Nun and Barak, Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling, 2018
// (Afforest): first two arcs of each vertex, then the other arcs of the vertices outside the largest tree.
func (a *Analyzer) Components(ctx context.Context) (r ComponentsResult, err error) {
	err = a.run(ctx, func(w *workspace) error {
		c, err := w.newForest(w.vertices)
		if err != nil {
			return err
		}
		took, err := c.finish(c.begin, func() error { return c.afforest(!w.symmetric) })
		if err != nil {
			return err
		}
		r.Elapsed = w.looked + took
		r.Labels, err = w.download(c.labels, w.vertices)
		return err
	})
	if err == nil {
		r.Count, r.Largest = sizes(r.Labels)
	}
	return r, err
}

// sizes returns the number of components and the size of the largest.
func sizes(labels []uint32) (count, largest int) {
	of := make([]int32, len(labels))
	for v, label := range labels {
		if int(label) == v {
			count++
		}
		of[label]++
		largest = max(largest, int(of[label]))
	}
	return count, largest
}

type (
	componentsPush struct {
		Labels   uint64
		Vertices uint32
	}
	compressPush struct {
		Labels, Left uint64
		Vertices     uint32
	}
	linkPush struct {
		Graph                  rowsPush
		Labels, Left, Frequent uint64
		Skip, Most             uint32
		Part                   dispatched
	}
	frequentPush struct {
		Labels, Frequent uint64
		Vertices         uint32
	}
)

const (
	sampledArcs = 2 // arcs of each vertex that are linked first
	linkGroup   = 128
)

// forest is the trees of shaders/analytics/link.glsl.
type forest struct {
	w        *workspace
	vertices int
	labels   *vk.Buffer[uint32]
	state    *vk.Buffer[uint32] // two words: whether a link was given up, and the most frequent label
}

func (w *workspace) newForest(vertices int) (*forest, error) {
	f := &forest{w: w, vertices: vertices}
	return f, w.rooms(room{"labels", vertices, &f.labels}, room{"state", 2, &f.state})
}

func (f *forest) begin() error {
	return dispatch(f.w, forestKernel(), groups(f.vertices, linkGroup),
		componentsPush{f.labels.Address(), uint32(f.vertices)})
}

func (f *forest) compress() error {
	return dispatch(f.w, compressKernel(), groups(f.vertices, linkGroup),
		compressPush{f.labels.Address(), f.state.Address(), uint32(f.vertices)})
}

// link records links along the arcs of up to most lanes of each row, after the first skip lanes. If infrequent is set,
// it leaves out the rows of the most frequent label. If most is the maximum, lanes go on to their further arcs.
func (f *forest) link(skip, most uint32, infrequent bool) error {
	push := linkPush{f.w.push, f.labels.Address(), f.state.Address(), 0, skip, most, dispatched{}}
	if infrequent {
		push.Frequent = f.state.AddressOf(1)
	}
	all := groups(f.vertices, linkGroup)
	return inDispatches(f.w, f.w.linkKernel(), all, f.w.dispatches(), func(part dispatched) linkPush {
		push.Part = part
		return push
	})
}

// afforest records all links. If arcs have no opposites, it includes the arcs of the largest tree.
func (f *forest) afforest(directed bool) error {
	if f.vertices == 0 {
		return nil
	}
	for i := range uint32(sampledArcs) {
		if err := cmp.Or(f.link(i, 1, false), f.compress()); err != nil {
			return err
		}
	}
	skip := uint32(sampledArcs)
	if f.w.on != nil {
		skip = 0 // a lane of a live row may have several arcs, and only the first was linked
	}
	err := dispatch(f.w, frequentKernel(), 1,
		frequentPush{f.labels.Address(), f.state.AddressOf(1), uint32(f.vertices)})
	return cmp.Or(err, f.link(skip, math.MaxUint32, !directed), f.compress())
}

// finish does the recorded work. While links are given up, it does links again, without begin.
func (f *forest) finish(begin, links func() error) (took time.Duration, err error) {
	const tries = 64
	for range tries {
		once, err := f.w.do(func() error {
			if err := recording.Clear(f.w.kernels, f.w.s, f.state.Address(), f.state.Len()); err != nil {
				return err
			}
			if begin != nil {
				if err := begin(); err != nil {
					return err
				}
			}
			return links()
		})
		if err != nil {
			return took, err
		}
		took, begin = took+once, nil
		words, err := f.w.download(f.state, 1)
		if err != nil || words[0]&1 == 0 {
			return took, err
		}
	}
	return took, ErrStuck
}
