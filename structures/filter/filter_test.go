package filter_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A filter has the bits of the model, whatever the keys: random ones, consecutive ones, multiples of powers of two,
// keys that differ in their high words alone, the least and the greatest, and equal ones.
func TestBits(t *testing.T) {
	t.Run("uint32", func(t *testing.T) { testBits[uint32](t) })
	t.Run("float32", func(t *testing.T) { testBits[float32](t) })
	t.Run("k64", func(t *testing.T) {
		testBits[uint64](t)
		testBits[int](t)
		testBits[float64](t)
	})
}

func testBits[K structures.Number](t *testing.T) {
	d := testdevice.Open(t)
	code, most := structures.KeyCode[K](), ^uint64(0)>>(64-structures.WidthOf[K]().Bits())
	batches := [][]K{randomKeys[K](1, 5001), {structures.Least[K](), structures.Greatest[K](), 0, 1}, nil}
	for _, word := range []func(i uint64) uint64{
		func(i uint64) uint64 { return i },
		func(i uint64) uint64 { return i << 16 },
		func(i uint64) uint64 { return i << 32 },
		func(i uint64) uint64 { return math.MaxUint64 - i<<52 },
		func(i uint64) uint64 { return i % 2 }, // a block of which all lanes want the bits
	} {
		keys := make([]K, 2000)
		for i := range keys {
			keys[i] = code.Of(word(uint64(i)) & most)
		}
		batches = append(batches, keys)
	}
	for _, capacity := range []int{1, 500, 50_000} {
		f := newFilter[K](t, d, Options{Capacity: capacity})
		want, all := modelOf(f), []K(nil)
		for _, keys := range batches {
			require.NoError(t, f.Insert(t.Context(), keys))
			want.insert(keys)
			all = append(all, keys...)
		}
		want.require(t, f, all, randomKeys[K](2, 5000))
	}
}

// Lookups of absent keys are as often wrong as calculated, for keys of all sorts at several loads. The number of wrong
// ones among m has a variance of m·p·(1-p) in a filter, and p varies with the loads of its blocks.
func TestFalsePositives(t *testing.T) {
	pass.OneWidth(t, "the bits are compared at every width")
	t.Run("k32", func(t *testing.T) { testFalsePositives[uint32](t) })
	t.Run("k64", func(t *testing.T) { testFalsePositives[uint64](t) })
}

func testFalsePositives[K uint32 | uint64](t *testing.T) {
	const capacity, lookups = 100_000, 1 << 19
	high := structures.WidthOf[K]().Bits() - 20
	d := testdevice.Open(t)
	for name, key := range map[string]func(i int) K{
		"consecutive": func(i int) K { return K(i) },
		"high bits":   func(i int) K { return K(i) << high },
		"both ends":   func(i int) K { return K(i&1023) | K(i>>10)<<(high+10) },
		"reversed":    func(i int) K { return ^K(0) - K(i)*3 },
		"random":      func(i int) K { return K(i)*K(0x9e3779b97f4a7c15&uint64(^K(0))) ^ K(i)<<7 },
	} {
		for _, most := range []float64{0.0005, 0.01, 0.2} {
			f := newFilter[K](t, d, Options{Capacity: capacity, FalsePositives: most})
			blocks := float64(Blocks(f).Len()) / 8
			for part := range 2 { // half full, and full
				keys := make([]K, capacity/2)
				for i := range keys {
					keys[i] = key(part*capacity/2 + i)
				}
				require.NoError(t, f.Insert(t.Context(), keys))
				inserted := (part + 1) * capacity / 2
				asked, wrong := make([]K, lookups), 0
				for i := range asked {
					asked[i] = key(capacity + i)
				}
				for _, found := range contains(t, f, asked) {
					if found {
						wrong++
					}
				}
				rate, spread := poissonRate(float64(inserted) / blocks)
				require.InEpsilon(t, rate, f.ExpectedFalsePositives(inserted), 1e-9)
				deviation := math.Sqrt(rate/lookups + spread/blocks)
				require.InDelta(t, rate, float64(wrong)/lookups, 5*deviation, "%s keys, %d in %g blocks", name,
					inserted, blocks)
				stats, err := f.Inspect().Stats(t.Context())
				require.NoError(t, err)
				require.InEpsilon(t, inserted, stats.Keys, 0.02, name)
				require.InEpsilon(t, rate, stats.FalsePositives, 0.1, name)
			}
			require.LessOrEqual(t, f.ExpectedFalsePositives(capacity), most)
			require.Greater(t, f.ExpectedFalsePositives(capacity*11/10), most, "the filter is no larger than needed")
		}
	}
}

