package btree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// operations is a batch on the host.
type operations struct {
	kind   structures.Kind
	kinds  []structures.Kind // of a mixed batch
	keys   []uint32
	values []uint32
}

// some returns the operations from one index up to another.
func (b operations) some(from, to int) operations {
	cut := func(words []uint32) []uint32 { return words[min(from, len(words)):min(to, len(words))] }
	some := operations{kind: b.kind, keys: cut(b.keys), values: cut(b.values)}
	if b.kinds != nil {
		some.kinds = b.kinds[from:to]
	}
	return some
}

// with returns the operations followed by others.
func (b operations) with(other operations) operations {
	return operations{b.kind, slices.Concat(b.kinds, other.kinds), slices.Concat(b.keys, other.keys),
		slices.Concat(b.values, other.values)}
}

// apply does the operations to a model, one after the other, and returns the status of each.
func (b operations) apply(m model) []uint8 {
	statuses := make([]uint8, len(b.keys))
	for i, key := range b.keys {
		kind := b.kind
		if kind == structures.Mixed {
			kind = b.kinds[i]
		}
		old, there := m[key]
		var status structures.Status
		switch {
		case kind == structures.Delete && there:
			status = structures.Deleted
			delete(m, key)
		case kind == structures.Delete:
			status = structures.Absent
		case !there:
			status = structures.Inserted
			m[key] = b.values[i]
		default:
			m[key], status = ordercheck.After(kind, old, b.values[i])
		}
		statuses[i] = uint8(status)
	}
	return statuses
}

// batchRig is a tree and its expected content.
type batchRig struct {
	t      testing.TB
	tree   *dictionary[uint32]
	stream *vk.Stream
	want   model
	turn   int // the number of batches so far
}

func newBatchRig(t testing.TB, d *vk.Device, o Options) *batchRig {
	return &batchRig{t: t, tree: newTree(t, d, o), stream: testdevice.Stream(t, d), want: model{}}
}

// device copies elements to a buffer that lives until the work is done.
func device[T vk.Element](r *batchRig, data []T) *vk.Buffer[T] {
	r.t.Helper()
	b, err := vk.NewBuffer[T](r.tree.Device, max(len(data), 1))
	require.NoError(r.t, err)
	require.NoError(r.t, b.Upload(r.t.Context(), 0, data))
	return b
}

// do does a batch with or without statuses, and compares them.
func (r *batchRig) do(b operations, statuses bool) {
	r.t.Helper()
	r.doFrom(0, b, statuses)
}

// doFrom is do for a batch that begins at an index of its buffers; mixed batches begin at 0. For every other batch only
// the device knows the length: operations on the last keys follow that don't belong to it.
func (r *batchRig) doFrom(first int, b operations, statuses bool) {
	r.t.Helper()
	n := len(b.keys)
	if r.turn++; r.turn%2 == 0 {
		r.doCounted(first, b, nil, statuses)
	} else {
		r.doCounted(first, b.with(b.some(max(n-70, 0), n)), []uint32{uint32(n)}, statuses)
	}
}

// doCounted is doFrom for a batch whose length is said on the device, if said is not empty. An earlier command of the
// same stream writes it; before, the word has another value.
func (r *batchRig) doCounted(first int, b operations, said []uint32, statuses bool) {
	r.t.Helper()
	n := len(b.keys)
	before := make([]uint32, first)
	keys, values := device(r, append(before, b.keys...)), device(r, append(before, b.values...))
	kinds := device(r, b.kinds)
	out := device(r, make([]uint8, (n+3)&^3))
	defer func() {
		keys.Free()
		values.Free()
		kinds.Free()
		out.Free()
	}()
	u := structures.DeviceBatch{Count: n, First: first, Keys: keys, Values: values}
	if statuses {
		u.Status = out
	}
	done := n
	if said != nil {
		done = int(min(uint64(said[0]), uint64(n)))
		from := device(r, said)
		u.DeviceCount = device(r, []uint32{said[0] ^ 0xff})
		defer from.Free()
		defer u.DeviceCount.Free()
		r.stream.Copy(u.DeviceCount, 0, from, 0, 1)
	}
	if b.kind == structures.Mixed {
		require.NoError(r.t, r.tree.reserve(r.t.Context(), n, Batched))
		r.tree.known.inserted += uint64(n)
		args := batched{Kind: b.kind, Kinds: kinds.Address(), Keys: keys.Address(), Values: values.Address(), N: n,
			CountAt: u.DeviceCount.Address()}
		if statuses {
			args.Statuses = out.Address()
		}
		require.NoError(r.t, r.tree.recordBatched(r.t.Context(), r.stream, args))
	} else {
		require.NoError(r.t, r.tree.On(r.stream).Update(r.t.Context(), b.kind, u))
	}
	require.NoError(r.t, r.stream.Wait(r.t.Context()))
	want := b.some(0, done).apply(r.want)
	if statuses {
		got := testdevice.Download(r.t, out, (n+3)&^3)
		same(r.t, want, got[:done], "statuses")
		for _, status := range got[done:] {
			require.Zero(r.t, status, "behind %d operations", done)
		}
	}
}

