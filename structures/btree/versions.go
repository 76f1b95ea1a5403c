package btree

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// versions are what leaves held at the times of open snapshots that updates have changed since
// (shaders/include/btree_version.glsl). Times are those of a clock that each snapshot moves on, unless nothing was
// changed since the one before.
//
// Updates and queries at snapshots are ordered among streams, by the device where it can: to an update at most one
// batch has a leaf copied, and a query never sees a leaf that is being changed.
type versions struct {
	mu      sync.Mutex // of the clock and what is open: snapshots come and go beside queries
	clock   uint32     // the time of the updates that come next
	before  uint64     // times that were before the clock began anew
	changed bool       // there were some since the last snapshot
	open    []openTime // ascending
	closed  int        // times that were closed since versions were freed last
	updates uint64     // that there were, while any was open: no more leaves than these are copied, or split off

	memory  versionMemory
	stale   bool // what it holds is of no open snapshot
	used    int  // versions that are not free, at most
	reads   vk.Uses
	writes  recording.Changes
	rehears bool // kernels are made as if one were open
	moved   bool // dispatches with a moving clock write stamps (clock.go)
	anew    bool // the clock began anew, and stamps may have times from before

	forgotten atomic.Uint64 // snapshots that were not closed
}

// openTime is a time with open snapshots.
type openTime struct {
	time    uint32
	handles int
	updates uint64 // versions.updates when it was opened
}

// versionMemory is the memory of versions. It is made when an update first needs it.
type versionMemory struct {
	stamps  *vk.Buffer[uint32] // stampWords a slab of the pool
	changed *vk.Buffer[uint32] // a bit a slab
	kept    *vk.Buffer[uint32] // the versions, nodeWords each
	free    *vk.Buffer[uint32] // how many are free, and then these
}

const (
	stampWords   = 4
	stampsWord   = 4  // of the tree's state: BTREE_STAMPS_AT
	changedWord  = 10 // and BTREE_CHANGED_AT
	closedAtOnce = 8  // times that may be closed before versions are freed

	// Words of a version: since when it held, which one is before it, and until when it held.
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

// arguments describe the versions: to a query, as of a time, and to updates, at the clock's.
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

// protect says whether a snapshot is open, which updates have to keep what they change for.
func (v *versions) protect() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.open) != 0 || v.rehears
}

// there says whether any leaf was changed since the oldest open snapshot.
func (v *versions) there() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.memory.stamps != nil && !v.stale || v.rehears
}

// due says what is to be done before updates: what is kept is to be forgotten, or some of it freed.
func (v *versions) due() (stale, prune bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stale, v.closed >= closedAtOnce
}

// times are those that are open, ascending, and how many were closed since versions were freed last.
func (v *versions) times() (open []uint32, closed int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	open = make([]uint32, len(v.open))
	for i, o := range v.open {
		open[i] = o.time
	}
	return open, v.closed
}

// take opens a snapshot, and returns its time, and how many were before times began anew.
func (v *versions) take() (time uint32, before uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	last := len(v.open) - 1
	if last >= 0 && !v.changed && v.open[last].time == v.clock-1 { // else the one that was taken last is closed
		v.open[last].handles++
		return v.open[last].time, v.before, nil
	}
	if last < 0 { // what is kept is of none that is open, and so times may begin anew
		v.beginAnew()
	}
	if v.clock == math.MaxUint32 {
		return 0, 0, &structures.LimitError{What: "times of snapshots", Want: 1 << 32, Most: math.MaxUint32}
	}
	v.open = append(v.open, openTime{v.clock, 1, v.updates})
	v.clock++
	v.changed = false
	return v.clock - 1, v.before, nil
}

// beginAnew has times begin anew, while none is open.
func (v *versions) beginAnew() {
	v.before += uint64(max(v.clock, 1) - 1)
	v.clock, v.stale, v.anew = 1, true, true
}

