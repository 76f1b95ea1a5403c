package analytics

import (
	"cmp"
	"slices"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// Path returns the vertices of a path from the source of a search to a vertex, both included, by the Parents of its
// result. It returns nil if no path leads there, if parents form a cycle, or if they are nil, because the search was
// not asked for them. It panics if to or a parent is not a vertex.
func Path(parents []uint32, to uint32) []uint32 {
	if parents == nil || parents[to] == Unreached {
		return nil
	}
	path := []uint32{to}
	for parents[to] != to {
		if to = parents[to]; len(path) == len(parents) {
			return nil
		}
		path = append(path, to)
	}
	slices.Reverse(path)
	return path
}

type parentsPush struct {
	Graph                               rowsPush
	Distances, Parents, Control, Queues uint64
	Mode, Step                          uint32
	Part                                dispatched
}

// The modes of shaders/analytics/sssp_parents.comp.
const (
	risingArcs = iota // of all vertices
	flatArcsOfQueue
	flatArcs // of all vertices
)

// controlOfParents is the number of words that tell how steps get on: four for each of three steps, and one.
const controlOfParents = 13

// flatSteps are steps along flat arcs that are recorded at a time.
const flatSteps = 64

// shortestParents returns the parents of shortest paths whose lengths are known. First each vertex takes one whose
// distance is less. Vertices that only flat arcs lead to, which do not change the distance, take one that has a parent
// already, so that no parents form a cycle: step by step, from the vertices that have taken one in the last step.
func (w *workspace) shortestParents(source uint32, distances *vk.Buffer[uint32], floats bool) (_ []uint32,
	all time.Duration, err error) {
	var parents, control, queues *vk.Buffer[uint32]
	if err := w.rooms(room{"parents", w.vertices, &parents}, room{"parents control", controlOfParents, &control},
		room{"parents queues", 2 * w.vertices, &queues}); err != nil {
		return nil, 0, err
	}
	push := parentsPush{w.push, distances.Address(), parents.Address(), control.Address(), queues.Address(), 0, 0,
		dispatched{}}
	of := func(part dispatched) parentsPush {
		push.Part = part
		return push
	}
	pass := func(mode, step uint32) error {
		push.Mode, push.Step = mode, step
		k, err := w.parentsKernel(floats).Kernel(w.kernels, w.s)
		if err != nil {
			return err
		}
		if mode == flatArcsOfQueue {
			shareIndirect(w, k, control, 4*int(step%3), w.dispatches(), of)
		} else {
			share(w, k, groups(w.vertices, linkGroup), w.dispatches(), of)
		}
		return nil
	}
	for step := uint32(0); ; {
		next := step
		took, err := w.do(func() error {
			if step == 0 {
				next++
				w.s.Fill(parents, 0, w.vertices, Unreached)
				w.s.Fill(parents, int(source), 1, source)
				return cmp.Or(recording.Clear(w.kernels, w.s, control.Address(), controlOfParents),
					pass(risingArcs, 0))
			}
			for range flatSteps {
				mode := uint32(flatArcsOfQueue)
				if next == 1 {
					mode = flatArcs
				}
				if err := pass(mode, next); err != nil {
					return err
				}
				next++
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		all, step = all+took, next
		words, err := w.download(control, controlOfParents)
		if err != nil {
			return nil, 0, err
		}
		left := words[4*(step%3)+3]
		if step == 1 {
			left = words[controlOfParents-1] // whether flat arcs lead on
		}
		if left == 0 {
			words, err := w.download(parents, w.vertices)
			return words, all, err
		}
	}
}
