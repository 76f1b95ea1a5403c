package analytics

import (
	"cmp"
	"slices"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// Path returns the vertices of a path from the source of a search to a vertex, both included, by the Parents of its
// result. It returns nil if no path leads there, or if parents form a cycle, and panics if there is no such vertex.
func Path(parents []uint32, to uint32) []uint32 {
	if parents[to] == Unreached {
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
	Graph                    rowsPush
	Distances, Parents, More uint64
	Zero                     uint32
	Part                     dispatched
	_                        uint32
}

// zeroPasses are passes over arcs of weight 0 that are recorded at a time.
const zeroPasses = 8

// shortestParents returns the parents of shortest paths whose lengths are known. First each vertex takes one whose arc
// has a weight above 0. Vertices that only arcs of weight 0 lead to take one that has a parent already, so that no
// parents form a cycle: pass by pass, until none is left.
func (w *workspace) shortestParents(source uint32, distances *vk.Buffer[uint32]) (_ []uint32, all time.Duration,
	err error) {
	var parents, more *vk.Buffer[uint32]
	if err := w.rooms(room{"parents", w.vertices, &parents}, room{"more", 1, &more}); err != nil {
		return nil, 0, err
	}
	pass := func(zero uint32) error {
		push := parentsPush{w.push, distances.Address(), parents.Address(), more.Address(), zero, dispatched{}, 0}
		return cmp.Or(recording.Clear(w.kernels, w.s, more.Address(), 1), inDispatches(w, w.parentsKernel(),
			groups(w.vertices, linkGroup), w.dispatches(), func(part dispatched) parentsPush {
				push.Part = part
				return push
			}))
	}
	for zero := uint32(0); ; zero = 1 {
		took, err := w.do(func() error {
			if zero == 0 {
				w.s.Fill(parents, 0, 4*w.vertices, Unreached)
				w.s.Fill(parents, 4*int(source), 4, source)
				return pass(0)
			}
			for range w.passes(zeroPasses) {
				if err := pass(1); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		all += took
		left, err := w.download(more, 1)
		if err != nil {
			return nil, 0, err
		}
		if left[0] == 0 {
			words, err := w.download(parents, w.vertices)
			return words, all, err
		}
	}
}
