package slabhash

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// check returns an error if a batch can't be recorded.
func (t *table) check(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if kind > structures.CountAll {
		return &structures.KindError{Kind: kind}
	}
	end, err := recording.End(b)
	if err != nil {
		return err
	}
	return cmp.Or(t.Device.Accept("stream", s), b.Made.Check(t.width),
		recording.NeedNumbers(t.Device, b.Keys, "keys", b.Count, end, t.width),
		recording.NeedNumbers(t.Device, b.Values, "values", b.Count, when(t.hasValues(kind), end), t.width),
		recording.Need(t.Device, b.Kinds, "kinds", b.Count, when(kind == structures.Mixed, b.Count)),
		recording.NeedOutcomes(t.Device, b))
}

// hasValues reports whether operations of a kind need or return values.
func (t *table) hasValues(kind structures.Kind) bool {
	return kind > structures.Delete || !t.keys && (kind == structures.Mixed || kind.Inserts())
}

func when(condition bool, n int) int {
	if condition {
		return n
	}
	return 0
}

// applyOn enters the table and records a batch.
func (t *table) applyOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	return t.record(s, kind, b, false)
}

func (t *table) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.Err(); err != nil {
		return err
	}
	if !kind.Inserts() && kind != structures.Delete && kind != structures.DeleteAll {
		return &structures.KindError{Kind: kind}
	}
	return t.applyOn(ctx, s, kind, b)
}

// record records a batch, or if retry is set its pending operations.
func (t *table) record(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch, retry bool) error {
	if err := t.check(s, kind, b); err != nil {
		return err
	}
	if b.Count == 0 {
		return nil
	}
	if !retry {
		t.Meter.Batch(kind, b.Count)
		if kind == structures.Mixed || kind.Inserts() {
			t.used += uint64(b.Count) // an upper bound: the batch may be dropped
		}
	}
	on := t.Using
	if kind != structures.Find && kind != structures.CountAll {
		on = t.Changing
	}
	tails := retry // only the device knows the kinds; pending operations may be on their way along a list
	visits := t.visits
	if kind == structures.Mixed && !retry {
		visits = t.visitsOnStream(b.Count)
	}
	return on(s, func() error {
		b, retry, err := t.Own.Batch(s, kind, b, retry)
		if err != nil {
			return err
		}
		return t.recordApply(s, kind, operands{
			keys: t.at(b.Keys, b.First), values: t.at(b.Values, b.First), kinds: b.Kinds.Address(),
			statuses: b.Status.Address(), pending: b.Left.Address(), count: b.Count, retry: retry,
			tails: tails, visits: visits,
		})
	})
}

// Finish does the pending operations of a batch, after the stream has done the batch.
func (t *table) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := t.check(s, kind, b); err != nil {
		return err
	}
	b, done, err := t.Own.Again(s, b)
	switch {
	case err != nil:
		return err
	case done:
		return s.Wait(ctx)
	}
	defer t.calm(t.visits)
	return pipeline.Finish(ctx, s, b.Left, t.makeRoom, func() error { return t.record(s, kind, b, true) })
}

func (t *table) FindOn(s *vk.Stream, q structures.DeviceLookups) error {
	if err := t.EnterShared(context.Background()); err != nil {
		return err
	}
	defer t.LeaveShared()
	d := t.Device
	err := cmp.Or(d.Accept("stream", s), q.Made.Check(t.width),
		recording.NeedNumbers(d, q.Keys, "keys", q.Count, q.Count, t.width),
		recording.NeedNumbers(d, q.Values, "values", q.Count, when(!t.keys, q.Count), t.width),
		recording.NeedFound(d, q), recording.NeedCount(d, q.DeviceCount, q.Count))
	if err != nil {
		return err
	}
	t.Meter.Query(q.Count)
	return t.Using(s, func() error {
		return t.Own.Find(s, q, func(found uint64) error {
			count := recording.Length{At: q.DeviceCount.Address(), N: uint32(q.Count)}
			return t.recordFind(s, q.Keys.Address(), q.Values.Address(), found, count)
		})
	})
}

// onStream has the methods that record work on one stream.
type onStream struct {
	table  *table
	stream *vk.Stream
}

var _ structures.ConcurrentOnStream = onStream{}

// On returns the methods that record work on a stream.
func (t *table) On(s *vk.Stream) onStream { return onStream{t, s} }

func (o onStream) Update(ctx context.Context, kind structures.Kind, b structures.DeviceBatch) error {
	return o.table.UpdateOn(ctx, o.stream, kind, b)
}

func (o onStream) Apply(kind structures.Kind, b structures.DeviceBatch) error {
	return o.table.applyOn(context.Background(), o.stream, kind, b)
}

func (o onStream) Finish(ctx context.Context, kind structures.Kind, b structures.DeviceBatch) error {
	return o.table.Finish(ctx, o.stream, kind, b)
}

func (o onStream) Find(l structures.DeviceLookups) error { return o.table.FindOn(o.stream, l) }

func (o onStream) Export(e structures.DeviceExport) error { return o.table.ExportOn(o.stream, e) }
