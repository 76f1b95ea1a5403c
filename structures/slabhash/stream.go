package slabhash

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// check answers why a batch can't be recorded.
func (t *table) check(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if kind > structures.Count {
		return &structures.KindError{Kind: kind}
	}
	end, err := recording.End(b)
	if err != nil {
		return err
	}
	values := kind > structures.Delete || !t.keys && (kind == structures.Mixed || kind.Inserts())
	return cmp.Or(t.d.Accept("stream", s), recording.Need(t.d, b.Keys, "keys", b.Count, end),
		recording.Need(t.d, b.Values, "values", b.Count, when(values, end)),
		recording.Need(t.d, b.Kinds, "kinds", b.Count, when(kind == structures.Mixed, b.Count)),
		recording.Need(t.d, b.Status, "status bytes", b.Count, recording.Padded(b.Count)),
		recording.Need(t.d, b.Left, "words for the number left", b.Count, 1))
}

func when(condition bool, n int) int {
	if condition {
		return n
	}
	return 0
}

// applyOn records a batch, when its turn has come.
func (t *table) applyOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer t.leave()
	return t.record(s, kind, b, false)
}

func (t *table) updateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if !kind.Inserts() && kind != structures.Delete && kind != structures.DeleteAll {
		return &structures.KindError{Kind: kind}
	}
	return t.applyOn(ctx, s, kind, b)
}

// record records a batch; retry: only what is pending of it.
func (t *table) record(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch, retry bool) error {
	if err := t.check(s, kind, b); err != nil {
		return err
	}
	if b.Count == 0 {
		return nil
	}
	if !retry && (kind == structures.Mixed || kind.Inserts()) {
		t.used += uint64(b.Count) // a bound, also of a batch that is dropped
	}
	return t.on(s, func() error {
		return t.recordApply(s, kind, operands{
			keys: recording.At(b.Keys, b.First), values: recording.At(b.Values, b.First), kinds: b.Kinds.Address(), statuses: b.Status.Address(),
			pending: b.Left.Address(), count: b.Count, retry: retry,
		})
	})
}

// finish has the pending operations of a batch done, once the stream is through with it.
func (t *table) finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer t.leave()
	if err := t.check(s, kind, b); err != nil {
		return err
	}
	return pipeline.Finish(ctx, s, b.Left, t.makeRoom, func() error { return t.record(s, kind, b, true) })
}

func (t *table) findOn(s *vk.Stream, q structures.DeviceLookups) error {
	if err := t.enter(context.Background()); err != nil {
		return err
	}
	defer t.leave()
	err := cmp.Or(t.d.Accept("stream", s), recording.Need(t.d, q.Keys, "keys", q.Count, q.Count),
		recording.Need(t.d, q.Values, "values", q.Count, when(!t.keys, q.Count)),
		recording.Need(t.d, q.Found, "found bytes", q.Count, recording.Padded(q.Count)))
	if err != nil {
		return err
	}
	return t.on(s, func() error {
		return t.recordFind(s, q.Keys.Address(), q.Values.Address(), q.Found.Address(), q.Count)
	})
}

var (
	_ structures.ConcurrentOnStream = (*Map)(nil)
	_ structures.ConcurrentOnStream = (*Set)(nil)
)

// ApplyOn records a batch of operations of one kind, or structures.Mixed, on a stream and does not
// wait. Batches on several streams may work on the map at the same time. Where the pool is full,
// operations are left pending; give the batch to Finish for them once no stream works on the map.
// Neither looks at the map's load: call Rehash when Stats says so.
func (m *Map) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return m.t.applyOn(context.Background(), s, kind, b)
}

// UpdateOn is ApplyOn of updates of one kind: Insert to DeleteAll.
func (m *Map) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return m.t.updateOn(ctx, s, kind, b)
}

// Finish waits for the stream, and has what is pending of a batch done: it grows the pool and
// dispatches again, until b.Left is 0. No other stream may work on the map: Finish waits for those that do, and where one
// has work recorded that was not submitted, it is a *structures.PendingError around vk.ErrUnsubmitted.
func (m *Map) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return m.t.finish(ctx, s, kind, b)
}

// FindOn records lookups on a stream and does not wait. They read faster than ApplyOn's, but nothing may
// change the map while they run.
func (m *Map) FindOn(s *vk.Stream, q structures.DeviceLookups) error { return m.t.findOn(s, q) }

// ApplyOn is as Map.ApplyOn.
func (s *Set) ApplyOn(stream *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return s.t.applyOn(context.Background(), stream, kind, b)
}

// UpdateOn is as Map.UpdateOn.
func (s *Set) UpdateOn(ctx context.Context, stream *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return s.t.updateOn(ctx, stream, kind, b)
}

// Finish is as Map.Finish.
func (s *Set) Finish(ctx context.Context, stream *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return s.t.finish(ctx, stream, kind, b)
}

// FindOn is as Map.FindOn.
func (s *Set) FindOn(stream *vk.Stream, q structures.DeviceLookups) error {
	return s.t.findOn(stream, q)
}
