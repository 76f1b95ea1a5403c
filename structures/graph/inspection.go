package graph

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Inspection reports statistics of a graph and checks its memory.
type Inspection struct{ g *Graph }

// Inspect returns the graph's Inspection: options, statistics, checks of its memory.
func (g *Graph) Inspect() Inspection { return Inspection{g} }

// Options returns the options of the graph, with the defaults that apply. Load takes some of them from the saved graph.
func (i Inspection) Options() Options {
	if !i.g.made() {
		return Options{}
	}
	return i.g.o
}

// Metrics returns what the host knows, without waiting for the device. It includes the metrics of a shared pool.
func (i Inspection) Metrics() structures.Metrics { return i.g.handle().Metrics() }

// Stats measures the graph. It waits for the streams that work on the graph and for a kernel that reads all of it.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.g.stats(ctx) }

// Check verifies all of the graph's memory: each slab is allocated and in one list, each key is in its bucket and once
// in an adjacency, degrees are exact, each edge of an undirected graph is in both adjacencies, and no slab of the
// graph's own pool is lost. It looks up each arc twice, and waits for the streams that work on the graph. Errors:
// *CheckError; vk.ErrClosed, vk.ErrUnsubmitted, *vk.OutOfMemoryError, the context's.
func (i Inspection) Check(ctx context.Context) error { return i.g.checkAll(ctx) }
