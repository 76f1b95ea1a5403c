package analytics

import (
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// DispatchArcs are the arcs of a dispatch.
func DispatchArcs() int { return dispatchArcs }

// Timed has f told of what calls time.
func (a *Analyzer) Timed(f func(vk.Timing)) { a.timed = f }

// Tests have small dispatches, of which one would be enough otherwise for graphs of millions of edges.
func init() { dispatchArcs, dispatchGroups = 1<<12, 16 }

// Single has bulk operations done as on a GPU, in a single pass where that pays.
func (a *Analyzer) Single() {
	a.bulk = primitives.New(a.d, primitives.Options{Form: primitives.SinglePass})
}

// General has kernels taken as of a graph whose pool has grown beyond a super block.
func (a *Analyzer) General() { a.kernels.General() }
