package btree

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/pipeline"
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
	moved  bool               // dispatches with a moving clock write stamps (clock.go)
	anew   bool               // the clock was restarted, and stamps may have earlier times

	forgotten atomic.Uint64 // snapshots that were not closed
}

// openTime is a time for which snapshots are open.
type openTime struct {
	time    uint32
	handles int
	updates uint64 // versions.updates when it was opened
}

// versionMemory is the memory of versions. It is allocated when an update first needs it.
type versionMemory struct {
	stamps  *vk.Buffer[uint32] // stampWords for each slab of the pool
	changed *vk.Buffer[uint32] // a bit for each slab
	kept    *vk.Buffer[uint32] // the versions, nodeWords each
	free    *vk.Buffer[uint32] // the number of free versions, and then their numbers
}

const (
	stampWords   = 4
	stampsWord   = 4  // of the tree's state: BTREE_STAMPS_AT
	changedWord  = 10 // and BTREE_CHANGED_AT
	closedAtOnce = 8  // times that may be closed before versions are freed

	// The words of a version: its Since, the number of the version before it, and its Until.
	versionTimeWord = nodeWords - 4
	untilWord       = nodeWords - 2
)

// versionArguments are BTreeVersions of btree_version.glsl.
type versionArguments struct {
	Stamps, Changed, Kept, Free uint64
	Count, Now, Protects        uint32
	_                           uint32
}

func (m *versionMemory) count() int { return m.kept.Len() / nodeWords }
func (m *versionMemory) slabs() int { return m.stamps.Len() / stampWords }

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

func (m *versionMemory) bytes() uint64 {
	return m.stamps.Bytes() + m.changed.Bytes() + m.kept.Bytes() + m.free.Bytes()
}

// recordUnstamped records that all leaves are marked unchanged.
func (m *versionMemory) recordUnstamped(s *vk.Stream) {
	s.Fill(m.stamps, 0, int(m.stamps.Bytes()), 0)
	s.Fill(m.changed, 0, int(m.changed.Bytes()), 0)
}

// spareVersions limits the memory of versions that is kept while no snapshot is open: 1/spareVersions of the pool's.
const spareVersions = 4

// forgetVersions frees the memory of versions if no open snapshot needs it and it is above the limit.
func (t *tree) forgetVersions() {
	if stale, _ := t.versions.due(); stale && t.versions.memory.bytes() > t.Pool.Bytes()/spareVersions {
		t.versions.free()
	}
}

// rest waits for all work that reads or writes versions. Errors are those of vk.Uses.Rest.
func (v *versions) rest(ctx context.Context) error {
	return cmp.Or(v.writes.Rest(ctx), v.reads.Rest(ctx))
}

