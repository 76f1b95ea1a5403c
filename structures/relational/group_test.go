package relational

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// everything is all that Group computes.
const everything = Sums | Mins | Maxs | Means

// oneGroup is what a group has to be. Sums of floats in the tests are exact.
type oneGroup[V structures.Number] struct {
	count      uint64
	sum        *big.Float
	least      V
	greatest   V
	leastWord  uint64
	mostWord   uint64
	notANumber bool
}

// exact returns a number with enough bits for any sum.
func exact[V structures.Number](v V) *big.Float {
	f := new(big.Float).SetPrec(200)
	switch {
	case structures.Float[V]():
		return f.SetFloat64(float64(v))
	case structures.Signed[V]():
		return f.SetInt64(int64(v))
	}
	return f.SetUint64(uint64(v))
}

// expected groups by a map. Keys are told apart by their words.
func expected[K, V structures.Number](keys []K, values []V) map[uint64]*oneGroup[V] {
	groups := map[uint64]*oneGroup[V]{}
	order := structures.KeyCode[V]()
	for i, k := range keys {
		word, v := structures.KeyCode[K]().Word(k), values[i]
		w := order.Word(v)
		g := groups[word]
		if g == nil {
			g = &oneGroup[V]{sum: new(big.Float).SetPrec(200), least: v, greatest: v, leastWord: w, mostWord: w}
			groups[word] = g
		}
		g.count++
		if v != v {
			g.notANumber = true
		} else {
			g.sum.Add(g.sum, exact(v))
		}
		if w < g.leastWord {
			g.least, g.leastWord = v, w
		}
		if w > g.mostWord {
			g.greatest, g.mostWord = v, w
		}
	}
	return groups
}

// testGroup compares all that Group returns with the groups of a map. S has all sums.
func testGroup[S, K, V structures.Number](t *testing.T, r *Relational, keys []K, values []V, name string) {
	t.Helper()
	g, err := Group[S](t.Context(), r, keys, values, everything)
	require.NoError(t, err, name)
	want := expected(keys, values)
	require.Len(t, g.Keys, len(want), name)
	for _, n := range []int{len(g.Counts), len(g.Sums), len(g.Mins), len(g.Maxs), len(g.Means)} {
		require.Equal(t, len(want), n, name)
	}
	order := structures.KeyCode[V]()
	for i, k := range g.Keys {
		word := structures.KeyCode[K]().Word(k)
		if i > 0 {
			require.Less(t, structures.KeyCode[K]().Word(g.Keys[i-1]), word, name)
		}
		w := want[word]
		require.NotNil(t, w, "%s: no row has key %v", name, k)
		require.Equal(t, w.count, g.Counts[i], "%s: count of %v", name, k)
		require.Equal(t, w.leastWord, order.Word(g.Mins[i]), "%s: least of %v", name, k)
		require.Equal(t, w.mostWord, order.Word(g.Maxs[i]), "%s: greatest of %v", name, k)
		if w.notANumber {
			require.NotEqual(t, g.Sums[i], g.Sums[i], "%s: sum of %v", name, k)
			require.NotEqual(t, g.Means[i], g.Means[i], "%s: mean of %v", name, k)
			continue
		}
		require.Zero(t, w.sum.Cmp(exact(g.Sums[i])), "%s: sum of %v is %v, not %v", name, k, g.Sums[i], w.sum)
		require.Equal(t, mean(w), g.Means[i], "%s: mean of %v", name, k)
	}
}

// mean returns the float that is nearest to the mean of a group.
func mean[V structures.Number](g *oneGroup[V]) float64 {
	sum, _ := g.sum.Rat(nil)
	mean, _ := sum.Quo(sum, new(big.Rat).SetFrac(new(big.Int).SetUint64(g.count), big.NewInt(1))).Float64()
	return mean
}

// eachSize runs a test with all rows in one part, and in many parts that have keys in common.
func eachSize(t *testing.T, test func(t *testing.T, r *Relational)) {
	t.Run("in one part", func(t *testing.T) { test(t, open(t, Options{})) })
	t.Run("in parts", func(t *testing.T) {
		inParts(t, 300)
		test(t, open(t, Options{}))
	})
}

// keysBelow returns n keys, of about `different` different ones, from the middle of K's numbers, in no order.
func keysBelow[K structures.Number](seed uint64, n, different int) []K {
	g, keys := random(seed), make([]K, n)
	for i := range keys {
		keys[i] = K(g.IntN(different))
		if structures.Signed[K]() || structures.Float[K]() {
			keys[i] -= K(different / 2)
		}
	}
	return keys
}

