package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
)

type btreeClockPush struct {
	Tree             btree.Description
	Changes, Answers uint64
	Count            uint32
}

// What a reader at a snapshot has read of a leaf counts if its meta and its header stayed what they were from the first
// look to the last one, and nobody had the leaf's latch.
func TestBTreeClockView(t *testing.T) {
	const version, latch = 1 << 5, 1 // of a meta
	for module, at := range map[string]struct{ meta, high uint32 }{
		"test/btree_clock_view.k32v32": {28, 30}, // words of a leaf
		"test/btree_clock_view.k64v64": {24, 28},
	} {
		cases := []struct {
			what       string
			meta       uint32 // at first
			word, then uint32 // what changes, and what it becomes
			before     uint32 // before the fence ahead of the slots (1), or the one behind them (2); 0: never
			right      bool
		}{
			{"it stays", 2 * version, at.meta, 0, 0, true},
			{"it is latched", 2*version | latch, at.meta, 0, 0, false},
			{"it was changed before the slots are read", 2 * version, at.meta, 3 * version, 1, false},
			{"it is unlatched before the slots are read", 2*version | latch, at.meta, 3 * version, 1, false},
			{"it was changed after the slots were read", 2 * version, at.meta, 3 * version, 2, false},
			{"it is latched after the slots were read", 2 * version, at.meta, 2*version | latch, 2, false},
			{"its high changes after the slots were read", 2 * version, at.high, 1000, 2, false},
		}
		t.Run(module, func(t *testing.T) {
			r := newRig(t)
			r.eachWidth(func(t *testing.T, width int) {
				const leaves = 1024
				s := shape{1, 1, 2}
				p := newHandPool(r, s, 1, s.marks())
				nodes, changes := make([]uint32, leaves*nodeWords), []uint32{}
				for i := range leaves {
					c := cases[i%len(cases)]
					nodes[i*nodeWords+int(at.meta)], nodes[i*nodeWords+int(at.high)] = c.meta, 500
					// today's, or a snapshot's since the leaf's last change
					time := []uint32{^uint32(0), 5}[i/len(cases)%2]
					changes = append(changes, 4*c.word, c.then, c.before, time)
				}
				require.NoError(t, p.units[0].Upload(t.Context(), 0, nodes))
				stamps := put(r, make([]uint32, 4*leaves))
				versions := make([]uint32, 12)
				versions[0], versions[1] = uint32(stamps.Address()), uint32(stamps.Address()>>32)
				held := put(r, versions)
				state := make([]uint32, 64)
				state[6], state[7] = uint32(held.Address()), uint32(held.Address()>>32)
				in, out := put(r, changes), room[uint32](r, leaves*width)
				k := kernel[btreeClockPush](t, r, module, map[string]uint32{"TILE": uint32(width), "POOL_LIGHT": 0,
					"POOL_SUPER_SHIFT": uint32(s.shift)})
				run(r, k, leaves*width, btreeClockPush{btree.Description{Pool: p.device(), State: put(r,
					state).Address()},
					in.Address(), out.Address(), uint32(leaves * width)})
				for i, right := range get(r, out) {
					c := cases[i/width%len(cases)]
					require.Equal(t, c.right, right == 1, "lane %d: %s", i%width, c.what)
				}
			})
		})
	}
}
