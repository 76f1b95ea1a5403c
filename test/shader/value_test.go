package shader

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

type valuePush struct {
	A, B, Answers, Below uint64
	Count                uint32
}

// Values of each type are added and ordered as Go does, in words of either width: sums of floats bit by bit.
func TestValue(t *testing.T) {
	r := newRig(t)
	testValue[uint32, uint32](t, r)
	testValue[uint32, int32](t, r)
	testValue[uint32, float32](t, r)
	testValue[uint64, uint64](t, r)
	testValue[uint64, uint32](t, r)
	testValue[uint64, int64](t, r)
	testValue[uint64, int32](t, r)
	testValue[uint64, float32](t, r)
	testValue[uint64, float64](t, r)
}

func testValue[W interface {
	number
	structures.Word
}, V structures.Number](t *testing.T, r *rig) {
	t.Run(fmt.Sprintf("%T in %T", *new(V), *new(W)), func(t *testing.T) {
		constants := map[string]uint32(nil)
		module := map[structures.Width]string{
			structures.Bits32: "test/value.k32v32", structures.Bits64: "test/value.k64v64",
		}[structures.WidthOf[W]()]
		if structures.Signed[V]() {
			module += "signed"
		} else if structures.Float[V]() {
			module += "float"
			constants = map[string]uint32{"FLOAT_BITS": uint32(structures.WidthOf[V]().Bits())}
		}
		k := kernel[valuePush](t, r, module, constants)
		a, b := operands[V](random(36), k.Workgroup())
		n := len(a)
		code, order := structures.ValueCode[W, V](), structures.KeyCode[V]()
		words := func(all []V) []W {
			of := make([]W, n)
			for i, v := range all {
				of[i] = W(code.Word(v))
			}
			return of
		}
		least := func(x, y V) V {
			if order.Word(x) < order.Word(y) {
				return x
			}
			return y
		}
		greatest := func(x, y V) V {
			if order.Word(x) < order.Word(y) {
				return y
			}
			return x
		}
		const answers = 9
		out, below := room[W](r, answers*n), room[uint32](r, n)
		run(r, k, n, valuePush{put(r, words(a)).Address(), put(r, words(b)).Address(), out.Address(), below.Address(),
			uint32(n)})
		got, gotBelow, size := get(r, out), get(r, below), r.d.SubgroupSize()
		sums := make([]V, size)
		for i := range n {
			if i%size == 0 {
				copy(sums, a[i:])
				for step := 1; step < size; step *= 2 {
					before := append([]V(nil), sums...)
					for lane := range sums {
						sums[lane] = oneNaN(before[lane] + before[lane^step])
					}
				}
			}
			low, high := a[i], a[i]
			for _, v := range a[i/size*size:][:size] {
				low, high = least(low, v), greatest(high, v)
			}
			for j, want := range []V{oneNaN(a[i] + b[i]), least(a[i], b[i]), greatest(a[i], b[i]), sums[i%size], low,
				high} {
				if word := W(code.Word(want)); got[answers*i+j] != word {
					t.Fatalf("answer %d of %v (%#x) and %v (%#x): %#x, want %v (%#x)", j, a[i], order.Word(a[i]), b[i],
						order.Word(b[i]), got[answers*i+j], want, word)
				}
			}
			require.Equal(t, order.Word(a[i]) < order.Word(b[i]), gotBelow[i] == 1, "%v and %v", a[i], b[i])
		}
		zero, first, last := got[6], got[7], got[8]
		for _, v := range a[:n/8] {
			if v == v {
				word := code.Word(code.Of(uint64(zero)) + v)
				require.Equal(t, code.Word(v), word, "%v and what leaves it as it is", v)
			}
		}
		require.Equal(t, order.Word(structures.Least[V]()), order.Word(code.Of(uint64(first))))
		require.Equal(t, order.Word(structures.Greatest[V]()), order.Word(code.Of(uint64(last))))
	})
}

// oneNaN is a number, or the one NaN that sums are.
func oneNaN[V structures.Number](v V) V {
	switch of := any(&v).(type) {
	case *float32:
		if v != v {
			*of = math.Float32frombits(0x7fc0_0000)
		}
	case *float64:
		if v != v {
			*of = math.Float64frombits(0x7ff8_0000_0000_0000)
		}
	}
	return v
}

// operands are pairs of values: all of those at which something changes, and many random ones, of floats also with
// exponents that are close together. There are as many as whole workgroups have invocations.
func operands[V structures.Number](rnd *rand.Rand, workgroup int) (a, b []V) {
	order, bits := structures.KeyCode[V](), structures.WidthOf[V]().Bits()
	mantissa := map[int]int{32: 23, 64: 52}[bits]
	var edges []uint64
	for _, shift := range []int{0, 1, mantissa - 1, mantissa, mantissa + 1, bits - 2, bits - 1} {
		one := uint64(1) << shift
		edges = append(edges, one, one-1, one+1, -one, -one-1)
	}
	half := uint64(1)<<(bits-2) - 1<<mantissa // the bits of 1, and of numbers near 1
	most := uint64(1)<<(bits-1) - 1<<mantissa // of infinity: what follows are the NaNs
	edges = append(edges, half, half-1, half+1, half-uint64(mantissa)<<mantissa, half-uint64(mantissa+1)<<mantissa,
		most, most-1, most+1, most|1<<(mantissa-1))
	sign := uint64(1) << (bits - 1)
	// Words of keys become the number whose bits they are by the flips that make words of bits.
	of := func(x uint64) V {
		x &= math.MaxUint64 >> (64 - bits)
		if structures.Float[V]() {
			if x&sign != 0 {
				x ^= 2*sign - 1
			} else {
				x ^= sign
			}
		} else if structures.Signed[V]() {
			x ^= sign
		}
		return order.Of(x)
	}
	for _, x := range edges {
		for _, y := range edges {
			a, b = append(a, of(x), of(x)), append(b, of(y), of(y|sign))
		}
	}
	for range 40_000 {
		x := rnd.Uint64()
		exponents := x>>mantissa + uint64(rnd.IntN(2*mantissa+6)) - uint64(mantissa+3)
		y := exponents<<mantissa | rnd.Uint64()&(1<<mantissa-1)&^(1<<rnd.IntN(mantissa)-1)
		a, b = append(a, of(x)), append(b, of(y^rnd.Uint64N(2)<<(bits-1)))
	}
	for range 5000 { // subnormal ones, and what cancels to one
		x := rnd.Uint64() & (4<<mantissa - 1)
		a, b = append(a, of(x)), append(b, of((x+uint64(rnd.IntN(9))-4)^sign))
		a, b = append(a, of(rnd.Uint64()&(1<<mantissa-1))), append(b, of(x^rnd.Uint64N(2)<<(bits-1)))
	}
	for len(a)%workgroup != 0 {
		a, b = append(a, 1), append(b, 2)
	}
	return a, b
}
