package shader

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type resultsPush struct {
	From, To    uint64
	Count, High uint32
}

func TestBytes(t *testing.T) {
	r := newRig(t)
	k := kernel[resultsPush](t, r, "test/results", nil)
	rapid.Check(t, func(t *rapid.T) {
		defer r.release()
		n := rapid.IntRange(0, 700).Draw(t, "n")
		rnd := random(rapid.Uint64().Draw(t, "seed"))
		words := (n + 3) / 4
		from := make([]byte, 4*(words+1))
		for i := range from {
			from[i] = byte(rnd.Uint32())
		}
		to := room[byte](r, 4*(words+1))
		run(r, k, n, resultsPush{put(r, from).Address(), to.Address(), uint32(n), 0xabcdef00})
		out := get(r, to)
		require.Equal(t, from[:n], out[:n])
		require.Equal(t, make([]byte, 4*words-n), out[n:4*words], "padding")
		require.Equal(t, []byte{255, 255, 255, 255}, out[4*words:], "the memory behind")
	})
}
