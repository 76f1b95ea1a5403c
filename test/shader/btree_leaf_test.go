package shader

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

type btreeLeafPush struct {
	Leaves, Metas, Meetings, Answers uint64
	Count                            uint32
}

// meeting is an operation that has read its leaf, and what it has seen there.
type meeting struct {
	kind                       uint32
	again                      bool   // it has read the leaf before,
	seen                       uint32 // and this was its meta
	whole                      bool
	slot, room, version, value uint32 // of its key's slot, and of an empty one
	meta                       uint32
	wholeBy                    [2]uint32 // the leaf's meta when its tile began to read, and when that ended
}

// Steps of an operation, as btree_operation.glsl has them.
const (
	stepLeaf = iota + 1
	stepAgain
	stepKey
	stepRoom
	stepLatch
	stepDone
)

// A tile's reading of a leaf counts if nobody changed the leaf meanwhile; and an operation does only what that allows.
func TestBTreeLeaf(t *testing.T) {
	for _, l := range []struct {
		module  string
		atomics bool
		options vk.Options
	}{
		{"test/btree_leaf.a64", true, vk.Options{}},
		{"test/btree_leaf.a32", false, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}},
		{"test/btree_leaf.k64v64", false, vk.Options{}},
	} {
		t.Run(l.module, func(t *testing.T) {
			r := newRig(t, l.options)
			if l.atomics && !r.d.Has(vk.Int64Atomics) {
				t.Skipf("%s has no 64-bit atomics", r.d.Info().Name)
			}
			r.eachWidth(func(t *testing.T, width int) {
				const n = 8192
				all, metas, meetings := someMeetings(n, width)
				in, with := put(r, metas), put(r, meetings)
				leaves, out := put(r, make([]uint32, n*nodeWords)), room[uint32](r, 8*n)
				k := kernel[btreeLeafPush](t, r, l.module, map[string]uint32{"TILE": uint32(width), "BTREE_TORN": 1})
				run(r, k, n, btreeLeafPush{leaves.Address(), in.Address(), with.Address(), out.Address(), n})
				words := get(r, out)
				for i, m := range all {
					tile := all[i/width*width:][:width]
					w := words[8*i:]
					latched := slices.ContainsFunc(tile, func(m meeting) bool { return m.wholeBy[0]&1 != 0 })
					whole := l.atomics || !latched && m.wholeBy[0] == m.wholeBy[1]
					require.Equal(t, whole, w[0] == 1, "lane %d of %+v", i%width, tile)
					want := m.outcome(l.atomics)
					require.Equal(t, want[:], w[1:6], "step, status, slot, seen and value of %+v", m)
				}
			})
		})
	}
}

// someMeetings are so many, also as words; those of a tile have mostly the same leaf.
func someMeetings(n, width int) (all []meeting, metas, words []uint32) {
	rng := random(23)
	flag := func(b bool) uint32 { return map[bool]uint32{true: 1}[b] }
	some := func() uint32 { return []uint32{0, 1, 2, 1 << 5, 1<<5 | 1, 2 << 5}[rng.IntN(6)] } // latch, level, version
	kinds := []structures.Kind{structures.Find, structures.Delete, structures.Insert, structures.InsertUnique,
		structures.InsertAdd}
	var tile [2]uint32
	for i := range n {
		if i%width == 0 {
			tile = [2]uint32{some() &^ 1, some()}
			if rng.IntN(2) == 0 {
				tile[1] = tile[0]
			}
			if rng.IntN(8) == 0 {
				tile = [2]uint32{tile[0] | 1, tile[0] | 1}
			}
		}
		m := meeting{kind: uint32(kinds[rng.IntN(len(kinds))]), again: rng.IntN(4) != 0, seen: some(),
			whole: rng.IntN(2) == 0, slot: slabNone, room: slabNone, value: rng.Uint32(), wholeBy: tile}
		if rng.IntN(2*width) == 0 {
			m.wholeBy[rng.IntN(2)] = some()
		}
		if m.meta = some(); rng.IntN(2) == 0 {
			m.meta = m.seen
		}
		if rng.IntN(3) == 0 {
			m.slot = rng.Uint32N(6)
		}
		if rng.IntN(2) == 0 {
			m.room, m.version = rng.Uint32N(6), 2*rng.Uint32N(3)
		}
		all = append(all, m)
		metas = append(metas, m.wholeBy[:]...)
		words = append(words, m.kind, flag(m.again), m.seen, flag(m.whole), m.slot, m.room, m.version, m.value, m.meta,
			0, 0, 0)
	}
	return all, metas, words
}

// outcome is an operation's next step, its status, slot, and what it has seen, and its value.
func (m meeting) outcome(atomics bool) (out [5]uint32) {
	kind := structures.Kind(m.kind)
	inserts := kind != structures.Find && kind != structures.Delete
	found := m.slot != slabNone
	if !atomics { // only finds come here: others have latched the leaf
		out = [5]uint32{stepAgain, 0, 0, m.seen, 0}
		switch {
		case m.whole && found:
			out[0], out[1], out[4] = stepDone, uint32(structures.Found), m.value
		case m.whole:
			out[0], out[1] = stepDone, uint32(structures.Absent)
		}
		return out
	}
	twice := m.again && m.meta == m.seen && m.meta&1 == 0 // two views agree on a leaf that nobody has latched
	out[3] = m.meta
	switch {
	case found:
		out[0], out[2], out[3] = stepKey, m.slot, m.value
		if kind == structures.InsertUnique {
			out[0], out[1] = stepDone, uint32(structures.Found)
		}
		if kind == structures.Find {
			out[4] = m.value
		}
	case !inserts && twice:
		out[0], out[1] = stepDone, uint32(structures.Absent)
	case !inserts:
		out[0] = stepAgain
	case m.room == slabNone:
		out[0] = stepLatch
	case m.version == 0 || twice && m.version == m.meta>>5<<1:
		out[0], out[2], out[3] = stepRoom, m.room, m.version
	default:
		out[0], out[2] = stepAgain, m.room
	}
	return out
}
