package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

func reduced(in []uint32, op ReduceOp) uint32 {
	result := map[ReduceOp]uint32{Sum: 0, Min: math.MaxUint32, Max: 0}[op]
	for _, w := range in {
		switch op {
		case Sum:
			result += w
		case Min:
			result = min(result, w)
		case Max:
			result = max(result, w)
		}
	}
	return result
}

func TestReduce(t *testing.T) { testReduce(t) }

func TestReduceInRounds(t *testing.T) {
	inRounds(t, &reduceShape)
	testReduce(t)
}

func testReduce(t *testing.T) {
	r := newRig(t)
	for _, n := range append(lengths(1<<12), 20_000, 200_001) {
		in := words(uint64(n), n, 0)
		for _, op := range []ReduceOp{Sum, Min, Max} {
			eachLength(r, n, func(l Length, name string) {
				source, out := upload(r, in), room(r, 1)
				r.run(r.p.Reduce(r.s, ReduceArgs{In: source.Address(), Out: out.Address(), Length: l, Op: op,
					Scratch: r.scratch(r.p.ReduceScratch(l.N))}))
				require.Equal(t, reduced(in, op), download(r, out, 1)[0], "%s, operation %d", name, op)
			})
		}
		r.release()
	}
}

func TestReduceRefuses(t *testing.T) {
	r := newRig(t)
	array := room(r, 8).Address()
	var length *structures.CountError
	require.ErrorAs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Out: array, Scratch: array, Length: Length{N: -1}}),
		&length)
	require.ErrorIs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Scratch: array}), ErrNoMemory)
	require.ErrorIs(t, r.p.Reduce(r.s, ReduceArgs{Out: array, Scratch: array, Length: Length{N: 8}}), ErrNoMemory)
	require.ErrorIs(t, r.p.Reduce(r.s, ReduceArgs{In: array, Out: array, Length: Length{N: 8}}), ErrNoMemory)
}
