// Package analytics has the algorithms on graphs that others are made of: breadth-first search, shortest paths,
// connected components, PageRank, triangles and cores, on a graph in device memory.
//
// An Analyzer works on a graph that doesn't change. Its methods take a context, return when they are done, and may be
// called by several goroutines at once. Each result says how long the device worked for it, by the device's own clock.
package analytics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Unreached is the distance of a vertex that no path leads to, and the parent of who has none.
const Unreached = ^uint32(0)

// ErrDirected says that an algorithm is of undirected graphs alone, whose arcs have their opposites
// (graph.CSROptions.Symmetric).
var ErrDirected = errors.New("analytics: the graph has arcs without opposites, and this is for undirected graphs")

// ErrStuck says that an algorithm no longer gets on though it isn't at its end, as only a stray write to the graph's
// memory has it.
var ErrStuck = errors.New("analytics: no progress: the graph's memory holds something else than a graph")

// Analyzer analyses one graph. It keeps what calls need from one to the next: temporary memory, and what is made of the
// graph once. Several goroutines may use one; their calls run beside one another, each with memory of its own.
type Analyzer struct {
	g       *graph.CSR
	d       *vk.Device
	gate    *gate.Gate
	kernels *recording.Kernels
	bulk    *primitives.Primitives
	group   int // invocations of a workgroup that does small rounds

	mu   sync.Mutex
	idle []*workspace

	once        sync.Mutex // has what is found out once be found out by one
	chosenDelta uint32     // of shortest paths; 0: not yet
	incoming    *incoming  // of PageRank; nil: not yet
}

// New makes an Analyzer of a graph, which stays the caller's and must not be closed before it.
func New(g *graph.CSR) *Analyzer {
	d := g.Device()
	a := &Analyzer{g: g, d: d, gate: gate.New(), kernels: recording.NewKernels(d),
		bulk: primitives.New(d, primitives.Options{}), group: 128}
	if i := d.Info(); i.Type != vk.CPU {
		for a.group < 1024 && 2*a.group <= min(i.MaxWorkgroup, 32*d.SubgroupSize()) {
			a.group *= 2
		}
	}
	return a
}

// Close waits for the calls that are under way and frees the memory. Further calls do nothing.
func (a *Analyzer) Close() error {
	leave, open, err := a.gate.Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	a.gate.End()
	a.incoming.close()
	for _, w := range a.idle {
		err = errors.Join(err, w.close())
	}
	return err
}

// run has f do a call's work, with a workspace.
func (a *Analyzer) run(ctx context.Context, f func(w *workspace) error) error {
	if err := a.gate.EnterShared(ctx); err != nil {
		return err
	}
	defer a.gate.LeaveShared()
	return a.g.Use(ctx, func() error {
		w, err := a.take()
		if err != nil {
			return err
		}
		defer a.put(w)
		w.ctx = ctx
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
	_ = w.s.Wait(context.Background()) // what a cancelled call left under way; the next call finds a lost device itself
	w.s.Timings()
	w.ctx = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, w)
}

// workspace is what one call works with: a stream, and memory by names, which grows by being replaced.
type workspace struct {
	*Analyzer
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

// room is memory for so many words at least, whose contents are whatever they were. It is asked for before anything is
// recorded.
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

// rooms are memory by names and numbers of words.
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

// do has what record records done, and returns how long the device took for it.
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
		sum += t.Duration
	}
	return sum, nil
}

// download copies the first words of a buffer.
func (w *workspace) download(b *vk.Buffer[uint32], n int) ([]uint32, error) {
	words := make([]uint32, n)
	return words, b.Download(w.ctx, 0, words)
}

// rowsPush is Graph of shaders/analytics/neighbors.glsl.
type rowsPush struct {
	Offsets, Targets, Weights uint64
	Vertices, Arcs            uint32
}

func (w *workspace) rows() rowsPush { return rowsOf(w.g) }

func rowsOf(g *graph.CSR) rowsPush {
	return rowsPush{g.Offsets.Address(), g.Targets.Address(), g.Weights.Address(), uint32(g.Vertices), uint32(g.Arcs)}
}

// vertex answers whether there is a vertex.
func (a *Analyzer) vertex(v uint32) error {
	if int(v) >= a.g.Vertices {
		return &graph.VertexError{Vertex: v, Vertices: a.g.Vertices}
	}
	return nil
}

func groups(n, each int) int { return (n + each - 1) / each }
