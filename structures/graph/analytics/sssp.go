package analytics

import (
	"context"
	"math"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
)

// SSSPOptions are the options of SSSP. The zero value adapts to the graph's weights.
type SSSPOptions struct {
	// Delta is the width of the buckets of near and far vertices, in units of weights. 0 means 128 mean weights divided
	// by the mean number of arcs of a vertex, at least 1.
	Delta uint32
	// Parents asks for SSSPResult.Parents, too. It takes one more pass over all arcs, and if arcs have weight 0,
	// another one and a step for each arc of the longest chain of these.
	Parents bool
}

// SSSPResult is the result of a search for shortest paths.
type SSSPResult struct {
	// Distances has the sum of the weights along a shortest path to each vertex, Unreached if there is no path. A path
	// of 2^32-1 or more counts as none.
	Distances []uint32
	// Parents has for each vertex one that precedes it on a shortest path, any of several. That of the source is the
	// source, and that of a vertex without a path is Unreached. It is nil unless SSSPOptions.Parents is set.
	Parents []uint32
	Rounds  int           // expansions of frontiers, several hops each if rows are short, and splits of the far pile
	Elapsed time.Duration // how long the device worked; 0 if it has no clock
}

// localRounds are rounds that a workgroup of the large kernel does alone if rows are short.
const localRounds = 16

// SSSP returns the lengths of the shortest paths from one source to all vertices, by the arcs' weights, which may be 0.
// In a graph without weights every arc has weight 1. Errors: *graph.VertexError, *vk.OutOfMemoryError, vk.ErrClosed,
// the context's.
//
// Source: Davidson, Baxter, Garland and Owens, Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths,
// 2014, section 4.4, Near-Far Pile.
func (a *Analyzer) SSSP(ctx context.Context, source uint32, o SSSPOptions) (r SSSPResult, err error) {
	err = a.run(ctx, func(w *workspace) error {
		if err := w.vertex(source); err != nil {
			return err
		}
		if o.Delta == 0 {
			if o.Delta, err = w.delta(); err != nil {
				return err
			}
		}
		n := w.vertices
		t, err := w.newTraversal("sssp", 2*n, 2*n)
		if err != nil {
			return err
		}
		t.push.More, t.push.Own = o.Delta, localRounds
		t.push.SmallEntries /= 4 // a workgroup of the large kernel does several rounds
		t.push.SmallLanes /= 4
		if err := t.run(func() error { return t.begin(source, 2*n, false, false, o.Delta) }); err != nil {
			return err
		}
		r.Rounds, r.Elapsed = int(t.rounds), t.device
		if r.Distances, err = w.download(w.buffers["values"], n); err != nil || !o.Parents {
			return err
		}
		var took time.Duration
		r.Parents, took, err = w.shortestParents(source, w.buffers["values"])
		r.Elapsed += took
		return err
	})
	return r, err
}

// delta returns the default of SSSPOptions.Delta.
func (w *workspace) delta() (uint32, error) {
	mean, err := w.weight(w)
	arcs := max(1, float64(w.arcs)/float64(w.vertices))
	return uint32(min(max(1, 128*mean/arcs), 1<<31)), err
}

// meanWeight returns the mean weight of the arcs of compressed sparse rows. It is computed once.
func (w *workspace) meanWeight() (float64, error) {
	if w.g.Weights == nil || w.arcs == 0 {
		return 1, nil
	}
	w.once.Lock()
	defer w.once.Unlock()
	if w.weights == 0 {
		sum, err := w.sumOfWeights()
		if err != nil {
			return 0, err
		}
		w.weights = max(float64(sum)/float64(w.arcs), math.SmallestNonzeroFloat64)
	}
	return w.weights, nil
}

// weightSum is the sum of weights, without its arrays.
var weightSum = primitives.ReduceArgs{Sums: structures.Bits64}

func (w *workspace) sumOfWeights() (uint64, error) {
	sum, err := w.room("sum", 2)
	if err != nil {
		return 0, err
	}
	scratch, err := w.room("scratch", w.bulk.Scratch(primitives.ReduceArgs{Sums: structures.Bits64})/4)
	if err != nil {
		return 0, err
	}
	if _, err = w.do(func() error {
		a := weightSum
		a.In, a.Out, a.Scratch, a.Length.N = w.g.Weights.Address(), sum.Address(), scratch.Address(), w.arcs
		return w.bulk.Reduce(w.s, a)
	}); err != nil {
		return 0, err
	}
	words, err := w.download(sum, 2)
	return number(words, 0), err
}
