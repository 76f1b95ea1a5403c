package primitives

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

func TestIota(t *testing.T) {
	r := newRig(t)
	for _, n := range append(lengths(1<<12), 200_001) {
		out := room(r, n)
		r.run(r.p.Iota(r.s, out.Address(), n))
		for i, number := range download(r, out, n) {
			if number != uint32(i) {
				t.Fatalf("of %d: %d is %d", n, i, number)
			}
		}
		r.release()
	}
	require.ErrorIs(t, r.p.Iota(r.s, 0, 1), ErrNoMemory)
	var length *structures.CountError
	require.ErrorAs(t, r.p.Iota(r.s, 0, -1), &length)
}
