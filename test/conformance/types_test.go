package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// typed is a dictionary of any types.
type typed[K, V structures.Number] interface{ structures.Dictionary[K, V] }

type (
	seconds int32
	price   float32
)

// Values have their own type's sum, minimum and maximum in every structure, on every path, beside keys of either width.
func TestUpdatesOfTypes(t *testing.T) {
	pass.OneLavapipe(t, "TestValue has the arithmetic at all widths")
	pass.Unvalidated(t, "other tests make the same calls")
	d := testdevice.Open(t) // SwiftShader has the protocols without 64-bit atomics
	testUpdatesOfTypes[uint64, uint32](t, d, false)
	testUpdatesOfTypes[uint32, seconds](t, d, true)
	testUpdatesOfTypes[int32, int64](t, d, false)
	testUpdatesOfTypes[int32, price](t, d, false)
	testUpdatesOfTypes[int64, float32](t, d, false)
	testUpdatesOfTypes[uint32, float64](t, d, true)
}

func testUpdatesOfTypes[K, V structures.Number](t *testing.T, d *vk.Device, snapshots bool) {
	t.Run(fmt.Sprintf("%T by %T", *new(V), *new(K)), func(t *testing.T) {
		all := []structures.Kind{structures.InsertAdd, structures.InsertMin, structures.InsertMax}
		// Compilers take a second for each kind of a concurrent kernel, and mixed batches have all of them.
		one := []structures.Kind{structures.InsertAdd}
		if structures.Signed[V]() {
			one = []structures.Kind{structures.InsertMin}
		}
		for _, x := range []struct {
			name  string
			open  func(ctx context.Context) (typed[K, V], error)
			kinds []structures.Kind
		}{
			{"slabhash", func(ctx context.Context) (typed[K, V], error) {
				return slabhash.New[K, V](ctx, d, slabhash.Options{Buckets: 4})
			}, one},
			{"btree, concurrent", func(ctx context.Context) (typed[K, V], error) {
				return btree.New[K, V](ctx, d, btree.Options{Path: btree.Concurrent})
			}, one},
			{"btree, batched", func(ctx context.Context) (typed[K, V], error) {
				return btree.New[K, V](ctx, d, btree.Options{Path: btree.Batched})
			}, all},
			{"btree, at a snapshot", func(ctx context.Context) (typed[K, V], error) {
				tree, err := btree.New[K, V](ctx, d, btree.Options{Path: btree.Concurrent})
				if err == nil {
					_, err = tree.Snapshot(ctx) // which the tree closes
				}
				return tree, err
			}, one},
			{"sortedarray", func(ctx context.Context) (typed[K, V], error) {
				return sortedarray.New[K, V](ctx, d, sortedarray.Options{})
			}, all},
			{"lsm", func(ctx context.Context) (typed[K, V], error) {
				return lsm.New[K, V](ctx, d, lsm.Options{Batch: 64})
			}, all},
		} {
			snapshot := x.name == "btree, at a snapshot"
			if snapshot && !snapshots {
				continue
			}
			t.Run(x.name, func(t *testing.T) {
				of, err := x.open(t.Context())
				require.NoError(t, err)
				defer func() { require.NoError(t, of.Close()) }()
				u := typedUpdates[K, V]{t: t, d: d, of: of, want: map[K]V{}, rng: rand.New(rand.NewPCG(36, 5)),
					moments: snapshot}
				for _, kind := range x.kinds {
					u.slices(kind, 300)
					u.stream(kind, 300)
					u.mixed(300)
					u.crowd(kind, 20_000)
				}
			})
		}
	})
}

// typedUpdates are updates of a dictionary, and a map that has what becomes of them.
type typedUpdates[K, V structures.Number] struct {
	t    *testing.T
	d    *vk.Device
	of   typed[K, V]
	want map[K]V
	rng  *rand.Rand

	moments bool // mixed batches have an operation that sees a moment of its own
}

// extremes are values at which sums wrap, orders differ by type, or floats are special.
func extremes[V structures.Number]() []V {
	code := structures.KeyCode[V]()
	all := []V{structures.Least[V](), structures.Greatest[V](), 0, 1, 2}
	if structures.Float[V]() {
		inf, zero := V(0), V(0)
		inf = 1 / inf
		all = []V{0, -zero, inf, -inf, V(3) / 2, -V(9) / 4, 1 << 8}
		return append(all, canonical(inf-inf))
	}
	if structures.Signed[V]() {
		all = append(all, code.Of(code.Word(0)-1), code.Of(code.Word(0)-2))
	}
	return append(all, code.Of(code.Word(structures.Greatest[V]())/2), code.Of(code.Word(structures.Greatest[V]())/2+1))
}

// canonical is a number, or the one that sums which are none are.
func canonical[V structures.Number](v V) V {
	if v == v {
		return v
	}
	if structures.WidthOf[V]() == structures.Bits64 {
		return structures.KeyCode[V]().Of(0x7ff8_0000_0000_0000 | 1<<63)
	}
	return structures.KeyCode[V]().Of(0x7fc0_0000 | 1<<31)
}

