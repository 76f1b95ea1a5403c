// Package edgelist has what both representations of a graph share: edges in Go slices, the checks of a batch, and the
// saved format.
package edgelist

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// MaxVertices is the greatest number of vertices of a graph.
const MaxVertices = 1 << 30

// Edges are edges in Go slices, as graph.Edges.
type Edges struct {
	From, To []uint32
	Weights  []uint32 // may be nil
}

// Check returns an error if the slices differ in length. weights: the edges need weights.
func (e Edges) Check(weights bool) error {
	n := len(e.From)
	if len(e.To) != n {
		return &structures.LengthError{Keys: n, Other: "targets", Got: len(e.To)}
	}
	if weights && len(e.Weights) != n {
		return &structures.LengthError{Keys: n, Other: "weights", Got: len(e.Weights)}
	}
	return nil
}

// Rules are the options of a graph that say which edges it may have.
type Rules struct{ Directed, Weighted, SelfLoops bool }

// Check returns an error if the edges cannot be inserted into the graph.
func (r Rules) Check(e Edges) error {
	if err := e.Check(r.Weighted); err != nil {
		return err
	}
	if !r.Weighted && e.Weights != nil {
		return &structures.LengthError{Keys: len(e.From), Other: "weights, as the graph has none,", Need: -1,
			Got: len(e.Weights)}
	}
	return nil
}

// Does reports whether the graph accepts updates of a kind.
func (r Rules) Does(kind structures.Kind) bool {
	switch kind {
	case structures.Insert, structures.InsertUnique, structures.Delete:
		return true
	}
	return r.Weighted && kind.UpdatesInPlace()
}

// CheckUpdate returns an error if a batch of updates of one kind is not valid. Weights of deletions are ignored.
func (r Rules) CheckUpdate(kind structures.Kind, e Edges, status []structures.Status) error {
	if !r.Does(kind) {
		return &structures.KindError{Kind: kind}
	}
	err := e.Check(false)
	if kind.Inserts() {
		err = r.Check(e)
	}
	return cmp.Or(err, pipeline.Fits(len(e.From), "statuses", status))
}

// Kind returns the kind of update that kernels do: without weights there is nothing to assign.
func (r Rules) Kind(kind structures.Kind) structures.Kind {
	if kind == structures.Insert && !r.Weighted {
		return structures.InsertUnique
	}
	return kind
}

// CheckVertices returns an error if a graph cannot have that many vertices at first.
func CheckVertices(n int) error {
	if n < 0 || n > MaxVertices {
		return &vk.OptionError{Option: "Vertices",
			Reason: fmt.Sprintf("%d, but a graph has 0 to %d", n, MaxVertices)}
	}
	return nil
}

// Extent returns one more than the greatest vertex, 0 if there is none.
func Extent(lists ...[]uint32) (extent int64) {
	var lock sync.Mutex
	for _, vertices := range lists {
		threads.Each(len(vertices), 4*len(vertices), func(first, end int) {
			if first == end {
				return
			}
			most := slices.Max(vertices[first:end])
			lock.Lock()
			defer lock.Unlock()
			extent = max(extent, int64(most)+1)
		})
	}
	return extent
}

// Key returns the key of an arc: its source in the upper half, its target in the lower one.
func Key(from, to uint32) uint64 { return uint64(from)<<32 | uint64(to) }

// Ends returns the source and the target of the arc that has a key.
func Ends(key uint64) (from, to uint32) { return uint32(key >> 32), uint32(key) }
