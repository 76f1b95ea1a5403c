package analytics

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Dispatches are how many go over so many arcs, and count the triangles of as many.
func Dispatches(arcs int) (over, triangles int) {
	return groups(arcs, dispatchArcs), groups(groups(arcs/2, triangleGroup), dispatchGroups)
}

// MeanWeight is the mean weight by which SSSP chooses the width of its buckets.
func (a *Analyzer) MeanWeight(ctx context.Context, floats bool) (mean float64, err error) {
	err = a.run(ctx, func(w *workspace) error {
		mean, err = w.meanWeight(floats)
		return err
	})
	return mean, err
}

// Timed has f told of what calls time.
func (a *Analyzer) Timed(f func(vk.Timing)) { a.timed = f }

// Tests have small dispatches, of which one would be enough otherwise for graphs of millions of edges, and submissions.
func init() { dispatchArcs, dispatchGroups, submittedArcs = 1<<12, 16, 1<<16 }

// Single has bulk operations done as on a GPU, in a single pass where that pays.
func (a *Analyzer) Single() {
	a.bulk = primitives.New(a.d, primitives.Options{Form: primitives.SinglePass})
}

// General has kernels taken as of a graph whose pool has grown beyond a super block.
func (a *Analyzer) General() {
	a.kernels.Over(func() recording.Form {
		form := a.on.InShaders().Constants()
		form["POOL_LIGHT"] = 0
		return form
	})
}