// valuesAnywhere returns n values: any integers, or whole floats.
func valuesAnywhere[V structures.Number](seed uint64, n int) []V {
	g, values := random(seed+1), make([]V, n)
	for i := range values {
		if structures.Float[V]() {
			values[i] = V(g.IntN(100_001) - 50_000)
		} else {
			values[i] = structures.ValueCode[V, V]().Of(g.Uint64())
		}
	}
	return values
}

func testGroups[S, K, V structures.Number](t *testing.T) {
	eachSize(t, func(t *testing.T, r *Relational) {
		for _, n := range []int{0, 1, 2, 255, 256, 257, 1023, 3000} {
			for _, different := range []int{1, 7, 1 << 20} {
				values := valuesAnywhere[V](uint64(n), n)
				if structures.WidthOf[V]() == structures.Bits64 && !structures.Float[V]() {
					for i := range values { // sums fit 64 bits
						values[i] /= V(math.MaxInt16)
					}
				}
				testGroup[S](t, r, keysBelow[K](uint64(n), n, different), values, fmt.Sprint(n, different))
			}
		}
	})
}

func TestGroup(t *testing.T) {
	pass.OneWidth(t, "the kernels are those of primitives, whose tests run at all widths")
	t.Run("uint32, uint32", testGroups[uint64, uint32, uint32])
	t.Run("int64, int32", testGroups[int64, int64, int32])
	t.Run("int32, uint64", testGroups[uint64, int32, uint64])
	t.Run("float32, int", testGroups[int, float32, int])
	t.Run("uint64, float32", testGroups[float64, uint64, float32])
	t.Run("float64, float64", testGroups[float64, float64, float64])
}

// Sums that fit their type by a hair, and that don't by one.
func TestGroupOverflow(t *testing.T) {
	pass.OneWidth(t, "the host converts and merges what the kernels of primitives return")
	eachSize(t, func(t *testing.T, r *Relational) {
		testOverflow[uint64](t, r, []uint64{math.MaxUint64 - 1, 1}, 1)
		testOverflow[int64](t, r, []int64{math.MaxInt64 - 5, 5}, 1)
		testOverflow[int64](t, r, []int64{math.MinInt64 + 5, -5}, -1)
		testOverflow[int64](t, r, []uint64{math.MaxInt64}, 1)
		testOverflow[uint64](t, r, []int64{5, -5}, -1)
		testOverflow[uint32](t, r, []uint32{math.MaxUint32 - 9, 9}, 1)
		testOverflow[int32](t, r, []int32{math.MaxInt32}, 1)
		testOverflow[int32](t, r, []int32{math.MinInt32}, -1)
		testOverflow[int32](t, r, []int64{math.MaxInt32 + 3, -3}, 1)
	})
}

// testOverflow groups values whose sum just fits S, and then with one more, among groups without overflow.
func testOverflow[S, V structures.Number](t *testing.T, r *Relational, fits []V, more V) {
	t.Helper()
	keys, values := make([]int32, 1000), make([]V, 1000)
	for i := range keys {
		keys[i] = int32(i % 10)
		if i < 10 {
			values[i] = V(i)
		}
	}
	for i, v := range fits { // in different parts
		keys[i*900+20], values[i*900+20] = -7, v
	}
	testGroup[S](t, r, keys, values, fmt.Sprint(fits))
	keys[500], values[500] = -7, more
	_, err := Group[S](t.Context(), r, keys, values, everything)
	var over *OverflowError
	require.ErrorAs(t, err, &over, "%v and %v", fits, more)
	require.Equal(t, 0, over.Group)
	require.Equal(t, int32(-7), over.Key)
	sum := new(big.Float).SetPrec(200)
	for _, v := range append(slices.Clone(fits), more) {
		sum.Add(sum, exact(v))
	}
	require.Zero(t, sum.Cmp(new(big.Float).SetInt(over.Sum)), "%v", over)
	require.Contains(t, over.Error(), fmt.Sprintf("%T", S(0)))
	// A float has room for it, and so has a mean.
	g, err := Group[float64](t.Context(), r, keys, values, everything)
	require.NoError(t, err)
	nearest, _ := sum.Float64()
	require.Equal(t, nearest, g.Sums[0])
	require.Equal(t, nearest/float64(len(fits)+1), g.Means[0])
}

