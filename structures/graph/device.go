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

// DeviceBatch is a batch of operations on edges in device buffers, like structures.DeviceBatch for keys. Fields that a
// call does not use may be nil.
type DeviceBatch struct {
	Count       int                // operations; 0: none, and no buffers are needed
	DeviceCount *vk.Buffer[uint32] // nil, or one word: the number of operations, at most Count
	From, To    *vk.Buffer[uint32] // the ends of each edge
	Weights     *vk.Buffer[uint32] // the weight of each; nil for Delete and for graphs without weights
	// Status, out, has Count bytes, rounded up to a multiple of 4: the Status of each operation. Left is one word, at
	// first 0, to which the number of pending operations is added. Either may be nil.
	Status *vk.Buffer[uint8]
	Left   *vk.Buffer[uint32]
}

// DeviceLookups are lookups of edges in device buffers.
type DeviceLookups struct {
	Count       int                // 0: none, and no buffers are needed
	DeviceCount *vk.Buffer[uint32] // nil, or one word: the number of lookups, at most Count
	From, To    *vk.Buffer[uint32]
	Weights     *vk.Buffer[uint32] // out: the weight of each, 0 if it is absent; may be nil
	Found       *vk.Buffer[uint8]  // out: a byte for each, 1 or 0; Count rounded up to a multiple of 4 bytes
}

// batch returns the batch in the form of package structures.
func (b DeviceBatch) batch() structures.DeviceBatch {
	return structures.DeviceBatch{Count: b.Count, DeviceCount: b.DeviceCount, Keys: b.From, Values: b.Weights,
		Status: b.Status, Left: b.Left}
}

// check returns an error if a batch cannot be recorded.
func (g *Graph) check(s *vk.Stream, kind structures.Kind, b DeviceBatch) error {
	if !g.o.rules().Does(kind) {
		return &structures.KindError{Kind: kind}
	}
	weights := 0
	if kind.Inserts() && g.o.Weighted {
		weights = b.Count
	}
	d := g.h.Device
	return cmp.Or(d.Accept("stream", s), recording.Need(d, b.From, "sources", b.Count, b.Count),
		recording.Need(d, b.To, "targets", b.Count, b.Count),
		recording.Need(d, b.Weights, "weights", b.Count, weights), recording.NeedOutcomes(d, b.batch()))
}

// OnStream has the calls of a graph on device buffers, which record their work on a stream (Graph.On).
type OnStream struct {
	g *Graph
	s *vk.Stream
}

// On returns the calls on device buffers that record on a stream.
func (g *Graph) On(s *vk.Stream) OnStream { return OnStream{g, s} }

// Update records a batch of one kind, Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete, and does not
// wait. The batch runs after the lookups that other streams have submitted.
//
// Batches on several streams may run on the graph at the same time. The results are those of some sequential order of
// their operations on arcs. The two arcs of an edge of an undirected graph do not change at the same moment, so for
// undirected graphs:
//   - Deletions, and insertions of one kind that updates in place, may be in any order.
//   - Equal edges of concurrent Inserts or InsertUniques must have the same weight, and concurrent updates in place of
//     one edge must be of one kind. Otherwise its two arcs may have different weights.
//   - No stream may delete what another one inserts at the same time. Otherwise one arc may remain.
//
// Operations are left pending if the pool is full, if there is no descriptor for a new vertex, or if a hub needs more
// buckets. Finish completes them; in an undirected graph call it before the stream's next batch. Update does not give
// more buckets to full vertices: call Graph.Rehash when Inspection.Stats shows long buckets.
//
// An insertion with a vertex of MaxVertices or more is left pending, and Finish returns *VertexError for it.
// Calls with slices, InShaders.Use and live analytics wait until the batch is done; while it is not submitted, they
// return vk.ErrUnsubmitted.
//
// Errors: vk.ErrUnsubmitted if another stream has recorded lookups and not submitted them, vk.ErrClosed,
// *structures.KindError, *structures.LengthError, *structures.CountError, *vk.ForeignError, *vk.OutOfMemoryError, those
// of making a kernel.
func (o OnStream) Update(ctx context.Context, kind structures.Kind, b DeviceBatch) error {
	g := o.g
	if err := g.handle().Enter(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	return g.record(o.s, kind, b, false)
}

// record records a batch, or, with retry, its pending operations.
func (g *Graph) record(s *vk.Stream, kind structures.Kind, b DeviceBatch, retry bool) error {
	if err := g.check(s, kind, b); err != nil || b.Count == 0 {
		return err
	}
	if !retry {
		g.h.Meter.Batch(kind, b.Count)
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
		all, some, err := g.h.Own.Batch(s, g.o.rules().Kind(kind), b.batch(), retry)
		if err != nil {
			return err
		}
		if some && !retry && stages != 0 { // the batch has a DeviceCount, and no edge is half done yet
			if err := recording.Clear(g.h.Kernels, s, stages, recording.Padded(b.Count)/4); err != nil {
				return err
			}
		}
		weights := uint64(0)
		if kind.Inserts() && g.o.Weighted {
			weights = b.Weights.Address()
		}
		return g.recordApply(s, g.o.rules().Kind(kind), operands{
			from: b.From.Address(), to: b.To.Address(), weights: weights, statuses: all.Status.Address(),
			stages: stages, pending: all.Left.Address(), count: b.Count, retry: some, arcs: g.arcs(),
		})
	})
}

