// Package analytics runs graph algorithms on the device: breadth-first search, shortest paths, connected components,
// strongly connected components, communities, PageRank, triangles and cores.
//
// An Analyzer works either on compressed sparse rows (New), which never change, or on a live graph (NewLive), which
// does not change during a call. Methods wait until they are done, and are safe for many goroutines. Each result has
// the time that the device worked, by the device's own clock.
package analytics

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Unreached is the distance of a vertex without a path to it, and the parent of such a vertex.
const Unreached = ^uint32(0)

// ErrDirected reports that an algorithm needs an undirected graph: one in which each arc has its opposite
// (graph.CSROptions.Symmetric).
var ErrDirected = errors.New("analytics: the graph has arcs without opposites, and this is for undirected graphs")

// ErrStuck reports that an algorithm makes no progress although it is not done. Only a stray write to the graph's
// memory causes that.
var ErrStuck = errors.New("analytics: no progress: the graph's memory holds something else than a graph")

// Analyzer runs algorithms on one graph. It keeps temporary memory, and results that belong to the graph, from one call
// to the next. It is safe for many goroutines: their calls run concurrently, each with its own memory.
type Analyzer struct {
	g       *graph.CSR   // the graph,
	on      *graph.Graph // or the live graph
	d       *vk.Device
	gate    *gate.Gate
	kernels *recording.Kernels
	bulk    *primitives.Primitives
	group   int // invocations of a workgroup that does small rounds

	prepared atomic.Bool
	timed    func(vk.Timing) // for tests: called with each timing

	mu   sync.Mutex
	idle []*workspace

	once     sync.Mutex // guards the fields below, and makes other calls wait while one computes them
	means    [2]float64 // the mean weight, of integers and of floats; 0: not yet known
	incoming *incoming  // for PageRank; nil: not yet made
}

// New returns an Analyzer of a graph. The graph still belongs to the caller, who must not close it before the Analyzer.
func New(g *graph.CSR) *Analyzer {
	a := newAnalyzer(g.Device())
	a.g = g
	return a
}

// NewLive returns an Analyzer of a live graph. Each call analyzes the present graph, most without copying it, and keeps
// nothing for the next call. A call is a query of the graph (graph.InShaders.Use): it waits for calls that change the
// graph, or another structure in its pool, and such calls wait for it. So each result is of one state of the graph.
//
// Compressed sparse rows are faster to read. If you make many calls on one state of the graph, make rows first
// (graph.Graph.CSR). Communities makes them itself, and so do PageRank and StrongComponents of a directed graph,
// because adjacencies do not have incoming arcs. A deleted vertex counts as a vertex without arcs. All methods return
// *vk.LimitError if the graph's pool has more slabs than the algorithms can number: 2^32 slots, about 18 GB without
// weights and 36 GB with weights.
func NewLive(g *graph.Graph) *Analyzer {
	a := newAnalyzer(g.Device())
	a.on = g
	a.kernels.Over(g.InShaders().Constants)
	a.group = min(a.group, 512) // 1024 would take 37 KiB of shared memory, and some devices have 32
	return a
}

func newAnalyzer(d *vk.Device) *Analyzer {
	a := &Analyzer{d: d, gate: gate.New("Analyzer"), kernels: recording.NewKernels(d),
		bulk: primitives.New(d, primitives.Options{}), group: 128}
	if i := d.Info(); i.Type != vk.CPU {
		for a.group < 1024 && 2*a.group <= min(i.MaxWorkgroup, 32*d.SubgroupSize()) {
			a.group *= 2
		}
	}
	return a
}

// directed reports whether the graph has arcs without opposites.
func (a *Analyzer) directed() bool {
	switch {
	case a == nil || a.turns() == nil:
		return false
	case a.on != nil:
		return a.on.Inspect().Options().Directed
	}
	return a.g != nil && !a.g.Symmetric
}