// Sums of the greatest values, far beyond 64 bits, as floats.
func TestGroupFarOverflow(t *testing.T) {
	pass.OneWidth(t, "the kernels are those of primitives, whose tests run at all widths")
	eachSize(t, func(t *testing.T, r *Relational) {
		keys, high, low := make([]uint32, 2000), make([]uint64, 2000), make([]int64, 2000)
		for i := range keys {
			high[i], low[i] = math.MaxUint64, math.MinInt64
		}
		g, err := Group[float64](t.Context(), r, keys, high, everything)
		require.NoError(t, err)
		require.Equal(t, Groups[uint32, uint64, float64]{[]uint32{0}, []uint64{2000}, []float64{2000 * (1 << 64)},
			[]uint64{math.MaxUint64}, []uint64{math.MaxUint64}, []float64{1 << 64}}, g)
		h, err := Group[float64](t.Context(), r, keys, low, everything)
		require.NoError(t, err)
		require.Equal(t, []float64{-2000 * (1 << 63)}, h.Sums)
		require.Equal(t, []int64{math.MinInt64}, h.Maxs)
	})
}

// Keys and values that are not plain numbers.
func TestGroupSpecialFloats(t *testing.T) {
	pass.OneWidth(t, "the kernels are those of primitives, whose tests run at all widths")
	nan, inf, minus := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	eachSize(t, func(t *testing.T, r *Relational) {
		var keys, values []float64
		few := []float64{0, minus, nan, math.Copysign(nan, -1), inf, -inf, 1, -1}
		for i := range 800 {
			keys, values = append(keys, few[i%8]), append(values, []float64{1, nan, minus, 4}[i/7%4])
		}
		testGroup[float64](t, r, keys, values, "few")
	})
}

// What isn't asked for is nil, and what is asked for is the same alone.
func TestGroupAsks(t *testing.T) {
	pass.OneWidth(t, "the host converts and merges what the kernels of primitives return")
	eachSize(t, func(t *testing.T, r *Relational) {
		keys, values := keysBelow[uint32](3, 1000, 50), valuesAnywhere[int32](3, 1000)
		all, err := Group[int64](t.Context(), r, keys, values, everything)
		require.NoError(t, err)
		for _, ask := range []Aggregates{0, Sums, Mins | Means, Maxs, everything} {
			want := all
			if ask&Sums == 0 {
				want.Sums = nil
			}
			if ask&Mins == 0 {
				want.Mins = nil
			}
			if ask&Maxs == 0 {
				want.Maxs = nil
			}
			if ask&Means == 0 {
				want.Means = nil
			}
			got, err := Group[int64](t.Context(), r, keys, values, ask)
			require.NoError(t, err)
			require.Equal(t, want, got, "%b", ask)
		}
		distinct, counts, err := Distinct(t.Context(), r, keys)
		require.NoError(t, err)
		require.Equal(t, all.Keys, distinct)
		require.Equal(t, all.Counts, counts)
	})
}

func TestGroupRefuses(t *testing.T) {
	pass.OneWidth(t, "the host converts and merges what the kernels of primitives return")
	r := open(t, Options{})
	ctx := t.Context()
	var length *structures.LengthError
	_, err := Group[uint64](ctx, r, []uint32{1, 2}, []uint32{1}, Sums)
	require.ErrorAs(t, err, &length)
	_, err = Group[uint64](ctx, r, []uint32{1, 2}, []uint32{1}, 0)
	require.ErrorAs(t, err, &length)
	_, err = Group[uint64](ctx, r, []uint32{1, 2}, []uint32(nil), 0)
	require.NoError(t, err)
	var option *vk.OptionError
	_, err = Group[uint64](ctx, r, []uint32{1}, []float32{1}, Sums)
	require.ErrorAs(t, err, &option)
	_, err = Group[uint64](ctx, r, []uint32{1}, []uint32{1}, 1<<7)
	require.ErrorAs(t, err, &option)
	for _, o := range []Options{{MaxBytes: 1}, {MaxBytes: -1}, {MaxResults: -1}} {
		_, err := New(r.d, o)
		require.ErrorAs(t, err, &option)
	}
	_, err = New(nil, Options{})
	require.ErrorIs(t, err, vk.ErrNotOpen)
}

// The bound of MaxBytes holds: rows are divided by it, and the device holds no more.
func TestMaxBytes(t *testing.T) {
	pass.OneWidth(t, "the host converts and merges what the kernels of primitives return")
	r := open(t, Options{MaxBytes: leastBytes})
	g := grouping{n: 1 << 22, types: typesOf[uint64, uint64](), ask: everything}
	rows := g.rowsOf(r)
	require.Less(t, rows, 1<<15)
	require.LessOrEqual(t, g.memory(r, rows, 0).end, uint64(leastBytes))
	require.Greater(t, g.memory(r, 4*rows, 0).end, uint64(leastBytes), "not far less than there is room for")
}

