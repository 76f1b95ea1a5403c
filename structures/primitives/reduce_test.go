package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

func reduced[N, S number](in []N, op ReduceOp) S {
	result := map[ReduceOp]S{Sum: 0, Min: ^S(0), Max: 0}[op]
	for _, x := range in {
		switch op {
		case Sum:
			result += S(x)
		case Min:
			result = min(result, S(x))
		case Max:
			result = max(result, S(x))
		}
	}
	return result
}

func TestReduce(t *testing.T) { testEachReduce(t) }

func TestReduceInRounds(t *testing.T) {
	inRounds(t, &reduceShape)
	testEachReduce(t)
}

func testEachReduce(t *testing.T) {
	r := newRig(t)
	for _, n := range append(lengths(1<<12), 20_000, 200_001) {
		testReduce[uint32, uint32](r, numbers[uint32](uint64(n), n, 0))
		testReduce[uint64, uint64](r, numbers[uint64](uint64(n), n, 0))
		testReduce[uint32, uint64](r, numbers[uint32](uint64(n), n, 0))
		r.release()
	}
	// Numbers that differ in one word only.
	for _, of := range []uint64{1, 1 << 32} {
		in := make([]uint64, 3000)
		for i := range in {
			in[i] = math.MaxUint64 - uint64(i*7%3000)*of
		}
		testReduce[uint64, uint64](r, in)
	}
	testReduce[uint64, uint64](r, edges[uint64]())
}

func testReduce[N, S number](r *rig, in []N) {
	r.t.Helper()
	for _, op := range []ReduceOp{Sum, Min, Max} {
		eachLength(r, len(in), func(l Length, name string) {
			source, out := upload(r, in), roomOf[S](r, 1)
			r.run(r.p.Reduce(r.s, ReduceArgs{In: source.Address(), Out: out.Address(), Length: l, Op: op,
				Width: widthOf[N](), Sums: widthOf[S](),
				Scratch: r.scratch(r.p.Scratch(ReduceArgs{Sums: widthOf[S]()}))}))
			require.Equal(r.t, reduced[N, S](in, op), download(r, out, 1)[0], "%s, operation %d", name, op)
		})
	}
}

func TestReduceRefuses(t *testing.T) {
	r := newRig(t)
	array := room(r, 8).Address()
	var length *structures.CountError
	require.ErrorAs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Out: array, Scratch: array, Length: Length{N: -1}}),
		&length)
	var width *vk.OptionError
	require.ErrorAs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Out: array, Scratch: array, Sums: 2}), &width)
	require.ErrorIs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Scratch: array}), ErrNoMemory)
	require.ErrorIs(t, r.p.Reduce(r.s, ReduceArgs{Out: array, Scratch: array, Length: Length{N: 8}}), ErrNoMemory)
	require.ErrorIs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Out: array, Length: Length{N: 8}}), ErrNoMemory)
}