// insert returns insertions of keys with random values.
func insert(rng *rand.Rand, keys []uint32) operations {
	return operations{kind: structures.Insert, keys: keys, values: randomWords(rng, len(keys))}
}

// equal returns n copies of a key.
func equal(n int, key uint32) []uint32 { return ramp(n, key, 0) }

// mixed returns operations of all kinds on keys.
func mixed(rng *rand.Rand, keys []uint32) operations {
	kinds := make([]structures.Kind, len(keys))
	for i := range kinds {
		kinds[i] = []structures.Kind{structures.Insert, structures.InsertUnique, structures.Delete}[rng.IntN(3)]
	}
	return operations{structures.Mixed, kinds, keys, randomWords(rng, len(keys))}
}

// below returns n random keys below a bound.
func below(rng *rand.Rand, n int, bound uint32) []uint32 {
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = rng.Uint32N(bound)
	}
	return keys
}

func reversed(keys []uint32) []uint32 {
	r := make([]uint32, len(keys))
	for i, key := range keys {
		r[len(keys)-1-i] = key
	}
	return r
}

// clear removes all pairs.
func (r *batchRig) clear() {
	r.t.Helper()
	require.NoError(r.t, r.tree.Clear(r.t.Context()))
	r.want = model{}
}

// check compares the tree with its expected content, and calls Check.
func (r *batchRig) check() {
	r.t.Helper()
	requireTree(r.t, r.tree, r.want)
	require.NoError(r.t, r.tree.Check(r.t.Context()))
}

// nodes returns the number of nodes.
func (r *batchRig) nodes() int {
	r.t.Helper()
	stats, err := r.tree.Pool.Stats(r.t.Context())
	require.NoError(r.t, err)
	return stats.Allocated
}

// batches returns batches of every shape, to be done one after the other in an empty tree.
func batches(rng *rand.Rand) map[string][]operations {
	const all = math.MaxUint32
	remove := func(keys []uint32) operations { return operations{kind: structures.Delete, keys: keys} }
	unique := func(keys []uint32) operations {
		return operations{kind: structures.InsertUnique, keys: keys, values: randomWords(rng, len(keys))}
	}
	return map[string][]operations{
		"one key": {insert(rng, []uint32{7})},
		"key 0":   {insert(rng, []uint32{0}), remove([]uint32{0})},
		"the last key": {insert(rng, []uint32{all}), insert(rng, []uint32{all, all - 1, 0}),
			remove([]uint32{all, all})},
		"one leaf":   {insert(rng, ramp(14, 5, 3)), insert(rng, []uint32{6})},
		"equal keys": {insert(rng, equal(5000, 99)), insert(rng, equal(33, 99)), remove(equal(3000, 99))},
		"ascending": {insert(rng, ramp(9000, 1000, 1)), insert(rng, ramp(9000, 10000, 1)),
			insert(rng, ramp(100, 0, 1))},
		"descending": {insert(rng, reversed(ramp(3000, 0x80000000, 5))), insert(rng, reversed(ramp(3000, 0, 5)))},
		"ends": {insert(rng, ramp(300, all-299, 1)), insert(rng, ramp(300, 0, 1)),
			remove(ramp(600, all-299, 1))},
		"random": {insert(rng, uniqueKeys(rng, 9000)), insert(rng, uniqueKeys(rng, 9000)),
			insert(rng, uniqueKeys(rng, 500)), unique(below(rng, 5000, all))},
		"small and large": {insert(rng, below(rng, 1000, 1<<20)), insert(rng, below(rng, 15000, 1<<20)),
			insert(rng, below(rng, 1, 1<<20)), mixed(rng, below(rng, 9000, 1<<19))},
		"few keys": {mixed(rng, below(rng, 5000, 50)), mixed(rng, below(rng, 5000, 50)),
			unique(below(rng, 900, 100))},
		"unique and equal": {unique(equal(4000, 3)), unique(append(equal(4000, 3), equal(100, 4)...))},
		"mixed": {mixed(rng, below(rng, 9000, 1<<14)), mixed(rng, below(rng, 9000, 1<<14)),
			mixed(rng, below(rng, 9000, all))},
		"all deleted": {insert(rng, ramp(9000, 0, 77)), remove(ramp(9000, 0, 77)), insert(rng, ramp(3000, 5, 8)),
			remove(ramp(30000, 0, 1))},
		"absent deleted": {insert(rng, ramp(100, 0, 1000000)), remove(ramp(9000, 1, 3))},
		manyToOneLeaf: {
			insert(rng, ramp(14, 0, 1000)), mixed(rng, below(rng, 100000, 14000)), remove(ramp(100000, 5, 7)),
			unique(equal(200000, 77)), mixed(rng, equal(200000, 77)),
			insert(rng, below(rng, 40000, 1<<24)), remove(below(rng, 40000, 1<<24)),
		},
	}
}

