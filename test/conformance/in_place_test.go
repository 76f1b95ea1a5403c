package conformance

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/u32"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// open are the dictionaries that sort their batches, and with hashed those that don't.
func open(t *testing.T, d *vk.Device, hashed bool) map[string]u32.Dictionary {
	all := map[string]u32.Dictionary{}
	ctx := t.Context()
	add := func(name string, x u32.Dictionary, err error) {
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, x.Close()) })
		all[name] = x
	}
	l, err := lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: 512})
	add("lsm", l, err)
	a, err := sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
	add("sortedarray", a, err)
	b, err := btree.New[uint32, uint32](ctx, d, btree.Options{Path: btree.Batched})
	add("btree, batched", b, err)
	if hashed {
		m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
		add("slabhash", m, err)
	}
	return all
}

// Where a mixed batch has an order, all kinds of insertions that a key gets in it come to what they do one after
// another, however many there are: sums and extrema can't be made one.
func TestMixedUpdatesOfOneKey(t *testing.T) {
	const n = 4000
	for name, x := range open(t, testdevice.Open(t), false) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(12, 1))
			kinds := append([]structures.Kind{structures.Insert}, meetingKinds...)
			all := map[uint32]uint32{}
			for _, keys := range []uint32{1, 3, 400, 1 << 30} {
				b := u32.Batch{}
				for range n {
					b.Keys = append(b.Keys, rng.Uint32N(keys))
					b.Kinds = append(b.Kinds, kinds[min(rng.IntN(12), len(kinds)-1)])
					b.Values = append(b.Values, rng.Uint32())
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
					if _, tree := x.(*btree.Tree[uint32, uint32]); !tree && b.Kinds[i] == structures.Delete {
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
	n := 1<<17 + 5000 // more than a chunk of a CPU device
	if testing.Short() {
		n = 20_000
	}
	keys, values := make([]uint32, n), ordercheck.Scattered(n, 1)
	for i := range keys {
		keys[i] = 7
		if i%1000 == 0 {
			keys[i] = uint32(i)
		}
	}
	for name, x := range open(t, testdevice.Open(t), true) {
		t.Run(name, func(t *testing.T) {
			all := map[uint32]uint32{}
			type insertion func(_ context.Context, keys, values []uint32) ([]structures.Status, error)
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
