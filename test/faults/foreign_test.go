package faults

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

const room = 64 // elements of each buffer

// filled returns a batch in device buffers, all of whose buffers are of one device, and whose other numbers are 1.
func filled[B any](t *testing.T, d *vk.Device) B {
	t.Helper()
	var b B
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Pointer:
			f.Set(reflect.ValueOf(newBuffer(t, d, f.Interface())))
		case f.CanInt() && v.Type().Field(i).Name != "First":
			f.SetInt(1)
		}
	}
	return b
}

// newBuffer makes a buffer of the type that like has.
func newBuffer(t *testing.T, d *vk.Device, like any) any {
	t.Helper()
	var b any
	var err error
	switch like.(type) {
	case *vk.Buffer[uint8]:
		b, err = vk.NewBuffer[uint8](d, room)
	case *vk.Buffer[uint32]:
		b, err = vk.NewBuffer[uint32](d, room)
	case *vk.Buffer[uint64]:
		b, err = vk.NewBuffer[uint64](d, room)
	default:
		t.Fatalf("no buffer: %T", like)
	}
	require.NoError(t, err)
	t.Cleanup(b.(interface{ Free() }).Free)
	return b
}

// refusing looks what a call does with each buffer of another device or freed in turn, and with a stream of another
// device or closed: it says what is wrong, and records nothing.
func refusing[B any](t *testing.T, name string, d, other *vk.Device, unused []string,
	call func(s *vk.Stream, b B) error) {
	t.Run(name, func(t *testing.T) {
		s, err := d.NewStream()
		require.NoError(t, err)
		defer s.Close()
		before, err := s.Submit()
		require.NoError(t, err)
		refused := func(what string, err error, foreign bool) {
			t.Helper()
			var e *vk.ForeignError
			if foreign {
				require.ErrorAs(t, err, &e, what)
			} else {
				require.ErrorIs(t, err, vk.ErrClosed, what)
			}
			after, err := s.Submit()
			require.NoError(t, err)
			require.Equal(t, before, after, "%s: something was recorded", what)
		}
		fields := reflect.TypeFor[B]()
		for i := range fields.NumField() {
			if fields.Field(i).Type.Kind() != reflect.Pointer || slices.Contains(unused, fields.Field(i).Name) {
				continue
			}
			b := filled[B](t, d)
			f := reflect.ValueOf(&b).Elem().Field(i)
			own := f.Interface()
			f.Set(reflect.ValueOf(newBuffer(t, other, own)))
			refused(fields.Field(i).Name, call(s, b), true)
			own.(interface{ Free() }).Free()
			f.Set(reflect.ValueOf(own))
			refused(fields.Field(i).Name, call(s, b), false)
		}
		foreign, err := other.NewStream()
		require.NoError(t, err)
		refused("stream", call(foreign, filled[B](t, d)), true)
		require.NoError(t, foreign.Wait(t.Context()))
		require.NoError(t, foreign.Close())
		gone, err := d.NewStream()
		require.NoError(t, err)
		require.NoError(t, gone.Close())
		refused("closed stream", call(gone, filled[B](t, d)), false)
	})
}

