package primitives

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// wide is a sum of 128 bits in two's complement.
type wide struct{ low, high uint64 }

func (w wide) add(x wide) wide {
	low, carry := bits.Add64(w.low, x.low, 0)
	high, _ := bits.Add64(w.high, x.high, carry)
	return wide{low, high}
}

// wideOf returns a value of a type as a sum.
func wideOf[V number](t ValueType, v V) wide {
	w := wide{low: uint64(v)}
	if t == Signed && v>>(widthOf[V]().Bits()-1) == 1 {
		w.low |= math.MaxUint64 << (widthOf[V]().Bits() - 1)
		w.high = math.MaxUint64
	}
	return w
}

// below is the order of values of a type. Floats are encoded.
func below[V number](t ValueType, a, b V) bool {
	if t == Signed {
		sign := V(1) << (widthOf[V]().Bits() - 1)
		a, b = a^sign, b^sign
	}
	return a < b
}

// floatOf returns the number of an encoded float.
func floatOf[V number](v V) float64 {
	if widthOf[V]() == structures.Bits64 {
		return structures.KeyCode[float64]().Of(uint64(v))
	}
	return float64(structures.KeyCode[float32]().Of(uint64(v)))
}

// reducedRuns is what ReduceByKey has to return.
type reducedRuns[K, V number] struct {
	keys       []K
	counts     []uint32
	sums       []wide    // of integers
	floats     []float64 // of floats
	mins, maxs []V
}

func reducedRunsOf[K, V number](t ValueType, keys []K, values []V) (r reducedRuns[K, V]) {
	r.keys, r.counts = runsOf(keys)
	at := 0
	for _, n := range r.counts {
		var sum wide
		float, least, greatest := math.Copysign(0, -1), values[at], values[at]
		for _, v := range values[at:][:n] {
			sum = sum.add(wideOf(t, v))
			float += floatOf(v)
			if below(t, v, least) {
				least = v
			}
			if below(t, greatest, v) {
				greatest = v
			}
		}
		r.sums, r.floats = append(r.sums, sum), append(r.floats, float)
		r.mins, r.maxs = append(r.mins, least), append(r.maxs, greatest)
		at += int(n)
	}
	return r
}

// testReduceByKey compares all results, or some of them. Sums of floats must be within a share of the sum.
func testReduceByKey[K, V number](r *rig, typ ValueType, keys []K, values []V, l Length, name string, wanted int,
	share float64) {
	t := r.t
	t.Helper()
	want := reducedRunsOf(typ, keys, values)
	n := len(want.keys)
	a := ReduceByKeyArgs{Keys: upload(r, keys).Address(), Values: upload(r, values).Address(), Length: l, Type: typ,
		Widths: Widths{widthOf[K](), widthOf[V]()}}
	outKeys, counts, number := roomOf[K](r, n), room(r, n), room(r, 1)
	each := typ.SumBytes(a.Widths.Value) / 8
	sums, mins, maxs := roomOf[uint64](r, n*each), roomOf[V](r, n), roomOf[V](r, n)
	a.OutKeys, a.OutCounts, a.OutRuns = outKeys.Address(), counts.Address(), number.Address()
	for i, to := range []*uint64{&a.OutSums, &a.OutMins, &a.OutMaxs} {
		if wanted>>i&1 == 1 {
			*to = []uint64{sums.Address(), mins.Address(), maxs.Address()}[i]
		}
	}
	a.Scratch = r.scratch(r.p.Scratch(a))
	r.run(r.p.ReduceByKey(r.s, a))
	require.Equal(t, uint32(n), download(r, number, 1)[0], name)
	requireWords(t, want.keys, download(r, outKeys, n), "%s, keys", name)
	requireWords(t, want.counts, download(r, counts, n), "%s, counts", name)
	if a.OutMins != 0 {
		requireWords(t, want.mins, download(r, mins, n), "%s, minima", name)
	}
	if a.OutMaxs != 0 {
		requireWords(t, want.maxs, download(r, maxs, n), "%s, maxima", name)
	}
	if a.OutSums == 0 {
		return
	}
	got := download(r, sums, n*each)
	if typ != Float {
		var words []uint64
		for _, sum := range want.sums {
			words = append(words, []uint64{sum.low, sum.high}[:each]...)
		}
		requireWords(t, words, got, "%s, sums", name)
		return
	}
	for i, x := range want.floats {
		y := floatOf(got[i])
		if same := math.Float64bits(x) == math.Float64bits(y) || x != x && y != y; !same && share == 0 ||
			!same && math.Abs(x-y) > share*math.Abs(x) {
			require.Equal(t, x, y, "%s, sum %d of %d", name, i, n)
		}
	}
}

