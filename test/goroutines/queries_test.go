package goroutines

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// held is a structure with pairs, and a lookup that is at work on it until it is released.
type held struct {
	x       u32.Dictionary
	keys    []uint32
	armed   atomic.Bool
	in      chan struct{} // closed when the lookup is in
	release chan struct{}
	done    chan error // what the lookup has come to
}

// eachHeld runs a test with each structure while a lookup is at work on it: its progress report waits.
func eachHeld(t *testing.T, test func(t *testing.T, d *vk.Device, h *held)) {
	gate.Patient(t)
	d := testdevice.Open(t)
	for _, s := range subjects[uint32]() {
		t.Run(s.name, func(t *testing.T) {
			h := &held{keys: keysOf[uint32](0, 0), in: make(chan struct{}), release: make(chan struct{}),
				done: make(chan error, 1)}
			x, err := s.make(t.Context(), d, func(int, int) {
				if h.armed.CompareAndSwap(true, false) {
					close(h.in)
					<-h.release
				}
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, x.Close()) })
			h.x = x
			_, err = x.Insert(t.Context(), h.keys, h.keys)
			require.NoError(t, err)
			h.armed.Store(true)
			go func() {
				_, found, err := x.Find(t.Context(), h.keys)
				for _, there := range found {
					if err == nil && !there {
						t.Error("a key is not there")
						break
					}
				}
				h.done <- err
			}()
			<-h.in
			test(t, d, h)
		})
	}
}

// end lets the lookup go on.
func (h *held) end(t *testing.T) {
	t.Helper()
	close(h.release)
	require.NoError(t, <-h.done)
}

// later is a call that may have to wait: what it returned once it is through.
func later(call func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- call() }()
	return result
}

func requireWaiting(t *testing.T, call <-chan error) {
	t.Helper()
	select {
	case err := <-call:
		require.Fail(t, "it did not wait", "%v", err)
	case <-time.After(20 * time.Millisecond):
	}
}

// While one query is at work, others begin and end: from slices, by iterators, and on streams. With turns, the first of
// them would wait for its context's end.
func TestQueriesBesideAQuery(t *testing.T) {
	eachHeld(t, func(t *testing.T, d *vk.Device, h *held) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, found, err := h.x.Find(ctx, h.keys)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		there := make([]bool, batch)
		require.NoError(t, h.x.FindInto(ctx, h.keys, make([]uint32, batch), there))
		require.NotContains(t, there, false)
		n := 0
		for _, err := range h.x.All(ctx) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, batch, n)
		if o, ordered := h.x.(u32.Ordered); ordered {
			counts, err := o.Count(ctx, []u32.Range{u32.AllKeys})
			require.NoError(t, err)
			require.Equal(t, []uint32{batch}, counts)
			r, err := o.Range(ctx, []u32.Range{u32.AllKeys})
			require.NoError(t, err)
			require.Len(t, r.Keys, batch)
			ceil, err := o.Neighbor(ctx, structures.Ceil, h.keys)
			require.NoError(t, err)
			require.Equal(t, h.keys, ceil.Keys)
			_, _, _, err = numbers.Least(ctx, o)
			require.NoError(t, err)
		}
		if _, alone := h.x.(*btree.Tree[uint32, uint32]); !alone {
			n, err := h.x.Len(ctx)
			require.NoError(t, err)
			require.EqualValues(t, batch, n)
			_, err = h.x.Save(ctx, io.Discard)
			require.NoError(t, err)
		}
		if l, counts := h.x.(*lsm.LSM[uint32, uint32]); counts {
			stats, err := l.Inspect().Stats(ctx)
			require.NoError(t, err)
			require.EqualValues(t, batch, stats.Pairs)
		}
		one, two := newOnStream(t, d, h.keys), newOnStream(t, d, h.keys)
		each(2, func(g int) {
			o := []onStream{one, two}[g]
			if err := onstream.Of(h.x).On(o.s).Find(o.lookups()); err != nil {
				t.Errorf("%v", err)
			}
		})
		for _, o := range []onStream{one, two} {
			require.NoError(t, o.s.Wait(ctx))
			for _, there := range testdevice.Download(t, o.found, batch) {
				require.EqualValues(t, 1, there)
			}
		}
		h.end(t)
	})
}

