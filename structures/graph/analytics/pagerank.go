package analytics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// PageRankOptions are the options of PageRank. The zero value has the usual numbers.
type PageRankOptions struct {
	// Damping is the probability that the walk follows an arc, above 0 and below 1. 0 means 0.85.
	Damping float32
	// Tolerance ends the iterations: they stop when the sum of all changes in an iteration is at most this. The sum of
	// all ranks is 1. 0 means 1e-6; below 0, only Iterations ends them. Ranks have single precision, so a large graph
	// may never reach 1e-7.
	Tolerance float32
	// Iterations is the greatest number of iterations. 0 means 100.
	Iterations int
	// From has the first ranks, one for each vertex, such as those of the graph before it changed. Their sum is 1. If
	// it is nil, the first ranks are those of Personalization, or all the same. From saves iterations if few edges have
	// changed; after a thousandth of them, ranks change everywhere, and it saves few or none.
	From []float32
	// Personalization has for each vertex the probability of jumping there, times any number: 0 or more, not all 0. If
	// it is nil, the walk jumps to all vertices with the same probability.
	Personalization []float32
}

// PageRankResult is the result of PageRank.
type PageRankResult struct {
	Ranks      []float32 // of each vertex; their sum is 1
	Iterations int
	Change     float32       // the sum of the changes of all ranks in the last iteration
	Elapsed    time.Duration // how long the device worked, and a live graph was copied; without a clock, the latter
}

// PageRank returns the stationary distribution of a random walk. At each step the walk follows an arc of its vertex,
// all with equal probability, or jumps to any vertex with probability 1-Damping; Personalization says where. From a
// vertex without arcs it always jumps. For a live graph, each call copies it to rows first; updates wait for the copy
// alone. For a directed graph, PageRank transposes the rows: once for an Analyzer of New, in each call for one of
// NewLive. Errors: *vk.OptionError, *structures.LengthError of From or Personalization, *vk.OutOfMemoryError,
// vk.ErrClosed, the context's.
//
// Source: Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998; personalized as in Page,
// Brin, Motwani and Winograd, The PageRank Citation Ranking, 1999, section 6. Each vertex pulls from its neighbors;
// rows are divided into four classes by length.
func (a *Analyzer) PageRank(ctx context.Context, o PageRankOptions) (r PageRankResult, err error) {
	if a != nil && a.on != nil {
		err = a.onSnapshot(ctx, &r.Elapsed, func(of *Analyzer) (err error) {
			r, err = of.PageRank(ctx, o)
			return err
		})
		return r, err
	}
	err = a.run(ctx, func(w *workspace) error {
		if err := o.complete(w.vertices); err != nil || w.vertices == 0 {
			return err
		}
		incoming, err := w.incomingRows()
		if err != nil {
			return err
		}
		p, err := w.newRanking(incoming, o)
		if err != nil {
			return err
		}
		if err := p.run(); err != nil {
			return err
		}
		words, err := w.download(p.control, rankWords)
		if err != nil {
			return err
		}
		r.Iterations, r.Change, r.Elapsed = int(words[rankDone]), math.Float32frombits(words[rankChange]), p.device
		r.Ranks, err = p.download()
		return err
	})
	return r, err
}

func (o *PageRankOptions) complete(vertices int) error {
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	if o.Iterations == 0 {
		o.Iterations = 100
	}
	switch {
	case !(o.Damping > 0 && o.Damping < 1):
		return &vk.OptionError{Option: "Damping", Reason: fmt.Sprintf("%g is not between 0 and 1", o.Damping)}
	case o.Iterations < 0:
		return &vk.OptionError{Option: "Iterations", Reason: "negative"}
	case o.From != nil && len(o.From) != vertices:
		return &structures.LengthError{Keys: vertices, Other: "ranks to begin with", Got: len(o.From)}
	case o.Personalization == nil:
		return nil
	case len(o.Personalization) != vertices:
		return &structures.LengthError{Keys: vertices, Other: "probabilities", Got: len(o.Personalization)}
	}
	return o.normalize()
}

