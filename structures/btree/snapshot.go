package btree

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// snapshot is a time of a tree that is kept.
type snapshot struct {
	time   uint32
	closed atomic.Bool
}

// ended says whether a snapshot, if there is one, was closed.
func (s *snapshot) ended() bool { return s != nil && s.closed.Load() }

// view is what a tree held at a snapshot.
type view[W structures.Word] struct {
	ordered.Reader[W]
	of recorder[W]
}

// Snapshot opens a snapshot of what the tree holds now, behind the updates that streams have submitted. Those that one
// has recorded and not submitted are vk.ErrUnsubmitted.
func (t *tree[W]) Snapshot(ctx context.Context) (*view[W], error) {
	if err := t.gate.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer t.gate.LeaveShared()
	if err := t.versions.writes.Submitted(); err != nil {
		return nil, err
	}
	time, err := t.versions.take()
	if err != nil {
		return nil, err
	}
	return t.view(time), nil
}

// At opens the time of a snapshot that is open once more. nil: none is.
func (t *tree[W]) At(ctx context.Context, time uint32) (*view[W], error) {
	if err := t.gate.EnterShared(ctx); err != nil {
		return nil, err
	}
	defer t.gate.LeaveShared()
	if !t.versions.again(time) {
		return nil, nil
	}
	return t.view(time), nil
}

func (t *tree[W]) view(time uint32) *view[W] {
	v := &view[W]{of: recorder[W]{t, &snapshot{time: time}}}
	v.Reader = ordered.NewReader(t.d, v.of, t.pipelines, t.own, t.o.Progress)
	return v
}

// Time is when the snapshot was taken, by the tree's clock: later ones are not less.
func (v *view[W]) Time() uint32 { return v.of.at.time }

// Open says whether it was not closed yet.
func (v *view[W]) Open() bool { return !v.of.at.ended() }

// Len counts the pairs.
func (v *view[W]) Len(ctx context.Context) (uint64, error) {
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

// Close ends the snapshot. What streams have recorded of it is allowed to end. Further calls do nothing.
func (v *view[W]) Close() error {
	if v.of.at.closed.Swap(true) {
		return nil
	}
	t := v.of.tree
	t.versions.leave(v.of.at.time)
	return nil
}
