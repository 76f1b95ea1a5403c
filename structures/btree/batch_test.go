package btree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// operations are a batch on the host.
type operations struct {
	kind   structures.Kind
	kinds  []structures.Kind // of a mixed one
	keys   []uint32
	values []uint32
}

// apply does the operations one after the other, and returns the status of each.
func (m model) apply(b operations) []uint8 {
	statuses := make([]uint8, len(b.keys))
	for i, key := range b.keys {
		kind := b.kind
		if kind == structures.Mixed {
			kind = b.kinds[i]
		}
		_, there := m[key]
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
		case kind == structures.Insert:
			status = structures.Assigned
			m[key] = b.values[i]
		default:
			status = structures.Found
		}
		statuses[i] = uint8(status)
	}
	return statuses
}

// batchRig is a tree and what it should hold.
type batchRig struct {
	t      testing.TB
	tree   *Tree
	stream *vk.Stream
	want   model
}

func newBatchRig(t testing.TB, d *vk.Device, o Options) *batchRig {
	return &batchRig{t: t, tree: newTree(t, d, o), stream: newStream(t, d), want: model{}}
}

// device puts elements on the device until the work is done.
func device[T vk.Element](r *batchRig, data []T) *vk.Buffer[T] {
	r.t.Helper()
	b, err := vk.NewBuffer[T](r.tree.d, max(len(data), 1))
	require.NoError(r.t, err)
	require.NoError(r.t, b.Upload(r.t.Context(), 0, data))
	return b
}

// do does a batch with statuses or without, and compares these.
func (r *batchRig) do(b operations, statuses bool) {
	r.t.Helper()
	n := len(b.keys)
	keys, values, kinds := device(r, b.keys), device(r, b.values), device(r, b.kinds)
	out := device(r, make([]uint8, (n+3)&^3))
	defer func() {
		keys.Free()
		values.Free()
		kinds.Free()
		out.Free()
	}()
	u := structures.DeviceUpdates{Count: n, Keys: keys, Values: values}
	if statuses {
		u.Status = out
	}
	if b.kind == structures.Mixed {
		require.NoError(r.t, r.tree.reserveBatched(r.t.Context(), n))
		args := batched{Kind: b.kind, Kinds: kinds.Address(), Keys: keys.Address(), Values: values.Address(), N: n}
		if statuses {
			args.Statuses = out.Address()
		}
		require.NoError(r.t, r.tree.recordBatched(r.t.Context(), r.stream, args))
	} else {
		require.NoError(r.t, r.tree.UpdateOn(r.t.Context(), r.stream, b.kind, u))
	}
	require.NoError(r.t, r.stream.Wait(r.t.Context()))
	want := r.want.apply(b)
	if statuses {
		same(r.t, want, download(r.t, out, n), "statuses")
	}
}

// check compares the tree with what it should hold.
func (r *batchRig) check() {
	r.t.Helper()
	requireTree(r.t, r.tree, r.want)
}

// insert is an insertion of keys with values of their own.
func insert(rng *rand.Rand, keys []uint32) operations {
	return operations{kind: structures.Insert, keys: keys, values: randomWords(rng, len(keys))}
}

// equal is one key so many times.
func equal(n int, key uint32) []uint32 { return ramp(n, key, 0) }

// mixed are operations of all kinds on keys.
func mixed(rng *rand.Rand, keys []uint32) operations {
	kinds := make([]structures.Kind, len(keys))
	for i := range kinds {
		kinds[i] = []structures.Kind{structures.Insert, structures.InsertUnique, structures.Delete}[rng.IntN(3)]
	}
	return operations{structures.Mixed, kinds, keys, randomWords(rng, len(keys))}
}

// below are n random keys below a bound.
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

// Batches of every shape into an empty tree, one after the other, each time with what comes out compared.
func TestBatch(t *testing.T) {
	d := openDevice(t)
	rng := random(1)
	const all = math.MaxUint32
	cases := map[string][]operations{
		"one key":    {insert(rng, []uint32{7})},
		"key 0":      {insert(rng, []uint32{0}), {kind: structures.Delete, keys: []uint32{0}}},
		"the last":   {insert(rng, []uint32{all}), insert(rng, []uint32{all, all - 1, 0}), {kind: structures.Delete, keys: []uint32{all, all}}},
		"one leaf":   {insert(rng, ramp(14, 5, 3)), insert(rng, []uint32{6})},
		"equal keys": {insert(rng, equal(5000, 99)), insert(rng, equal(33, 99)), {kind: structures.Delete, keys: equal(3000, 99)}},
		"ascending":  {insert(rng, ramp(20000, 1000, 1)), insert(rng, ramp(20000, 21000, 1)), insert(rng, ramp(100, 0, 1))},
		"descending": {insert(rng, reversed(ramp(3000, 0x80000000, 5))), insert(rng, reversed(ramp(3000, 0, 5)))},
		"ends":       {insert(rng, ramp(300, all-299, 1)), insert(rng, ramp(300, 0, 1)), {kind: structures.Delete, keys: ramp(600, all-299, 1)}},
		"random": {insert(rng, uniqueKeys(rng, 30000)), insert(rng, uniqueKeys(rng, 30000)), insert(rng, uniqueKeys(rng, 500)),
			{kind: structures.InsertUnique, keys: below(rng, 5000, all), values: randomWords(rng, 5000)}},
		"small and large": {insert(rng, below(rng, 1000, 1<<20)), insert(rng, below(rng, 40000, 1<<20)), insert(rng, below(rng, 1, 1<<20)),
			mixed(rng, below(rng, 20000, 1<<19))},
		"few keys": {mixed(rng, below(rng, 9000, 50)), mixed(rng, below(rng, 9000, 50)), {kind: structures.InsertUnique, keys: below(rng, 900, 100), values: randomWords(rng, 900)}},
		"unique and equal": {{kind: structures.InsertUnique, keys: equal(4000, 3), values: randomWords(rng, 4000)},
			{kind: structures.InsertUnique, keys: append(equal(4000, 3), equal(100, 4)...), values: randomWords(rng, 4100)}},
		"mixed": {mixed(rng, below(rng, 20000, 1<<15)), mixed(rng, below(rng, 20000, 1<<15)), mixed(rng, below(rng, 20000, all))},
		"all deleted": {insert(rng, ramp(20000, 0, 77)), {kind: structures.Delete, keys: ramp(20000, 0, 77)}, insert(rng, ramp(3000, 5, 8)),
			{kind: structures.Delete, keys: ramp(30000, 0, 1)}},
		"absent deleted": {insert(rng, ramp(100, 0, 1000000)), {kind: structures.Delete, keys: ramp(20000, 1, 3)}},
	}
	for name, batches := range cases {
		for _, statuses := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/statuses=%t", name, statuses), func(t *testing.T) {
				r := newBatchRig(t, d, Options{})
				for _, b := range batches {
					r.do(b, statuses)
					r.check()
				}
			})
		}
	}
}
