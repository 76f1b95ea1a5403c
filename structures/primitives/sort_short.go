package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

type shortPush struct {
	Keys, Values       uint64
	OutKeys, OutValues uint64
	Digits             [maxPasses / 2]uint32
	Passes             uint32
	_                  uint32
	Length             length
}

// mostShort is the greatest length of a short sort. Up to here, a single core of a CPU device takes no longer than all
// of them take for the dispatches of the other form.
const mostShort = 2048

// shortTile returns the shape of the workgroup that sorts a short array: a subgroup. In shared memory it has a key and
// two indices for each element, and two words for each digit (shaders/primitives/sort_short.comp).
func (p *Primitives) shortTile(w structures.Width) tileShape {
	s := p.d.SubgroupSize()
	t := tileShape{workgroup: s, subgroups: 1, items: mostShort / s}
	for (w.Bytes()+8)*t.elements()+8*radix+64 > p.d.Info().SharedBytes {
		t.items /= 2
	}
	return t
}

// short reports whether one workgroup sorts the array.
func (a SortArgs) short(p *Primitives) bool {
	return p.cpuSorts && p.sorts.items == 0 && a.Length.N <= p.shortTile(a.Widths.Key).elements()
}

// shortKernel is for keys alone, too.
func (a SortArgs) shortKernel(p *Primitives) recording.Spec[shortPush] {
	tile := p.shortTile(a.Widths.Key)
	return recording.Of[shortPush](a.Widths.module("primitives/sort_short", true), tile.workgroup,
		append(tile.constants(), recording.Constant("FAR", 0))...)
}

// sortShort records a sort in one dispatch.
func (p *Primitives) sortShort(s *vk.Stream, a SortArgs) error {
	k, err := a.shortKernel(p).Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, 1, shortPush{
		Keys: a.Keys, Values: a.Values, OutKeys: a.OutKeys, OutValues: a.OutValues,
		Digits: packed(a.digits()), Passes: uint32(len(a.digits())), Length: a.Length.device(),
	})
	return nil
}
