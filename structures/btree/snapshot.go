package btree

import (
	"context"
	"io"
	"math"
	"sync/atomic"

	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// snapshot is a time of a tree that is kept.
type snapshot struct {
	time    uint32
	before  uint64 // times before the clock began anew
	closed  atomic.Bool
	changes recording.Changes // which there are none of
}

// ended says whether a snapshot, if there is one, was closed.
func (s *snapshot) ended() bool { return s != nil && s.closed.Load() }

// view is what a tree held at a snapshot.
type view struct {
	*ordered.Reader
	of recorder
}

// Snapshot opens a snapshot of what the tree holds now, behind the updates that streams have submitted. Those that one
// has recorded and not submitted are vk.ErrUnsubmitted.
func (t *tree) Snapshot(ctx context.Context) (*view, error) {
	if err := t.gate.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer t.gate.LeaveShared()
	if err := t.versions.writes.Submitted(); err != nil {
		return nil, err
	}
	time, before, err := t.versions.take()
	if err != nil {
		return nil, err
	}
	return t.view(time, before), nil
}

// SnapshotOn opens a snapshot of what the tree holds where a stream stands: behind what it has recorded, and what
// others have submitted. Updates have their time, and keep what they change, by what is open when they are recorded: so
// the order of a stream is that of its snapshots already.
func (t *tree) SnapshotOn(s *vk.Stream) (*view, error) {
	if err := t.gate.EnterShared(context.Background()); err != nil {
		return nil, err
	}
	defer t.gate.LeaveShared()
	if err := t.d.Accept("stream", s); err != nil {
		return nil, err
	}
	if err := t.versions.writes.Order(s); err != nil {
		return nil, err
	}
	time, before, err := t.versions.take()
	if err != nil {
		return nil, err
	}
	v := t.view(time, before)
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		if !submitted {
			v.end() // and the next updates free the memory: a call of the tree may be what drops the batch
		}
	})
	return v, nil
}

// At opens the time of a snapshot that is open once more. nil: none is.
func (t *tree) At(ctx context.Context, time uint64) (*view, error) {
	if err := t.gate.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer t.gate.LeaveShared()
	own, before, open := t.versions.again(time)
	if !open {
		return nil, nil
	}
	return t.view(own, before), nil
}

func (t *tree) view(time uint32, before uint64) *view {
	v := &view{of: recorder{t, &snapshot{time: time, before: before}}}
	v.Reader = ordered.NewReader(t.d, t.width, v.of, t.pipelines, t.own, t.o.Progress)
	return v
}

// Time is when the snapshot was taken, by the tree's clock: later ones are not less.
func (v *view) Time() uint64 { return v.of.at.before + uint64(v.of.at.time) }

// Kernels records, with a function of the caller's, kernels that read the tree at the snapshot: what they include is
// compiled with VKDS_SNAPSHOT.
func (v *view) Kernels(s *vk.Stream, record func(Device) error) error {
	if err := v.of.EnterOn(context.Background()); err != nil {
		return err
	}
	defer v.of.Leave()
	if err := v.of.d.Accept("stream", s); err != nil {
		return err
	}
	return v.of.On(s, func() error {
		d := v.of.device(s)
		if !v.of.past() { // which a kernel of vkds would not ask
			d.State = vk.NewArguments(s, versionArguments{Now: math.MaxUint32}).Address()
		}
		return v.of.gate.Outside(func() error { return record(d) })
	})
}

// Len counts the pairs.
func (v *view) Len(ctx context.Context) (uint64, error) {
	if err := v.of.Enter(ctx); err != nil {
		return 0, err
	}
	defer v.of.Leave()
	s, err := v.of.d.NewStream()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	total, err := vk.NewBuffer[uint32](v.of.d, 1)
	if err != nil {
		return 0, err
	}
	defer total.Free()
	err = recording.Run(s, func() error {
		_, err := v.of.recordLeaves(s, total.Address(), nil)
		return err
	})
	var n [1]uint32
	if err == nil {
		err = total.Download(ctx, 0, n[:])
	}
	return uint64(n[0]), err
}

// Save writes all pairs, as Tree.Save does. What changes the tree need not wait until it ends.
func (v *view) Save(ctx context.Context, w io.Writer) (int64, error) {
	n, err := v.Len(ctx)
	if err != nil {
		return 0, err
	}
	return v.Reader.Save(ctx, ungated{}, w, savedFill.Header(v.of.o.Fill, n), v.of.columns)
}

// ungated is for calls of which each part takes its own turn.
type ungated struct{}

func (ungated) Outside(f func() error) error { return f() }

// forgotten closes a snapshot that nothing refers to.
func (v *view) forgotten() {
	if v.of.at.ended() { // by the stream that dropped it
		return
	}
	v.of.versions.forgotten.Add(1)
	v.of.d.Log().Warn("a snapshot was not closed", "time", v.Time())
	_ = v.Close() // which has nothing to wait for
}

// Close ends the snapshot. What streams have recorded of it is allowed to end. Further calls do nothing.
func (v *view) Close() error {
	t := v.of.tree
	if !v.end() {
		return nil
	}
	if err := t.gate.Enter(context.Background()); err != nil {
		return nil // the tree is closed, or this is a function that it calls: the next updates free the memory
	}
	defer t.gate.Leave()
	t.forgetVersions()
	return nil
}

// end closes the snapshot, but for the memory, and says whether that was the last one of versions that are kept.
func (v *view) end() (last bool) {
	return !v.of.at.closed.Swap(true) && v.of.versions.leave(v.of.at.time)
}

// Versions says what is kept.
func (t *tree) Versions(ctx context.Context) (Versions, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return Versions{}, err
	}
	defer t.gate.Leave()
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