// poissonRate returns the mean and the variance of the rate of false positives of a block, by logarithms of its terms.
func poissonRate(load float64) (mean, variance float64) {
	square := 0.0
	for j := range 2000 {
		factorial, _ := math.Lgamma(float64(j) + 1)
		share := math.Exp(float64(j)*math.Log(load) - load - factorial)
		wrong := math.Pow(1-math.Pow(31.0/32, float64(j)), 8)
		mean += share * wrong
		square += share * wrong * wrong
	}
	return mean, square - mean*mean
}

// The calculation is right for few keys and for many, and the least filter is found.
func TestRate(t *testing.T) {
	pass.OneDriver(t, "nothing is dispatched")
	for _, load := range []float64{0.01, 1, 20, 63.9, 64, 300} {
		want, _ := poissonRate(load)
		require.InEpsilon(t, want, Rate(load), 1e-9, "%g keys a block", load)
	}
	require.Zero(t, Rate(0))
	require.Equal(t, 1.0, Rate(math.Inf(1)))
	for _, most := range []float64{1e-6, 0.003, 0.5} {
		blocks := BlocksFor(1<<30, most)
		require.LessOrEqual(t, Rate(1<<30/blocks), most)
		require.Greater(t, Rate(1<<30/(blocks-2)), most)
	}
}

// Goroutines insert at the same time, in slices and on streams, while others look keys up. No key is lost.
func TestConcurrentInsertions(t *testing.T) {
	d := testdevice.Open(t)
	const goroutines, n = 4, 3000
	f := newFilter[uint32](t, d, Options{Capacity: 2000})
	want := modelOf(f)
	keys := randomKeys[uint32](3, goroutines*n)
	var done sync.WaitGroup
	for g := range goroutines {
		mine := keys[g*n : (g+1)*n]
		want.insert(mine)
		b := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, mine)}
		s := testdevice.Stream(t, d)
		done.Go(func() {
			for first := 0; first < n; first += 1000 {
				if g%2 == 0 {
					must(t, f.Insert(t.Context(), mine[first:first+1000]))
					for _, found := range contains(t, f, mine[:first+1000]) {
						if !found {
							t.Error("an inserted key is not there")
						}
					}
				} else if b.First, b.Count = first, 1000; true {
					must(t, f.On(s).Insert(b))
				}
			}
			must(t, s.Wait(t.Context()))
		})
	}
	done.Wait()
	want.require(t, f, keys, randomKeys[uint32](4, 1000))
}

// must is require.NoError for other goroutines than the test's.
func must(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// Union has the keys of both filters; two filters may take each other's at the same time.
func TestUnion(t *testing.T) {
	d := testdevice.Open(t)
	o := Options{Capacity: 3000}
	a, b := newFilter[int64](t, d, o), newFilter[int64](t, d, o)
	keys := randomKeys[int64](6, 6000)
	require.NoError(t, a.Insert(t.Context(), keys[:3000]))
	require.NoError(t, b.Insert(t.Context(), keys[3000:]))
	first, second := modelOf(a), modelOf(b)
	second.insert(keys[3000:])
	first.insert(keys)
	require.NoError(t, a.Union(t.Context(), b))
	require.NoError(t, a.Union(t.Context(), a))
	first.require(t, a, keys, randomKeys[int64](7, 3000))
	second.require(t, b, keys[3000:], keys[:3000])

	var done sync.WaitGroup
	for range 20 {
		done.Go(func() { must(t, a.Union(t.Context(), b)) })
		done.Go(func() { must(t, b.Union(t.Context(), a)) })
	}
	done.Wait()
	first.require(t, b, keys, randomKeys[int64](7, 3000))

	require.NoError(t, a.Clear(t.Context()))
	modelOf(a).require(t, a, nil, keys)
	var option *vk.OptionError
	require.ErrorAs(t, a.Union(t.Context(), newFilter[int64](t, d, Options{Capacity: 10_000})), &option)
	require.ErrorIs(t, a.Union(t.Context(), nil), vk.ErrNotOpen)
	closed := newFilter[int64](t, d, o)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, a.Union(t.Context(), closed), vk.ErrClosed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, a.Union(ended, b), context.Canceled)
}

