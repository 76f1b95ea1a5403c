package graph

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Inspection looks inside of a graph.
type Inspection struct{ g *Graph }

// Inspect returns what looks inside of the graph: options, statistics, checks of its memory.
func (g *Graph) Inspect() Inspection { return Inspection{g} }

// Options returns the options of the graph, with defaults filled in. Load sets some of them by the saved graph.
func (i Inspection) Options() Options {
	if !i.g.made() {
		return Options{}
	}
	return i.g.o
}

// Metrics returns what the host knows, without asking the device or waiting. The metrics of a shared pool are in it.
func (i Inspection) Metrics() structures.Metrics {
	if !i.g.made() {
		return structures.Metrics{}
	}
	m := i.g.meter.Metrics(i.g.d)
	m.Bytes += i.g.pool.Bytes()
	m.Growths += i.g.pool.Growths()
	return m
}

// Stats measures the graph. It waits for the streams that work on the graph and for a kernel that reads all of it.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.g.stats(ctx) }

// Check verifies all of the graph's memory: each slab is allocated and in one list, each key is in its bucket and once
// in an adjacency, degrees are exact, each edge of an undirected graph is in both adjacencies, and no slab of the
// graph's own pool is lost. It looks up each arc twice, and waits for the streams that work on the graph. Errors:
// *CheckError; vk.ErrClosed, vk.ErrUnsubmitted, *vk.OutOfMemoryError, the context's.
func (i Inspection) Check(ctx context.Context) error { return i.g.checkAll(ctx) }
