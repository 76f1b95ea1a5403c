package recording_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// These tests stop each operation of each structure at each of its stages: the n-th kernel can't be made, or the
// context ends at its n-th check, for every n up to the one with which the call succeeds. The statuses then tell which
// operations are done. The others have changed nothing, and the same call succeeds when it is made again.

// structure is a structure with some contents, and the calls on it.
type structure struct {
	u32.Dictionary
	check func(ctx context.Context) error // nil: reading all pairs is check enough
	calls []call
	on    []callOn
}

// call is a call with Go slices.
type call struct {
	name    string
	do      func(ctx context.Context) ([]structures.Status, error)
	updates u32.Batch // the updates that the statuses belong to
	clears  bool      // empties the structure if it succeeds
	deletes *deletion // nil: not a DeleteRange
}

// deletion is a DeleteRange and its results.
type deletion struct {
	ranges []u32.Range
	counts []uint32
}

func deleteRange(name string, d u32.Ordered, ranges ...u32.Range) call {
	x := &deletion{ranges: ranges}
	return call{name: name, deletes: x, do: func(ctx context.Context) (_ []structures.Status, err error) {
		x.counts, err = d.DeleteRange(ctx, ranges)
		return nil, err
	}}
}

// require checks that the counts are those of the deleted keys, each counted by the first range that has it.
func (x *deletion) require(t testing.TB, before, after map[uint32]uint32, err error, when string) {
	gone, left := make([]uint32, len(x.ranges)), map[int]bool{}
	for key, value := range before {
		v, there := after[key]
		require.True(t, !there || v == value, when)
		first := slices.IndexFunc(x.ranges, func(r u32.Range) bool { return r.Lo <= key && key <= r.Hi })
		switch {
		case first < 0:
			require.True(t, there, "%s: a key of no range is gone", when)
		case there:
			left[first] = true
		default:
			gone[first]++
		}
	}
	require.Equal(t, gone, x.counts, when)
	var pending *structures.PendingError
	if errors.As(err, &pending) {
		require.GreaterOrEqual(t, pending.Operations, len(left), when)
		require.LessOrEqual(t, pending.Operations, len(x.ranges), when)
		return
	}
	require.NoError(t, err, when)
	require.Empty(t, left, when)
}

// require checks what a call has left of some contents.
func (c call) require(t testing.TB, before, after map[uint32]uint32, statuses []structures.Status, err error,
	when string) {
	if c.deletes != nil {
		c.deletes.require(t, before, after, err, when)
		return
	}
	require.Equal(t, c.after(before, statuses, err), after, when)
}

// callOn is a call that is recorded into a stream, and the memory that it writes.
type callOn struct {
	name   string
	record func(s *vk.Stream) error
	out    []*vk.Buffer[uint32]
	waits  bool // it submits itself and the work recorded before
}

const (
	pairsThere = 4500
	queries    = 1 << 12
	updates    = 400
)

// keysOf returns different keys in no order.
func keysOf(n int, seed uint64) []uint32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i)*400_009 + uint32(seed)
	}
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

var (
	there = keysOf(pairsThere, 0)
	some  = append(slices.Clone(there[:updates/2]), keysOf(updates/2, 7)...)
	kinds = func() (k []structures.Kind) {
		for i := range some {
			k = append(k, []structures.Kind{structures.Insert, structures.Delete, structures.Find}[i%3])
		}
		return k
	}()
	ranges = []u32.Range{{Lo: 0, Hi: 1 << 25}, {Lo: 1 << 30, Hi: 1<<30 + 1<<26}, {Lo: 5, Hi: 4}}
)

func uniform(k structures.Kind) u32.Batch {
	b := u32.Batch{Keys: some, Values: some, Kinds: make([]structures.Kind, len(some))}
	for i := range b.Kinds {
		b.Kinds[i] = k
	}
	return b
}