// What is of another device, or of use no more, is refused by every call that takes buffers, streams or pools.
func TestThingsOfAnotherDevice(t *testing.T) {
	ctx := t.Context()
	d, other := testdevice.Open(t, vk.Options{MemoryLimit: 1 << 30}),
		testdevice.Open(t, vk.Options{MemoryLimit: 1<<30 + 1})

	pool, err := alloc.NewSlabPool(ctx, other, alloc.PoolOptions{})
	require.NoError(t, err)
	var foreign *vk.ForeignError
	_, err = slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Pool: pool})
	require.ErrorAs(t, err, &foreign)
	_, err = slabhash.NewSet[uint32](ctx, d, slabhash.Options{Pool: pool})
	require.ErrorAs(t, err, &foreign)
	s, err := d.NewStream()
	require.NoError(t, err)
	require.ErrorAs(t, slabs.Of(pool).Occupy(s, 0), &foreign)
	require.NoError(t, s.Wait(ctx))
	require.NoError(t, pool.Close())
	_, err = slabhash.New[uint32, uint32](ctx, other, slabhash.Options{Pool: pool})
	require.ErrorIs(t, err, vk.ErrClosed)

	// Primitives know addresses alone, and can look at the stream only.
	theirs, err := other.NewStream()
	require.NoError(t, err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()
	require.ErrorAs(t, p.Iota(theirs, 256, 8), &foreign)
	require.NoError(t, theirs.Wait(ctx))

	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	require.NoError(t, err)
	defer m.Close()
	ofOrder := []string{"Highs", "OutKeys", "OutValues", "Windows"}
	refusing(t, "slabhash/ApplyOn", d, other, ofOrder,
		func(s *vk.Stream, b structures.DeviceBatch) error { return m.On(s).Apply(structures.Mixed, b) })
	refusing(t, "slabhash/Finish", d, other, ofOrder, func(s *vk.Stream, b structures.DeviceBatch) error {
		return m.On(s).Finish(ctx, structures.Mixed, b)
	})
	refusing(t, "slabhash/FindOn", d, other, nil,
		func(s *vk.Stream, l structures.DeviceLookups) error { return m.On(s).Find(l) })

	tree, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	refusing(t, "btree/ApplyOn", d, other, nil, func(s *vk.Stream, b structures.DeviceBatch) error {
		return tree.On(s).Apply(structures.Mixed, b)
	})
	refusing(t, "btree/Finish", d, other, nil, func(s *vk.Stream, b structures.DeviceBatch) error {
		return tree.On(s).Finish(ctx, structures.Mixed, b)
	})
	besideUpdates := append(ofOrder, "Kinds", "Left")
	refusing(t, "btree/BuildOn", d, other, append(besideUpdates, "Status"),
		func(s *vk.Stream, b structures.DeviceBatch) error {
			return tree.On(s).Build(ctx, b)
		})
	refusing(t, "btree/WindowOn", d, other, nil,
		func(s *vk.Stream, w structures.DeviceWindow) error { return tree.On(s).Window(w) })

	a, err := sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
	require.NoError(t, err)
	defer a.Close()
	l, err := lsm.New[uint32, uint32](ctx, d, lsm.Options{})
	require.NoError(t, err)
	defer l.Close()
	for name, of := range map[string]any{"slabhash": m, "btree": tree, "sortedarray": a, "lsm": l} {
		unused := besideUpdates
		if name == "slabhash" {
			unused = append(ofOrder, "Kinds")
		}
		refusing(t, name+"/UpdateOn", d, other, unused, func(s *vk.Stream, b structures.DeviceBatch) error {
			return onstream.Of(of).On(s).Update(ctx, structures.Insert, b)
		})
		refusing(t, name+"/UpdateOn deleting", d, other, append(unused, "Values"),
			func(s *vk.Stream, b structures.DeviceBatch) error {
				return onstream.Of(of).On(s).Update(ctx, structures.Delete, b)
			})
	}
	for _, o := range []any{tree, a, l} {
		name := fmt.Sprintf("%T/", o)
		refusing(t, name+"FindOn", d, other, nil, func(s *vk.Stream, l structures.DeviceLookups) error {
			return onstream.Of(o).Ordered(s).Find(l)
		})
		refusing(t, name+"CountOn", d, other, nil, func(s *vk.Stream, c structures.DeviceCounts) error {
			return onstream.Of(o).Ordered(s).Count(c)
		})
		refusing(t, name+"RangeOn", d, other, nil, func(s *vk.Stream, r structures.DeviceRanges) error {
			return onstream.Of(o).Ordered(s).Range(r)
		})
		refusing(t, name+"NeighborOn", d, other, nil, func(s *vk.Stream, n structures.DeviceNeighbors) error {
			return onstream.Of(o).Ordered(s).Neighbor(structures.Ceil, n)
		})
		refusing(t, name+"FinishNeighbors", d, other, nil, func(s *vk.Stream, n structures.DeviceNeighbors) error {
			return onstream.Of(o).Ordered(s).FinishNeighbors(ctx, structures.Ceil, n)
		})
	}
}
