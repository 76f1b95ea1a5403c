package conformance

import (
	"fmt"
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

// The calls that all structures have on streams mean the same on each: a batch begins at its First, Finish has it done,
// and kinds that are no updates are refused.
func TestOnStream(t *testing.T) {
	pass.OneLavapipe(t, "the kernels are those of calls from slices, which run at every width")
	d := testdevice.Open(t)
	testOnStream[uint32](t, d)
	testOnStream[uint64](t, d)
}

func testOnStream[W structures.Word](t *testing.T, d *vk.Device) {
	ctx := t.Context()
	const first, n = 3, 10
	var keys, values []W
	for i := range uint32(first + n) {
		keys, values = append(keys, numbers.Key[W](100*i)), append(values, numbers.Key[W](i+1))
	}
	m, err := slabhash.New[W, W](ctx, d, slabhash.Options{})
	require.NoError(t, err)
	tree, err := btree.New[W, W](ctx, d, btree.Options{})
	require.NoError(t, err)
	l, err := lsm.New[W, W](ctx, d, lsm.Options{Batch: 32})
	require.NoError(t, err)
	a, err := sortedarray.New[W, W](ctx, d, sortedarray.Options{})
	require.NoError(t, err)
	for _, of := range []Dictionary[W]{m, tree, l, a} {
		t.Cleanup(func() { require.NoError(t, of.Close()) }) // whether or not its subtest is skipped
		t.Run(fmt.Sprintf("%T", of), func(t *testing.T) {
			s := testdevice.Stream(t, d)
			k, v := testdevice.Upload(t, d, numbers.Words(keys)), testdevice.Upload(t, d, numbers.Words(values))
			status, left := testdevice.Room[uint8](t, d, 12), testdevice.Upload(t, d, []uint32{0})
			do := func(kind structures.Kind, b structures.DeviceBatch, want structures.Status) {
				t.Helper()
				require.NoError(t, onstream.Of(of).On(s).Update(ctx, kind, b))
				require.NoError(t, onstream.Of(of).On(s).Finish(ctx, kind, b))
				for _, got := range testdevice.Download(t, status, b.Count) {
					require.Equal(t, want, structures.Status(got))
				}
				require.Zero(t, testdevice.Download(t, left, 1)[0])
			}
			all := structures.DeviceBatch{Count: n, First: first, Keys: k, Values: v, Status: status, Left: left}
			do(structures.Insert, all, structures.Inserted)
			do(structures.Insert, all, structures.Assigned)
			do(structures.InsertUnique, all, structures.Found)
			do(structures.InsertAdd, all, structures.Assigned)
			do(structures.InsertMin, all, structures.Assigned) // which is what there was before the addition
			do(structures.Delete, structures.DeviceBatch{Count: 2, First: first + 5, Keys: k, Status: status,
				Left: left}, structures.Deleted)

			got, found := testdevice.Upload(t, d, numbers.Words(make([]W, len(keys)))), testdevice.Room[uint8](t, d, 16)
			require.NoError(t, onstream.Of(of).On(s).Find(structures.DeviceLookups{Count: len(keys), Keys: k,
				Values: got, Found: found}))
			require.NoError(t, s.Wait(ctx))
			there := testdevice.Download(t, found, len(keys))
			for i, value := range numbers.From[W](testdevice.Download(t, got, got.Len())) {
				if i < first || i == first+5 || i == first+6 {
					require.Zero(t, there[i], i)
					require.Zero(t, value, i)
				} else {
					require.EqualValues(t, 1, there[i], i)
					require.Equal(t, values[i], value, i)
				}
			}

			var kind *structures.KindError
			for _, k := range []structures.Kind{structures.Mixed, structures.Find, structures.CountRange, 200} {
				require.ErrorAs(t, onstream.Of(of).On(s).Update(ctx, k, all), &kind, "%v", k)
			}
			var length *structures.LengthError
			for what, spoil := range map[string]func(b *structures.DeviceBatch){
				"no keys":         func(b *structures.DeviceBatch) { b.Keys = nil },
				"no values":       func(b *structures.DeviceBatch) { b.Values = nil },
				"beyond the keys": func(b *structures.DeviceBatch) { b.First = first + 1 },
				"before the keys": func(b *structures.DeviceBatch) { b.First = -1 },
				"too little room for these": func(b *structures.DeviceBatch) {
					b.Status = testdevice.Room[uint8](t, d, 8)
				},
			} {
				b := all
				spoil(&b)
				require.ErrorAs(t, onstream.Of(of).On(s).Update(ctx, structures.Insert, b), &length, what)
			}
			require.NoError(t, of.Close())
			require.ErrorIs(t, onstream.Of(of).On(s).Update(ctx, structures.Insert, all), vk.ErrClosed)
			require.ErrorIs(t, onstream.Of(of).On(s).Finish(ctx, structures.Insert, all), vk.ErrClosed)
		})
	}
}
