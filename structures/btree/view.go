package btree

import (
	"context"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// snapshot is a time of a tree that open snapshots keep.
type snapshot struct {
	time    uint32
	before  uint64 // times before the clock was last restarted
	closed  atomic.Bool
	changes recording.Changes // always empty
}

// ended reports whether s is a snapshot that was closed.
func (s *snapshot) ended() bool { return s != nil && s.closed.Load() }

// view is a Snapshot without its type parameters.
type view struct {
	*ordered.Reader
	of recorder
}

// Snapshot opens a snapshot of the tree's present content, after the updates that streams have submitted. It returns
// vk.ErrUnsubmitted if a stream has recorded updates and not submitted them.
func (t *tree) Snapshot(ctx context.Context) (*view, error) {
	if err := t.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer t.LeaveShared()
	if err := t.Changes.Submitted(); err != nil {
		return nil, err
	}
	time, before, err := t.versions.take()
	if err != nil {
		return nil, err
	}
	return t.view(time, before), nil
}

// SnapshotOn opens a snapshot of the tree's content at this point of a stream: after what the stream has recorded, and
// what others have submitted. Nothing is recorded for it: an update gets its time, and copies what it changes, by the
// snapshots that are open when it is recorded. So updates and snapshots have the order of the stream.
func (t *tree) SnapshotOn(s *vk.Stream) (*view, error) {
	if err := t.EnterShared(context.Background()); err != nil {
		return nil, err
	}
	defer t.LeaveShared()
	if err := t.Device.Accept("stream", s); err != nil {
		return nil, err
	}
	if err := t.Changes.Order(s); err != nil {
		return nil, err
	}
	time, before, err := t.versions.take()
	if err != nil {
		return nil, err
	}
	v := t.view(time, before)
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		if !submitted {
			v.end() // the next updates free the memory, because the batch may be dropped inside a call of the tree
		}
	})
	return v, nil
}

// At opens another handle to an open snapshot, by its time. It returns nil if there is none.
func (t *tree) At(ctx context.Context, time uint64) (*view, error) {
	if err := t.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer t.LeaveShared()
	own, before, open := t.versions.again(time)
	if !open {
		return nil, nil
	}
	return t.view(own, before), nil
}

func (t *tree) view(time uint32, before uint64) *view {
	v := &view{of: recorder{t, &snapshot{time: time, before: before}}}
	v.Reader = ordered.NewReader(&t.Handle, t.width, v.of)
	return v
}

// Time returns when the snapshot was taken, by the tree's clock. Later snapshots don't have smaller times.
func (v *view) Time() uint64 { return v.of.at.before + uint64(v.of.at.time) }

// Kernels records kernels of the caller that read the tree at the snapshot, compiled with VKDS_SNAPSHOT.
func (v *view) Kernels(s *vk.Stream, record func(Description) error) error {
	if err := v.of.EnterOn(context.Background()); err != nil {
		return err
	}
	leave := sync.OnceFunc(v.of.Leave)
	defer leave()
	if err := v.of.Device.Accept("stream", s); err != nil {
		return err
	}
	defer v.of.holds(s)()
	return v.of.On(s, func() error {
		d := v.of.description(s)
		if !v.of.past() { // kernels of vkds test this, kernels of the caller don't
			d.State = vk.NewArguments(s, versionArguments{Now: math.MaxUint32}).Address()
		}
		leave() // the memory is held
		return record(d)
	})
}

// Save writes all pairs, as Tree.Save does. The tree may change meanwhile.
func (v *view) Save(ctx context.Context, w io.Writer) (int64, error) {
	n, err := v.Total(ctx)
	if err != nil {
		return 0, err
	}
	return v.Reader.Save(ctx, w, savedFill.Header(v.of.o.Fill, n), v.of.columns)
}

// forgotten closes a snapshot that has no references left.
func (v *view) forgotten() {
	if v.of.at.ended() { // the stream that dropped it has closed it
		return
	}
	v.of.versions.forgotten.Add(1)
	v.of.Device.Log().Warn("a snapshot was not closed", "time", v.Time())
	_ = v.Close() // it waits for nothing
}

// Close ends the snapshot. Recorded work that uses it may still end. Further calls do nothing.
func (v *view) Close() error {
	t := v.of.tree
	if !v.end() {
		return nil
	}
	if err := t.Enter(context.Background()); err != nil {
		return nil // the tree is closed
	}
	defer t.Leave()
	t.forgetVersions()
	return nil
}

// end closes the snapshot without freeing memory. It reports whether the last open snapshot is closed and versions are
// kept.
func (v *view) end() (last bool) {
	return !v.of.at.closed.Swap(true) && v.of.versions.leave(v.of.at.time)
}

// Versions returns what is kept for snapshots.
func (t *tree) Versions(ctx context.Context) (Versions, error) {
	if err := t.Enter(ctx); err != nil {
		return Versions{}, err
	}
	defer t.Leave()
	v := &t.versions
	a := Versions{Bytes: v.memory.bytes(), Forgotten: v.forgotten.Load()}
	if v.there() {
		if err := v.rest(ctx); err != nil {
			return a, err
		}
		if err := t.prune(ctx); err != nil {
			return a, err
		}
		a.Kept = v.used
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, o := range v.open {
		a.Snapshots += o.handles
	}
	if a.Snapshots != 0 {
		a.Oldest, a.Newest = v.before+uint64(v.open[0].time), v.before+uint64(v.open[len(v.open)-1].time)
	}
	return a, nil
}
