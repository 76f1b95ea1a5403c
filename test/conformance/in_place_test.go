package conformance

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// open are the dictionaries that sort their batches, and with hashed those that don't.
func open[W structures.Word](t *testing.T, d *vk.Device, hashed bool) map[string]Dictionary[W] {
	all := map[string]Dictionary[W]{}
	ctx := t.Context()
	add := func(name string, x Dictionary[W], err error) {
		if structures.WidthOf[W]() == structures.Bits64 {
			name += ", 64 bits"
		}
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, x.Close()) })
		all[name] = x
	}
	l, err := lsm.New[W, W](ctx, d, lsm.Options{Batch: 512})
	add("lsm", l, err)
	a, err := sortedarray.New[W, W](ctx, d, sortedarray.Options{})
	add("sortedarray", a, err)
	b, err := btree.New[W, W](ctx, d, btree.Options{Path: btree.Batched})
	add("btree, batched", b, err)
	if hashed {
		m, err := slabhash.New[W, W](ctx, d, slabhash.Options{})
		add("slabhash", m, err)
	}
	return all
}

// Where a mixed batch has an order, all kinds of insertions that a key gets in it come to what they do one after
// another, however many there are: sums and extrema can't be made one.
func TestMixedUpdatesOfOneKey(t *testing.T) {
	d := testdevice.Open(t)
	testMixedUpdatesOfOneKey[uint32](t, d)
	testMixedUpdatesOfOneKey[uint64](t, d)
}

func testMixedUpdatesOfOneKey[W structures.Word](t *testing.T, d *vk.Device) {
	const n = 4000
	for name, x := range open[W](t, d, false) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(12, 1))
			kinds := append([]structures.Kind{structures.Insert}, meetingKinds...)
			all := map[W]W{}
			for _, keys := range []uint32{1, 3, 400, 1 << 30} {
				b := Batch[W]{}
				for range n {
					b.Keys = append(b.Keys, numbers.Key[W](rng.Uint32N(keys)))
					b.Kinds = append(b.Kinds, kinds[min(rng.IntN(12), len(kinds)-1)])
					b.Values = append(b.Values, numbers.Value[W](rng.Uint32()))
				}
				b.Kinds[n/2], b.Kinds[n-1] = structures.Delete, structures.Delete
				r, err := x.Apply(t.Context(), b)
				require.NoError(t, err)
				one := func(i int) {
					old, there := all[b.Keys[i]]
					want, value := structures.Inserted, b.Values[i]
					switch {
					case b.Kinds[i] == structures.Delete:
						delete(all, b.Keys[i])
						if want = structures.Absent; there {
							want = structures.Deleted
						}
						require.Equal(t, want, r.Status[i], "operation %d", i)
						return
					case there:
						value, want = ordercheck.After(b.Kinds[i], old, value)
					}
					require.Equal(t, want, r.Status[i], "operation %d", i)
					all[b.Keys[i]] = value
				}
				var last []int // where deletions come last
				for i := range n {
					if _, tree := x.(*btree.Tree[W, W]); !tree && b.Kinds[i] == structures.Delete {
						last = append(last, i)
						continue
					}
					one(i)
				}
				for _, i := range last {
					one(i)
				}
				ordercheck.Holds(t.Context(), t, x, all, b.Keys)
			}
		})
	}
}

// One key so often that its operations are in many parts of a batch, and in several batches on the device. Each is done
// once.
func TestOneKeyOverAndOver(t *testing.T) {
	d := testdevice.Open(t)
	testOneKeyOverAndOver[uint32](t, d)
	testOneKeyOverAndOver[uint64](t, d)
}

func testOneKeyOverAndOver[W structures.Word](t *testing.T, d *vk.Device) {
	n := 1<<17 + 5000 // more than a chunk of a CPU device
	if testing.Short() || structures.WidthOf[W]() == structures.Bits64 {
		n = 20_000
	}
	keys, values := make([]W, n), numbers.Each(ordercheck.Scattered(n, 1), numbers.Value[W])
	for i := range keys {
		keys[i] = 7
		if i%1000 == 0 {
			keys[i] = numbers.Key[W](uint32(i))
		}
	}
	for name, x := range open[W](t, d, true) {
		t.Run(name, func(t *testing.T) {
			all := map[W]W{}
			type insertion func(_ context.Context, keys, values []W) ([]structures.Status, error)
			for kind, insert := range map[structures.Kind]insertion{
				structures.InsertAdd: x.InsertAdd, structures.InsertMax: x.InsertMax,
				structures.InsertUnique: x.InsertUnique,
			} {
				statuses, err := insert(t.Context(), keys, values)
				require.NoError(t, err)
				ordercheck.Do(t, all, kind, keys, values, statuses)
			}
			ordercheck.Holds(t.Context(), t, x, all, keys)
		})
	}
}
