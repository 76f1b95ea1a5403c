package analytics

import "github.com/vkds/vkds/structures/primitives"

// Tests have parts of few workgroups, which would take graphs of millions of edges otherwise.
func init() { groupsAPart = 16 }

// Single has bulk operations done as on a GPU, in a single pass where that pays.
func (a *Analyzer) Single() {
	a.bulk = primitives.New(a.d, primitives.Options{Form: primitives.SinglePass})
}

// General has kernels taken as of a graph whose pool has grown beyond a super block.
func (a *Analyzer) General() { a.kernels.General() }
