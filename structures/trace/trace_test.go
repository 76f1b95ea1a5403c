package trace_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

const operations = 6000

func open(t *testing.T, events int, o vk.Options) *vk.Device {
	o.Trace = traced.Kernels(events)
	return testdevice.Open(t, o)
}

func take(t *testing.T, d *vk.Device) *trace.Trace {
	t.Helper()
	all, err := trace.Take(t.Context(), d)
	require.NoError(t, err)
	require.Zero(t, all.Dropped)
	return all
}

// mixed returns operations of some kinds on keys below a number.
func mixed[K uint32 | uint64](keys int, kinds ...structures.Kind) (b structures.Batch[K, K]) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range operations {
		b.Kinds = append(b.Kinds, kinds[rng.IntN(len(kinds))])
		b.Keys = append(b.Keys, K(rng.IntN(keys)))
		b.Values = append(b.Values, K(rng.Uint32()))
	}
	return b
}

// requireAnswers requires that operations end as often with each status as it was answered, and with nothing behind.
func requireAnswers(t *testing.T, all *trace.Trace, statuses []structures.Status) {
	t.Helper()
	answered, told := map[structures.Status]int{}, map[structures.Status]int{}
	for _, status := range statuses {
		answered[status]++
	}
	for _, o := range all.Operations() {
		told[o.Status]++
		require.Equal(t, trace.End, all.Events[o.Events[len(o.Events)-1]].What)
	}
	require.Equal(t, answered, told)
}

var features = map[string]vk.Options{"atomics of 64 bits": {}, "of 32": {
	Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}}

// What the events of a table say was put into slots and erased there is what the table has, and what they say of each
// operation is what it answered.
func TestHashTable(t *testing.T) {
	pass.Unvalidated(t, "it makes the calls of other updates")
	pass.NotWidest(t, "4 and 8 lanes find as much")
	for name, o := range features {
		t.Run(name, func(t *testing.T) {
			t.Run("32", func(t *testing.T) { hashTable[uint32](t, o) })
			t.Run("64", func(t *testing.T) { hashTable[uint64](t, o) })
		})
	}
}

func hashTable[K uint32 | uint64](t *testing.T, o vk.Options) {
	d := open(t, 1<<20, o)
	m, err := slabhash.New[K, K](t.Context(), d, slabhash.Options{Buckets: 64, MaxLoad: -1})
	require.NoError(t, err)
	defer m.Close()
	batch := mixed[K](2000, structures.InsertUnique, structures.InsertDuplicate, structures.InsertAdd,
		structures.Delete, structures.Find)
	results, err := m.Apply(t.Context(), batch)
	require.NoError(t, err)
	all := take(t, d)
	require.Equal(t, d.Info().Name, all.Device)

	type slot struct{ place, slot uint32 }
	// An event is numbered after what it tells, so another operation's erasure may come first.
	written, erased := map[slot]uint64{}, map[slot]uint64{}
	appended, visited := map[uint32]bool{}, map[uint32]bool{}
	for _, e := range all.Events {
		at := slot{e.Place, e.Other}
		switch e.What {
		case trace.Write:
			_, twice := written[at]
			require.False(t, twice, "slot %v is filled twice", at)
			written[at] = e.Key
		case trace.Erase:
			_, twice := erased[at]
			require.False(t, twice, "slot %v is erased twice", at)
			erased[at] = e.Key
		case trace.Link:
			require.True(t, visited[e.Place])
			require.False(t, appended[e.Other], "a slab is appended once")
			appended[e.Other] = true
		case trace.Visit:
			visited[e.Place] = true
		}
	}
	stats, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, stats.ChainSlabs, len(appended))
	require.NotZero(t, len(appended))
	for at, key := range erased {
		require.Equal(t, written[at], key, "slot %v", at)
	}
	require.EqualValues(t, stats.Pairs, len(written)-len(erased))
	require.EqualValues(t, stats.Tombstones, len(erased))
	requireAnswers(t, all, results.Status)
}

// A rehash tells of each pair where it puts it, in slabs that no event named before.
func TestRehash(t *testing.T) {
	pass.Unvalidated(t, "it makes the calls of other updates")
	pass.NotWidest(t, "4 and 8 lanes find as much")
	t.Run("32", rehash[uint32])
	t.Run("64", rehash[uint64])
}

func rehash[K uint32 | uint64](t *testing.T) {
	d := open(t, 1<<20, vk.Options{})
	m, err := slabhash.New[K, K](t.Context(), d, slabhash.Options{Buckets: 64, MaxLoad: -1})
	require.NoError(t, err)
	defer m.Close()
	_, err = m.Apply(t.Context(), mixed[K](2000, structures.InsertUnique, structures.Delete))
	require.NoError(t, err)
	before := map[uint32]bool{}
	for _, e := range take(t, d).Events {
		before[e.Place] = true
	}
	require.NoError(t, m.Rehash(t.Context(), 8))
	appended, written := 0, map[K]K{}
	for _, e := range take(t, d).Events {
		require.EqualValues(t, uint32(trace.NoOperation), e.Operation)
		require.False(t, before[e.Place])
		if e.What == trace.Link {
			appended++
			continue
		}
		require.Equal(t, trace.Write, e.What)
		written[K(e.Key)] = K(e.Value)
	}
	there := map[K]K{}
	for pair, err := range m.All(t.Context()) {
		require.NoError(t, err)
		there[pair.Key] = pair.Value
	}
	require.Equal(t, there, written)
	stats, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, stats.ChainSlabs, appended)
	require.NotZero(t, appended)
}

