package graph

import (
	"cmp"
	"context"
	"sync"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// DeviceBatch is a batch of operations on edges in device buffers, as structures.DeviceBatch is one on keys. What a
// call has no use for may be nil.
type DeviceBatch struct {
	Count       int                // operations
	DeviceCount *vk.Buffer[uint32] // nil, or one word: how many of them, up to Count
	From, To    *vk.Buffer[uint32] // the ends of each edge
	Weights     *vk.Buffer[uint32] // the weight of each; nil for Delete and for graphs without
	// Status is where the Status of each goes; Count rounded up to a multiple of 4 bytes. Left is one word, 0 at first,
	// to which the number of operations left pending is added. Either is nil where nobody wants to know.
	Status *vk.Buffer[uint8]
	Left   *vk.Buffer[uint32]
}

// DeviceLookups are lookups of edges in device buffers.
type DeviceLookups struct {
	Count       int
	DeviceCount *vk.Buffer[uint32] // nil, or how many there are
	From, To    *vk.Buffer[uint32]
	Weights     *vk.Buffer[uint32] // out: the weight of each, 0 where it is absent; nil: not wanted
	Found       *vk.Buffer[uint8]  // out: a byte each, 1 or 0; Count rounded up to a multiple of 4 bytes
}

// batch is what a DeviceBatch has in common with all batches.
func (b DeviceBatch) batch() structures.DeviceBatch {
	return structures.DeviceBatch{Count: b.Count, DeviceCount: b.DeviceCount, Keys: b.From, Values: b.Weights,
		Status: b.Status, Left: b.Left}
}

// check answers why a batch can't be recorded.
func (g *Graph) check(s *vk.Stream, kind structures.Kind, b DeviceBatch) error {
	if !g.o.does(kind) {
		return &structures.KindError{Kind: kind}
	}
	weights := 0
	if kind.Inserts() && g.o.Weighted {
		weights = b.Count
	}
	return cmp.Or(g.d.Accept("stream", s), recording.Need(g.d, b.From, "sources", b.Count, b.Count),
		recording.Need(g.d, b.To, "targets", b.Count, b.Count),
		recording.Need(g.d, b.Weights, "weights", b.Count, weights), recording.NeedOutcomes(g.d, b.batch()))
}

// OnStream is a graph whose calls take device buffers, and record their work on a stream (Graph.On).
type OnStream struct {
	g *Graph
	s *vk.Stream
}

// On returns the graph for calls that take device buffers and record on a stream.
func (g *Graph) On(s *vk.Stream) OnStream { return OnStream{g, s} }

// Update records a batch of one kind, Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete, and does not
// wait. Batches on several streams may work on the graph at the same time; the results are those of some sequential
// order of their operations on arcs. An edge of an undirected graph is two arcs, which are not one moment: insertions
// of one kind that update in place, and deletions, come to the same in any order; but equal edges of concurrent Inserts
// or InsertUniques bring the same weight, or its two arcs may be left with different ones, as by updates in place of
// different kinds; and what one stream inserts no other deletes meanwhile, or one arc may be left.
//
// Where the pool is full, vertices are new beyond the room for them, or hubs outgrow their buckets, operations are left
// pending; give the batch to Finish for them once no stream works on the graph, of an undirected graph before the
// stream's next batch. Update doesn't look at how full vertices are: call Graph.Rehash when Graph.Stats says so.
//
// An insertion with a vertex of MaxVertices or more is left pending, and Finish returns *vk.LimitError for it.
// The batch runs after the lookups that other streams have submitted. Calls with slices, InShaders.Use and live
// analytics wait
// until it is done; while it is not submitted, they return vk.ErrUnsubmitted. Errors: vk.ErrUnsubmitted where another
// stream has recorded lookups and not submitted them, vk.ErrClosed, *structures.KindError, *structures.LengthError,
// *structures.CountError, *vk.ForeignError, *vk.OutOfMemoryError, what making a kernel may return.
func (o OnStream) Update(ctx context.Context, kind structures.Kind, b DeviceBatch) error {
	g := o.g
	if err := g.turns().Enter(ctx); err != nil {
		return err
	}
	defer g.gate.Leave()
	return g.record(o.s, kind, b, false)
}

// record records a batch; retry: only what is pending of it.
func (g *Graph) record(s *vk.Stream, kind structures.Kind, b DeviceBatch, retry bool) error {
	if err := g.check(s, kind, b); err != nil || b.Count == 0 {
		return err
	}
	if !retry {
		g.meter.Batch(kind, b.Count)
	}
	return g.changing(s, func() error {
		stages := uint64(0)
		if !g.o.Directed {
			at, err := g.stages.take(s, b, retry)
			if err != nil {
				return err
			}
			stages = at
		}
		all, some, err := g.own.Batch(s, g.o.kind(kind), b.batch(), retry)
		if err != nil {
			return err
		}
		if some && !retry && stages != 0 { // of a batch whose length the device knows nothing is half done yet
			if err := recording.Clear(g.kernels, s, stages, recording.Padded(b.Count)/4); err != nil {
				return err
			}
		}
		weights := uint64(0)
		if kind.Inserts() && g.o.Weighted {
			weights = b.Weights.Address()
		}
		return g.recordApply(s, g.o.kind(kind), operands{
			from: b.From.Address(), to: b.To.Address(), weights: weights, statuses: all.Status.Address(),
			stages: stages, pending: all.Left.Address(), count: b.Count, retry: some, arcs: g.arcs(),
		})
	})
}

// Finish waits for the stream, and has what is pending of a batch done: it makes room and dispatches again, until
// b.Left is 0. No other stream may work on the graph: Finish waits for those that do, and where one has work recorded
// that was not submitted, it is a *structures.PendingError around vk.ErrUnsubmitted. Then, or where there is no room,
// edges of an undirected graph may be half done until Finish is called again and has room. Errors also:
// structures.ErrSuperseded of a batch behind which the stream has had another one, if the graph is undirected or the
// batch without a Status or a Left.
func (o OnStream) Finish(ctx context.Context, kind structures.Kind, b DeviceBatch) error {
	g, s := o.g, o.s
	if err := g.turns().Enter(ctx); err != nil {
		return err
	}
	defer g.gate.Leave()
	defer g.calm()
	if err := g.check(s, kind, b); err != nil {
		return err
	}
	all, done, err := g.own.Again(s, b.batch())
	switch {
	case err != nil:
		return err
	case done:
		return s.Wait(ctx)
	}
	b.Status, b.Left = all.Status, all.Left
	return pipeline.Finish(ctx, s, all.Left, g.makeRoom, func() error { return g.record(s, kind, b, true) })
}

// Find records lookups and does not wait. On the device they come after the updates that other streams have submitted.
// Errors: vk.ErrUnsubmitted where another stream has recorded updates and not submitted them, and those of Update.
func (o OnStream) Find(l DeviceLookups) error {
	g, s := o.g, o.s
	if err := g.turns().EnterShared(context.Background()); err != nil {
		return err
	}
	defer g.gate.LeaveShared()
	weights := 0
	if l.Weights != nil {
		weights = l.Count
	}
	err := cmp.Or(g.d.Accept("stream", s), recording.Need(g.d, l.From, "sources", l.Count, l.Count),
		recording.Need(g.d, l.To, "targets", l.Count, l.Count),
		recording.Need(g.d, l.Weights, "weights", l.Count, weights),
		recording.Need(g.d, l.Found, "found bytes", l.Count, recording.Padded(l.Count)),
		recording.NeedCount(g.d, l.DeviceCount, l.Count))
	if err != nil || l.Count == 0 {
		return err
	}
	g.meter.Query(l.Count)
	return g.reading(s, func() error {
		return g.recordFind(s, findPush{
			Graph: g.description(), From: l.From.Address(), To: l.To.Address(), Weights: recording.At(l.Weights, 0),
			Found: l.Found.Address(), Count: recording.Length{At: l.DeviceCount.Address(), N: uint32(l.Count)},
		})
	})
}

// stages are, of the last batch of each stream on an undirected graph, what became of the first arcs of edges whose
// second one is pending.
type stages struct {
	mu     sync.Mutex
	memory recording.Scratch
	of     map[*vk.Stream]edgesOf
}

// edgesOf are a batch's buffers, by which it is known.
type edgesOf struct{ from, to *vk.Buffer[uint32] }

func newStages(d *vk.Device) stages {
	return stages{memory: recording.NewScratch(d), of: map[*vk.Stream]edgesOf{}}
}

// take returns where those of a batch are. Error also: structures.ErrSuperseded.
func (t *stages) take(s *vk.Stream, b DeviceBatch, retry bool) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.of[s]; retry && (!ok || last != (edgesOf{b.From, b.To})) {
		return 0, structures.ErrSuperseded
	}
	for other := range t.of {
		if other.Device().Accept("stream", other) != nil {
			delete(t.of, other)
		}
	}
	t.of[s] = edgesOf{b.From, b.To}
	return t.memory.Take(s, recording.Padded(b.Count))
}

func (t *stages) release(uses *vk.Uses) { t.memory.Release(uses) }
