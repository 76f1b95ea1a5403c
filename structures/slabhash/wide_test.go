package slabhash_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// wide is a table of 64-bit keys and values, or of keys alone, worked on by calls with device buffers.
type wide struct {
	testing.TB
	d    *vk.Device
	s    *vk.Stream
	m    Table
	keys bool
}

// eachWide runs a test for tables of pairs and of keys, by either protocol, with narrow tiles and wide ones.
func eachWide(t *testing.T, o Options, test func(w *wide)) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			for _, keys := range []bool{false, true} {
				t.Run(fmt.Sprintf("keys=%v", keys), func(t *testing.T) {
					o.Tile = width
					m, err := NewWide(t.Context(), d, o, keys)
					require.NoError(t, err)
					defer func() { require.NoError(t, m.Close()) }()
					test(&wide{t, d, testdevice.Stream(t, d), m, keys})
				})
			}
		})
	})
}

func (w *wide) words(numbers []uint64) *vk.Buffer[uint32] {
	words := make([]uint32, 0, 2*len(numbers))
	for _, n := range numbers {
		words = append(words, uint32(n), uint32(n>>32))
	}
	return testdevice.Upload(w, w.d, words)
}

func (w *wide) numbers(b *vk.Buffer[uint32], n int) []uint64 {
	words := testdevice.Download(w, b, 2*n)
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return numbers
}

func (w *wide) batch(keys, values []uint64) structures.DeviceBatch {
	b := structures.DeviceBatch{
		Count: len(keys), Keys: w.words(keys), Values: w.words(append([]uint64(nil), values...)),
		Status: testdevice.Upload(w, w.d, make([]uint8, len(keys)+3)), Left: testdevice.Upload(w, w.d, []uint32{0}),
	}
	if len(values) == 0 {
		b.Values = w.words(make([]uint64, len(keys)))
	}
	return b
}

// do does a batch, all of it, and returns its statuses and what is in its values then.
func (w *wide) do(kind structures.Kind, keys, values []uint64) (statuses []structures.Status, results []uint64) {
	w.Helper()
	b := w.batch(keys, values)
	require.NoError(w, w.m.On(w.s).Apply(kind, b))
	require.NoError(w, w.m.On(w.s).Finish(w.Context(), kind, b))
	return w.outcomes(b)
}

func (w *wide) outcomes(b structures.DeviceBatch) (statuses []structures.Status, results []uint64) {
	w.Helper()
	require.Zero(w, testdevice.Download(w, b.Left, 1)[0])
	for _, status := range testdevice.Download(w, b.Status, b.Count) {
		statuses = append(statuses, structures.Status(status))
	}
	return statuses, w.numbers(b.Values, b.Count)
}

// pairs are all that the table holds, by its export.
func (w *wide) pairs() (keys, values []uint64) {
	w.Helper()
	n, err := w.m.Len(w.Context())
	require.NoError(w, err)
	e := structures.DeviceExport{Keys: testdevice.Room[uint32](w, w.d, 2*int(n)+2),
		Values: testdevice.Room[uint32](w, w.d, 2*int(n)+2), Total: testdevice.Room[uint32](w, w.d, 1)}
	require.NoError(w, w.m.On(w.s).Export(e))
	require.NoError(w, w.s.Wait(w.Context()))
	require.EqualValues(w, n, testdevice.Download(w, e.Total, 1)[0])
	return w.numbers(e.Keys, int(n)), w.numbers(e.Values, int(n))
}