// normalize makes the sum of Personalization 1, in a copy.
func (o *PageRankOptions) normalize() error {
	sum := 0.0
	for v, x := range o.Personalization {
		if !(x >= 0 && x <= math.MaxFloat32) {
			return &vk.OptionError{Option: "Personalization", Reason: fmt.Sprintf("%g of vertex %d", x, v)}
		}
		sum += float64(x)
	}
	if sum == 0 && len(o.Personalization) != 0 {
		return &vk.OptionError{Option: "Personalization", Reason: "0 of all vertices"}
	}
	all := make([]float32, len(o.Personalization))
	for v, x := range o.Personalization {
		all[v] = float32(float64(x) / sum)
	}
	o.Personalization = all
	if o.From == nil {
		o.From = all
	}
	return nil
}

// incoming has the arcs that lead to each vertex, and the order of the vertices by the lengths of these rows.
type incoming struct {
	push   rowsPush
	turned *graph.CSR // transposed rows, which Close closes; nil: the graph's own rows
	order  *vk.Buffer[uint32]
	counts [rowClasses]uint32 // the number of vertices of each class, the shortest rows first
}

func (i *incoming) close() {
	if i == nil {
		return
	}
	i.order.Free()
	if i.turned != nil {
		_ = i.turned.Close()
	}
}

const (
	rowClasses = 4
	classBits  = 2
	rankGroup  = 128
	rankChange = 1 // words of the control block, as in pagerank.glsl
	rankDone   = 2
	rankEnough = 3
	rankWords  = 4
)

// mostArcs are the lengths of the longest rows for one invocation, one tile and one subgroup.
var mostArcs = [rowClasses - 1]uint32{48, 256, 1 << 11}

// rankTile returns the number of lanes of a tile.
func (a *Analyzer) rankTile() int { return min(8, a.d.SubgroupSize()) }

type classPush struct {
	Graph   rowsPush
	Classes uint64
	Most    [rowClasses - 1]uint32
}

// incomingRows returns the incoming arcs. They are computed once.
func (w *workspace) incomingRows() (in *incoming, err error) {
	w.once.Lock()
	defer w.once.Unlock()
	if w.incoming != nil {
		return w.incoming, nil
	}
	in = &incoming{push: w.push}
	if !w.symmetric {
		if in.turned, err = w.g.Transpose(w.ctx); err != nil {
			return nil, err
		}
		in.push = rowsOf(in.turned)
	}
	if in.order, err = vk.NewBuffer[uint32](w.d, w.vertices); err == nil {
		err = w.classify(in)
	}
	if err != nil {
		w.s.Discard()
		err = joint.Error(err, w.s.Wait(context.Background())) // the device may still write what is freed
		in.close()
		return nil, err
	}
	w.Analyzer.incoming = in
	return in, nil
}

// classify sorts vertices by the classes of their rows, and otherwise keeps their order.
func (w *workspace) classify(in *incoming) error {
	n := w.vertices
	var classes, sorted, numbers, counts, scratch *vk.Buffer[uint32]
	if err := w.rooms(room{"classes", n, &classes}, room{"sorted", n, &sorted}, room{"numbers", n, &numbers},
		room{"counts", rowClasses, &counts},
		room{"scratch", w.bulk.Scratch(primitives.SortArgs{Length: primitives.Length{N: n}, Values: 1}) / 4,
			&scratch}); err != nil {
		return err
	}
	if _, err := w.do(func() error {
		if err := dispatch(w, classKernel(), groups(n, rankGroup),
			classPush{in.push, classes.Address(), mostArcs}); err != nil {
			return err
		}
		length := primitives.Length{N: n}
		if err := w.bulk.Iota(w.s, numbers.Address(), n); err != nil {
			return err
		}
		if err := w.bulk.Histogram(w.s, primitives.HistogramArgs{Keys: classes.Address(), Out: counts.Address(),
			Bits: classBits, Length: length}); err != nil {
			return err
		}
		return w.bulk.Sort(w.s, primitives.SortArgs{Keys: classes.Address(), Values: numbers.Address(),
			OutKeys: sorted.Address(), OutValues: in.order.Address(), Length: length, Bits: classBits,
			Scratch: scratch.Address()})
	}); err != nil {
		return err
	}
	words, err := w.download(counts, rowClasses)
	copy(in.counts[:], words)
	return err
}