// restBehind is rest before updates are recorded on a stream. If necessary, it first submits what
// that stream has recorded.
func (v *versions) restBehind(ctx context.Context, s *vk.Stream) error {
	if s != nil && cmp.Or(v.writes.Submitted(), v.reads.Submitted()) != nil {
		if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return v.rest(ctx)
}

// keeps reserves versions for so many updates, if a snapshot is open. The updates come from Go slices if s is nil, or
// will be recorded on s. Errors: vk.ErrUnsubmitted, *vk.OutOfMemoryError.
func (t *tree) keeps(ctx context.Context, s *vk.Stream, updates int) error {
	v := &t.versions
	if s == nil { // also if a snapshot was closed: recorded queries may still read its versions
		if err := v.reads.Rest(ctx); err != nil {
			return err
		}
	}
	if !v.protect() {
		v.moved = false
		t.forgetVersions()
		return nil
	}
	return t.keepsOpen(ctx, s, updates, min(updates, t.mostNodes()))
}

// keepsOpen is keeps while a snapshot is open. need is the number of versions to reserve.
func (t *tree) keepsOpen(ctx context.Context, s *vk.Stream, updates, need int) error {
	v, m := &t.versions, &t.versions.memory
	v.mu.Lock()
	v.updates += min(uint64(updates), recording.MaxBatch)
	v.mu.Unlock()
	stale, prune := v.due()
	lacks := stale || m.stamps == nil || m.slabs() < t.poolSlabs() || v.used+need > m.count()
	if s == nil || lacks {
		if err := v.restBehind(ctx, s); err != nil {
			return err
		}
	}
	if lacks || prune && s == nil {
		if err := t.makeVersions(ctx, need); err != nil {
			return err
		}
	}
	v.used += need
	return nil
}

// makeVersions makes so many versions free. Nothing may use versions meanwhile.
func (t *tree) makeVersions(ctx context.Context, need int) error {
	v, m := &t.versions, &t.versions.memory
	stale, _ := v.due()
	if stale {
		v.used = 0
	}
	if v.used != 0 {
		if err := t.prune(ctx); err != nil {
			return err
		}
	}
	if most := v.used + need; most > m.count() {
		err := t.moreVersions(max(most, m.count()+m.count()/2), !stale)
		if pipeline.Short(err) {
			err = t.moreVersions(most, !stale)
		}
		if err != nil {
			return err
		}
	}
	if err := t.coverSlabs(ctx); err != nil || !stale {
		return err
	}
	err := recording.Run(t.Stream, func() error { return t.recordForgotten(t.Stream) })
	if err == nil {
		v.mu.Lock()
		v.stale, v.anew = false, false
		v.mu.Unlock()
	}
	return err
}

// moreVersions allocates memory for so many versions. If keep is set, the old versions keep their numbers.
func (t *tree) moreVersions(count int, keep bool) error {
	v, old := &t.versions, t.versions.memory
	kept, err := vk.NewBuffer[uint32](t.memory, nodeWords*count)
	if err != nil {
		return err
	}
	free, err := vk.NewBuffer[uint32](t.memory, 1+count)
	if err != nil {
		kept.Free()
		return err
	}
	had := 0
	if old.kept != nil && keep {
		had = old.count()
	}
	err = recording.Run(t.Stream, func() error {
		if had != 0 {
			t.Stream.Copy(kept, 0, old.kept, 0, int(old.kept.Bytes()))
		}
		return t.recordMore(t.Stream, versionArguments{Kept: kept.Address(), Free: free.Address(),
			Count: uint32(count)}, old.free, had)
	})
	if err != nil {
		kept.Free()
		free.Free()
		return err
	}
	old.kept.Free()
	old.free.Free()
	v.memory.kept, v.memory.free = kept, free
	return nil
}

// stampAll is coverSlabs after the pool has grown, if versions are kept.
func (t *tree) stampAll(ctx context.Context) error {
	v := &t.versions
	if !v.protect() && !v.moved || v.memory.stamps == nil || v.memory.slabs() >= t.poolSlabs() {
		return nil
	}
	return cmp.Or(v.rest(ctx), t.coverSlabs(ctx))
}

// coverSlabs makes stamps for all slabs of the pool. New stamps are 0.
func (t *tree) coverSlabs(ctx context.Context) error {
	old, slabs := t.versions.memory, t.poolSlabs()
	if old.stamps != nil && old.slabs() >= slabs {
		return nil
	}
	made := versionMemory{}
	err := t.makeStamps(ctx, &made, old, slabs)
	if err != nil {
		made.stamps.Free()
		made.changed.Free()
		return err
	}
	old.stamps.Free()
	old.changed.Free()
	t.versions.memory.stamps, t.versions.memory.changed = made.stamps, made.changed
	return nil
}

// makeStamps makes stamps for so many slabs, and copies the old ones.
func (t *tree) makeStamps(ctx context.Context, made *versionMemory, old versionMemory, slabs int) (err error) {
	if made.stamps, err = vk.NewBuffer[uint32](t.memory, stampWords*slabs); err != nil {
		return err
	}
	if made.changed, err = vk.NewBuffer[uint32](t.memory, (slabs+31)/32); err != nil {
		return err
	}
	err = recording.Run(t.Stream, func() error {
		made.recordUnstamped(t.Stream)
		if old.stamps != nil {
			t.Stream.Copy(made.stamps, 0, old.stamps, 0, int(old.stamps.Bytes()))
			t.Stream.Copy(made.changed, 0, old.changed, 0, int(old.changed.Bytes()))
		}
		return nil
	})
	if err == nil {
		err = t.tell(ctx, stampsWord, made.stamps)
	}
	if err == nil {
		err = t.tell(ctx, changedWord, made.changed)
	}
	return err
}

// tell writes the address of a buffer into the tree's state.
func (t *tree) tell(ctx context.Context, word int, b *vk.Buffer[uint32]) error {
	a := b.Address()
	return t.state.Upload(ctx, word, []uint32{uint32(a), uint32(a >> 32)})
}

type keepPush struct {
	Tree                Description
	Versions            vk.Arguments[versionArguments]
	Index               prefixIndex
	Keys, Leaves, Kinds uint64
	Count               recording.Length
	Stride              uint32
}

// updated are the operations whose leaves must be kept. The leaves are found by their keys, or given.
type updated struct {
	keys, leaves, kinds uint64
	stride              int // words for each operation in leaves
	number              recording.Length
}

// recordKeep records that leaves are copied for the open snapshots. Record it before the updates that change them.
func (t *tree) recordKeep(s *vk.Stream, u updated, index prefixIndex) error {
	k, err := t.keepKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	now := vk.NewArguments(s, t.versions.arguments(t.versions.now()))
	k.Dispatch(s, groups(int(u.number.N)), keepPush{
		t.description(), now, index, u.keys, u.leaves, u.kinds, u.number, uint32(u.stride),
	})
	return nil
}

// now returns the time of updates that are being recorded.
func (v *versions) now() uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed = true
	return v.clock
}

