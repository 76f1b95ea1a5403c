package analytics

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// SSSPOptions are the options of SSSP. The zero value adapts to the graph's weights.
type SSSPOptions struct {
	// FloatWeights says that weights are the bits of float32 numbers (graph.Float32Bits), and asks for
	// SSSPResult.FloatDistances. Otherwise weights are integers.
	FloatWeights bool
	// Delta is the width of the buckets of near and far vertices, in units of weights. 0 means 128 mean weights divided
	// by the mean number of arcs of a vertex. For integers it is at least 1.
	Delta float64
	// Parents asks for SSSPResult.Parents, too. It takes one more pass over all arcs. If some arcs do not change the
	// distance, as those of weight 0, it takes another pass and a step for each arc of the longest chain of these.
	Parents bool
}

// SSSPResult is the result of a search for shortest paths.
type SSSPResult struct {
	// Distances has the sum of the weights along a shortest path to each vertex, Unreached if there is no path. A path
	// of 2^32-1 or more counts as none. It is nil if SSSPOptions.FloatWeights is set.
	Distances []uint32
	// FloatDistances is Distances for weights that are floats, +Inf if there is no path. A path of more than
	// math.MaxFloat32 counts as none. It is nil unless SSSPOptions.FloatWeights is set.
	FloatDistances []float32
	// Parents has for each vertex one that precedes it on a shortest path, any of several. That of the source is the
	// source, and that of a vertex without a path is Unreached. It is nil unless SSSPOptions.Parents is set.
	Parents []uint32
	Rounds  int           // expansions of frontiers, several hops each if rows are short, and splits of the far pile
	Elapsed time.Duration // how long the device worked; 0 if it has no clock
}

// WeightError reports an arc whose weight is negative or NaN, any of them if there are several.
type WeightError struct {
	From, To uint32
	Weight   float32
}

func (e *WeightError) Error() string {
	return fmt.Sprintf("the arc from %d to %d has the weight %g: shortest paths need weights that are not negative",
		e.From, e.To, e.Weight)
}

// localRounds are rounds that a workgroup of the large kernel does alone if rows are short.
const localRounds = 16

// SSSP returns the lengths of the shortest paths from one source to all vertices, by the arcs' weights, which may be 0.
// In a graph without weights every arc has weight 1.
//
// The length of a path of float weights is the float32 sum of its weights, added up from the source on, each sum
// rounded to the nearest number. The distance of a vertex is the least length of its paths. So the result does not
// depend on the order of the work, and is the same on every device: sums are those of Go, also of subnormal numbers. An
// arc of weight +Inf is on no path.
//
// Errors: *graph.VertexError; *vk.OptionError if Delta is negative or NaN; *WeightError if the weight of an arc that a
// path from the source leads to is negative (-0 is not) or NaN; *vk.OutOfMemoryError; vk.ErrClosed; the context's.
//
// Source: Davidson, Baxter, Garland and Owens, Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths,
// 2014, section 4.4, Near-Far Pile.
func (a *Analyzer) SSSP(ctx context.Context, source uint32, o SSSPOptions) (r SSSPResult, err error) {
	err = a.run(ctx, func(w *workspace) error {
		if err := w.vertex(source); err != nil {
			return err
		}
		if !(o.Delta >= 0) {
			return &vk.OptionError{Option: "Delta", Reason: fmt.Sprintf("%g is negative or not a number", o.Delta)}
		}
		floats := o.FloatWeights && w.weighted()
		delta, err := w.delta(o.Delta, floats)
		if err != nil {
			return err
		}
		n := w.vertices
		t, err := w.newTraversal("sssp", 2*n, 2*n)
		if err != nil {
			return err
		}
		t.own = []recording.Specialization{floatsConstant(floats)}
		t.push.More, t.push.Own = delta, localRounds
		t.push.SmallEntries /= 4 // a workgroup of the large kernel does several rounds
		t.push.SmallLanes /= 4
		if err := t.run(func() error { return t.begin(source, 2*n, false, false, delta) }); err != nil {
			return err
		}
		if wrong := t.words[controlInvalid:]; wrong[0] != 0 {
			return &WeightError{wrong[1], wrong[2], math.Float32frombits(wrong[3])}
		}
		r.Rounds, r.Elapsed = int(t.rounds), t.device
		if r.Distances, err = w.download(w.buffers["values"], n); err != nil {
			return err
		}
		if o.FloatWeights {
			r.FloatDistances, r.Distances = floatDistances(r.Distances, floats), nil
		}
		if !o.Parents {
			return nil
		}
		var took time.Duration
		r.Parents, took, err = w.shortestParents(source, w.buffers["values"], floats)
		r.Elapsed += took
		return err
	})
	return r, err
}

// controlInvalid is CONTROL_INVALID of shaders/analytics/sssp.glsl.
const controlInvalid = controlOwn + 6

// floatDistances converts distances. bits: they are the bits of floats already.
func floatDistances(words []uint32, bits bool) []float32 {
	all := make([]float32, len(words))
	for v, word := range words {
		switch {
		case word == Unreached:
			all[v] = float32(math.Inf(1))
		case bits:
			all[v] = math.Float32frombits(word)
		default:
			all[v] = float32(word)
		}
	}
	return all
}

// delta returns the word of SSSPOptions.Delta that kernels get.
func (w *workspace) delta(asked float64, floats bool) (uint32, error) {
	if asked == 0 {
		mean, err := w.meanWeight(floats)
		if err != nil {
			return 0, err
		}
		asked = 128 * mean / max(1, float64(w.arcs)/float64(w.vertices))
	}
	if floats {
		return math.Float32bits(float32(max(asked, math.SmallestNonzeroFloat32))), nil
	}
	return uint32(min(max(1, asked), math.MaxUint32)), nil
}

// samples is the number of weights of which meanWeight takes the mean.
const samples = 1 << 12

type samplePush struct {
	Graph   rowsPush
	Samples uint64
	Count   uint32
}

// meanWeight returns about the mean of the graph's weights. That of compressed sparse rows is computed once.
func (w *workspace) meanWeight(floats bool) (float64, error) {
	if !w.weighted() {
		return 1, nil
	}
	if w.on != nil {
		return w.sampleWeights(floats)
	}
	w.once.Lock()
	defer w.once.Unlock()
	mean := &w.means[word(floats)]
	if *mean == 0 {
		sampled, err := w.sampleWeights(floats)
		if err != nil {
			return 0, err
		}
		*mean = sampled
	}
	return *mean, nil
}

// sampleWeights is meanWeight. It leaves out weights that are invalid or infinite. If none of the others is above 0, it
// returns +Inf: one bucket has all vertices then, and not each distance a bucket of its own.
func (w *workspace) sampleWeights(floats bool) (float64, error) {
	count := min(w.vertices, samples)
	found, err := w.room("samples", samples)
	if err != nil {
		return 0, err
	}
	if _, err := w.do(func() error {
		return dispatch(w, w.sampleKernel(), groups(count, linkGroup), samplePush{w.push, found.Address(),
			uint32(count)})
	}); err != nil {
		return 0, err
	}
	words, err := w.download(found, count)
	sum, valid := 0.0, 0.0
	for _, word := range words {
		x := float64(word)
		if floats {
			x = float64(math.Float32frombits(word))
		}
		if word != noSample && x >= 0 && !math.IsInf(x, 1) {
			sum, valid = sum+x, valid+1
		}
	}
	if sum == 0 {
		return math.Inf(1), err
	}
	return sum / valid, err
}

// noSample is what weight_sample.comp writes where it finds no arc.
const noSample = math.MaxUint32
