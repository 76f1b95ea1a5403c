package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

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
