package primitives

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// The words are those that the host computes, for numbers of either sign and for the least and greatest ones. The
// numbers are decoded to the same bits, also in place.
func TestEncode(t *testing.T) {
	r := newRig(t)
	encodes[uint32](r, func(x uint64) uint32 { return uint32(x) })
	encodes[int32](r, func(x uint64) int32 { return int32(x) })
	encodes[float32](r, func(x uint64) float32 { return math.Float32frombits(uint32(x)) })
	encodes[uint64](r, func(x uint64) uint64 { return x })
	encodes[int64](r, func(x uint64) int64 { return int64(x) })
	encodes[float64](r, math.Float64frombits)

	word := room(r, 1).Address()
	require.ErrorIs(t, EncodeKeys[int32](r.p, r.s, EncodeArgs{Out: word, Length: Length{N: 1}}), ErrNoMemory)
	require.ErrorIs(t, DecodeKeys[int32](r.p, r.s, EncodeArgs{In: word, Length: Length{N: 1}}), ErrNoMemory)
	var count *structures.CountError
	require.ErrorAs(t, EncodeKeys[int32](r.p, r.s, EncodeArgs{Length: Length{N: -1}}), &count)
	r.release()
}

func encodes[T structures.Number](r *rig, of func(bits uint64) T) {
	const n = 1001
	code, words := structures.KeyCode[T](), structures.WidthOf[T]().Bytes()/4
	rng := rand.New(rand.NewPCG(1, 1))
	var bits, want []uint32
	add := func(to []uint32, x uint64) []uint32 { return append(to, uint32(x), uint32(x>>32))[:len(to)+words] }
	ends := []uint64{0, math.MaxUint64, 1 << 63, 1<<63 - 1, 1 << 31, 1<<31 - 1, math.MaxUint32 << 32, math.MaxUint32}
	for i := range n {
		x := rng.Uint64()
		if i < len(ends) {
			x = ends[i]
		}
		if words == 1 {
			x = uint64(uint32(x))
		}
		bits, want = add(bits, x), add(want, code.Word(of(x)))
	}
	in, out := upload(r, bits), room(r, len(bits)+1)
	count := upload(r, []uint32{n - 1})
	r.run(EncodeKeys[T](r.p, r.s, EncodeArgs{In: in.Address(), Out: out.Address(),
		Length: Length{N: n, At: count.Address()}}))
	got, last := download(r, out, len(bits)), words*(n-1)
	require.Equal(r.t, want[:last], got[:last], "%T", *new(T))
	require.NotEqual(r.t, want[last:], got[last:], "only as many as there are")
	r.run(EncodeKeys[T](r.p, r.s, EncodeArgs{In: in.Address(), Out: out.Address(), Length: Length{N: n}}))
	require.Equal(r.t, want, download(r, out, len(bits)))
	r.run(DecodeKeys[T](r.p, r.s, EncodeArgs{In: out.Address(), Out: out.Address(), Length: Length{N: n}}))
	require.Equal(r.t, bits, download(r, out, len(bits)))
	r.release()
}