// next returns the time that updates would have now.
func (v *versions) next() uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clock
}

// writing records updates on a stream. The device runs them after the queries at snapshots of other streams and, while
// a snapshot is open, after their updates.
func (t *tree) writing(s *vk.Stream, record func() error) error {
	v := &t.versions
	return recording.Naming(s, func() error {
		v.mu.Lock()
		protects := len(v.open) != 0
		v.changed = true
		v.mu.Unlock()
		err := v.reads.Order(s)
		if err == nil && protects {
			err = t.Changes.Order(s)
		}
		if err != nil {
			return err
		}
		return record()
	}, &t.Uses, t.Pool.Uses(), &t.Changes)
}

// apart records a batch that has ordered queries and may change the tree. The device runs it after what other streams
// have submitted, and before what they submit later.
func (t *tree) apart(s *vk.Stream, record func() error) error {
	v := &t.versions
	return t.writing(s, func() error {
		return recording.After(s, &t.Changes.Uses, record, &v.reads)
	})
}

// onSnapshot records queries that no update may run with, for example queries at a snapshot. The device runs them after
// the updates that other streams have submitted, and before later ones.
func (r recorder) onSnapshot(s *vk.Stream, record func() error) error {
	v := &r.versions
	if err := r.tree.Changes.Order(s); err != nil {
		return err
	}
	return recording.Naming(s, record, &r.Uses, r.Pool.Uses(), &v.reads)
}

// holds says that a stream is going to record queries or updates: until release, the memory of the tree and of its
// versions stays as it is.
func (t *tree) holds(s *vk.Stream) (release func()) {
	held := []func(){t.Uses.Hold(s), t.Pool.Uses().Hold(s), t.versions.reads.Hold(s)}
	return func() {
		for _, release := range held {
			release()
		}
	}
}

// remakes returns an error if the tree can't be rebuilt, because open snapshots need its nodes. Otherwise it notes the
// change.
func (t *tree) remakes() error {
	v := &t.versions
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed = true
	if len(v.open) != 0 {
		return ErrSnapshots
	}
	return nil
}