// dictionaryCalls returns the calls of every dictionary.
func dictionaryCalls(d u32.Dictionary) []call {
	mixed := u32.Batch{Kinds: kinds, Keys: some, Values: some}
	unique := uniform(structures.InsertUnique)
	unique.Values = slices.Clone(some) // other values than those that are there
	slices.Reverse(unique.Values)
	return []call{
		{name: "Insert", updates: uniform(structures.Insert),
			do: func(ctx context.Context) ([]structures.Status, error) { return d.Insert(ctx, some, some) }},
		{name: "InsertUnique", updates: unique, do: func(ctx context.Context) ([]structures.Status, error) {
			return d.InsertUnique(ctx, unique.Keys, unique.Values)
		}},
		{name: "Delete", updates: uniform(structures.Delete),
			do: func(ctx context.Context) ([]structures.Status, error) { return d.Delete(ctx, some) }},
		{name: "Apply", updates: mixed, do: func(ctx context.Context) ([]structures.Status, error) {
			r, err := d.Apply(ctx, mixed)
			return r.Status, err
		}},
		reads("Find", func(ctx context.Context) error { _, _, err := d.Find(ctx, there[:queries]); return err }),
		reads("Len", func(ctx context.Context) error { _, err := d.Len(ctx); return err }),
		reads("All", func(ctx context.Context) error { return drained(d.All(ctx)) }),
		{name: "Clear", clears: true, do: func(ctx context.Context) ([]structures.Status, error) {
			return nil, d.Clear(ctx)
		}},
	}
}

// orderedCalls returns the calls of every ordered dictionary.
func orderedCalls(d u32.Ordered) []call {
	return append(dictionaryCalls(d),
		deleteRange("DeleteRange", d, u32.Range{Lo: 1 << 29, Hi: 1<<29 + 1<<27}, u32.Range{Lo: 5, Hi: 4},
			u32.Range{Lo: 1 << 28, Hi: 3 << 28}),
		deleteRange("DeleteRange of most", d, u32.Range{Lo: 1, Hi: 3 << 30}),
		deleteRange("DeleteRange of all", d, u32.Range{Lo: 7, Hi: 7 << 20}, u32.AllKeys),
		reads("Count", func(ctx context.Context) error { _, err := d.Count(ctx, ranges); return err }),
		reads("Range", func(ctx context.Context) error { _, err := d.Range(ctx, ranges); return err }),
		reads("Successor", func(ctx context.Context) error {
			_, err := d.Neighbor(ctx, structures.Successor, there[:queries])
			return err
		}),
		reads("Rank", func(ctx context.Context) error { _, err := d.Rank(ctx, there[:queries]); return err }),
		reads("Select", func(ctx context.Context) error { _, err := d.Select(ctx, there[:queries]); return err }),
		reads("Floor", func(ctx context.Context) error {
			_, err := d.Neighbor(ctx, structures.Floor, there[:queries])
			return err
		}),
		reads("Min", func(ctx context.Context) error { _, _, _, err := numbers.Least(ctx, d); return err }),
		reads("Descend", func(ctx context.Context) error { return drained(d.Descend(ctx, u32.AllKeys)) }))
}

// reads is a call that changes nothing.
func reads(name string, do func(ctx context.Context) error) call {
	return call{name: name, do: func(ctx context.Context) ([]structures.Status, error) { return nil, do(ctx) }}
}

// drained returns the error with which a sequence ends.
func drained[T any](sequence iter.Seq2[T, error]) error {
	for _, err := range sequence {
		if err != nil {
			return err
		}
	}
	return nil
}

// buffers are operands on the device.
type buffers struct {
	t testing.TB
	d *vk.Device
}

func (b buffers) words(w ...uint32) *vk.Buffer[uint32] { return testdevice.Upload(b.t, b.d, w) }

// room returns room for n words that are written, or bytes of the same buffer.
func (b buffers) room(n int) *vk.Buffer[uint32] { return testdevice.Room[uint32](b.t, b.d, n) }

func (b buffers) rangeWords() *vk.Buffer[uint32] {
	var w []uint32
	for _, r := range ranges {
		w = append(w, r.Lo, r.Hi)
	}
	return b.words(w...)
}

