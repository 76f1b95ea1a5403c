package combine

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/host"
)

// A caller stands between pushing its call and counting it, and a worker has taken the call: the count is too small, so
// that the next caller sleeps. Close has the next call done, however long the first caller stands.
func TestCloseBesideUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := New[uint32, uint32](host.NewTree[uint32, uint32](), Options{})
		require.NoError(t, err)
		require.NoError(t, d.Put(t.Context(), 1, 2)) // so that enough is 1
		d.core.queue.operations.Add(-1)
		done := false
		go func() {
			value, found, err := d.Get(t.Context(), 1)
			require.Equal(t, []any{uint32(2), true, nil}, []any{value, found, err})
			done = true
		}()
		synctest.Wait()
		require.False(t, done, "the call is not in the queue")
		require.NoError(t, d.Close())
		synctest.Wait()
		require.True(t, done)
	})
}

// A call of one key is in two cache lines, whatever its types.
func TestCacheLines(t *testing.T) {
	cacheLines[uint32, uint32](t)
	cacheLines[uint32, float64](t)
	cacheLines[int64, uint32](t)
	cacheLines[uint64, uint64](t)
}

func cacheLines[K, V structures.Number](t *testing.T) {
	const line = 64
	var x *call[K, V]
	require.LessOrEqual(t, unsafe.Offsetof(x.value)+unsafe.Sizeof(x.value[0]), uintptr(2*line))
	all := make([]*call[K, V], 20) // the allocator puts them beside each other
	for i := range all {
		all[i] = new(call[K, V])
		require.Zero(t, uintptr(unsafe.Pointer(all[i]))%line, "%T", x)
	}
}

// badError is an error whose methods panic.
type badError struct{}

func (badError) Error() string { return "bad" }
func (badError) Unwrap() error { panic("bad") }

// bad is a dictionary whose lookups return such an error.
type bad struct{ *host.Tree[uint32, uint32] }

func (bad) FindInto(context.Context, []uint32, []uint32, []bool) error { return badError{} }

// If a method of the dictionary's error panics, the calls of the batch return a *PanicError, also those that another
// goroutine answers.
func TestErrorPanics(t *testing.T) {
	d, err := New[uint32, uint32](bad{host.NewTree[uint32, uint32]()}, Options{})
	require.NoError(t, err)
	d.core.under = most // so that all calls wait
	var all sync.WaitGroup
	for range 3 * part {
		all.Go(func() {
			_, _, err := d.Get(t.Context(), 1)
			var panicked *PanicError
			assert.ErrorAs(t, err, &panicked)
		})
	}
	for d.core.queue.operations.Load() < 3*part {
		runtime.Gosched()
	}
	d.core.mu.Lock()
	d.core.under = 0
	d.core.begin(false)
	d.core.mu.Unlock()
	all.Wait()
	require.NoError(t, d.Close())
}