// Finish waits for the stream and completes the operations that a batch left pending: it makes room and dispatches them
// again, until b.Left is 0. It waits for the other streams that use the graph. If one of them has recorded work and not
// submitted it, Finish returns a *structures.PendingError around vk.ErrUnsubmitted. Then, or if there is no room, edges
// of an undirected graph may be half done until another call of Finish has room.
//
// Errors also: structures.ErrSuperseded if the stream has recorded a later batch, and the graph is undirected or the
// batch has no Status or no Left.
func (o OnStream) Finish(ctx context.Context, kind structures.Kind, b DeviceBatch) error {
	g, s := o.g, o.s
	if err := g.handle().Enter(ctx); err != nil {
		return err
	}
	defer g.h.Leave()
	defer g.calm()
	if err := g.check(s, kind, b); err != nil {
		return err
	}
	all, done, err := g.h.Own.Again(s, b.batch())
	switch {
	case err != nil:
		return err
	case done:
		return s.Wait(ctx)
	}
	b.Status, b.Left = all.Status, all.Left
	return pipeline.Finish(ctx, s, all.Left, g.makeRoom, func() error { return g.record(s, kind, b, true) })
}

// Find records lookups and does not wait. They run after the updates that other streams have submitted. Errors:
// vk.ErrUnsubmitted if another stream has recorded updates and not submitted them, and those of Update.
func (o OnStream) Find(l DeviceLookups) error {
	g, s := o.g, o.s
	if err := g.handle().EnterShared(context.Background()); err != nil {
		return err
	}
	defer g.h.LeaveShared()
	weights := 0
	if l.Weights != nil {
		weights = l.Count
	}
	d := g.h.Device
	err := cmp.Or(d.Accept("stream", s), recording.Need(d, l.From, "sources", l.Count, l.Count),
		recording.Need(d, l.To, "targets", l.Count, l.Count),
		recording.Need(d, l.Weights, "weights", l.Count, weights),
		recording.Need(d, l.Found, "found bytes", l.Count, recording.Padded(l.Count)),
		recording.NeedCount(d, l.DeviceCount, l.Count))
	if err != nil || l.Count == 0 {
		return err
	}
	g.h.Meter.Query(l.Count)
	return g.reading(s, func() error {
		return g.recordFind(s, findPush{
			Graph: g.description(), From: l.From.Address(), To: l.To.Address(), Weights: recording.At(l.Weights, 0),
			Found: l.Found.Address(), Count: recording.Length{At: l.DeviceCount.Address(), N: uint32(l.Count)},
		})
	})
}

// stages keeps the status of the first arc of each edge whose second arc is pending, for the last batch of each stream
// on an undirected graph.
type stages struct {
	mu     sync.Mutex
	memory recording.Scratch
	of     map[*vk.Stream]edgesOf
}

// edgesOf identifies a batch by its buffers.
type edgesOf struct{ from, to *vk.Buffer[uint32] }

func newStages(d *vk.Device) stages {
	return stages{memory: recording.NewScratch(d), of: map[*vk.Stream]edgesOf{}}
}

// take returns the address of the stages of a batch. Error also: structures.ErrSuperseded.
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
