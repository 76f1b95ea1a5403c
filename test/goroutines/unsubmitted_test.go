package goroutines

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/vk"
)

// While a stream has recorded updates and not submitted them, Find, Len and Stats return vk.ErrUnsubmitted; a sorted
// array submits what it records. As soon as they are submitted, all see them.
func TestUnsubmitted(t *testing.T) {
	t.Run("32", func(t *testing.T) { eachSubject(t, testUnsubmitted[uint32]) })
	t.Run("64", func(t *testing.T) { eachSubject(t, testUnsubmitted[uint64]) })
}

func testUnsubmitted[W structures.Word](t *testing.T, d *vk.Device, x dictionary[W]) {
	old, more := keysOf[W](0, 0), keysOf[W](1, 0)
	_, err := x.Insert(t.Context(), old, old)
	require.NoError(t, err)
	o := newOnStream(t, d, more)
	b := structures.DeviceBatch{Count: batch, Keys: o.keys, Values: o.values, Status: o.status, Left: o.left}
	on := onstream.Of(x).On(o.s)
	if s, is := any(x).(set[W]); is {
		on = s.On(o.s)
	}
	require.NoError(t, on.Update(t.Context(), structures.Insert, b))
	have := func() (int, error) {
		_, found, err := x.Find(t.Context(), append(old[:batch:batch], more...))
		n := 0
		for _, there := range found {
			if there {
				n++
			}
		}
		return n, err
	}
	if n, err := have(); err == nil {
		require.IsType(t, &sortedarray.Array[W, W]{}, x)
		require.Equal(t, 2*batch, n)
	} else {
		require.ErrorIs(t, err, vk.ErrUnsubmitted)
		_, err := x.Len(t.Context())
		require.ErrorIs(t, err, vk.ErrUnsubmitted)
		_, err = pairsByStats(t, x)
		require.ErrorIs(t, err, vk.ErrUnsubmitted)
		_, err = o.s.Submit()
		require.NoError(t, err)
		pairs, err := pairsByStats(t, x)
		require.NoError(t, err)
		require.EqualValues(t, 2*batch, pairs)
		n, err := have()
		require.NoError(t, err)
		require.Equal(t, 2*batch, n)
	}
	require.NoError(t, on.Finish(t.Context(), structures.Insert, b))
	n, err := have()
	require.NoError(t, err)
	require.Equal(t, 2*batch, n)
	length, err := x.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2*batch, length)
}

// pairsByStats is Pairs of what x.Inspect().Stats returns, which is of another type for each structure.
func pairsByStats(t *testing.T, x any) (uint64, error) {
	inspection := reflect.ValueOf(x).MethodByName("Inspect").Call(nil)[0]
	results := inspection.MethodByName("Stats").Call([]reflect.Value{reflect.ValueOf(t.Context())})
	err, _ := results[1].Interface().(error)
	return results[0].FieldByName("Pairs").Uint(), err
}