// everything is all of sums, minima and maxima.
const everything = 7

// Runs of all lengths, over all parts and chunks, at all widths. Values of integers are any; those of floats are whole
// numbers whose sums are exact.
func TestReduceByKey(t *testing.T) {
	t.Run("32, 32", func(t *testing.T) { testReducedRuns[uint32, uint32](t) })
	t.Run("64, 64", func(t *testing.T) {
		pass.NotWidest(t, "64, 32 has such keys, and values of 64 bits have the same loops")
		testReducedRuns[uint64, uint64](t)
	})
	t.Run("64, 32", func(t *testing.T) { testReducedRuns[uint64, uint32](t) })
	t.Run("32, 64", func(t *testing.T) {
		pass.NotWidest(t, "32, 32 has the same loops")
		testReducedRuns[uint32, uint64](t)
	})
}

func testReducedRuns[K, V number](t *testing.T) {
	for typ := range ValueType(3) {
		t.Run(typ.String(), func(t *testing.T) {
			if typ != Signed {
				pass.NotWidest(t, "a lane's arithmetic is the same at each width")
			}
			eachRound(t, &reduceByKeyShape, func(t *testing.T, r *rig) { testReducedRunsOf[K, V](r, typ) })
		})
	}
}

func testReducedRunsOf[K, V number](r *rig, typ ValueType) {
	for _, n := range append(lengths(1<<11), 20_001) {
		for i, most := range []int{1, 3, 3000, math.MaxInt32} {
			if ValueType((n+i)%3) != typ {
				continue // another type has it
			}
			keys := runs[K](uint64(n), n, most, math.MaxUint32/3)
			values := valuesOf[V](typ, uint64(n), n)
			someLength(r, n, func(l Length, name string) {
				name = fmt.Sprintf("%s, %v, runs up to %d", name, typ, most)
				testReduceByKey(r, typ, keys, values, l, name, everything, 0)
			})
			r.release()
		}
	}
}

// valuesOf returns n values of a type: any integers, or whole floats.
func valuesOf[V number](t ValueType, seed uint64, n int) []V {
	values := numbers[V](seed+1, n, 0)
	if t == Float {
		for i, v := range values {
			values[i] = encoded[V](float64(int(v%4001) - 2000))
		}
	}
	return values
}

// encoded returns the word of a float of V's width.
func encoded[V number](x float64) V {
	if widthOf[V]() == structures.Bits64 {
		return V(structures.KeyCode[float64]().Word(x))
	}
	return V(structures.KeyCode[float32]().Word(float32(x)))
}

// Runs that begin and end at the borders of parts, chunks, rows and subgroups, and beside them, and runs over several
// chunks between shorter ones.
func TestReduceByKeyAtBorders(t *testing.T) {
	eachRound(t, &reduceByKeyShape, func(t *testing.T, r *rig) {
		part := reduceByKeyShape.part(structures.Bits32)
		for _, border := range []int{4 * 4, 4 * 8, 4 * 16, part / 2, part, 2 * part} {
			for off := -1; off <= 1; off++ {
				const n = 6 * 1024
				keys := make([]uint32, n+3)
				for i := range keys {
					keys[i] = uint32((i + border - off) / border)
				}
				values := numbers[uint32](uint64(border), len(keys), 0)
				testReduceByKey(r, Signed, keys, values, Length{N: len(keys)}, fmt.Sprint(border, off), everything, 0)
				r.release()
			}
		}
		// A head in the first element of a part only, in its last one only, and in both.
		for _, heads := range [][]int{{0}, {part}, {part - 1}, {2*part - 1, 4 * part}, {part - 1, part}, {4*part - 1}} {
			keys := make([]uint32, 5*part)
			for i := range keys {
				for _, h := range heads {
					if i >= h {
						keys[i]++
					}
				}
			}
			values := numbers[uint32](3, len(keys), 0)
			testReduceByKey(r, Signed, keys, values, Length{N: len(keys)}, fmt.Sprint(heads), everything, 0)
		}
	})
}