const manyToOneLeaf = "many to one leaf" // takes as long as all others together

// Batches of every shape, with a comparison after each.
func TestBatch(t *testing.T) {
	d := openDevice(t)
	r := newBatchRig(t, d, Options{})
	for name, all := range batches(random(1)) {
		for _, statuses := range []bool{false, true} {
			if name == manyToOneLeaf && !statuses && stress.Level == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/statuses=%t", name, statuses), func(t *testing.T) {
				r.t = t
				r.clear()
				for _, b := range all {
					r.do(b, statuses)
					r.check()
				}
			})
		}
	}
}

// Batches into full and nearly empty trees, and into trees that concurrent updates have changed. Also with dispatches
// for each level, and with four lanes that read a leaf together.
func TestBatchIntoTree(t *testing.T) {
	d := openDevice(t)
	for _, o := range []Options{{Fill: 0.1, Tile: 1}, {Fill: 1, Tile: 4}, {Fill: 0.1, Tile: 4}} {
		t.Run(fmt.Sprintf("fill=%g/tile=%d", o.Fill, o.Tile), func(t *testing.T) {
			if o.Fill == 1 {
				defer func(was int) { aloneUpTo = was }(aloneUpTo)
				aloneUpTo = 4
			}
			rng := random(2)
			r := newBatchRig(t, d, o)
			keys, values := uniqueKeys(rng, 6000), randomWords(rng, 6000)
			rebuild(t, r.tree, keys, values)
			r.want.insert(keys, values)
			for range 2 {
				ravage(t, r.tree, r.want)
				r.do(mixed(rng, append(below(rng, 3000, math.MaxUint32), keys[:3000]...)), true)
				r.check()
				ravage(t, r.tree, r.want)
				r.do(insert(rng, append(below(rng, 6000, math.MaxUint32), ramp(3000, 0x80000000, 1)...)), true)
				r.check()
				r.do(operations{kind: structures.Delete, keys: keys[1000:5000]}, false)
				r.check()
			}
		})
	}
}

// A tree in which some nodes are reached only by side links.
func TestBatchWithOrphans(t *testing.T) {
	rng := random(6)
	r := newBatchRig(t, openDevice(t), Options{})
	keys, values := uniqueKeys(rng, 6000), randomWords(rng, 6000)
	rebuild(t, r.tree, keys, values)
	r.want.insert(keys, values)
	nodes, err := r.tree.Nodes(t.Context())
	require.NoError(t, err)
	orphan(t, r.tree)
	require.NoError(t, r.tree.state.Upload(t.Context(), orphansWord, []uint32{uint32(len(nodes))}))
	r.do(insert(rng, append(uniqueKeys(rng, 3000), keys[:1000]...)), true)
	r.do(operations{kind: structures.Delete, keys: keys[:2000]}, true)
	require.NoError(t, r.tree.repair(t.Context()))
	r.check()
}