// ranking is a run of PageRank.
type ranking struct {
	w                        *workspace
	o                        PageRankOptions
	in                       *incoming
	gifts                    [2]*vk.Buffer[uint32] // the rank that a vertex gives along each of its arcs
	ranks, partials, control *vk.Buffer[uint32]
	groups, beginGroups      int
	device                   time.Duration
}

type (
	rankBeginPush struct {
		Graph                           rowsPush
		Ranks, Gifts, Partials, Control uint64
		Given                           uint32
	}
	rankSumPush struct {
		Partials, Control uint64
		Count, Iteration  uint32
		Tolerance         float32
	}
	rankPush struct {
		Graph                                                      rowsPush
		Degrees, Order, Gifts, NextGifts, Ranks, Partials, Control uint64
		Rows                                                       [rowClasses]uint32
		Damping                                                    float32
		Part                                                       dispatched
		Personal                                                   uint32
	}
)

func (w *workspace) newRanking(in *incoming, o PageRankOptions) (*ranking, error) {
	n := w.vertices
	p := &ranking{w: w, o: o, in: in, beginGroups: groups(n, rankGroup)}
	for class, lanes := range []int{1, w.rankTile(), w.d.SubgroupSize(), rankGroup} {
		p.groups += groups(int(in.counts[class]), rankGroup/lanes)
	}
	return p, w.rooms(room{"gifts", n, &p.gifts[0]}, room{"next gifts", n, &p.gifts[1]}, room{"ranks", n, &p.ranks},
		room{"partials", 2 * max(p.groups, p.beginGroups), &p.partials},
		room{"control", max(controlWords, rankWords+len(o.Personalization)), &p.control})
}

// recordedIterations are recorded at a time. Those after the last necessary one cost as much as empty dispatches.
const recordedIterations = 16

func (p *ranking) run() error {
	if err := cmp.Or(p.upload(p.ranks, 0, p.o.From), p.upload(p.control, rankWords, p.o.Personalization)); err != nil {
		return err
	}
	for done := 0; ; {
		next := min(p.o.Iterations, done+p.w.passes(recordedIterations))
		took, err := p.w.do(func() error {
			if done == 0 {
				if err := p.begin(); err != nil {
					return err
				}
			}
			for i := done; i < next; i++ {
				if err := p.iterate(i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.device += took
		done = next
		words, err := p.w.download(p.control, rankWords)
		if err != nil || done == p.o.Iterations || words[rankEnough] != 0 {
			return err
		}
	}
}

func (p *ranking) upload(to *vk.Buffer[uint32], at int, all []float32) error {
	words := make([]uint32, len(all))
	for i, x := range all {
		words[i] = math.Float32bits(x)
	}
	return to.Upload(p.w.ctx, at, words)
}

func (p *ranking) begin() error {
	push := rankBeginPush{p.w.push, p.ranks.Address(), p.gifts[0].Address(), p.partials.Address(),
		p.control.Address(), 0}
	if p.o.From != nil {
		push.Given = 1
	}
	if err := dispatch(p.w, rankBeginKernel(), p.beginGroups, push); err != nil {
		return err
	}
	return p.sum(p.beginGroups, 0)
}

func (p *ranking) sum(count int, iteration uint32) error {
	return dispatch(p.w, p.w.rankSumKernel(), 1, rankSumPush{p.partials.Address(), p.control.Address(),
		uint32(count), iteration, p.o.Tolerance})
}

func (p *ranking) iterate(i int) error {
	push := rankPush{p.in.push, p.w.degrees, p.in.order.Address(), p.gifts[i%2].Address(),
		p.gifts[(i+1)%2].Address(), p.ranks.Address(), p.partials.Address(), p.control.Address(),
		p.in.counts, p.o.Damping, dispatched{}, word(p.o.Personalization != nil)}
	short := int(p.in.counts[0]) == p.w.vertices
	return cmp.Or(inDispatches(p.w, p.w.rankKernel(short), p.groups, p.w.dispatches(), func(part dispatched) rankPush {
		push.Part = part
		return push
	}), p.sum(p.groups, 1))
}

func (p *ranking) download() ([]float32, error) {
	words, err := p.w.download(p.ranks, p.w.vertices)
	ranks := make([]float32, len(words))
	for i, x := range words {
		ranks[i] = math.Float32frombits(x)
	}
	return ranks, err
}