// holds requires that the table holds the model's pairs: by its export, and by lookups of these keys.
func (w *wide) holds(model map[uint64]uint64, queries []uint64) {
	w.Helper()
	keys, values := w.pairs()
	require.Len(w, keys, len(model))
	seen := map[uint64]bool{}
	for i, key := range keys {
		value, there := model[key]
		if !there || seen[key] || !w.keys && value != values[i] {
			w.Fatalf("exported: key %#x with the value %#x, want %#x (%v; seen before: %v)",
				key, values[i], value, there, seen[key])
		}
		seen[key] = true
	}
	n := len(queries)
	q := structures.DeviceLookups{Count: n, Keys: w.words(queries), Values: w.words(make([]uint64, n)),
		Found: testdevice.Upload(w, w.d, make([]uint8, n+3))}
	require.NoError(w, w.m.On(w.s).Find(q))
	require.NoError(w, w.s.Wait(w.Context()))
	found, results := testdevice.Download(w, q.Found, n), w.numbers(q.Values, n)
	statuses, concurrent := w.do(structures.Find, queries, nil)
	for i, key := range queries {
		value, there := model[key]
		if w.keys {
			value = 0
		}
		if (found[i] == 1) != there || results[i] != value || (statuses[i] == structures.Found) != there ||
			!w.keys && concurrent[i] != value {
			w.Fatalf("key %#x: %v %#x, concurrently %v %#x, want %v %#x", key, found[i], results[i], statuses[i],
				concurrent[i], there, value)
		}
	}
}

// wideKeys are n different keys: those that slabs and buckets take for something else, keys that differ in one word
// alone, and random ones. The table has none of the n behind them.
func (w *wide) wideKeys(rng *rand.Rand, n int) (keys, others []uint64) {
	seen := map[uint64]bool{}
	all := make([]uint64, 0, 2*n)
	add := func(key uint64) {
		if !seen[key] {
			seen[key] = true
			all = append(all, key)
		}
	}
	mask := uint64(w.m.Description().Mask)
	words := []uint64{0, 1, 0xffffffff, 0xfffffffe, 1 << 31, mask, mask ^ 0xffffffff}
	for _, high := range words {
		for _, low := range words {
			add(high<<32 | low)
		}
	}
	for i := range uint64(n / 4) {
		add(i<<32 | 7)
		add(7<<32 | i)
	}
	for len(all) < 2*n {
		add(rng.Uint64())
	}
	return all[:n], all[n:]
}

// extreme is a number that is not like others, some of the time.
func extreme(rng *rand.Rand) uint64 {
	edges := []uint64{0, ^uint64(0), 0xffffffff, 0xffffffff << 32, 1}
	if i := rng.IntN(8); i < len(edges) {
		return edges[i]
	}
	return rng.Uint64()
}

func numbersOf(n int, of func(i int) uint64) []uint64 {
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = of(i)
	}
	return numbers
}

// Insertions into a pool that does not suffice, updates, deletions, a flush and rehashes: what a Go map has is there.
func TestWide(t *testing.T) {
	eachWide(t, Options{Buckets: 40, MaxLoad: -1}, func(w *wide) {
		rng := rand.New(rand.NewPCG(5, 2))
		const n = 4000
		keys, others := w.wideKeys(rng, n)
		queries := append(append([]uint64(nil), keys...), others[:1000]...)
		model := map[uint64]uint64{}

		// Each key comes twice, with either value.
		both := append(append([]uint64(nil), keys...), keys...)
		values := numbersOf(2*n, func(int) uint64 { return extreme(rng) })
		statuses, _ := w.do(structures.InsertUnique, both, values)
		for i, key := range keys {
			first, second := statuses[i] == structures.Inserted, statuses[n+i] == structures.Inserted
			require.True(w, first != second, "key %#x: %v and %v", key, statuses[i], statuses[n+i])
			if model[key] = values[i]; second {
				model[key] = values[n+i]
			}
		}
		w.holds(model, queries)

		// Of each kind a part of the keys, and keys that are not there.
		for k, kind := range []structures.Kind{structures.Insert, structures.InsertAdd, structures.InsertMin,
			structures.InsertMax, structures.Insert, structures.InsertAdd} {
			some := append(append([]uint64(nil), keys[k*500:][:900]...), others[1000+10*k:][:10]...)
			values := numbersOf(len(some), func(i int) uint64 {
				if old, there := model[some[i]]; there && kind == structures.InsertAdd && i%2 == 0 {
					return ^old // makes ~0
				}
				return extreme(rng)
			})
			statuses, _ := w.do(kind, some, values)
			for i, key := range some {
				old, there := model[key]
				want := structures.Assigned
				switch {
				case !there:
					model[key], want = values[i], structures.Inserted
				case kind == structures.Insert:
					model[key] = values[i]
				case kind == structures.InsertAdd:
					model[key] += values[i]
				case kind == structures.InsertMin:
					model[key] = min(old, values[i])
				case kind == structures.InsertMax:
					model[key] = max(old, values[i])
				}
				require.Equal(w, want, statuses[i], "%v %#x", kind, key)
			}
		}
		w.holds(model, queries)

		for i, status := range first(w.do(structures.Delete, queries[n/2:], nil)) {
			key := queries[n/2+i]
			_, there := model[key]
			require.Equal(w, there, status == structures.Deleted, "key %#x: %v", key, status)
			delete(model, key)
		}
		w.holds(model, queries)
		require.NoError(w, w.m.Flush(w.Context()))
		stats, err := w.m.Stats(w.Context())
		require.NoError(w, err)
		require.Zero(w, stats.Tombstones)
		require.EqualValues(w, len(model), stats.Pairs)
		w.holds(model, queries)
		for _, buckets := range []int{1000, 4, 77} {
			require.NoError(w, w.m.Rehash(w.Context(), buckets))
			w.holds(model, queries)
			// Slots that were moved are changed as others are.
			some := numbersOf(50, func(i int) uint64 { return keys[i*7] })
			w.do(structures.InsertAdd, some, numbersOf(50, func(int) uint64 { return 1 }))
			for _, key := range some {
				model[key]++
			}
		}
		w.holds(model, queries)
	})
}