// A change waits for the queries that came before it and is not overtaken by those that come later; who waits gives up
// with his context; and Close waits, too, after which all are told that it is too late.
func TestChangesBehindQueries(t *testing.T) {
	eachHeld(t, func(t *testing.T, d *vk.Device, h *held) {
		more := keysOf[uint32](0, 1)
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		statuses, err := h.x.Insert(soon, more, more)
		requirePending(t, batch, statuses, err, context.DeadlineExceeded)

		change := later(func() error { _, err := h.x.Insert(t.Context(), more, more); return err })
		requireWaiting(t, change)
		query := later(func() error {
			_, found, err := h.x.Find(t.Context(), more)
			if err == nil && !found[0] {
				t.Error("a query came before a change that was there first")
			}
			return err
		})
		requireWaiting(t, query)
		over, giveUp := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer giveUp()
		_, _, err = h.x.Find(over, more)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		h.end(t)
		require.NoError(t, <-change)
		require.NoError(t, <-query)
	})
	eachHeld(t, func(t *testing.T, d *vk.Device, h *held) {
		end := later(h.x.Close)
		requireWaiting(t, end)
		query := later(func() error { _, _, err := h.x.Find(t.Context(), h.keys); return err })
		requireWaiting(t, query)
		h.end(t)
		require.NoError(t, <-end)
		require.ErrorIs(t, <-query, vk.ErrClosed)
	})
}

// Queries of many goroutines, more than there are pipelines, while others change the structure: each call's answer is
// that of one moment, in which all of a batch is there or nothing of it.
func TestQueriesBesideChanges(t *testing.T) {
	testQueriesBesideChanges[uint32](t)
	testQueriesBesideChanges[uint64](t)
}

func testQueriesBesideChanges[W structures.Word](t *testing.T) {
	const readers, changes = 5, 4
	eachSubject(t, func(t *testing.T, d *vk.Device, x dictionary[W]) {
		keys := keysOf[W](0, 0)[:500]
		var over atomic.Bool
		each(readers+1, func(g int) {
			if g == 0 {
				defer over.Store(true)
				for i := range changes {
					kind := []structures.Kind{structures.Insert, structures.Delete}[i%2]
					if err := x.UpdateInto(t.Context(), kind, keys, keys, nil); err != nil {
						t.Errorf("%v: %v", kind, err)
					}
				}
				return
			}
			found := make([]bool, len(keys))
			for !over.Load() {
				if err := x.FindInto(t.Context(), keys, nil, found); err != nil {
					t.Errorf("%v", err)
					return
				}
				for _, there := range found {
					if there != found[0] {
						t.Error("a part of a batch is there")
						return
					}
				}
				if n, err := x.Len(t.Context()); err != nil || n != 0 && int(n) != len(keys) {
					t.Errorf("%d pairs: %v", n, err)
				}
				o, isOrdered := x.(ordered[W])
				if !isOrdered {
					continue
				}
				all, err := o.Range(t.Context(), []structures.Range[W]{structures.AllKeys[W]()})
				if err != nil || len(all.Keys) != 0 && len(all.Keys) != len(keys) {
					t.Errorf("%d pairs: %v", len(all.Keys), err)
				}
				counts, err := o.Count(t.Context(), []structures.Range[W]{structures.AllKeys[W](), {Lo: 5, Hi: 4}})
				if err != nil || counts[0] != 0 && int(counts[0]) != len(keys) {
					t.Errorf("%d keys: %v", counts[0], err)
				}
				n, err := o.Neighbor(t.Context(), structures.Ceil, keys)
				if err != nil || n.Found[0] && n.Keys[0] != keys[0] {
					t.Errorf("ceil: %v", err)
				}
			}
		})
	})
}
