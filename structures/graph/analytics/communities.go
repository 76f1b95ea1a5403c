package analytics

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// CommunitiesOptions are the options of Communities.
type CommunitiesOptions struct {
	// Iterations is the greatest number of iterations. 0 means 100.
	Iterations int
}

// CommunitiesResult says which vertices are in one community.
type CommunitiesResult struct {
	Labels     []uint32 // for each vertex the least vertex of its community
	Count      int      // number of communities
	Largest    int      // number of vertices of the largest one
	Iterations int
	Settled    bool          // no vertex would change its label; otherwise, Iterations ended the search
	Elapsed    time.Duration // how long the device worked; 0 if it has no clock
}

// Communities divides the vertices of an undirected graph into communities, by label propagation. At first each vertex
// has a label of its own. In an iteration each vertex takes the label that is the most frequent one among its
// neighbors, and of several the least: first the vertices of one half, all of them at once, and then the others. The
// vertex v is in the first half of iteration i, counted from 0, if bit i modulo 32 of its hash is 0 (hash_mix of
// hash.glsl). It ends with an iteration that changes nothing. So the result depends on the graph alone. Weights do not
// count, and a vertex without neighbors is a community of its own. For a live graph, each call copies it to rows
// first. Errors: ErrDirected, *vk.OptionError, *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Raghavan, Albert and Kumara, Near Linear Time Algorithm to Detect Community Structures in Large-Scale
// Networks, 2007; the halves as a simple form of Cordasco and Gargano, Community Detection via Semi-Synchronous Label
// Propagation Algorithms, 2010.
func (a *Analyzer) Communities(ctx context.Context, o CommunitiesOptions) (r CommunitiesResult, err error) {
	if a != nil && a.on != nil && !a.directed() && o.Iterations >= 0 {
		err = a.onSnapshot(ctx, &r.Elapsed, func(of *Analyzer) (err error) {
			r, err = of.Communities(ctx, o)
			return err
		})
		return r, err
	}
	err = a.run(ctx, func(w *workspace) error {
		switch {
		case !w.symmetric:
			return ErrDirected
		case o.Iterations < 0:
			return &vk.OptionError{Option: "Iterations", Reason: "negative"}
		case w.vertices == 0:
			r.Settled = true
			return nil
		}
		p := &propagation{w: w, iterations: cmp.Or(o.Iterations, 100)}
		if err := p.run(); err != nil {
			return err
		}
		r.Iterations, r.Settled, r.Elapsed = p.done, p.settled, p.device
		r.Labels, err = w.download(p.labels, w.vertices)
		return err
	})
	if err == nil {
		leastOfEach(r.Labels)
		r.Count, r.Largest = sizes(r.Labels)
	}
	return r, err
}

// propagation is a run of Communities. Half an iteration collects the label of each arc's target, sorts the labels of
// each row unless all rows are short, and looks for the most frequent one.
type propagation struct {
	w                                      *workspace
	iterations, done, first                int // first is the first one of those that are recorded
	settled                                bool
	device                                 time.Duration
	longest                                int  // at least the arcs of the longest row; 0: not known
	short                                  bool // rows are short enough to count their labels without a sort
	labels, keys, sorted, control, scratch *vk.Buffer[uint32]
}

type (
	gatherPush struct {
		Graph                 rowsPush
		Labels, Keys, Control uint64
		Iteration             uint32
		Part                  dispatched
	}
	pickPush struct {
		Graph                 rowsPush
		Labels, Keys, Control uint64
		Iteration, Side       uint32
		Longest               uint32
		Part                  dispatched
	}
)

// recordedPropagations are iterations that are recorded at a time. The sorts of those after the last one are done in
// vain.
const recordedPropagations = 2

func (p *propagation) run() error {
	w := p.w
	in, err := w.incomingRows()
	if err != nil {
		return err
	}
	for class := rowClasses - 2; class >= 0 && in.counts[class+1] == 0; class-- {
		p.longest = int(mostArcs[class])
	}
	p.short = p.longest == int(mostArcs[0])
	rooms := []room{{"labels", w.vertices, &p.labels}, {"label keys", w.arcs, &p.keys},
		{"label control", 1 + recordedPropagations, &p.control}}
	if !p.short {
		rooms = append(rooms, room{"label sorted", w.arcs, &p.sorted},
			room{"scratch", w.bulk.Scratch(p.sortArgs()) / 4, &p.scratch})
	}
	if err := w.rooms(rooms...); err != nil {
		return err
	}
	for !p.settled && p.done < p.iterations {
		first, next := p.done, min(p.iterations, p.done+w.passes(recordedPropagations))
		p.first = first
		took, err := w.do(func() error {
			w.s.Fill(p.control, 0, 1, 1) // the iteration before has changed something
			w.s.Fill(p.control, 1, recordedPropagations, 0)
			if first == 0 {
				if err := dispatch(w, forestKernel(), groups(w.vertices, linkGroup),
					componentsPush{p.labels.Address(), uint32(w.vertices)}); err != nil {
					return err
				}
			}
			for i := 2 * first; i < 2*next && w.arcs > 0; i++ {
				if err := p.half(uint32(i/2), uint32(i%2)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.device += took
		changes, err := w.download(p.control, 1+next-first)
		if err != nil {
			return err
		}
		p.done = next
		if last := slices.Index(changes[1:], 0); last >= 0 {
			p.done, p.settled = first+last+1, true
		}
	}
	return nil
}

func (p *propagation) sortArgs() primitives.SegmentedSortArgs {
	a := primitives.SegmentedSortArgs{Length: primitives.Length{N: p.w.arcs}, Offsets: p.w.push.Memory[0],
		Segments: p.w.vertices, Longest: p.longest}
	if p.scratch != nil {
		a.Keys, a.OutKeys, a.Scratch = p.keys.Address(), p.sorted.Address(), p.scratch.Address()
	}
	return a
}

// controlOf returns the address at which the kernels find the word of iteration 0. There are words for the iterations
// that are recorded, and for the one before.
func (p *propagation) controlOf() uint64 { return p.control.Address() + 4 - 4*uint64(p.first) }

func (p *propagation) half(iteration, side uint32) error {
	w := p.w
	if err := inDispatches(w, gatherKernel(), groups(w.arcs, linkGroup), w.dispatches(),
		func(part dispatched) gatherPush {
			return gatherPush{w.push, p.labels.Address(), p.keys.Address(), p.controlOf(), iteration, part}
		}); err != nil {
		return err
	}
	keys, longest := p.keys, uint32(p.longest)
	if !p.short {
		keys, longest = p.sorted, 0
		if err := w.bulk.SegmentedSort(w.s, p.sortArgs()); err != nil {
			return err
		}
	}
	return inDispatches(w, pickKernel(), groups(w.vertices, linkGroup), w.dispatches(),
		func(part dispatched) pickPush {
			return pickPush{w.push, p.labels.Address(), keys.Address(), p.controlOf(), iteration, side, longest,
				part}
		})
}
