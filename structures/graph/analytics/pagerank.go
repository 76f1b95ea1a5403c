package analytics

import (
	"context"
	"math"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// PageRankOptions say how ranks are computed. The zero value has the usual numbers.
type PageRankOptions struct {
	// Damping is the share of a rank that goes along arcs, above 0 and below 1. 0: 0.85.
	Damping float32
	// Tolerance ends the iterations: how much ranks, which are 1 together, may change in the last one, together. 0:
	// 1e-6; below 0: never. Ranks are of single precision, so that of large graphs some 1e-7 is never reached.
	Tolerance float32
	// Iterations are the most that are done. 0: 100.
	Iterations int
	// From are ranks to begin with, one of each vertex and 1 together, as those of the graph before it changed; nil:
	// all vertices have the same.
	From []float32
}

// PageRankResult are ranks.
type PageRankResult struct {
	Ranks      []float32 // of each vertex; 1 together
	Iterations int
	Change     float32       // of all ranks in the last iteration, together
	Device     time.Duration // how long the device worked; 0 where it has no clock
}

// PageRank returns the stationary distribution of a walk along arcs, each of a vertex as likely as the others, that
// goes on anywhere with probability 1-Damping, and from vertices without arcs always. Of a directed graph the
// transposed one is made first, and once. Errors: *structures.OptionError, *structures.LengthError of From,
// *vk.OutOfMemoryError, vk.ErrClosed, the context's.
//
// Source: Brin and Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998; each vertex pulls, by three
// classes of rows.
func (a *Analyzer) PageRank(ctx context.Context, o PageRankOptions) (r PageRankResult, err error) {
	if err := o.complete(a.g.Vertices); err != nil {
		return r, err
	}
	if a.g.Vertices == 0 {
		return r, nil
	}
	err = a.run(ctx, func(w *workspace) error {
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
		r.Iterations, r.Change, r.Device = int(words[rankDone]), math.Float32frombits(words[rankChange]), p.device
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
		return &structures.OptionError{Option: "Damping", Reason: "it is above 0 and below 1"}
	case o.Iterations < 0:
		return &structures.OptionError{Option: "Iterations", Reason: "negative"}
	case o.From != nil && len(o.From) != vertices:
		return &structures.LengthError{Keys: vertices, Other: "ranks to begin with", Got: len(o.From)}
	}
	return nil
}

// incoming are the arcs that lead to each vertex, and the vertices by the lengths of these rows.
type incoming struct {
	rows   *graph.CSR
	own    bool // the Analyzer's to close
	order  *vk.Buffer[uint32]
	counts [3]int // vertices of short rows, of middle ones and of long ones
}

func (i *incoming) close() {
	if i == nil {
		return
	}
	i.order.Free()
	if i.own {
		_ = i.rows.Close()
	}
}

const (
	shortRow   = 12 // arcs of a row that an invocation does at most,
	longRow    = 1 << 11
	rankGroup  = 128
	rankChange = 1 // words of the control block, as in pagerank.glsl
	rankDone   = 2
	rankEnough = 3
	rankWords  = 4
)

type classPush struct {
	Graph             rowsPush
	Classes           uint64
	ShortRow, LongRow uint32
}

// incomingRows are found out once.
func (w *workspace) incomingRows() (*incoming, error) {
	w.once.Lock()
	defer w.once.Unlock()
	if w.incoming != nil {
		return w.incoming, nil
	}
	in := &incoming{rows: w.g}
	if !w.g.Symmetric {
		turned, err := w.g.Transpose(w.ctx)
		if err != nil {
			return nil, err
		}
		in.rows, in.own = turned, true
	}
	if err := w.classify(in); err != nil {
		in.close()
		return nil, err
	}
	w.Analyzer.incoming = in
	return in, nil
}

// classify orders vertices by the classes of their rows, and within these as they are.
func (w *workspace) classify(in *incoming) (err error) {
	n := w.g.Vertices
	if in.order, err = vk.NewBuffer[uint32](w.d, n); err != nil {
		return err
	}
	var classes, sorted, numbers, counts, scratch *vk.Buffer[uint32]
	if err := w.rooms(room{"classes", n, &classes}, room{"sorted", n, &sorted}, room{"numbers", n, &numbers},
		room{"counts", 4, &counts},
		room{"scratch", w.bulk.SortScratch(n, true, primitives.Widths{}) / 4, &scratch}); err != nil {
		return err
	}
	if _, err = w.do(func() error {
		if err := dispatch(w, "pagerank_class", rankGroup, groups(n, rankGroup),
			classPush{rowsOf(in.rows), classes.Address(), shortRow, longRow}); err != nil {
			return err
		}
		length := primitives.Length{N: n}
		if err := w.bulk.Iota(w.s, numbers.Address(), n); err != nil {
			return err
		}
		if err := w.bulk.Histogram(w.s, primitives.HistogramArgs{Keys: classes.Address(), Out: counts.Address(),
			Bits: 2, Length: length}); err != nil {
			return err
		}
		return w.bulk.Sort(w.s, primitives.SortArgs{Keys: classes.Address(), Values: numbers.Address(),
			OutKeys: sorted.Address(), OutValues: in.order.Address(), Length: length, Bits: 2,
			Scratch: scratch.Address()})
	}); err != nil {
		return err
	}
	words, err := w.download(counts, 3)
	for i, n := range words {
		in.counts[i] = int(n)
	}
	return err
}

// ranking is a run of PageRank.
type ranking struct {
	w                        *workspace
	o                        PageRankOptions
	in                       *incoming
	gifts                    [2]*vk.Buffer[uint32] // what a vertex gives along an arc
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
		Offsets, Order, Gifts, NextGifts, Ranks, Partials, Control uint64
		ShortRows, MiddleRows, LongRows                            uint32
		Damping                                                    float32
	}
)

func (w *workspace) newRanking(in *incoming, o PageRankOptions) (*ranking, error) {
	n := w.g.Vertices
	p := &ranking{w: w, o: o, in: in, beginGroups: groups(n, rankGroup)}
	subgroups := rankGroup / w.d.SubgroupSize()
	p.groups = in.counts[2] + groups(in.counts[1], subgroups) + groups(in.counts[0], rankGroup)
	return p, w.rooms(room{"gifts", n, &p.gifts[0]}, room{"next gifts", n, &p.gifts[1]}, room{"ranks", n, &p.ranks},
		room{"partials", 2 * max(p.groups, p.beginGroups), &p.partials}, room{"control", controlWords, &p.control})
}

// Iterations that are recorded at a time: those behind the last that is needed cost what empty dispatches do.
const recordedIterations = 16

func (p *ranking) run() error {
	if p.o.From != nil {
		words := make([]uint32, len(p.o.From))
		for i, x := range p.o.From {
			words[i] = math.Float32bits(x)
		}
		if err := p.ranks.Upload(p.w.ctx, 0, words); err != nil {
			return err
		}
	}
	for done := 0; ; {
		next := min(p.o.Iterations, done+recordedIterations)
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

func (p *ranking) begin() error {
	push := rankBeginPush{p.w.rows(), p.ranks.Address(), p.gifts[0].Address(), p.partials.Address(),
		p.control.Address(), 0}
	if p.o.From != nil {
		push.Given = 1
	}
	if err := dispatch(p.w, "pagerank_begin", rankGroup, p.beginGroups, push); err != nil {
		return err
	}
	return p.sum(p.beginGroups, 0)
}

func (p *ranking) sum(count int, iteration uint32) error {
	return dispatch(p.w, "pagerank_sum", p.w.group, 1, rankSumPush{p.partials.Address(), p.control.Address(),
		uint32(count), iteration, p.o.Tolerance})
}

func (p *ranking) iterate(i int) error {
	push := rankPush{rowsOf(p.in.rows), p.w.g.Offsets.Address(), p.in.order.Address(), p.gifts[i%2].Address(),
		p.gifts[(i+1)%2].Address(), p.ranks.Address(), p.partials.Address(), p.control.Address(),
		uint32(p.in.counts[0]), uint32(p.in.counts[1]), uint32(p.in.counts[2]), p.o.Damping}
	if err := dispatch(p.w, "pagerank", rankGroup, p.groups, push); err != nil {
		return err
	}
	return p.sum(p.groups, 1)
}

func (p *ranking) download() ([]float32, error) {
	words, err := p.w.download(p.ranks, p.w.g.Vertices)
	ranks := make([]float32, len(words))
	for i, x := range words {
		ranks[i] = math.Float32frombits(x)
	}
	return ranks, err
}