func first[A, B any](a A, _ B) A { return a }

// Many lanes on a few keys, two of which differ in one word alone: nothing is lost, and sums carry.
func TestWideTogether(t *testing.T) {
	eachWide(t, Options{Buckets: 4, MaxLoad: -1}, func(w *wide) {
		const n = 6000
		few := []uint64{1 << 32, 1, ^uint64(0), 0, 1<<32 | 1}
		rng := rand.New(rand.NewPCG(6, 2))
		keys := numbersOf(n, func(int) uint64 { return few[rng.IntN(len(few))] })
		values := numbersOf(n, func(int) uint64 { return rng.Uint64() })
		sum, least, most, some := map[uint64]uint64{}, map[uint64]uint64{}, map[uint64]uint64{}, map[uint64][]uint64{}
		for i, key := range keys {
			if _, there := sum[key]; !there {
				least[key] = ^uint64(0)
			}
			sum[key] += values[i]
			least[key], most[key] = min(least[key], values[i]), max(most[key], values[i])
			some[key] = append(some[key], values[i])
		}
		for kind, model := range map[structures.Kind]map[uint64]uint64{
			structures.InsertAdd: sum, structures.InsertMin: least, structures.InsertMax: most,
		} {
			statuses, _ := w.do(kind, keys, values)
			inserted := 0
			for _, status := range statuses {
				if status == structures.Inserted {
					inserted++
				}
			}
			require.Equal(w, len(few), inserted, kind)
			w.holds(model, few)
			require.NoError(w, w.m.Clear(w.Context()))
		}
		for _, kind := range []structures.Kind{structures.Insert, structures.InsertUnique} {
			w.do(kind, keys, values)
			got, at := w.pairs()
			require.ElementsMatch(w, few, got, kind)
			for i, key := range got {
				require.True(w, w.keys || contains(some[key], at[i]), "%v %#x", kind, key)
			}
			require.NoError(w, w.m.Clear(w.Context()))
		}

		// Insertions and deletions of the same keys at the same time: each insertion is deleted once, or there.
		kinds := make([]uint8, n)
		for i := range kinds {
			kinds[i] = uint8([]structures.Kind{structures.InsertUnique, structures.Delete, structures.InsertAdd,
				structures.Find}[rng.IntN(4)])
		}
		b := w.batch(keys, values)
		b.Kinds = testdevice.Upload(w, w.d, kinds)
		require.NoError(w, w.m.On(w.s).Apply(structures.Mixed, b))
		require.NoError(w, w.m.On(w.s).Finish(w.Context(), structures.Mixed, b))
		there := map[uint64]int{}
		for i, status := range first(w.outcomes(b)) {
			switch status {
			case structures.Inserted:
				there[keys[i]]++
			case structures.Deleted:
				there[keys[i]]--
			}
		}
		held := map[uint64]int{}
		for _, key := range first(w.pairs()) {
			held[key]++
		}
		for _, key := range few {
			require.Equal(w, held[key], there[key], "key %#x", key)
			require.LessOrEqual(w, held[key], 1)
		}
	})
}