func TestOptions(t *testing.T) {
	pass.OneWidth(t, "nothing is dispatched")
	d := testdevice.Open(t)
	for _, o := range []Options{{Capacity: -1}, {FalsePositives: -0.1}, {FalsePositives: 0.6}, {FalsePositives: 1e-9},
		{FalsePositives: math.NaN()}} {
		_, err := New[uint32](t.Context(), d, o)
		var option *vk.OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	for _, capacity := range []int{math.MaxInt, 1 << 38} {
		_, err := New[uint32](t.Context(), d, Options{Capacity: capacity, FalsePositives: 1e-6})
		var impossible *structures.CapacityError
		require.ErrorAs(t, err, &impossible)
		require.ErrorIs(t, err, vk.ErrNoRoom)
	}
	f := newFilter[uint32](t, d, Options{})
	stats, err := f.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.InEpsilon(t, 10.5/8*DefaultCapacity, stats.Bytes, 0.01)
	require.Equal(t, Stats{Blocks: stats.Blocks, Bytes: stats.Bytes}, stats, "an empty filter")
	require.Equal(t, stats.Bytes, f.Inspect().Metrics().Bytes)
	require.Zero(t, f.ExpectedFalsePositives(0))

	b := Blocks(f)
	full := make([]uint32, b.Len())
	for i := range full {
		full[i] = math.MaxUint32
	}
	require.NoError(t, b.Upload(t.Context(), 0, full))
	stats, err = f.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, 8*stats.Bytes, stats.BitsSet)
	require.Equal(t, uint64(math.MaxUint64), stats.Keys)
	require.Equal(t, 1.0, stats.FalsePositives)
}

// A context that has ended leaves keys pending; a filter that is closed or was never opened is an error.
func TestErrors(t *testing.T) {
	pass.OneWidth(t, "errors are the same at every width")
	d := testdevice.Open(t)
	f := newFilter[uint64](t, d, Options{Capacity: 100})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := f.Insert(ended, []uint64{1, 2, 3})
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	require.Equal(t, 3, pending.Operations)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Contains(ended, []uint64{1})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, f.Clear(ended), context.Canceled)
	require.ErrorIs(t, f.Prepare(ended), context.Canceled)
	var length *structures.LengthError
	require.ErrorAs(t, f.ContainsInto(t.Context(), []uint64{1, 2}, make([]bool, 1)), &length)
	_, err = New[uint32](ended, d, Options{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, f.Prepare(t.Context()))
	require.NoError(t, f.Insert(t.Context(), []uint64{5}))
	require.Equal(t, []bool{true}, contains(t, f, []uint64{5}))
	made := f.Inspect().Metrics().Kernels
	_, err = f.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, made, f.Inspect().Metrics().Kernels, "kernels that Prepare did not make")

	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	require.Zero(t, f.InShaders().Description())
	require.Zero(t, f.Inspect().Metrics().Bytes)
	for _, f := range []*Filter[uint64]{f, nil, new(Filter[uint64])} {
		want := vk.ErrNotOpen
		if f.InShaders().Constants() != nil {
			want = vk.ErrClosed
		}
		require.ErrorIs(t, f.Insert(t.Context(), nil), want)
		_, err := f.Contains(t.Context(), nil)
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, f.ContainsInto(t.Context(), nil, make([]bool, 3)), want, "before the arguments")
		require.ErrorIs(t, f.On(nil).Insert(structures.DeviceBatch{Count: -1}), want)
		require.ErrorIs(t, f.On(nil).Contains(structures.DeviceLookups{Count: -1}), want)
	}
}

// Progress is called with how many keys are done.
func TestProgress(t *testing.T) {
	pass.OneWidth(t, "the same at every width")
	d := testdevice.Open(t)
	last := 0
	f := newFilter[uint32](t, d, Options{Capacity: 1000, Progress: func(done, total int) { last = max(last, done) }})
	require.NoError(t, f.Insert(t.Context(), make([]uint32, 1000)))
	require.Equal(t, 1000, last)
}
