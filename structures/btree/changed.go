package btree

import (
	"cmp"
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

type changedPush struct {
	Tree          Device
	Versions      vk.Arguments[versionArguments]
	Ranges, Count uint64
	Slabs, Room   uint32
}

// Changed are the keys, as ascending ranges, of the leaves that were changed since the snapshot.
func (v *view[W]) Changed(ctx context.Context) ([]structures.Range[W], error) {
	if err := v.of.Enter(ctx); err != nil {
		return nil, err
	}
	defer v.of.Leave()
	if !v.of.past() {
		return nil, nil
	}
	s, err := v.of.d.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for room := 1 << 10; ; {
		ranges, n, err := v.changed(ctx, s, room)
		if err != nil || n <= room {
			return adjoined(ranges), err
		}
		room = n
	}
}

// changed reads the ranges of up to so many leaves, and says how many there are.
func (v *view[W]) changed(ctx context.Context, s *vk.Stream, room int) ([]structures.Range[W], int, error) {
	t := v.of.tree
	words := 2 * t.words() * room
	memory, err := vk.NewBuffer[uint32](t.d, words+1)
	if err != nil {
		return nil, 0, err
	}
	defer memory.Free()
	err = recording.Run(s, func() error {
		k, err := kernel[changedPush](t, s, t.sized("version_changed"), 1)
		if err != nil {
			return err
		}
		s.Fill(memory, 4*words, 4, 0)
		slabs := t.versions.memory.slabs()
		a := vk.NewArguments(s, t.versions.arguments(v.of.at.time))
		k.Dispatch(s, groups(slabs), changedPush{
			t.device(), a, memory.Address(), memory.AddressOf(words), uint32(slabs), uint32(room),
		})
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	var count [1]uint32
	if err := memory.Download(ctx, words, count[:]); err != nil {
		return nil, 0, err
	}
	ranges := make([]structures.Range[W], min(int(count[0]), room))
	return ranges, int(count[0]), memory.Download(ctx, 0, recording.Words(ranges))
}

// adjoined are ranges in order, of which those that follow one another are one.
func adjoined[W structures.Word](ranges []structures.Range[W]) []structures.Range[W] {
	slices.SortFunc(ranges, func(a, b structures.Range[W]) int { return cmp.Compare(a.Lo, b.Lo) })
	n := 0
	for _, r := range ranges {
		if n != 0 && ranges[n-1].Hi+1 == r.Lo {
			ranges[n-1].Hi = r.Hi
		} else {
			ranges[n] = r
			n++
		}
	}
	return ranges[:n]
}