func contains(numbers []uint64, n uint64) bool {
	for _, other := range numbers {
		if other == n {
			return true
		}
	}
	return false
}

// Keys with several pairs are counted and deleted, all of them, also where the device alone knows how many keys. Counts
// have 64 bits.
func TestWideDuplicates(t *testing.T) {
	eachWide(t, Options{Buckets: 8, MaxLoad: -1}, func(w *wide) {
		rng := rand.New(rand.NewPCG(7, 2))
		keys, others := w.wideKeys(rng, 100)
		var many []uint64
		for i, key := range keys {
			for range i % 5 {
				many = append(many, key)
			}
		}
		rng.Shuffle(len(many), func(i, j int) { many[i], many[j] = many[j], many[i] })
		w.do(structures.InsertDuplicate, many, many)
		queries := append(append([]uint64(nil), keys...), others...)
		_, counts := w.do(structures.CountAll, queries, nil)
		for i := range queries {
			want := 0
			if i < len(keys) {
				want = i % 5
			}
			require.EqualValues(w, want, counts[i], "key %#x", queries[i])
		}
		b := w.batch(queries, numbersOf(len(queries), func(int) uint64 { return ^uint64(0) }))
		b.DeviceCount = testdevice.Upload(w, w.d, []uint32{40})
		require.NoError(w, w.m.On(w.s).Update(w.Context(), structures.DeleteAll, b))
		require.NoError(w, w.s.Wait(w.Context()))
		_, counts = w.outcomes(b)
		for i := range 40 {
			require.EqualValues(w, i%5, counts[i])
		}
		require.Equal(w, ^uint64(0), counts[40], "nothing behind the number is done")
		require.Len(w, first(w.pairs()), len(many)-80)
		if !w.keys {
			keys, values := w.pairs()
			require.Equal(w, keys, values)
		}
	})
}

// Two streams insert and delete at the same time, into a pool that does not suffice.
func TestWideStreams(t *testing.T) {
	eachWide(t, Options{Buckets: 300, MaxLoad: -1}, func(w *wide) {
		const n = 7001
		rng := rand.New(rand.NewPCG(8, 2))
		keys := numbersOf(3*n, func(i int) uint64 { return uint64(i%2)<<63 | uint64(i)*0x9e3779b97f4a7c15>>1 })
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		values := numbersOf(3*n, func(int) uint64 { return extreme(rng) })
		model := map[uint64]uint64{}
		for i, key := range keys {
			model[key] = values[i]
		}
		require.Len(w, model, 3*n)
		other := testdevice.Stream(w, w.d)
		left := uint32(0)
		together := func(kind structures.Kind) (got [2][]structures.Status) {
			// The middle third comes on both streams, with the same values.
			batches := []structures.DeviceBatch{w.batch(keys[:2*n], values[:2*n]), w.batch(keys[n:], values[n:])}
			streams := []*vk.Stream{w.s, other}
			for i, s := range streams {
				require.NoError(w, w.m.On(s).Update(w.Context(), kind, batches[i]))
			}
			for _, s := range streams {
				_, err := s.Submit()
				require.NoError(w, err)
			}
			for i, s := range streams {
				require.NoError(w, s.Wait(w.Context()))
				left += testdevice.Download(w, batches[i].Left, 1)[0]
			}
			for i, s := range streams {
				require.NoError(w, w.m.On(s).Finish(w.Context(), kind, batches[i]))
				got[i], _ = w.outcomes(batches[i])
			}
			return got
		}
		count := func(got [2][]structures.Status, status structures.Status) (n int) {
			for _, statuses := range got {
				for _, s := range statuses {
					if s == status {
						n++
					}
				}
			}
			return n
		}
		require.Equal(w, 3*n, count(together(structures.InsertUnique), structures.Inserted))
		require.NotZero(w, left, "the pool was full")
		w.holds(model, keys)
		require.Equal(w, 3*n, count(together(structures.Delete), structures.Deleted))
		w.holds(nil, keys[:1000])
	})
}