func TestGroupEnds(t *testing.T) {
	pass.OneWidth(t, "the host converts and merges what the kernels of primitives return")
	ctx := t.Context()
	ended, end := context.WithCancel(ctx)
	end()
	r := open(t, Options{})
	_, err := Group[uint64](ended, r, []uint32{1}, []uint32{1}, Sums)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Close())
	_, err = Group[uint64](ctx, r, []uint32{1}, []uint32{1}, Sums)
	require.ErrorIs(t, err, vk.ErrClosed)
	_, _, err = Distinct(ctx, r, []uint32{1})
	require.ErrorIs(t, err, vk.ErrClosed)
	require.ErrorIs(t, r.Prepare(ctx), vk.ErrClosed)
	require.Zero(t, r.Scratch(GroupArgs{Length: primitives.Length{N: 5}}))
	require.ErrorIs(t, r.On(testdevice.Stream(t, r.d)).Group(GroupArgs{}), vk.ErrClosed)
	var none *Relational
	_, _, err = Distinct(ctx, none, []uint32{1})
	require.ErrorIs(t, err, vk.ErrNotOpen)
	require.ErrorIs(t, none.Close(), vk.ErrNotOpen)
	require.ErrorIs(t, none.On(nil).Group(GroupArgs{}), vk.ErrNotOpen)
}

// Goroutines share a Relational.
func TestGroupConcurrently(t *testing.T) {
	pass.OneWidth(t, "the kernels are those of primitives, whose tests run at all widths")
	inParts(t, 1000)
	r := open(t, Options{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			keys, values := keysBelow[uint32](uint64(i), 4000, 100*i+1), valuesAnywhere[uint32](uint64(i), 4000)
			for range 3 {
				g, err := Group[uint64](t.Context(), r, keys, values, everything)
				if err != nil {
					t.Error(err)
					return
				}
				want := expected(keys, values)
				for j, k := range g.Keys {
					if sum, _ := want[uint64(k)].sum.Uint64(); sum != g.Sums[j] || len(want) != len(g.Keys) {
						t.Errorf("sum of %d of %d: %d, not %d", k, i, g.Sums[j], sum)
					}
				}
			}
		})
	}
	all.Wait()
}

// A grouping on a stream, of a length that only the device knows.
func TestGroupOnStream(t *testing.T) {
	pass.OneLavapipe(t, "the kernels are those of primitives, whose tests run at all widths")
	r := open(t, Options{})
	d, s := r.d, testdevice.Stream(t, r.d)
	const n = 3000
	keys, values := keysBelow[uint32](1, n, 100), valuesAnywhere[uint32](1, n)
	want, err := Group[uint64](t.Context(), r, keys[:1234], values[:1234], everything)
	require.NoError(t, err)
	room := func() *vk.Buffer[uint32] { return testdevice.Room[uint32](t, d, n) }
	outKeys, counts, mins, number := room(), room(), room(), room()
	sums := testdevice.Room[uint64](t, d, n)
	a := GroupArgs{Keys: testdevice.Upload(t, d, keys).Address(), Values: testdevice.Upload(t, d, values).Address(),
		OutKeys: outKeys.Address(), OutCounts: counts.Address(), OutSums: sums.Address(), OutMins: mins.Address(),
		OutGroups: number.Address(),
		Length:    primitives.Length{N: n, At: testdevice.Upload(t, d, []uint32{1234}).Address()}}
	require.NoError(t, r.Prepare(t.Context(), a))
	require.ErrorIs(t, r.On(s).Group(a), primitives.ErrNoMemory)
	a.Scratch = testdevice.Room[byte](t, d, r.Scratch(a)).Address()
	require.NoError(t, r.On(s).Group(a))
	require.NoError(t, s.Wait(t.Context()))
	groups := int(testdevice.Download(t, number, 1)[0])
	require.Equal(t, want.Keys, testdevice.Download(t, outKeys, groups))
	require.Equal(t, want.Sums, testdevice.Download(t, sums, groups))
	require.Equal(t, want.Mins, testdevice.Download(t, mins, groups))
	for i, c := range testdevice.Download(t, counts, groups) {
		require.Equal(t, want.Counts[i], uint64(c))
	}
	elsewhere, _ := testdevice.OpenNew(t)
	require.Error(t, r.On(testdevice.Stream(t, elsewhere)).Group(a), "the stream is of another device")
}
