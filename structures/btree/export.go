package btree

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

type exportPush struct {
	Tree                                 Description
	Slabs, Counts, Offsets, Keys, Values uint64
	Leaves                               recording.Length
	Capacity                             uint32
}

// exported are all pairs of a tree in key order, in device memory.
type exported struct {
	memory           *vk.Buffer[uint32] // to be freed
	pairs            int
	keysAt, valuesAt int // where they begin in memory, in words
}

// exportAll writes all pairs in key order into new memory. The tree must not have changed since the survey, and the
// survey's list must be valid.
func (t *tree) exportAll(v survey) (exported, error) {
	leaves, pairs := int(v.levels[0].Nodes), int(v.levels[0].Slots)
	if lanes := leaves * t.tiles.walk; pairs > recording.MaxBatch || lanes > recording.MaxBatch {
		return exported{}, &structures.CountError{What: "pairs of a tree", N: int(pairs), Most: recording.MaxBatch}
	}
	var size recording.Parts
	t.exportIn(&size, leaves, pairs)
	memory, err := vk.NewBuffer[uint32](t.Device, int(size.Used/4))
	if err != nil {
		return exported{}, err
	}
	e, order, scan := t.exportIn(&recording.Parts{Base: memory.Address()}, leaves, pairs)
	err = recording.Run(t.Stream, func() error {
		if err := t.recordLeafOrder(t.Stream, v.listed.listing, primitives.Length{N: leaves}, order); err != nil {
			return err
		}
		return t.newest().export(t.Stream, e, scan, 0, true)
	})
	if err != nil {
		memory.Free()
		return exported{}, err
	}
	at := func(address uint64) int { return int(address-memory.Address()) / 4 }
	return exported{memory, pairs, at(e.Keys), at(e.Values)}, nil
}

// exportIn divides memory for the export of so many leaves and pairs. It begins with the pairs.
func (t *tree) exportIn(p *recording.Parts, leaves, pairs int) (e exportPush, order leafOrder, scan uint64) {
	e = exportPush{Tree: t.description(), Keys: p.Take(t.width.Bytes() * pairs),
		Values: p.Take(t.width.Bytes() * pairs),
		Counts: p.Take(4 * leaves), Offsets: p.Take(4 * leaves)}
	order = t.leafOrderIn(p, leaves)
	scan = p.Take(t.primitives.Scratch(primitives.ScanArgs{Length: primitives.Length{N: leaves}}))
	e.Slabs, e.Leaves, e.Capacity = order.leaves, recording.Length{N: uint32(leaves)}, uint32(pairs)
	return e, order, scan
}

// export records the counting of the pairs of listed and sorted leaves, with a prefix sum. It writes the number of all
// pairs at total, if that is not 0, and, if pairs is set, the pairs in key order. Counts and Offsets have a word for
// each leaf; scan is the scratch memory of the prefix sum.
func (r recorder) export(s *vk.Stream, p exportPush, scan, total uint64, pairs bool) error {
	tile := r.tiles.walk
	count, err := r.exportKernel(r.past(), true).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	leaves := int(p.Leaves.N)
	count.Dispatch(s, groups(leaves*tile), p)
	err = r.primitives.Scan(s, primitives.ScanArgs{
		In: p.Counts, Out: p.Offsets, Length: primitives.Length{N: leaves, At: p.Leaves.At}, Total: total,
		Scratch: scan,
	})
	if err != nil || !pairs {
		return err
	}
	write, err := r.exportKernel(r.past(), false).Kernel(r.Kernels, s)
	if err != nil {
		return err
	}
	write.Dispatch(s, groups(leaves*tile), p)
	return nil
}
