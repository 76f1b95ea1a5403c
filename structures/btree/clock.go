package btree

import (
	"cmp"
	"context"
	"math"
	"sync"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// A dispatch with a moving clock (shaders/include/btree_clock.glsl) takes snapshots while it changes the tree. The host
// first reserves what the dispatch may use: times, and a version for each update. If the host has no open snapshot,
// each such dispatch begins with all versions free, because the versions of earlier dispatches ended with them. So it
// waits for none of them.

// movesFrom is the time from which the clock restarts before such a dispatch, if no snapshot is open.
const movesFrom = 1 << 31

// keepsMoving reserves versions for dispatches with a moving clock. updates is their number of updates, each the
// largest number of one dispatch. The updates come from Go slices if s is nil, or will be recorded on s. Errors:
// vk.ErrUnsubmitted, *vk.OutOfMemoryError.
func (t *tree) keepsMoving(ctx context.Context, s *vk.Stream, updates, each int) error {
	v, m := &t.versions, &t.versions.memory
	each = max(each, 1)
	if s == nil {
		if err := v.rest(ctx); err != nil {
			return err
		}
	}
	v.moved = true
	if v.protect() {
		v.mu.Lock()
		v.closed++ // for the dispatch's own snapshots: their versions are freed like those of closed ones
		v.mu.Unlock()
		return t.keepsOpen(ctx, s, updates, updates)
	}
	v.mu.Lock()
	if v.clock >= movesFrom {
		v.beginAnew()
	}
	v.stale = true
	anew := v.anew
	v.mu.Unlock()
	few := m.stamps == nil || m.count() < each
	if !few && !anew && m.slabs() >= t.poolSlabs() {
		return nil
	}
	if err := v.restBehind(ctx, s); err != nil {
		return err
	}
	if few {
		if err := t.moreVersions(each, false); err != nil {
			return err
		}
	}
	if err := t.coverSlabs(ctx); err != nil || !anew {
		return err
	}
	err := recording.Run(t.Stream, func() error {
		m.recordUnstamped(t.Stream)
		return nil
	})
	if err == nil {
		v.mu.Lock()
		v.anew = false
		v.mu.Unlock()
	}
	return err
}

// reserveTimes reserves times for the snapshots that a dispatch takes, and returns the first.
func (v *versions) reserveTimes(snapshots int) (first uint32, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	first = max(v.clock, 1)
	if uint64(first)+uint64(snapshots)+1 > math.MaxUint32 {
		return 0, &vk.LimitError{What: "times of snapshots", Want: uint64(first) + uint64(snapshots) + 1,
			Most: math.MaxUint32}
	}
	v.clock = first + uint32(snapshots) + 1
	v.changed = true
	return first, nil
}

type clockPush struct {
	Versions vk.Arguments[versionArguments]
	State    uint64
	Last     uint32
	Forgets  uint32
}

// recordClock records the start of a dispatch with a moving clock that takes at most so many snapshots.
func (t *tree) recordClock(s *vk.Stream, snapshots int) error {
	k, err := t.clockKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	snapshots = max(snapshots, 1)
	first, err := t.versions.reserveTimes(snapshots)
	if err != nil {
		return err
	}
	a := t.versions.arguments(first)
	forgets := a.Protects == 0
	versions := 1
	if forgets {
		versions = int(a.Count)
	}
	k.Dispatch(s, groups(versions), clockPush{vk.NewArguments(s, a), t.state.Address(), first + uint32(snapshots) - 1,
		word(forgets)})
	return nil
}

// moving records kernels of the caller that change the tree and take snapshots of it inside a dispatch.
func (t *tree) moving(s *vk.Stream, m Moving, record func(Description) error) error {
	ctx := context.Background()
	if err := t.Enter(ctx); err != nil {
		return err
	}
	leave := sync.OnceFunc(t.Leave)
	defer leave()
	if err := t.Device.Accept("stream", s); err != nil {
		return err
	}
	if most := recording.MaxBatch; m.Updates < 0 || m.Snapshots < 0 || m.Updates > most || m.Snapshots > most {
		return &vk.LimitError{What: "updates or snapshots", Want: uint64(max(m.Updates, m.Snapshots)),
			Most: uint64(most)}
	}
	if err := t.keepsMoving(ctx, s, m.Updates, m.Updates); err != nil {
		return err
	}
	t.known.unsure = true // as after Description
	defer t.holds(s)()
	defer t.Changes.Hold(s)()
	return t.apart(s, func() error {
		if err := t.recordClock(s, m.Snapshots); err != nil {
			return err
		}
		t.Changes.Made()
		tree := t.description()
		leave() // the memory is held
		return record(tree)
	})
}

// recordMoments records the start of a batch with OwnMoments: all operations become pending, unless it is a retry.
func (t *tree) recordMoments(s *vk.Stream, b operands) error {
	var err error
	if !b.retry {
		err = t.clear(s, b.statuses, recording.Padded(b.count)/4)
	}
	return cmp.Or(err, t.recordClock(s, b.count))
}
