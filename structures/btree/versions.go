package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

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

func (m *versionMemory) bytes() uint64 {
	return m.stamps.Bytes() + m.changed.Bytes() + m.kept.Bytes() + m.free.Bytes()
}

// recordUnstamped records that all leaves are marked unchanged.
func (m *versionMemory) recordUnstamped(s *vk.Stream) {
	s.Fill(m.stamps, 0, m.stamps.Len(), 0)
	s.Fill(m.changed, 0, m.changed.Len(), 0)
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
			t.forgetVersions() // otherwise, memory made for them would stay behind the last snapshot
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
			t.Stream.Copy(kept, 0, old.kept, 0, old.kept.Len())
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
			t.Stream.Copy(made.stamps, 0, old.stamps, 0, old.stamps.Len())
			t.Stream.Copy(made.changed, 0, old.changed, 0, old.changed.Len())
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

// openSnapshots are OpenSnapshots of shaders/btree/version_open.glsl.
type openSnapshots struct {
	Times         uint64
	Count, Oldest uint32
}

type relinkPush struct {
	Versions vk.Arguments[versionArguments]
	Open     openSnapshots
	Slabs    uint32
}

type freePush struct {
	Versions vk.Arguments[versionArguments]
	Open     openSnapshots
}

// prune frees the versions that no open snapshot needs, and counts the others. Nothing may use versions meanwhile.
func (t *tree) prune(ctx context.Context) error {
	v := &t.versions
	times, closed := v.times()
	if closed != 0 && len(times) != 0 {
		open, err := vk.NewBuffer[uint32](t.Device, len(times))
		if err != nil {
			return err
		}
		defer open.Free()
		if err := open.Upload(ctx, 0, times); err != nil {
			return err
		}
		err = recording.Run(t.Stream, func() error {
			return t.recordPrune(t.Stream, openSnapshots{open.Address(), uint32(len(times)), times[0]})
		})
		if err != nil {
			return err
		}
		v.mu.Lock()
		v.closed -= closed
		v.mu.Unlock()
	}
	var free [1]uint32
	err := v.memory.free.Download(ctx, 0, free[:])
	if err == nil {
		v.used = v.memory.count() - int(free[0])
	}
	return err
}

// recordPrune records the freeing of versions, after the links to them are removed.
func (t *tree) recordPrune(s *vk.Stream, open openSnapshots) error {
	relink, err := t.relinkKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	free, err := t.freeKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	m := &t.versions.memory
	a := vk.NewArguments(s, t.versions.arguments(0))
	relink.Dispatch(s, groups(m.slabs()+m.count()), relinkPush{a, open, uint32(m.slabs())})
	free.Dispatch(s, groups(m.count()), freePush{a, open})
	return nil
}

type morePush struct {
	Versions vk.Arguments[versionArguments]
	Old      uint64
	Had      uint32
}

// recordMore records that new versions become free, in addition to those that were free before.
func (t *tree) recordMore(s *vk.Stream, a versionArguments, old *vk.Buffer[uint32], had int) error {
	k, err := t.moreKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(int(a.Count)), morePush{vk.NewArguments(s, a), old.Address(), uint32(had)})
	return nil
}

// recordForgotten records that all versions become free, and no leaf has one.
func (t *tree) recordForgotten(s *vk.Stream) error {
	m := &t.versions.memory
	m.recordUnstamped(s)
	return t.recordMore(s, t.versions.arguments(0), nil, 0)
}