// orderedOn returns the recorded queries of an ordered dictionary.
func orderedOn(b buffers, of any) []callOn {
	d := onstream.Of(of)
	keys, bounds := b.words(there[:queries]...), b.rangeWords()
	found, status := testdevice.Room[uint8](b.t, b.d, queries), testdevice.Room[uint8](b.t, b.d, queries)
	candidates := testdevice.Room[uint64](b.t, b.d, 1)
	values, values2, values3 := b.room(queries), b.room(queries), b.room(queries)
	counts, offsets := b.room(len(ranges)), b.room(len(ranges)+1)
	outKeys, outValues, left, total := b.room(pairsThere), b.room(pairsThere), b.words(0), b.room(1)
	number, bits := b.words(queries), b.room((queries+31)/32)
	lookups := structures.DeviceLookups{Count: queries, Keys: keys, Values: values, Found: found,
		Order: structures.OneByOne}
	return []callOn{
		{name: "FindOn", out: []*vk.Buffer[uint32]{values}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Find(lookups)
		}},
		{name: "FindOn in order", out: []*vk.Buffer[uint32]{values}, record: func(s *vk.Stream) error {
			sorted := lookups
			sorted.Order = structures.SortedFirst
			return d.Ordered(s).Find(sorted)
		}},
		{name: "FindOn in bits", out: []*vk.Buffer[uint32]{values, bits}, record: func(s *vk.Stream) error {
			counted := lookups
			counted.DeviceCount, counted.Found, counted.FoundBits = number, nil, bits
			return d.Ordered(s).Find(counted)
		}},
		{name: "CountOn", out: []*vk.Buffer[uint32]{counts}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Count(structures.DeviceCounts{Count: len(ranges), Ranges: bounds, Counts: counts})
		}},
		{name: "RangeOn", out: []*vk.Buffer[uint32]{offsets}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Range(structures.DeviceRanges{Count: len(ranges), Ranges: bounds, Offsets: offsets,
				Keys: outKeys, Values: outValues, Candidates: candidates})
		}},
		{name: "RankOn", out: []*vk.Buffer[uint32]{values}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Rank(structures.DeviceRanks{Count: queries, Keys: keys, Ranks: values})
		}},
		{name: "SelectOn", out: []*vk.Buffer[uint32]{values2, values3}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Select(structures.DeviceNeighbors{Count: queries, Keys: keys, OutKeys: values2,
				OutValues: values3, Status: status})
		}},
		{name: "ExportOn", out: []*vk.Buffer[uint32]{outKeys, outValues, total}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Export(structures.DeviceExport{Keys: outKeys, Values: outValues, Total: total})
		}},
		{name: "NeighborOn", out: []*vk.Buffer[uint32]{values2, values3}, record: func(s *vk.Stream) error {
			return d.Ordered(s).Neighbor(structures.Ceil, structures.DeviceNeighbors{Count: queries, Keys: keys,
				OutKeys: values2, OutValues: values3, Status: status, Left: left})
		}},
	}
}

func treeOf(b buffers, o btree.Options) structure {
	tree, err := btree.New[uint32, uint32](b.t.Context(), b.d, o)
	require.NoError(b.t, err)
	s := structure{Dictionary: tree, check: tree.Inspect().Check, calls: orderedCalls(tree), on: orderedOn(b, tree)}
	s.calls = append(s.calls,
		reads("Compact", func(ctx context.Context) error { return tree.Compact(ctx, 0.5) }),
		reads("Export", func(ctx context.Context) error { _, _, err := numbers.All(ctx, tree); return err }),
		reads("Nodes", func(ctx context.Context) error { _, err := tree.Inspect().Nodes(ctx); return err }),
		reads("Stats", func(ctx context.Context) error { _, err := tree.Inspect().Stats(ctx); return err }),
		reads("Check", tree.Inspect().Check))
	keys, kind, left := b.words(some...), testdevice.Room[uint8](b.t, b.d, updates), b.words(0)
	status := testdevice.Room[uint8](b.t, b.d, updates)
	bytes := make([]uint8, updates)
	for i, k := range kinds {
		bytes[i] = uint8(k)
	}
	require.NoError(b.t, kind.Upload(b.t.Context(), 0, bytes))
	outKeys, outValues, highs := b.room(4*updates), b.room(4*updates), b.words(some...)
	values, counts, number := b.room(updates), b.room(len(ranges)), b.words(updates)
	u := structures.DeviceBatch{Count: updates, Keys: keys, Values: keys, Status: status}
	s.on = append(s.on,
		callOn{name: "UpdateOn", record: func(s *vk.Stream) error {
			return tree.On(s).Update(b.t.Context(), structures.Insert, u)
		}},
		callOn{name: "UpdateOn deleting", record: func(s *vk.Stream) error {
			return tree.On(s).Update(b.t.Context(), structures.Delete, u)
		}},
		callOn{name: "BuildOn", record: func(s *vk.Stream) error { return tree.On(s).Build(b.t.Context(), u) }},
		callOn{name: "ApplyOn", record: func(s *vk.Stream) error {
			return tree.On(s).Apply(structures.Mixed, structures.DeviceBatch{Count: updates, Keys: keys, Values: keys,
				Kinds: kind, Status: status, Left: left})
		}},
		callOn{name: "ApplyOn counted", record: func(s *vk.Stream) error {
			return tree.On(s).Apply(structures.Mixed, structures.DeviceBatch{Count: updates, DeviceCount: number,
				Keys: keys, Values: keys, Kinds: kind})
		}},
		callOn{name: "ApplyOn with order", record: func(s *vk.Stream) error {
			return tree.On(s).Apply(structures.Mixed, structures.DeviceBatch{
				Count: updates, Keys: keys, Values: keys, Kinds: kind, Status: status, Left: left, Width: 4,
				Highs: highs, OutKeys: outKeys, OutValues: outValues,
			})
		}},
		callOn{name: "ApplyOn asking", out: []*vk.Buffer[uint32]{values}, record: func(s *vk.Stream) error {
			return tree.On(s).Apply(structures.FindCeil, structures.DeviceBatch{
				Count: updates, Keys: keys, Values: values, Status: status, Left: left, Width: 1, Highs: highs,
				OutKeys: outKeys, OutValues: outValues,
			})
		}},
		callOn{name: "WindowOn", out: []*vk.Buffer[uint32]{counts}, record: func(s *vk.Stream) error {
			return tree.On(s).Window(structures.DeviceWindow{Count: len(ranges), Ranges: b.rangeWords(), Width: 4,
				Keys: outKeys, Values: outValues, Counts: counts})
		}})
	return s
}