// batch draws n operations on some keys of few: of floats, sums that are exact in any order.
func (u typedUpdates[K, V]) batch(n int) (keys []K, values []V) {
	special := extremes[V]()
	few := u.rng.IntN(2) == 0
	for range n {
		k := u.rng.IntN(150)
		if few {
			k = u.rng.IntN(5)
		}
		v := V(u.rng.IntN(2000))
		switch {
		case k%3 == 0:
			v = special[u.rng.IntN(len(special))]
		case structures.Float[V]() || structures.Signed[V]():
			v -= 1000
		}
		keys, values = append(keys, structures.KeyCode[K]().Of(uint64(k)*7)), append(values, v)
	}
	return keys, values
}

// do does an operation to the map.
func (u typedUpdates[K, V]) do(kind structures.Kind, key K, value V) {
	old, there := u.want[key]
	code := structures.KeyCode[V]()
	switch {
	case !there:
		u.want[key] = value
	case kind == structures.InsertAdd:
		u.want[key] = canonical(old + value)
	case kind == structures.InsertMin && code.Word(value) < code.Word(old),
		kind == structures.InsertMax && code.Word(value) > code.Word(old):
		u.want[key] = value
	}
}

func (u typedUpdates[K, V]) slices(kind structures.Kind, n int) {
	keys, values := u.batch(n)
	require.NoError(u.t, u.of.UpdateInto(u.t.Context(), kind, keys, values, nil), kind)
	for i, key := range keys {
		u.do(kind, key, values[i])
	}
	u.holds(kind.String())
}

// crowd is slices on three keys, on which compare-and-swaps fail where others are faster.
func (u typedUpdates[K, V]) crowd(kind structures.Kind, n int) {
	keys, values := make([]K, n), make([]V, n)
	for i := range keys {
		keys[i], values[i] = structures.KeyCode[K]().Of(uint64(5000+u.rng.IntN(3))), V(u.rng.IntN(250))
		if (structures.Float[V]() || structures.Signed[V]()) && u.rng.IntN(2) == 0 {
			values[i] = -values[i]
		}
		u.do(kind, keys[i], values[i])
	}
	require.NoError(u.t, u.of.UpdateInto(u.t.Context(), kind, keys, values, nil), kind)
	u.holds(kind.String() + " on three keys")
}

// stream is slices on device buffers.
func (u typedUpdates[K, V]) stream(kind structures.Kind, n int) {
	ctx, code := u.t.Context(), structures.ValueCode[K, V]()
	keys, values := u.batch(n)
	var words, valueWords []uint64
	for i, key := range keys {
		words = append(words, structures.KeyCode[K]().Word(key))
		valueWords = append(valueWords, code.Word(values[i]))
		u.do(kind, key, values[i])
	}
	upload := func(all []uint64) *vk.Buffer[uint32] {
		if max(structures.WidthOf[K](), structures.WidthOf[V]()) == structures.Bits64 {
			return testdevice.Upload(u.t, u.d, numbers.Words(all))
		}
		return testdevice.Upload(u.t, u.d, numbers.Each(all, func(w uint64) uint32 { return uint32(w) }))
	}
	b := structures.DeviceBatch{Count: len(keys), Keys: upload(words), Values: upload(valueWords),
		Status: testdevice.Room[uint8](u.t, u.d, (len(keys)+3)&^3), Left: testdevice.Upload(u.t, u.d, []uint32{0})}
	s := testdevice.Stream(u.t, u.d)
	require.NoError(u.t, onstream.Of(u.of).On(s).Update(ctx, kind, b))
	require.NoError(u.t, onstream.Of(u.of).On(s).Finish(ctx, kind, b))
	u.holds(kind.String() + " on a stream")
}

// mixed is a mixed batch, in which a key has operations of one kind only: so their order is of no account.
func (u typedUpdates[K, V]) mixed(n int) {
	var b structures.Batch[K, V]
	b.Keys, b.Values = u.batch(n)
	for i, key := range b.Keys {
		kind := structures.InsertAdd + structures.Kind(uint64(structures.KeyCode[K]().Word(key))%3)
		b.Kinds = append(b.Kinds, kind)
		u.do(kind, key, b.Values[i])
	}
	if u.moments { // of one operation
		b.Kinds, b.Keys, b.Values = append(b.Kinds, structures.FindCeil), append(b.Keys, 0), append(b.Values, 0)
		b.Highs, b.Width, b.OwnMoments = make([]K, n+1), 1, true
	}
	_, err := u.of.Apply(u.t.Context(), b)
	require.NoError(u.t, err)
	u.holds("mixed")
}

// holds requires that the dictionary has what the map has, bit by bit.
func (u typedUpdates[K, V]) holds(what string) {
	keys, code := []K{}, structures.KeyCode[V]()
	for key := range u.want {
		keys = append(keys, key)
	}
	values, found, err := u.of.Find(u.t.Context(), keys)
	require.NoError(u.t, err)
	for i, key := range keys {
		require.True(u.t, found[i], "%s: key %v", what, key)
		if want := u.want[key]; code.Word(want) != code.Word(values[i]) {
			u.t.Fatalf("%s: key %v has %v, want %v", what, key, values[i], want)
		}
	}
}