// If the pairs fit into a leaf, it is not split, however many operations it gets: a full leaf gets only deletions,
// assignments, or operations that leave no more pairs than before. In a tree whose nodes are all full, a new leaf would
// split all levels.
func TestBatchThatFits(t *testing.T) {
	pass.Unvalidated(t, "other tests make its calls")
	d := openDevice(t)
	const leaves, step = 30, 1000
	full := ramp(leaves*Slots, step, step)
	there := func(rng *rand.Rand, leaf, n int) []uint32 { // keys of a leaf, in random order
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = full[leaf*Slots+rng.IntN(Slots)]
		}
		return keys
	}
	absent := func(rng *rand.Rand, leaf, n int) []uint32 { // keys of its range that are not in the tree
		keys := there(rng, leaf, n)
		for i := range keys {
			keys[i] += 1 + rng.Uint32N(step/2)
		}
		return keys
	}
	shapes := map[string]func(rng *rand.Rand, leaf, n int) operations{
		"absent deleted": func(rng *rand.Rand, leaf, n int) operations {
			return operations{kind: structures.Delete, keys: absent(rng, leaf, n)}
		},
		"one deleted": func(rng *rand.Rand, leaf, n int) operations {
			return operations{kind: structures.Delete, keys: append(absent(rng, leaf, n-1), full[leaf*Slots])}
		},
		"assigned": func(rng *rand.Rand, leaf, n int) operations { return insert(rng, there(rng, leaf, n)) },
		"found": func(rng *rand.Rand, leaf, n int) operations {
			return operations{kind: structures.InsertUnique, keys: there(rng, leaf, n), values: randomWords(rng, n)}
		},
		"mixed": func(rng *rand.Rand, leaf, n int) operations { return mixed(rng, there(rng, leaf, n)) },
		"inserted and deleted": func(rng *rand.Rand, leaf, n int) operations {
			keys := absent(rng, leaf, n)
			b := mixed(rng, append(keys, keys...))
			for i := range keys {
				b.kinds[n+i] = structures.Delete
			}
			return b
		},
	}
	for _, fill := range []float64{0.01, 0, 0.7, 1} {
		r := newBatchRig(t, d, Options{Fill: fill})
		for name, shape := range shapes {
			t.Run(fmt.Sprintf("fill=%g/%s", fill, name), func(t *testing.T) {
				r.t = t
				rng := random(8)
				for i, n := range []int{14, 32, 33, 1000} { // a leaf's slots, around a long segment, and more
					r.clear()
					rebuild(t, r.tree, full, full)
					require.NoError(t, r.tree.Compact(t.Context(), 1))
					r.want.insert(full, full)
					before := r.nodes()
					b := shape(rng, 0, n)
					for _, leaf := range []int{1, 15, leaves - 1} { // neighbors, and below different parents
						more := shape(rng, leaf, n)
						b.kinds, b.keys = append(b.kinds, more.kinds...), append(b.keys, more.keys...)
						b.values = append(b.values, more.values...)
					}
					r.do(b, i%2 == 0)
					r.check()
					require.LessOrEqual(t, r.nodes(), before, "nodes, %d operations a leaf", n)
				}
				r.do(insert(rng, below(rng, 3000, leaves*Slots*step)), true)
				r.check()
			})
		}
	}
}

// Batches that are done in several parts: of equal keys the last one of all parts counts.
func TestBatchInParts(t *testing.T) {
	defer func(was int) { maxBatch = was }(maxBatch)
	maxBatch = 1024
	rng := random(5)
	r := newBatchRig(t, openDevice(t), Options{})
	for _, b := range []operations{
		insert(rng, below(rng, 5000, 3000)),
		{kind: structures.InsertUnique, keys: below(rng, 3001, 6000), values: randomWords(rng, 3001)},
		{kind: structures.Delete, keys: below(rng, 2500, 6000)},
	} {
		r.do(b, true)
		r.check()
	}
}