func mapOf(b buffers, o slabhash.Options) structure {
	m, err := slabhash.New[uint32, uint32](b.t.Context(), b.d, o)
	require.NoError(b.t, err)
	s := structure{Dictionary: m, calls: dictionaryCalls(m)}
	buckets := 700
	s.calls = append(s.calls,
		reads("Flush", m.Flush),
		reads("Rehash", func(ctx context.Context) error { buckets ^= 100; return m.Rehash(ctx, buckets) }),
		reads("Stats", func(ctx context.Context) error { _, err := m.Inspect().Stats(ctx); return err }),
		reads("FindAll", func(ctx context.Context) error { _, _, err := m.FindAll(ctx, there[:100]); return err }),
		reads("Loads", func(ctx context.Context) error {
			return drained(m.Inspect().Loads(ctx))
		}))
	keys, left, status := b.words(some...), b.words(0), testdevice.Room[uint8](b.t, b.d, updates)
	number, asked, bits, total := b.words(updates), b.words(queries), b.room((queries+31)/32), b.room(1)
	queried, values, found := b.words(there[:queries]...), b.room(queries), testdevice.Room[uint8](b.t, b.d, queries)
	outKeys, outValues := b.room(pairsThere), b.room(pairsThere) // not compared: two exports may differ in order
	s.on = []callOn{
		{name: "ApplyOn", record: func(s *vk.Stream) error {
			return m.On(s).Apply(structures.Insert, structures.DeviceBatch{Count: updates, Keys: keys, Values: keys,
				Status: status, Left: left})
		}},
		{name: "ApplyOn counted", record: func(s *vk.Stream) error {
			return m.On(s).Apply(structures.Insert, structures.DeviceBatch{Count: updates, DeviceCount: number,
				Keys: keys, Values: keys})
		}},
		{name: "FindOn", out: []*vk.Buffer[uint32]{values}, record: func(s *vk.Stream) error {
			return m.On(s).Find(structures.DeviceLookups{Count: queries, Keys: queried, Values: values, Found: found})
		}},
		{name: "FindOn in bits", out: []*vk.Buffer[uint32]{values, bits}, record: func(s *vk.Stream) error {
			return m.On(s).Find(structures.DeviceLookups{Count: queries, DeviceCount: asked, Keys: queried,
				Values: values, FoundBits: bits})
		}},
		{name: "ExportOn", out: []*vk.Buffer[uint32]{total}, record: func(s *vk.Stream) error {
			return m.On(s).Export(structures.DeviceExport{Keys: outKeys, Values: outValues, Total: total})
		}},
	}
	return s
}

// updatesOn are updates on streams.
func updatesOn(b buffers, waits bool, of any) []callOn {
	keys, status := b.words(some...), testdevice.Room[uint8](b.t, b.d, updates)
	u := structures.DeviceBatch{Count: updates, Keys: keys, Values: keys, Status: status, Left: b.words(0)}
	on := func(kind structures.Kind) func(s *vk.Stream) error {
		return func(s *vk.Stream) error { return onstream.Of(of).On(s).Update(b.t.Context(), kind, u) }
	}
	return []callOn{
		{name: "UpdateOn inserting", record: on(structures.Insert), waits: waits},
		{name: "UpdateOn deleting", record: on(structures.Delete), waits: waits},
	}
}

