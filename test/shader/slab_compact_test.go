package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"pgregory.net/rapid"
)

type compactPush struct {
	Pool           alloc.PoolDescription
	From, To, Ends uint64
	Lists, Length  uint32
}

const (
	compactWriter = iota
	compactListFree
)

// compact is the model of the writer: the live slots of a list's slabs, densely in the slabs that begin to.
func (f form) compact(from, to []slab) (filled, slot int) {
	for i := range from {
		for at := range f.slots() {
			if !f.live(&from[i], at) {
				continue
			}
			if slot == f.slots() {
				to[filled][auxWord] = ^uint32(0) << f.slots()
				filled, slot = filled+1, 0
			}
			f.setKey(&to[filled], slot, f.key(&from[i], at))
			f.setValue(&to[filled], slot, f.value(&from[i], at))
			slot++
		}
	}
	last := &to[filled]
	for at := slot; at < f.slots(); at++ {
		f.setKey(last, at, f.empty())
		f.setValue(last, at, f.empty())
	}
	last[auxWord], last[nextWord] = ^uint32(0)<<slot, slabEmpty
	return filled, slot
}

// Lists are written densely, in order, to other slabs or over themselves; slabs behind a list's end are left alone, and
// so are the references between slabs, but for the last.
func TestSlabWriter(t *testing.T) {
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.eachWidth(func(t *testing.T, width int) {
				k := kernel[compactPush](t, r, "test/slab_compact."+name,
					map[string]uint32{"TILE": uint32(width), "FUNCTION": compactWriter})
				rapid.Check(t, func(t *rapid.T) {
					defer r.release()
					const lists = 20
					rnd := random(rapid.Uint64().Draw(t, "seed"))
					length := rapid.IntRange(1, 6).Draw(t, "length")
					inPlace := rapid.Bool().Draw(t, "in place")
					from, to := make([]slab, lists*length), make([]slab, lists*length)
					for i := range from {
						from[i], to[i] = f.aSlab(rnd), f.aSlab(rnd)
					}
					source, target := put(r, flat(from)), put(r, flat(to))
					if inPlace {
						to, target = append([]slab(nil), from...), source
					}
					ends := room[uint32](r, 2*lists)
					run(r, k, lists*width, compactPush{
						From: source.Address(), To: target.Address(), Ends: ends.Address(), Lists: lists,
						Length: uint32(length),
					})
					want := make([]uint32, 0, 2*lists)
					for list := range lists {
						filled, slot := f.compact(from[list*length:][:length], to[list*length:][:length])
						want = append(want, uint32(filled), uint32(slot))
					}
					require.Equal(t, want, get(r, ends))
					got := unflat(get(r, target))
					for i := range to {
						requireWords(t, to[i][:], got[i][:], "slab %d of lists of %d", i, length)
					}
				})
			})
		})
	}
}

// Lists are cleared and freed from a slab on, and nothing else is.
func TestSlabListFree(t *testing.T) {
	r := newRig(t)
	s := shape{2, 4, 2}
	r.eachWidth(func(t *testing.T, width int) {
		defer r.release()
		k := kernel[compactPush](t, r, "test/slab_compact.k32v32", map[string]uint32{
			"TILE": uint32(width), "FUNCTION": compactListFree, "POOL_LIGHT": 0, "POOL_SUPER_SHIFT": uint32(s.shift),
		})
		rnd := random(10)
		allocated := s.some(rnd, 0.5)
		order := allocated.list(s)
		rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		p := newHandPool(r, s, 0, allocated)
		contents := [][]slab{make([]slab, 4096), make([]slab, 4096)}
		for i := range contents[0] {
			contents[0][i], contents[1][i] = form{}.aSlab(rnd), form{}.aSlab(rnd)
		}
		at := func(reference uint32) *slab { return &contents[reference>>24][reference&0xffffff] }
		// A third of the slabs are in the lists that are freed: none to five in each.
		var firsts, freed []uint32
		for len(freed) < len(order)/3 {
			list := order[len(freed):][:rnd.IntN(6)]
			first := slabNull
			for i := len(list) - 1; i >= 0; i-- {
				at(list[i])[nextWord] = first
				first = list[i]
			}
			firsts, freed = append(firsts, first), append(freed, list...)
		}
		for super, units := range p.units {
			require.NoError(t, units.Upload(t.Context(), 0, flat(contents[super])))
		}
		run(r, k, len(firsts)*width, compactPush{Pool: p.device(), From: put(r, firsts).Address(),
			Lists: uint32(len(firsts))})
		for _, slab := range freed {
			allocated.remove(slab)
			for i := range at(slab) {
				at(slab)[i] = ^uint32(0)
			}
		}
		require.Equal(t, allocated, p.allocated(r))
		for super, units := range p.units {
			got := unflat(get(r, units))
			for i := range got {
				requireWords(t, contents[super][i][:], got[i][:], "slab %d of super block %d", i, super)
			}
		}
	})
}