// find is where a time is among those that are open.
func (v *versions) find(time uint32) (int, bool) {
	return slices.BinarySearchFunc(v.open, time, func(o openTime, time uint32) int { return cmp.Compare(o.time, time) })
}

// again opens a time once more that is open.
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

// touched is how many leaves may have been changed since a time that is open: copied, or split off those.
func (v *versions) touched(time uint32) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, open := v.find(time)
	if !open { // closed while it was asked
		return math.MaxInt
	}
	return int(2 * (v.updates - v.open[i].updates))
}

// leave closes a snapshot, and says whether that was the last one of versions that are kept.
func (v *versions) leave(time uint32) (last bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, open := v.find(time)
	if !open {
		return false
	}
	if v.open[i].handles--; v.open[i].handles == 0 {
		if i == 0 { // as most are closed, and of a hundred thousand that moves none
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

// free frees the memory behind all that names it.
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

// recordUnstamped records that no leaf was changed.
func (m *versionMemory) recordUnstamped(s *vk.Stream) {
	s.Fill(m.stamps, 0, int(m.stamps.Bytes()), 0)
	s.Fill(m.changed, 0, int(m.changed.Bytes()), 0)
}

// Memory of versions is kept for the next ones if it is no more than this part of the nodes'.
const spareVersions = 4

// forgetVersions frees the memory of versions that no open snapshot needs, if it is much.
func (t *tree) forgetVersions() {
	if stale, _ := t.versions.due(); stale && t.versions.memory.bytes() > t.pool.Bytes()/spareVersions {
		t.versions.free()
	}
}

// rest waits for all that reads or writes versions. Errors: those of vk.Uses.Rest.
func (v *versions) rest(ctx context.Context) error {
	return cmp.Or(v.writes.Rest(ctx), v.reads.Rest(ctx))
}

// restBehind is rest, for which a stream that is going to record updates submits what it has recorded.
func (v *versions) restBehind(ctx context.Context, s *vk.Stream) error {
	if s != nil && cmp.Or(v.writes.Submitted(), v.reads.Submitted()) != nil {
		if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return v.rest(ctx)
}

// keeps has versions ready for so many updates, if a snapshot is open: those of Go slices (s is nil), or of a stream
// that is going to record them. Errors: vk.ErrUnsubmitted, *vk.OutOfMemoryError.
func (t *tree) keeps(ctx context.Context, s *vk.Stream, updates int) error {
	v := &t.versions
	if s == nil { // also where a snapshot was closed: what was recorded of it still sees what it held
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

// keepsOpen is keeps where a snapshot is open: for so many updates, of which each of so many makes a version.
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

// makeVersions has so many versions free, at rest.
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
	err := recording.Run(t.stream, func() error { return t.recordForgotten(t.stream) })
	if err == nil {
		v.mu.Lock()
		v.stale, v.anew = false, false
		v.mu.Unlock()
	}
	return err
}

// moreVersions has memory for so many versions. What is kept, if it is to be, stays where it was.
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
	err = recording.Run(t.stream, func() error {
		if had != 0 {
			t.stream.Copy(kept, 0, old.kept, 0, int(old.kept.Bytes()))
		}
		return t.recordMore(t.stream, versionArguments{Kept: kept.Address(), Free: free.Address(),
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

// stampAll is coverSlabs behind a growth of the pool, where versions are kept.
func (t *tree) stampAll(ctx context.Context) error {
	v := &t.versions
	if !v.protect() && !v.moved || v.memory.stamps == nil || v.memory.slabs() >= t.poolSlabs() {
		return nil
	}
	return cmp.Or(v.rest(ctx), t.coverSlabs(ctx))
}

// coverSlabs has stamps for all slabs of the pool. New ones are 0.
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

// makeStamps makes stamps for so many slabs, with those that there are.
func (t *tree) makeStamps(ctx context.Context, made *versionMemory, old versionMemory, slabs int) (err error) {
	if made.stamps, err = vk.NewBuffer[uint32](t.memory, stampWords*slabs); err != nil {
		return err
	}
	if made.changed, err = vk.NewBuffer[uint32](t.memory, (slabs+31)/32); err != nil {
		return err
	}
	err = recording.Run(t.stream, func() error {
		made.recordUnstamped(t.stream)
		if old.stamps != nil {
			t.stream.Copy(made.stamps, 0, old.stamps, 0, int(old.stamps.Bytes()))
			t.stream.Copy(made.changed, 0, old.changed, 0, int(old.changed.Bytes()))
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

// tell writes a buffer's address into the tree's state.
func (t *tree) tell(ctx context.Context, word int, b *vk.Buffer[uint32]) error {
	a := b.Address()
	return t.state.Upload(ctx, word, []uint32{uint32(a), uint32(a >> 32)})
}

type keepPush struct {
	Tree                Device
	Versions            vk.Arguments[versionArguments]
	Index               prefixIndex
	Keys, Leaves, Kinds uint64
	Count               recording.Length
	Stride              uint32
}

// updated are the operations whose leaves are to be kept: by their keys, or the leaves that they were located in.
type updated struct {
	keys, leaves, kinds uint64
	stride              int // words an operation in leaves
	number              recording.Length
}

// recordKeep records that what leaves hold is kept for the open snapshots, in front of the updates that change them.
func (t *tree) recordKeep(s *vk.Stream, u updated, index prefixIndex) error {
	tile := min(maxTile, t.d.SubgroupSize())
	if t.d.Info().Type == vk.CPU {
		tile = t.tiles.update
	}
	k, err := kernel[keepPush](t, s, t.sized("version_keep"), tile)
	if err != nil {
		return err
	}
	now := vk.NewArguments(s, t.versions.arguments(t.versions.now()))
	k.Dispatch(s, groups(int(u.number.N)), keepPush{
		t.device(), now, index, u.keys, u.leaves, u.kinds, u.number, uint32(u.stride),
	})
	return nil
}

// now is the time of updates that are being recorded.
func (v *versions) now() uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed = true
	return v.clock
}

// next is the time of the updates that come next, if any do.
func (v *versions) next() uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clock
}

// writing records updates on a stream: behind the queries at snapshots that other streams do, and their updates, while
// a snapshot is open.
func (t *tree) writing(s *vk.Stream, record func() error) error {
	v := &t.versions
	return recording.Naming(s, func() error {
		v.mu.Lock()
		protects := len(v.open) != 0
		v.changed = true
		v.mu.Unlock()
		err := v.reads.Order(s)
		if err == nil && protects {
			err = v.writes.Order(s)
		}
		if err != nil {
			return err
		}
		return record()
	}, &t.uses, t.pool.Uses(), &v.writes)
}

// apart records a batch of which operations ask for order, and others may change the tree, on a stream: behind what
// other streams do, and before what they are going to do.
func (t *tree) apart(s *vk.Stream, record func() error) error {
	v := &t.versions
	return t.writing(s, func() error {
		return recording.After(s, &v.writes.Uses, record, &v.reads)
	})
}

// onSnapshot records queries at a snapshot on a stream, or others that nothing may change the tree beside: behind the
// updates of other streams, and before those that they are going to do.
func (r recorder) onSnapshot(s *vk.Stream, record func() error) error {
	v := &r.versions
	if err := v.writes.Order(s); err != nil {
		return err
	}
	return recording.Naming(s, record, &r.uses, r.pool.Uses(), &v.reads)
}

// kept is the module of a kernel that may split leaves.
func (t *tree) kept(module string) string {
	if t.versions.protect() {
		module += "kept"
	}
	return module
}

// remakes says why the tree can't be made anew: open snapshots, for which its nodes stay. Else it notes the change.
func (t *tree) remakes() error {
	v := &t.versions
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed = true
	n := 0
	for _, o := range v.open {
		n += o.handles
	}
	if n == 0 {
		return nil
	}
	return &structures.SnapshotsError{Open: n}
}