func lsmOf(b buffers) structure {
	l, err := lsm.New[uint32, uint32](b.t.Context(), b.d, lsm.Options{Batch: 256})
	require.NoError(b.t, err)
	s := structure{Dictionary: l, calls: orderedCalls(l), on: append(orderedOn(b, l), updatesOn(b, false, l)...)}
	s.calls = append(s.calls, reads("Cleanup", l.Cleanup), reads("Stats", func(ctx context.Context) error {
		_, err := l.Inspect().Stats(ctx)
		return err
	}))
	return s
}

func arrayOf(b buffers) structure {
	a, err := sortedarray.New[uint32, uint32](b.t.Context(), b.d, sortedarray.Options{})
	require.NoError(b.t, err)
	s := structure{Dictionary: a, calls: orderedCalls(a), on: orderedOn(b, a)}
	s.on = append(s.on, updatesOn(b, true, a)...)
	return s
}

// kindsOf opens a structure of each kind.
var kindsOf = map[string]func(b buffers) structure{
	"btree":         func(b buffers) structure { return treeOf(b, btree.Options{Path: btree.Concurrent}) },
	"btree batched": func(b buffers) structure { return treeOf(b, btree.Options{Path: btree.Batched}) },
	"slabhash":      func(b buffers) structure { return mapOf(b, slabhash.Options{}) },
	"lsm":           lsmOf, "sortedarray": arrayOf,
}

// eachStructure runs a test on one of each.
func eachStructure(t *testing.T, test func(t *testing.T, d *vk.Device, s *structure)) {
	for name, open := range kindsOf {
		t.Run(name, func(t *testing.T) {
			d := testdevice.Open(t)
			s := open(buffers{t, d})
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			s.reset(t)
			test(t, d, &s)
		})
	}
}

// reset sets a structure's contents to the usual ones.
func (s *structure) reset(t testing.TB) {
	require.NoError(t, s.Clear(t.Context()))
	_, err := s.Insert(t.Context(), there, there)
	require.NoError(t, err)
}

// contents returns all pairs of a structure, and requires it to be valid.
func (s *structure) contents(t testing.TB) map[uint32]uint32 {
	t.Helper()
	if s.check != nil {
		require.NoError(t, s.check(t.Context()))
	}
	got := map[uint32]uint32{}
	for pair, err := range s.All(t.Context()) {
		require.NoError(t, err)
		got[pair.Key] = pair.Value
	}
	n, err := s.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(got), n)
	return got
}

// after returns the contents after the updates that the statuses call done.
func (c call) after(contents map[uint32]uint32, statuses []structures.Status, err error) map[uint32]uint32 {
	contents = maps.Clone(contents)
	if c.clears && err == nil {
		clear(contents)
	}
	for i, status := range statuses {
		switch {
		case status == structures.Pending || c.updates.Keys == nil:
		case c.updates.Kinds[i] == structures.Insert:
			contents[c.updates.Keys[i]] = c.updates.Values[i]
		case c.updates.Kinds[i] == structures.InsertUnique:
			if _, there := contents[c.updates.Keys[i]]; !there {
				contents[c.updates.Keys[i]] = c.updates.Values[i]
			}
		case c.updates.Kinds[i] == structures.Delete:
			delete(contents, c.updates.Keys[i])
		}
	}
	return contents
}

// ends stops a call at its n-th stage, for each n, and checks the result. stop prepares the stop and returns the
// context of the call, and a function that tells whether the stage was reached.
func (c call) ends(t *testing.T, s *structure, why error,
	stop func(n int) (context.Context, func() bool)) (stages int) {
	before := s.contents(t)
	for n := 1; ; n++ {
		require.Less(t, n, 1000, "a call without end")
		ctx, reached := stop(n)
		statuses, err := c.do(ctx)
		if !reached() {
			require.NoError(t, err)
			require.NotContains(t, statuses, structures.Pending)
			c.require(t, before, s.contents(t), statuses, nil, "whole")
			s.reset(t)
			return n - 1
		}
		if err == nil { // at the last check, nothing was left to do
			require.NotContains(t, statuses, structures.Pending)
		} else {
			require.ErrorIs(t, err, why, "stage %d", n)
		}
		between := s.contents(t)
		c.require(t, before, between, statuses, err, fmt.Sprintf("stage %d", n))
		statuses, err = c.do(t.Context())
		again := fmt.Sprintf("once more, after stage %d", n)
		require.NoError(t, err, again)
		switch {
		case c.deletes != nil:
			c.require(t, between, s.contents(t), statuses, nil, again)
			s.reset(t)
		case c.updates.Keys != nil || c.clears:
			c.require(t, before, s.contents(t), statuses, nil, again)
			s.reset(t)
		}
	}
}