// Batches whose length only the device knows, of any length, in one part and in several. The rest of an earlier, full
// batch follows them in the buffers.
func TestBatchCounted(t *testing.T) {
	pass.OneDriver(t, "how much a dispatch takes is the same on all CPU devices")
	d := openDevice(t)
	defer func(was int) { maxBatch = was }(maxBatch)
	const n = 3000
	for most, all := range map[int][]uint32{
		1024:    {0, 33, 1023, 1024, 1025, 2000, n + 1, math.MaxUint32},
		1 << 22: {0, 1, 33, n - 1, n, n + 1, math.MaxUint32},
	} {
		maxBatch = most
		for _, said := range all {
			t.Run(fmt.Sprintf("%d of %d, by %d", said, n, maxBatch), func(t *testing.T) {
				rng := random(uint64(said))
				r := newBatchRig(t, d, Options{})
				keys := below(rng, n, n)
				for i, b := range []operations{
					insert(rng, keys),
					{kind: structures.InsertUnique, keys: below(rng, n, n), values: randomWords(rng, n)},
					insert(rng, equal(n, 7)),
					{kind: structures.InsertAdd, keys: equal(n, 7), values: randomWords(rng, n)},
					{kind: structures.InsertMax, keys: below(rng, n, 9), values: randomWords(rng, n)},
					{kind: structures.Delete, keys: keys},
					mixed(rng, keys[:min(n, maxBatch)]),
				} {
					first := i + 1
					if b.kind == structures.Mixed {
						first = 0
					}
					r.doCounted(first, b, nil, i%2 == 0)
					r.doCounted(first, b, []uint32{said}, i%2 == 0)
					r.check()
				}
			})
		}
	}
}

// A pool of several super blocks, in which references are not offsets.
func TestBatchManySuperBlocks(t *testing.T) {
	pass.OneDriver(t, "the host reckons the room for batches")
	pass.NotWidest(t, "TestSharedPool has super blocks at 16 lanes")
	d := openDevice(t)
	rng := random(3)
	r := newBatchRig(t, d, Options{})
	require.NoError(t, r.tree.Pool.Close())
	var err error
	r.tree.Pool, err = slabs.New(t.Context(), d, slabs.Options{Blocks: 8, SuperShift: 2})
	require.NoError(t, err)
	require.NoError(t, r.tree.empty(t.Context()))
	for range 3 {
		r.do(insert(rng, uniqueKeys(rng, 20000)), false)
		r.check()
	}
}

// If the pool may not grow, the batch is refused, and nothing of it is done.
func TestBatchWithoutRoom(t *testing.T) {
	d := openDevice(t)
	rng := random(4)
	r := newBatchRig(t, d, Options{MaxBytes: 1 << 20})
	r.do(insert(rng, uniqueKeys(rng, 100)), false)
	keys := device(r, uniqueKeys(rng, 100000))
	defer keys.Free()
	err := r.tree.On(r.stream).Update(t.Context(), structures.Insert,
		structures.DeviceBatch{Count: 100000, Keys: keys, Values: keys})
	var full *vk.LimitError
	require.ErrorAs(t, err, &full)
	require.NoError(t, r.stream.Wait(t.Context()))
	r.check()
	r.do(insert(rng, uniqueKeys(rng, 100)), true)
	r.check()
}

// Deletions need no room, and a mixed batch only needs room for its insertions.
func TestBatchOfDeletionsWithoutRoom(t *testing.T) {
	d := openDevice(t)
	rng := random(9)
	r := newBatchRig(t, d, Options{MaxBytes: 1 << 20, Path: Batched})
	r.fromSlices(insert(rng, uniqueKeys(rng, 100)))
	bytes := r.tree.Pool.Bytes()
	r.fromSlices(operations{kind: structures.Delete, keys: below(rng, 100000, math.MaxUint32)})
	r.check()
	b := mixed(rng, below(rng, 100000, math.MaxUint32))
	for i := range b.kinds {
		if i%1000 != 0 {
			b.kinds[i] = structures.Delete
		}
	}
	r.fromSlices(b)
	r.check()
	require.Equal(t, bytes, r.tree.Pool.Bytes(), "the pool's memory")
}

