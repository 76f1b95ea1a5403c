package shader

import (
	"slices"
	"testing"
)

type runWriting struct {
	Keys, Index, Thirds, Fifths uint64
	Count, Words                uint32
}

// What a workgroup writes of a run beside its pairs: bits of which subgroups of any size have parts, and the index.
func TestRunWriting(t *testing.T) {
	testRunWriting[uint32](t, "test/run_writing.k32v32")
	testRunWriting[uint64](t, "test/run_writing.k64v64")
}

func testRunWriting[N number](t *testing.T, module string) {
	r := newRig(t)
	for _, workgroup := range []uint32{32, 128, 256} {
		if int(workgroup) < r.d.SubgroupSize() {
			continue
		}
		k := kernel[runWriting](t, r, module, map[string]uint32{"WORKGROUP": workgroup})
		for _, n := range []int{1, 31, 32, 33, 255, 256, 1024, 1025, 40000} {
			g := random(uint64(n))
			keys := make([]N, n)
			thirds, fifths := make([]uint32, (n+31)/32), make([]uint32, (n+31)/32)
			for i := range keys {
				keys[i] = N(g.Uint64())
			}
			slices.Sort(keys)
			for i, key := range keys {
				if uint32(key)%3 == 0 {
					thirds[i/32] |= 1 << (i % 32)
				}
				if uint32(key)%5 == 0 {
					fifths[i/32] |= 1 << (i % 32)
				}
			}
			index := treeOf(keys)
			out, threes, fives := room[N](r, len(index)+1), room[uint32](r, len(thirds)+1),
				room[uint32](r, len(fifths)+1)
			run(r, k, n, runWriting{put(r, keys).Address(), out.Address(), threes.Address(), fives.Address(), uint32(n),
				uint32(len(index))})
			requireWords(t, append(index, ^N(0)), get(r, out), "index of %d keys", n)
			requireWords(t, append(thirds, ^uint32(0)), get(r, threes), "bits set together, of %d", n)
			requireWords(t, append(fifths, ^uint32(0)), get(r, fives), "bits set one by one, of %d", n)
			r.release()
		}
	}
}