var errStage = errors.New("no such kernel today")

// failAt makes the n-th request for a kernel fail.
func failAt(t testing.TB, n int) (reached func() bool) {
	asked := 0
	recording.Failing(t, func(string) error {
		if asked++; asked == n {
			return errStage
		}
		return nil
	})
	return func() bool {
		recording.Failing(t, nil)
		return asked >= n
	}
}

func TestEveryKernelFails(t *testing.T) {
	eachStructure(t, func(t *testing.T, d *vk.Device, s *structure) {
		for _, c := range s.calls {
			t.Run(c.name, func(t *testing.T) {
				stages := c.ends(t, s, errStage, func(n int) (context.Context, func() bool) {
					return t.Context(), failAt(t, n)
				})
				require.True(t, stages > 0 || c.name == "Len" || c.name == "Clear", "it asks for no kernel at all")
			})
		}
	})
}

// lookedAt is a context that ends when it is checked the n-th time.
type lookedAt struct {
	context.Context
	cancel context.CancelFunc
	left   int
}

func (l *lookedAt) look() {
	if l.left--; l.left <= 0 {
		l.cancel()
	}
}

func (l *lookedAt) Err() error            { l.look(); return l.Context.Err() }
func (l *lookedAt) Done() <-chan struct{} { l.look(); return l.Context.Done() }

func TestEveryLookAtTheContext(t *testing.T) {
	eachStructure(t, func(t *testing.T, d *vk.Device, s *structure) {
		for _, c := range s.calls {
			t.Run(c.name, func(t *testing.T) {
				c.ends(t, s, context.Canceled, func(n int) (context.Context, func() bool) {
					ctx, cancel := context.WithCancel(t.Context())
					l := &lookedAt{ctx, cancel, n}
					return l, func() bool { cancel(); return l.left <= 0 }
				})
			})
		}
	})
}

const untouched = 0xa5a5a5a5

// If a recorded call lacks a stage, it does not run, even if the caller ignores the error. It writes nothing, and
// earlier work of the caller in the same batch runs only if none of the call was recorded.
func TestEveryKernelFailsOnStreams(t *testing.T) {
	eachStructure(t, func(t *testing.T, d *vk.Device, s *structure) {
		b := buffers{t, d}
		own := b.words(0)
		stream := testdevice.Stream(t, d)
		for _, c := range s.on {
			t.Run(c.name, func(t *testing.T) {
				var before map[uint32]uint32
				prepare := func() {
					if c.out == nil || before == nil {
						s.reset(t)
						before = s.contents(t)
					}
					for _, o := range c.out {
						stream.Fill(o, 0, o.Len(), untouched)
					}
					stream.Fill(own, 0, 1, 0)
					require.NoError(t, stream.Wait(t.Context()))
				}
				written := func() (all [][]uint32) {
					for _, o := range c.out {
						all = append(all, testdevice.Download(t, o, o.Len()))
					}
					return all
				}
				prepare()
				blank := written()
				require.NoError(t, c.record(stream))
				require.NoError(t, stream.Wait(t.Context()))
				right, after := written(), s.contents(t)
				require.True(t, c.out == nil || !slices.EqualFunc(blank, right, slices.Equal))
				for n := 1; ; n++ {
					prepare()
					reached := failAt(t, n)
					stream.Fill(own, 0, 1, 1)
					err := c.record(stream)
					if !reached() {
						require.NoError(t, err)
						require.Greater(t, n, 1)
						require.NoError(t, stream.Wait(t.Context()))
						break
					}
					require.ErrorIs(t, err, errStage)
					sent := stream.Wait(t.Context())
					if sent != nil {
						require.ErrorIs(t, sent, errStage)
					}
					require.True(t, c.waits || (sent == nil) == (testdevice.Download(t, own, 1)[0] == 1))
					require.True(t, n > 1 || sent == nil, "it was refused before its first command")
					require.Equal(t, blank, written(), "stage %d", n)
					require.Equal(t, before, s.contents(t), "stage %d", n)
					require.NoError(t, c.record(stream))
					require.NoError(t, stream.Wait(t.Context()))
					require.Equal(t, right, written(), "once more, after stage %d", n)
					if c.out == nil {
						require.Equal(t, after, s.contents(t), "once more, after stage %d", n)
					}
				}
			})
		}
	})
}