// In a tree whose nodes are all full, concurrent insertions split up to one node of each level, and fill a pool in
// which the next batch needs room. They come from the tree's own calls, or from kernels that the tree doesn't know.
func TestBatchAfterConcurrentInsertions(t *testing.T) {
	const parents, each = 700, Slots * Slots // nodes above the leaves, pairs below one
	full := ramp(parents*each, 0, 1000)
	// First one key in a leaf below each parent; then keys in other leaves, for which only the leaf splits.
	var keys, last []uint32
	for parent := range parents {
		keys = append(keys, full[parent*each]+1)
		last = append(last, full[parent*each+6*Slots]+1)
	}
	for leaf := 1; leaf < 4; leaf++ {
		for parent := range parents {
			keys = append(keys, full[parent*each+leaf*Slots]+1)
		}
	}
	calls := map[string]func(t *testing.T, r *batchRig, b structures.DeviceBatch){
		"on a stream": func(t *testing.T, r *batchRig, b structures.DeviceBatch) {
			require.NoError(t, r.tree.On(r.stream).Apply(structures.Insert, b))
		},
		"another kernel": func(t *testing.T, r *batchRig, b structures.DeviceBatch) {
			r.tree.Description()
			require.NoError(t, r.tree.apply(r.stream, structures.Insert, operands{
				keys: b.Keys.Address(), values: b.Values.Address(), statuses: b.Status.Address(),
				pending: b.Left.Address(), count: b.Count,
			}))
		},
	}
	orphans := func(r *batchRig) int {
		var word [1]uint32
		require.NoError(r.t, r.tree.state.Download(r.t.Context(), orphansWord, word[:]))
		return int(word[0])
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			r := newBatchRig(t, openDevice(t), Options{Fill: 1, Capacity: Slots * 10800})
			rebuild(t, r.tree, full, full)
			r.want.insert(full, full)
			r.do(insert(random(1), full[:1]), false)
			// Insertions hold slabs that they may give back. When the pool is nearly full, others meanwhile find none.
			// These stay pending, and find room when they are tried again.
			concurrent := func(keys []uint32) slabs.Stats {
				r.want.insert(keys, keys)
				for tries := 0; len(keys) > 0; tries++ {
					require.Less(t, tries, 100, "%d operations still find no room", len(keys))
					b := structures.DeviceBatch{Count: len(keys), Keys: device(r, keys), Values: device(r, keys),
						Status: device(r, make([]uint8, len(keys)+3)), Left: device(r, []uint32{0})}
					before := orphans(r)
					call(t, r, b)
					require.NoError(t, r.stream.Wait(t.Context()))
					var pending []uint32
					for i, status := range testdevice.Download(t, b.Status, len(keys)) {
						if structures.Status(status) == structures.Pending {
							pending = append(pending, keys[i])
						}
					}
					left := len(pending) + orphans(r) - before
					require.EqualValues(t, left, testdevice.Download(t, b.Left, 1)[0],
						"operations counted as pending, and nodes left without a parent")
					b.Keys.Free()
					b.Values.Free()
					b.Status.Free()
					b.Left.Free()
					keys = pending
				}
				stats, err := r.tree.Pool.Stats(t.Context())
				require.NoError(t, err)
				return stats
			}
			stats := concurrent(keys[:parents])
			more := stats.Free - 1
			require.Less(t, more, len(keys)-parents)
			stats = concurrent(keys[parents : parents+more])
			require.Equal(t, 1, stats.Free, "the pool's free slabs")
			r.do(insert(random(2), last[:3]), true)
			r.check()
		})
	}
}

// Arguments that are not valid for any batch.
func TestBatchRefused(t *testing.T) {
	d := openDevice(t)
	r := newBatchRig(t, d, Options{})
	keys := device(r, ramp(10, 0, 1))
	status := device(r, make([]uint8, 8))
	defer keys.Free()
	defer status.Free()
	var length *structures.LengthError
	for _, u := range []structures.DeviceBatch{
		{Count: 11, Keys: keys, Values: keys}, {Count: 10, First: 1, Keys: keys, Values: keys}, {Count: 10, Keys: keys},
		{Count: 1, First: -1, Keys: keys, Values: keys}, {Count: 10, Keys: keys, Values: keys, Status: status},
	} {
		require.ErrorAs(t, r.tree.On(r.stream).Update(t.Context(), structures.Insert, u), &length)
	}
	var count *structures.CountError
	require.ErrorAs(t, r.tree.On(r.stream).Update(t.Context(), structures.Insert,
		structures.DeviceBatch{Count: -1, Keys: keys, Values: keys}), &count)
	var kind *structures.KindError
	require.ErrorAs(t, r.tree.On(r.stream).Update(t.Context(), structures.Mixed,
		structures.DeviceBatch{Count: 10, Keys: keys, Values: keys}), &kind)
	require.NoError(t, r.tree.On(r.stream).Update(t.Context(), structures.Insert, structures.DeviceBatch{}))
	require.NoError(t, r.tree.Close())
	require.ErrorIs(t, r.tree.On(r.stream).Update(t.Context(), structures.Insert, structures.DeviceBatch{}),
		vk.ErrClosed)
	require.NoError(t, r.stream.Wait(t.Context()))
}