// Each of sums, minima and maxima alone and with others, and none.
func TestReduceByKeyWanted(t *testing.T) {
	pass.OneWidth(t, "what is not wanted is left out by the same condition at each width")
	eachRound(t, &reduceByKeyShape, func(t *testing.T, r *rig) {
		keys := runs[uint64](5, 5000, 700, 1)
		for wanted := range everything {
			typ := ValueType(wanted % 3)
			values := valuesOf[uint64](typ, 8, len(keys))
			testReduceByKey(r, typ, keys, values, Length{N: len(keys)}, fmt.Sprint(typ, wanted), wanted, 0)
		}
	})
}

// Sums of the least and the greatest values, far beyond 64 bits.
func TestReduceByKeyExtremes(t *testing.T) {
	pass.NotWidest(t, "a lane's arithmetic is the same at each width")
	eachRound(t, &reduceByKeyShape, func(t *testing.T, r *rig) {
		testExtremes[uint32](r)
		testExtremes[uint64](r)
	})
}

func testExtremes[V number](r *rig) {
	const n = 3000
	sign := V(1) << (widthOf[V]().Bits() - 1)
	for _, of := range [][]V{{^V(0)}, {0}, {sign}, {sign - 1}, {sign, sign - 1}, {^V(0), 0, 1}, edges[V]()} {
		values := make([]V, n)
		for i := range values {
			values[i] = of[i%len(of)]
		}
		for _, most := range []int{40, math.MaxInt32} {
			for _, typ := range []ValueType{Unsigned, Signed} {
				testReduceByKey(r, typ, runs[uint32](9, n, most, 1), values, Length{N: n},
					fmt.Sprint(of, typ, most), everything, 0)
			}
			r.release()
		}
	}
}

// Floats that aren't plain numbers, and sums that are rounded.
func TestReduceByKeyFloats(t *testing.T) {
	pass.NotWidest(t, "a lane's arithmetic is the same at each width")
	eachRound(t, &reduceByKeyShape, func(t *testing.T, r *rig) {
		testFloats[uint32](r, math.SmallestNonzeroFloat32, math.MaxFloat32)
		testFloats[uint64](r, math.SmallestNonzeroFloat64, math.MaxFloat64/4)
	})
}

func testFloats[V number](r *rig, least, greatest float64) {
	inf, nan := math.Inf(1), math.NaN()
	few := []float64{0, math.Copysign(0, -1), 1, -1, least, -least, 3 * least, 1000 * least, greatest, -greatest, inf,
		-inf, nan, -nan, 1.5, 0.25}
	g := random(7)
	var keys []uint32
	var values []V
	// Each pair of them, and each alone.
	for i, x := range few {
		for j, y := range few {
			keys, values = append(keys, uint32(i*100+j), uint32(i*100+j)), append(values, encoded[V](x), encoded[V](y))
		}
		keys, values = append(keys, uint32(i*100+99)), append(values, encoded[V](x))
	}
	testReduceByKey(r, Float, keys, values, Length{N: len(keys)}, "few", everything, 0)
	r.release()
	keys, values = runs[uint32](11, 6000, 900, 1), nil
	for range keys {
		values = append(values, encoded[V](math.Exp(20*g.Float64()-10)))
	}
	testReduceByKey(r, Float, keys, values, Length{N: len(keys)}, "many", everything, 1e-12)
	r.release()
}

func TestReduceByKeyRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	good := ReduceByKeyArgs{Keys: at, Values: at, OutKeys: at, OutCounts: at, OutSums: at, Scratch: at,
		Length: Length{N: 8}}
	for name, spoil := range map[string]func(a *ReduceByKeyArgs){
		"keys": func(a *ReduceByKeyArgs) { a.Keys = 0 }, "out keys": func(a *ReduceByKeyArgs) { a.OutKeys = 0 },
		"counts":  func(a *ReduceByKeyArgs) { a.OutCounts = 0 },
		"values":  func(a *ReduceByKeyArgs) { a.Values = 0 },
		"scratch": func(a *ReduceByKeyArgs) { a.Scratch = 0 },
	} {
		a := good
		spoil(&a)
		require.ErrorIs(t, r.p.ReduceByKey(r.s, a), ErrNoMemory, name)
	}
	var option *vk.OptionError
	a := good
	a.Widths.Value = 2
	require.ErrorAs(t, r.p.ReduceByKey(r.s, a), &option)
	a = good
	a.Type = Float + 1
	require.ErrorAs(t, r.p.ReduceByKey(r.s, a), &option)
	var length *structures.CountError
	a = good
	a.Length.N = -1
	require.ErrorAs(t, r.p.ReduceByKey(r.s, a), &length)
}