// weighted reports whether the graph's arcs have weights.
func (a *Analyzer) weighted() bool {
	if a.on != nil {
		return a.on.Inspect().Options().Weighted
	}
	return a.g.Weights != nil
}

// turns returns the gate, nil if neither New nor NewLive has made the Analyzer.
func (a *Analyzer) turns() *gate.Gate {
	if a == nil {
		return nil
	}
	return a.gate
}

// Close waits for the calls that are running, and frees the memory. Further calls do nothing.
func (a *Analyzer) Close() error {
	return a.turns().Close(func() (err error) {
		a.gate.End()
		a.incoming.close()
		for _, w := range a.idle {
			err = joint.Error(err, w.close())
		}
		return err
	})
}

// run calls f with a workspace, as a query.
func (a *Analyzer) run(ctx context.Context, f func(w *workspace) error) error {
	if err := a.turns().EnterShared(ctx); err != nil {
		return err
	}
	defer a.gate.LeaveShared()
	return a.use(ctx, func(look func(*workspace) error) error {
		w, err := a.take()
		if err != nil {
			return err
		}
		defer a.put(w)
		w.ctx = ctx
		if err := look(w); err != nil {
			return err
		}
		return f(w)
	})
}

func (a *Analyzer) take() (*workspace, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.idle); n > 0 {
		w := a.idle[n-1]
		a.idle = a.idle[:n-1]
		return w, nil
	}
	s, err := a.d.NewStream()
	return &workspace{Analyzer: a, s: s, buffers: map[string]*vk.Buffer[uint32]{}}, err
}

func (a *Analyzer) put(w *workspace) {
	w.s.Discard()
	_ = w.s.Wait(context.Background()) // for the work of a cancelled call; the next call finds a lost device itself
	w.s.Timings()
	w.ctx = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, w)
}

// workspace is the stream and the memory of one call. The memory has names. A buffer that is too small is replaced.
type workspace struct {
	*Analyzer
	source
	ctx     context.Context
	s       *vk.Stream
	buffers map[string]*vk.Buffer[uint32]
}

func (w *workspace) close() error {
	err := w.s.Close()
	for _, b := range w.buffers {
		b.Free()
	}
	return err
}

// room returns memory of at least that many words, with any content. Call it before anything is recorded.
func (w *workspace) room(name string, words int) (*vk.Buffer[uint32], error) {
	if b := w.buffers[name]; b.Len() >= words && b != nil {
		return b, nil
	}
	b, err := vk.NewBuffer[uint32](w.d, words)
	if err == nil {
		w.buffers[name].Free()
		w.buffers[name] = b
	}
	return b, err
}

// rooms is room for several buffers.
func (w *workspace) rooms(all ...room) error {
	for _, r := range all {
		b, err := w.room(r.name, r.words)
		if err != nil {
			return err
		}
		*r.to = b
	}
	return nil
}

type room struct {
	name  string
	words int
	to    **vk.Buffer[uint32]
}

// do does the recorded work, and returns how long the device took.
func (w *workspace) do(record func() error) (time.Duration, error) {
	var failed error
	w.s.Timed("", func() { failed = w.s.Whole(record) })
	if failed != nil {
		w.s.Discard()
		return 0, failed
	}
	if err := w.s.Wait(w.ctx); err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, t := range w.s.Timings() {
		if t.Label == "" { // all that was recorded; other labels are dispatches, timed by vk.Options
			sum += t.Duration
		}
		if w.timed != nil {
			w.timed(t)
		}
	}
	return sum, nil
}

// download copies the first words of a buffer.
func (w *workspace) download(b *vk.Buffer[uint32], n int) ([]uint32, error) {
	words := make([]uint32, n)
	return words, b.Download(w.ctx, 0, words)
}

// number returns element i of an array of 64-bit numbers.
func number(words []uint32, i int) uint64 { return uint64(words[2*i]) | uint64(words[2*i+1])<<32 }

func groups(n, each int) int { return (n + each - 1) / each }