// Each latch is released by who took it, before somebody else takes it; each split is told once, and its separator is
// put into the level above.
func TestTree(t *testing.T) {
	pass.Unvalidated(t, "it makes the calls of other updates")
	pass.NotWidest(t, "4 and 8 lanes find as much")
	for name, o := range features {
		t.Run(name, func(t *testing.T) {
			t.Run("32", func(t *testing.T) { tree[uint32](t, o) })
			t.Run("64", func(t *testing.T) { tree[uint64](t, o) })
		})
	}
}

func tree[K uint32 | uint64](t *testing.T, o vk.Options) {
	d := open(t, 1<<20, o)
	m, err := btree.New[K, K](t.Context(), d, btree.Options{Path: btree.Concurrent})
	require.NoError(t, err)
	defer m.Close()
	batch := mixed[K](4000, structures.Insert, structures.InsertUnique, structures.InsertAdd, structures.Delete,
		structures.Find)
	results, err := m.Apply(t.Context(), batch)
	require.NoError(t, err)
	all := take(t, d)

	latched := map[uint32]uint32{} // by nodes: the operation that holds the latch
	splits, separators := map[uint32]uint64{}, map[uint32]uint64{}
	grown, written, changed, erased := 0, 0, 0, 0
	for i, e := range all.Events {
		switch e.What {
		case trace.Latch:
			latched[e.Place] = e.Operation
		case trace.Release:
			require.Equal(t, latched[e.Place], e.Operation, "event %d", i)
			delete(latched, e.Place)
		case trace.Split:
			require.Zero(t, splits[e.Other])
			splits[e.Other] = e.Key
		case trace.Grow:
			grown++
		case trace.Separator:
			require.Zero(t, separators[e.Other])
			separators[e.Other] = e.Key
		case trace.Write:
			written++
		case trace.Change:
			changed++
		case trace.Erase:
			erased++
		}
	}
	require.Empty(t, latched)
	require.Equal(t, splits, separators)
	stats, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, stats.Splits, len(splits)+grown)
	require.NotZero(t, len(splits))
	require.EqualValues(t, stats.Pairs, written-erased)
	require.NotZero(t, changed)
	requireAnswers(t, all, results.Status)
}

// Events for which there is no room are counted. What comes behind the next Take has room again.
func TestDropped(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	d := open(t, 100, vk.Options{})
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Capacity: 1000})
	require.NoError(t, err)
	defer m.Close()
	keys := make([]uint32, 200)
	for i := range keys {
		keys[i] = uint32(i)
	}
	_, err = m.InsertUnique(t.Context(), keys, keys)
	require.NoError(t, err)
	all, err := trace.Take(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, all.Events, 100)
	require.GreaterOrEqual(t, all.Dropped, uint64(4*200-100)) // of each its begin, a visit, its slot, and its end
	_, err = m.InsertUnique(t.Context(), []uint32{1000}, []uint32{1})
	require.NoError(t, err)
	all = take(t, d)
	require.Equal(t, trace.Begin, all.Events[0].What)
	require.Equal(t, trace.End, all.Events[len(all.Events)-1].What)
	require.EqualValues(t, 1000, all.Events[0].Key)
}

func TestOptions(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	var option *vk.OptionError
	_, err := vk.Open(vk.Options{Trace: vk.Tracing{Events: -1}})
	require.ErrorAs(t, err, &option)
	_, err = vk.Open(vk.Options{Trace: vk.Tracing{Events: 1}})
	require.ErrorAs(t, err, &option)
	_, err = trace.Take(t.Context(), testdevice.Open(t))
	require.ErrorAs(t, err, &option)
	_, err = trace.Take(t.Context(), nil)
	require.ErrorIs(t, err, vk.ErrNotOpen)
}

func TestFile(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	d := open(t, 1<<16, vk.Options{})
	m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{Path: btree.Concurrent})
	require.NoError(t, err)
	defer m.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	keys := make([]uint32, 1000)
	for i := range keys {
		keys[i] = rng.Uint32()
	}
	_, err = m.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	all := take(t, d)
	var file bytes.Buffer
	n, err := all.WriteTo(&file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	require.Less(t, n, int64(100_000))
	whole := file.Bytes()
	again, err := trace.Read(iotest.OneByteReader(bytes.NewReader(whole)))
	require.NoError(t, err)
	require.Equal(t, all, again)

	var format *trace.FormatError
	for end := 0; end < len(whole); end += 1 + end/50 {
		_, err := trace.Read(bytes.NewReader(whole[:end]))
		require.ErrorAs(t, err, &format, end)
	}
	for range 300 {
		damaged := bytes.Clone(whole)
		damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
		if again, err := trace.Read(bytes.NewReader(damaged)); err == nil {
			require.Equal(t, all, again) // gzip's header has a time and a system
		} else {
			require.ErrorAs(t, err, &format)
		}
	}
	_, err = trace.Read(bytes.NewReader(append(bytes.Clone(whole), 0)))
	require.ErrorAs(t, err, &format)
	own := errors.New("its own")
	_, err = trace.Read(io.MultiReader(bytes.NewReader(whole[:40]), iotest.ErrReader(own)))
	require.ErrorIs(t, err, own)
	_, err = all.WriteTo(full{})
	require.ErrorIs(t, err, io.ErrShortWrite)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
