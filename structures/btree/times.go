package btree

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// versions holds what leaves contained at the times of open snapshots, if updates have changed them since
// (shaders/include/btree_version.glsl). Times are those of a clock that advances with each snapshot, unless nothing has
// changed since the snapshot before.
//
// Updates and queries at snapshots are ordered across streams, by the device where possible: so only one batch at a
// time copies leaves, and a query never reads a leaf that is being changed.
type versions struct {
	mu      sync.Mutex // guards the clock and open: snapshots are opened and closed while queries run
	clock   uint32     // the time of the updates that come next
	before  uint64     // times before the clock was last restarted
	changed bool       // there were updates since the last snapshot
	open    []openTime // ascending
	closed  int        // times closed since versions were last freed
	updates uint64     // updates while a snapshot was open; each changes two leaves at most

	memory versionMemory
	stale  bool // no open snapshot needs what memory holds
	used   int  // an upper bound of versions that are not free
	reads  vk.Uses
	writes *recording.Changes // the tree's
	moved  bool               // dispatches with a moving clock write stamps (keepsMoving)
	anew   bool               // the clock was restarted, and stamps may have earlier times

	forgotten atomic.Uint64 // snapshots that were not closed
}

// openTime is a time for which snapshots are open.
type openTime struct {
	time    uint32
	handles int
	updates uint64 // versions.updates when it was opened
}

// arguments returns the arguments of kernels, for queries at a time, or for updates at the time of the clock.
func (v *versions) arguments(now uint32) versionArguments {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := &v.memory
	a := versionArguments{Stamps: m.stamps.Address(), Changed: m.changed.Address(), Kept: m.kept.Address(),
		Free: m.free.Address(), Count: uint32(m.count()), Now: now}
	if n := len(v.open); n != 0 {
		a.Protects = v.open[n-1].time
	}
	return a
}

// protect reports whether a snapshot is open, so that updates must keep the leaves that they change.
func (v *versions) protect() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.open) != 0
}

// there reports whether any leaf may have changed since the oldest open snapshot.
func (v *versions) there() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.memory.stamps != nil && !v.stale
}

// due says what to do before updates: forget all versions (stale), or free some of them (prune).
func (v *versions) due() (stale, prune bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stale, v.closed >= closedAtOnce
}

// times returns the open times, ascending, and how many were closed since versions were last freed.
func (v *versions) times() (open []uint32, closed int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	open = make([]uint32, len(v.open))
	for i, o := range v.open {
		open[i] = o.time
	}
	return open, v.closed
}

// take opens a snapshot. It returns its time, and the number of times before the clock was last restarted.
func (v *versions) take() (time uint32, before uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	last := len(v.open) - 1
	if last >= 0 && !v.changed && v.open[last].time == v.clock-1 { // otherwise the newest snapshot is closed
		v.open[last].handles++
		return v.open[last].time, v.before, nil
	}
	if last < 0 { // no open snapshot needs a version, so the clock can restart
		v.beginAnew()
	}
	if v.clock == math.MaxUint32 {
		return 0, 0, &vk.LimitError{What: "times of snapshots", Want: 1 << 32, Most: math.MaxUint32}
	}
	v.open = append(v.open, openTime{v.clock, 1, v.updates})
	v.clock++
	v.changed = false
	return v.clock - 1, v.before, nil
}

// beginAnew restarts the clock. No snapshot may be open.
func (v *versions) beginAnew() {
	v.before += uint64(max(v.clock, 1) - 1)
	v.clock, v.stale, v.anew = 1, true, true
}

// find returns the index of a time among the open times.
func (v *versions) find(time uint32) (int, bool) {
	return slices.BinarySearchFunc(v.open, time, func(o openTime, time uint32) int { return cmp.Compare(o.time, time) })
}

// again opens another handle to an open time.
func (v *versions) again(time uint64) (own uint32, before uint64, open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time < v.before || time-v.before > math.MaxUint32 {
		return 0, 0, false
	}
	own = uint32(time - v.before)
	i, open := v.find(own)
	if open {
		v.open[i].handles++
	}
	return own, v.before, open
}

// touched returns an upper bound of the leaves that were changed since an open time: two for each update, the leaf that
// was copied and the one split off.
func (v *versions) touched(time uint32) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, open := v.find(time)
	if !open { // closed meanwhile
		return math.MaxInt
	}
	return int(2 * (v.updates - v.open[i].updates))
}

// leave closes a snapshot. It reports whether the last open snapshot is closed and versions are kept.
func (v *versions) leave(time uint32) (last bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, open := v.find(time)
	if !open {
		return false
	}
	if v.open[i].handles--; v.open[i].handles == 0 {
		if i == 0 { // the most frequent case: nothing is moved, even if a hundred thousand are open
			v.open = v.open[1:]
		} else {
			v.open = slices.Delete(v.open, i, i+1)
		}
		v.closed++
	}
	if len(v.open) != 0 {
		return false
	}
	last = !v.stale
	v.stale, v.closed = true, 0
	return last
}

// free frees the memory after all work that uses it.
func (v *versions) free() {
	m := v.memory
	v.memory = versionMemory{}
	v.reads.Free(func() {
		v.writes.Free(func() {
			m.stamps.Free()
			m.changed.Free()
			m.kept.Free()
			m.free.Free()
		})
	})
}

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
