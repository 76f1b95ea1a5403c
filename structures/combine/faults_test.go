package combine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/vk"
)

// held is a dictionary that notes the calls for batches, and keeps each until the test lets it go on.
type held struct {
	*fake
	began chan []uint32 // the keys of each call, when it begins
	goOn  chan error    // what the call returns before it does anything; nil: it goes on
}

func newHeld() *held {
	h := &held{newFake(), make(chan []uint32, 100), make(chan error)}
	wait := func(keys []uint32) error {
		h.began <- slices.Clone(keys)
		return <-h.goOn
	}
	h.find = func(_ context.Context, keys []uint32) error { return wait(keys) }
	h.update = func(_ context.Context, _ structures.Kind, keys, _ []uint32, _ []structures.Status) error {
		return wait(keys)
	}
	return h
}

// release lets all calls go on from now on.
func (h *held) release() { close(h.goOn) }

func combine1(t *testing.T, d structures.Dictionary[uint32, uint32], o combine.Options) *combine.Dictionary[uint32,
	uint32] {
	c, err := combine.New(d, o)
	require.NoError(t, err)
	return c
}

// later runs a call on a goroutine of its own, up to where it waits, in a bubble.
func later[T any](call func() T) <-chan T {
	result := make(chan T, 1)
	go func() { result <- call() }()
	synctest.Wait()
	return result
}

type callerKey struct{}

// A call alone is made by its caller, with the caller's context. Those that come meanwhile wait, and are one batch; at
// most two batches are under way, and calls begin in the order in which they come.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		find := h.find
		var contexts []any
		h.find = func(ctx context.Context, keys []uint32) error {
			contexts = append(contexts, ctx.Value(callerKey{}))
			return find(ctx, keys)
		}
		c := combine1(t, h, combine.Options{MaxBatch: 4})
		put := func(key uint32) <-chan error {
			return later(func() error {
				_, _, err := c.Get(context.WithValue(t.Context(), callerKey{}, key), key)
				return err
			})
		}
		var all []<-chan error
		for key := range uint32(9) {
			all = append(all, put(key))
		}
		require.Equal(t, []uint32{0}, <-h.began)
		require.Equal(t, []uint32{1}, <-h.began)
		require.Empty(t, h.began, "two are under way")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, h.began, "however long they wait")
		h.goOn <- nil
		require.Equal(t, []uint32{2, 3, 4, 5}, <-h.began, "as many as a batch may have, in their order")
		h.goOn <- nil
		synctest.Wait()
		if len(h.began) == 0 {
			time.Sleep(time.Millisecond) // three next to four wait for more, but not for long
		}
		require.Equal(t, []uint32{6, 7, 8}, <-h.began)
		h.release()
		for _, result := range all {
			require.NoError(t, <-result)
		}
		require.Equal(t, []any{uint32(0), uint32(1), nil, nil}, contexts, "a batch is nobody's")
		require.NoError(t, c.Close())
	})
}

// While one call is under way, another one begins, too, but a few next to a larger batch wait for more, for MaxWait.
func TestMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c := combine1(t, h, combine.Options{MaxWait: time.Minute})
		find := func(keys ...uint32) <-chan error {
			return later(func() error { return c.FindInto(t.Context(), keys, nil, nil) })
		}
		all := []<-chan error{find(0, 0, 0), find(1)}
		require.Equal(t, []uint32{0, 0, 0}, <-h.began)
		time.Sleep(time.Minute - 1)
		all = append(all, find(2))
		require.Empty(t, h.began)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []uint32{1, 2}, <-h.began, "the time of the first one is over")
		h.goOn <- nil
		h.goOn <- nil
		for _, result := range all {
			require.NoError(t, <-result)
		}
		all = []<-chan error{find(0, 0, 0), find(1, 1), find(2, 2, 2)}
		require.Equal(t, []uint32{0, 0, 0}, <-h.began)
		require.Equal(t, []uint32{1, 1, 2, 2, 2}, <-h.began, "enough to begin")
		h.release()
		for _, result := range all {
			require.NoError(t, <-result)
		}
		require.NoError(t, c.Close())
	})
}

// A call whose context ends while it waits does nothing. In a batch, it returns at once, nobody touches its slices
// afterwards, and the batch goes on for the others.
func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c := combine1(t, h, combine.Options{})
		home := errors.New("the user went home")
		ctx, cancel := context.WithCancelCause(t.Context())
		get := func() error { _, _, err := c.Get(t.Context(), 7); return err }
		alone := []<-chan error{later(get), later(get)}
		keys, values, status := []uint32{1, 2}, []uint32{10, 20}, []structures.Status{9, 9}
		waits := later(func() error { return c.UpdateInto(ctx, structures.Insert, keys, values, status) })
		cancel(home)
		err := <-waits
		require.Equal(t, &structures.PendingError{Operations: 2, Err: home}, err)
		require.Equal(t, []structures.Status{structures.Pending, structures.Pending}, status)
		keys[0], values[0] = 5, 5
		require.Equal(t, home, c.FindInto(ctx, keys, nil, nil), "it ended before")
		require.Equal(t, &structures.PendingError{Operations: 1, Err: home}, c.Put(ctx, 1, 1))

		ctx, cancel = context.WithCancelCause(t.Context())
		var all []<-chan error
		for range 2 {
			all = append(all, later(func() error { return c.Put(t.Context(), 3, 30) }))
		}
		inBatch := []<-chan error{
			later(func() error { return c.UpdateInto(ctx, structures.Insert, keys, values, status) }),
			later(func() error { _, err := c.Add(ctx, 3, 1); return err }),
			later(func() error { _, _, err := c.Find(ctx, keys); return err }),
		}
		<-h.began
		<-h.began
		h.goOn <- nil // the batch of those that wait begins with the lookup
		require.Equal(t, []uint32{5, 2}, <-h.began)
		h.goOn <- nil
		h.goOn <- nil // now with Insert
		require.Equal(t, []uint32{3, 3, 5, 2}, <-h.began)
		synctest.Wait()
		cancel(home)
		require.Equal(t, &combine.UnknownError{Operations: 2, Err: home}, <-inBatch[0])
		require.Equal(t, &structures.PendingError{Operations: 1, Err: home}, <-inBatch[1], "its group comes later")
		require.NoError(t, <-inBatch[2])
		keys[0], values[0], status[0] = 6, 6, 9
		h.release()
		for _, result := range append(all, alone...) {
			require.NoError(t, <-result)
		}
		require.Equal(t, structures.Status(9), status[0])
		require.Equal(t, map[uint32]uint32{2: 20, 3: 30, 5: 5}, contentsOf(t, h.Tree))
		require.NoError(t, c.Close())
	})
}

// Calls with one context wait at several channels for its end. All of them end with it, again and again with a new
// context, and others do not.
func TestManyCallsWithOneContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c := combine1(t, h, combine.Options{})
		get := func() error { _, _, err := c.Get(t.Context(), 7); return err }
		others := []<-chan error{later(get), later(get)}
		<-h.began
		<-h.began
		for round := range 3 {
			home := fmt.Errorf("round %d", round)
			ctx, cancel := context.WithCancelCause(t.Context())
			var all []<-chan error
			for range 600 {
				all = append(all, later(func() error { _, _, err := c.Get(ctx, 7); return err }))
			}
			others = append(others, later(get))
			synctest.Wait()
			cancel(home)
			for _, ended := range all {
				require.Equal(t, home, <-ended)
			}
		}
		h.release()
		for _, other := range others {
			require.NoError(t, <-other)
		}
		require.NoError(t, c.Close())
	})
}

func contentsOf(t *testing.T, d *host.Tree[uint32, uint32]) map[uint32]uint32 {
	all := map[uint32]uint32{}
	for p, err := range d.All(t.Context()) {
		require.NoError(t, err)
		all[p.Key] = p.Value
	}
	return all
}

// However many callers give up while the dictionary is busy, none stays behind in the queue.
func TestGivingUp(t *testing.T) {
	h := newHeld()
	c := combine1(t, h, combine.Options{})
	busy := together(2, func(i int) {
		if i == 0 {
			assert.NoError(t, c.Put(t.Context(), 1, 1))
		} else {
			assert.NoError(t, c.FindInto(t.Context(), []uint32{1}, nil, nil))
		}
	})
	<-h.began
	<-h.began
	var before, after runtime.MemStats
	ctx := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(rand.IntN(100))*time.Microsecond, cancel)
		return ctx
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	together(20, func(int) {
		keys := make([]uint32, 1000)
		for range 200 {
			var pending *structures.PendingError
			assert.ErrorAs(t, c.UpdateInto(ctx(), structures.Delete, keys, nil, nil), &pending)
		}
	})()
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, after.HeapAlloc, before.HeapAlloc+1<<20)
	h.release()
	busy()
	require.NoError(t, c.Close())
	require.Empty(t, h.began, "nothing of them was done")
}

// hold lets calls wait behind one that is under way, and returns their results once they were done in one batch.
func hold(t *testing.T, h *held, behind func() error, calls ...func() error) []error {
	first := later(behind)
	second := later(behind)
	<-h.began
	<-h.began
	var results []<-chan error
	for _, call := range calls {
		results = append(results, later(call))
	}
	h.release()
	var all []error
	for _, r := range results {
		all = append(all, <-r)
	}
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	return all
}

// An error goes to those whose operations it concerns: all of a failed lookup, and those whose updates are pending.
func TestErrors(t *testing.T) {
	lost := errors.New("lost")
	one := &structures.PendingError{Operations: 1, Err: lost}
	for _, test := range []struct {
		name   string
		find   error
		update func(keys []uint32, status []structures.Status) error
		want   []error // of Get, Put 1, Insert 2 and 3, Put 4, and on 3 CompareAndSet, Add and CompareAndSet
	}{
		{name: "none", want: make([]error, 7)},
		{name: "lookup", find: lost, want: []error{lost, nil, nil, nil, one, one, one}},
		{name: "all", update: func([]uint32, []structures.Status) error { return lost },
			want: []error{nil, lost, lost, lost, nil, lost, lost}},
		{name: "some", update: func(keys []uint32, status []structures.Status) error {
			for i, k := range keys {
				if status[i] = structures.Inserted; k == 3 {
					status[i] = structures.Pending
				}
			}
			return &structures.PendingError{Operations: 5, Err: lost}
		}, want: []error{nil, nil, one, nil, nil, one, one}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHeld()
				find, update := h.find, h.update
				h.find = func(ctx context.Context, keys []uint32) error {
					if err := find(ctx, keys); err != nil || keys[0] == 0 {
						return err // the call that the others wait for
					}
					return test.find
				}
				h.update = func(ctx context.Context, k structures.Kind, keys, values []uint32,
					status []structures.Status) error {
					if err := update(ctx, k, keys, values, status); err != nil || test.update == nil {
						return err
					}
					return test.update(keys, status)
				}
				c, ctx := combine1(t, h, combine.Options{}), t.Context()
				status := make([]structures.Status, 2)
				got := hold(t, h, func() error { return c.FindInto(ctx, []uint32{0}, nil, nil) },
					func() error { _, _, err := c.Get(ctx, 1); return err },
					func() error { return c.Put(ctx, 1, 1) },
					func() error {
						return c.UpdateInto(ctx, structures.Insert, []uint32{2, 3}, []uint32{2, 3}, status)
					},
					func() error { return c.Put(ctx, 4, 4) },
					func() error { _, err := c.CompareAndSet(ctx, 3, 77, 1); return err }, // sees what is there
					func() error { _, err := c.Add(ctx, 3, 1); return err },
					func() error { _, err := c.CompareAndSet(ctx, 3, 78, 1); return err }) // sees the sum
				require.Equal(t, test.want, got)
				if test.name == "some" {
					require.Equal(t, []structures.Status{structures.Inserted, structures.Pending}, status)
				}
				require.NoError(t, c.Close())
			})
		})
	}
}

// In a batch that several goroutines answer, each caller gets its own results and its own error: calls have different
// numbers of keys, some callers have left before the batch, and some updates are pending.
func TestManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		lost := errors.New("lost")
		update := h.update
		h.update = func(ctx context.Context, k structures.Kind, keys, values []uint32,
			status []structures.Status) error {
			if err := update(ctx, k, keys, values, status); err != nil {
				return err
			}
			for i, k := range keys {
				if status[i] = structures.Inserted + structures.Status(k%2); k%7 == 0 {
					status[i] = structures.Pending
				}
			}
			return &structures.PendingError{Operations: 9, Err: lost}
		}
		c := combine1(t, h, combine.Options{})
		ctx, leave := context.WithCancelCause(t.Context())
		const many = 300
		var calls []func() error
		values, status := make([][]uint32, many), make([][]structures.Status, many)
		var want []error
		key := uint32(1)
		for i := range many {
			keys := make([]uint32, 1+i%3)
			pending := 0
			for j := range keys {
				if keys[j] = key; key%7 == 0 {
					pending++
				}
				key++
			}
			_, err := h.Insert(t.Context(), keys, keys)
			require.NoError(t, err)
			values[i], status[i] = make([]uint32, len(keys)), make([]structures.Status, len(keys))
			of := t.Context()
			if i%5 == 0 {
				of = ctx
			}
			calls = append(calls, func() error {
				return c.FindInto(of, keys, values[i], nil)
			}, func() error {
				return c.UpdateInto(of, structures.Insert, keys, keys, status[i])
			})
			switch {
			case i%5 == 0:
				want = append(want, lost, &structures.PendingError{Operations: len(keys), Err: lost})
			case pending > 0:
				want = append(want, nil, &structures.PendingError{Operations: pending, Err: lost})
			default:
				want = append(want, nil, nil)
			}
		}
		calls = append(calls, func() error { leave(lost); return nil })
		got := hold(t, h, func() error { return c.FindInto(t.Context(), []uint32{0}, nil, nil) }, calls...)
		require.Equal(t, append(want, nil), got)
		key = 1
		for i := range many {
			for j := range values[i] {
				value, s := key, structures.Inserted+structures.Status(key%2)
				if i%5 == 0 || key%7 == 0 {
					s = structures.Pending
				}
				if i%5 == 0 {
					value = 0
				}
				require.Equal(t, value, values[i][j], "%d", key)
				require.Equal(t, s, status[i][j], "%d", key)
				key++
			}
		}
		require.NoError(t, c.Close())
	})
}

// Of deletions of equal keys by several calls, the first call has found them, all of them, whichever of the operations
// the dictionary has done first.
func TestDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 10 {
			h := newHeld()
			h.shuffles = true
			keys := []uint32{1, 2, 3}
			_, err := h.Insert(t.Context(), keys, keys)
			require.NoError(t, err)
			c := combine1(t, h, combine.Options{})
			var all [][]structures.Status
			var calls []func() error
			for range 4 {
				status := make([]structures.Status, 3)
				all = append(all, status)
				calls = append(calls, func() error {
					return c.UpdateInto(t.Context(), structures.Delete, keys, nil, status)
				})
			}
			find := func() error { return c.FindInto(t.Context(), keys[:1], nil, nil) }
			for _, err := range hold(t, h, find, calls...) {
				require.NoError(t, err)
			}
			for i, status := range all {
				want := structures.Absent
				if i == 0 {
					want = structures.Deleted
				}
				require.Equal(t, slices.Repeat([]structures.Status{want}, 3), status)
			}
			require.NoError(t, c.Close())
		}
	})
}

// If the dictionary panics or ends the goroutine, each caller of the batch gets an error, the other calls of the batch
// are done, and the dictionary can be used.
func TestPanics(t *testing.T) {
	boom := errors.New("boom")
	for name, fail := range map[string]func(){"panic": func() { panic(boom) }, "Goexit": runtime.Goexit} {
		for _, where := range []string{"find", "update"} {
			t.Run(name+" in "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHeld()
					find, update := h.find, h.update
					h.find = func(ctx context.Context, keys []uint32) error {
						err := find(ctx, keys)
						if where == "find" && slices.Contains(keys, 66) {
							fail()
						}
						return err
					}
					h.update = func(ctx context.Context, k structures.Kind, keys, values []uint32,
						status []structures.Status) error {
						err := update(ctx, k, keys, values, status)
						if where == "update" && slices.Contains(keys, 66) {
							fail()
						}
						return err
					}
					c, ctx := combine1(t, h, combine.Options{}), t.Context()
					got := hold(t, h, func() error { return c.FindInto(ctx, []uint32{0}, nil, nil) },
						func() error { _, _, err := c.Get(ctx, 66); return err },
						func() error { return c.Put(ctx, 66, 1) },
						func() error { return c.Put(ctx, 2, 2) },
						func() error { _, err := c.Delete(ctx, []uint32{3}); return err },
						func() error { _, _, err := c.Swap(ctx, 66, 1); return err })
					var panicked *combine.PanicError
					var unknown *combine.UnknownError
					for i, wrong := range map[string][]bool{"find": {true, false, false, false, true},
						"update": {false, true, true, false, true}}[where] {
						if !wrong {
							require.NoError(t, got[i])
							continue
						}
						require.ErrorAs(t, got[i], &panicked)
						require.Equal(t, name == "panic", errors.Is(got[i], boom))
						require.Equal(t, i != 0, errors.As(got[i], &unknown))
					}
					require.NoError(t, c.Put(ctx, 8, 8))
					if name == "panic" {
						synctest.Wait() // until no worker waits for more calls
						f := func() { _, _, _ = c.Swap(ctx, 66, 1) }
						require.PanicsWithValue(t, boom, f, "alone")
					}
					value, _, err := c.Get(ctx, 8)
					require.NoError(t, err)
					require.EqualValues(t, 8, value)
					require.NoError(t, c.Close())
				})
			})
		}
	}
}

// bad is a context of which one method panics.
// A dictionary that answers too little panics where its results are handed out: callers that have theirs keep them, and
// the others get the panic.
func TestTooFewResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c, err := combine.NewOrdered(short{h}, combine.Options{})
		require.NoError(t, err)
		ctx, all := t.Context(), []structures.Range[uint32]{structures.AllKeys[uint32]()}
		count := func() error { _, err := c.Count(ctx, all); return err }
		got := hold(t, h, func() error { return c.FindInto(ctx, []uint32{0}, nil, nil) }, count, count, count,
			func() error { return c.Put(ctx, 5, 5) })
		require.NoError(t, got[0])
		var panicked *combine.PanicError
		require.ErrorAs(t, got[1], &panicked)
		require.ErrorAs(t, got[2], &panicked)
		require.NoError(t, got[3])
		require.NoError(t, c.Close())
	})
}

// short counts only the first range.
type short struct{ *held }

func (s short) Count(ctx context.Context, ranges []structures.Range[uint32]) ([]uint32, error) {
	all, err := s.held.Count(ctx, ranges)
	return all[:1:1], err
}

type bad struct {
	context.Context
	method string
}

func (b bad) panics(method string) {
	if b.method == method {
		panic(method)
	}
}

func (b bad) Done() <-chan struct{} { b.panics("Done"); return b.Context.Done() }
func (b bad) Err() error            { b.panics("Err"); return b.Context.Err() }
func (b bad) Value(key any) any {
	if b.Context.Err() != nil {
		b.panics("Value")
	}
	return b.Context.Value(key)
}

// A context that panics, before a call waits or when it ends, panics in its caller. The call does nothing more, and
// nobody else notices.
func TestPanickingContexts(t *testing.T) {
	for _, method := range []string{"Done", "Err", "Value"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHeld()
			c := combine1(t, h, combine.Options{})
			get := func() error { _, _, err := c.Get(t.Context(), 1); return err }
			busy := []<-chan error{later(get), later(get)}
			ctx, cancel := context.WithCancel(t.Context())
			keys := []uint32{5}
			panicked := later(func() (value any) {
				defer func() { value = recover() }()
				return c.UpdateInto(bad{ctx, method}, structures.Insert, keys, keys, nil)
			})
			put := later(func() error { return c.Put(t.Context(), 2, 2) })
			cancel()
			require.Equal(t, method, <-panicked)
			keys[0] = 7
			h.release()
			for _, result := range append(busy, put) {
				require.NoError(t, <-result)
			}
			require.Equal(t, map[uint32]uint32{2: 2}, contentsOf(t, h.Tree))
			require.NoError(t, c.Close())
		})
	}
}

// Close under load: calls that have begun or wait are done, and later ones are refused. The dictionary inside is
// closed. In a bubble, the test also fails if a goroutine is left.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := delayed()
		c, err := combine.NewOrdered(d, combine.Options{MaxBatch: 5})
		require.NoError(t, err)
		var done atomic.Int64
		wait := together(50, func(i int) {
			for {
				_, err := c.Add(context.Background(), uint32(i%3), 1)
				if err != nil {
					assert.ErrorIs(t, err, vk.ErrClosed)
					return
				}
				done.Add(1)
			}
		})
		for done.Load() < 1000 {
			runtime.Gosched()
		}
		require.NoError(t, c.Close())
		require.NoError(t, c.Close())
		wait()
		_, err = d.Len(t.Context())
		require.ErrorIs(t, err, vk.ErrClosed)
	})
}

// Close waits for the calls under way and for those that wait.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c := combine1(t, h, combine.Options{})
		get := func() error { _, _, err := c.Get(t.Context(), 1); return err }
		all := []<-chan error{later(get), later(get), later(get), later(func() error {
			_, err := c.InsertUnique(t.Context(), []uint32{1}, []uint32{1})
			return err
		})}
		closed := later(c.Close)
		for range all {
			require.Empty(t, closed)
			require.ErrorIs(t, get(), vk.ErrClosed)
			h.goOn <- nil
			synctest.Wait()
		}
		for _, result := range all {
			require.NoError(t, <-result)
		}
		require.NoError(t, <-closed)
	})
}

// A call that waits for others while a single one is under way is done, too, when the dictionary is closed.
func TestCloseBeforeMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c := combine1(t, h, combine.Options{MaxWait: time.Hour})
		find := func(keys ...uint32) <-chan error {
			return later(func() error { return c.FindInto(t.Context(), keys, nil, nil) })
		}
		all := []<-chan error{find(0, 0, 0), find(1)}
		closed := later(c.Close)
		h.release()
		for _, result := range all {
			require.NoError(t, <-result)
		}
		require.NoError(t, <-closed)
	})
}

// Every method of a closed dictionary, and of one that was never opened, says so.
func TestNotOpen(t *testing.T) {
	c, err := combine.NewOrdered(host.NewTree[uint32, uint32](), combine.Options{})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for want, d := range map[error]*combine.Ordered[uint32, uint32]{vk.ErrClosed: c, vk.ErrNotOpen: nil} {
		ctx, k, one := t.Context(), []uint32{1}, []structures.Range[uint32]{{Lo: 1, Hi: 2}}
		if d == nil {
			d = &combine.Ordered[uint32, uint32]{}
		}
		var errs []error
		add := func(err error) { errs = append(errs, err) }
		_, _, err := d.Get(ctx, 1)
		add(err)
		add(d.Put(ctx, 1, 1))
		_, err = d.Add(ctx, 1, 1)
		add(err)
		_, err = d.CompareAndSet(ctx, 1, 1, 1)
		add(err)
		_, _, err = d.Find(ctx, k)
		add(err)
		_, err = d.Insert(ctx, k, k)
		add(err)
		_, err = d.Delete(ctx, k)
		add(err)
		add(d.UpdateInto(ctx, structures.DeleteAll, k, nil, nil))
		_, err = d.Apply(ctx, structures.Batch[uint32, uint32]{})
		add(err)
		_, err = d.Len(ctx)
		add(err)
		add(d.Clear(ctx))
		for _, err := range d.All(ctx) {
			add(err)
		}
		for _, err := range d.Ascend(ctx, one[0]) {
			add(err)
		}
		_, err = d.Save(ctx, nil)
		add(err)
		add(d.Prepare(ctx))
		_, err = d.Count(ctx, one)
		add(err)
		_, err = d.Range(ctx, one)
		add(err)
		_, _, err = d.Floor(ctx, 1)
		add(err)
		_, err = d.Rank(ctx, k)
		add(err)
		_, err = d.Select(ctx, k)
		add(err)
		_, err = d.DeleteRange(ctx, one)
		add(err)
		for i, err := range errs {
			require.ErrorIs(t, err, want, "%d", i)
		}
		require.Len(t, errs, 21)
	}
	_, err = combine.New[uint32, uint32](nil, combine.Options{})
	require.Equal(t, vk.ErrNotOpen, err)
	_, err = combine.NewOrdered[uint32, uint32](nil, combine.Options{})
	require.Equal(t, vk.ErrNotOpen, err)
	for _, o := range []combine.Options{{MaxBatch: -1}, {MaxWait: -1}} {
		var option *vk.OptionError
		_, err = combine.New(host.NewMap[uint32, uint32](), o)
		require.ErrorAs(t, err, &option)
	}
}

// Slices that do not fit are the dictionary's to refuse.
func TestLengths(t *testing.T) {
	c, err := combine.NewOrdered(host.NewTree[uint32, uint32](), combine.Options{})
	require.NoError(t, err)
	var length *structures.LengthError
	var kind *structures.KindError
	var option *vk.OptionError
	ctx, k := t.Context(), []uint32{1, 2}
	require.ErrorAs(t, c.FindInto(ctx, k, k[:1], nil), &length)
	require.ErrorAs(t, c.FindInto(ctx, k, nil, make([]bool, 3)), &length)
	require.ErrorAs(t, c.UpdateInto(ctx, structures.Insert, k, k[:1], nil), &length)
	require.ErrorAs(t, c.UpdateInto(ctx, structures.Insert, k, nil, nil), &length)
	require.ErrorAs(t, c.UpdateInto(ctx, structures.Delete, k, nil, make([]structures.Status, 1)), &length)
	require.ErrorAs(t, c.UpdateInto(ctx, structures.InsertDuplicate, k, k, nil), &kind)
	_, err = c.Neighbor(ctx, 4, k)
	require.ErrorAs(t, err, &option)
	require.ErrorAs(t, c.RangeInto(ctx, nil, nil), &option)
	status, err := c.Insert(ctx, k, k[:1])
	require.ErrorAs(t, err, &length)
	require.Nil(t, status)
	require.NoError(t, c.Close())
}

// Every caller gets on, also next to others with large calls.
func TestFairness(t *testing.T) {
	c := combine1(t, delayed(), combine.Options{MaxBatch: 8})
	var counts [20]atomic.Int64
	stop := make(chan struct{})
	wait := together(len(counts), func(i int) {
		keys := make([]uint32, 1+i%10)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if i%2 == 0 {
				assert.NoError(t, c.UpdateInto(t.Context(), structures.InsertMax, keys, keys, nil))
			} else {
				assert.NoError(t, c.FindInto(t.Context(), keys, nil, nil))
			}
			counts[i].Add(1)
		}
	})
	for i := range counts {
		for counts[i].Load() < 20 {
			time.Sleep(time.Millisecond)
		}
	}
	close(stop)
	wait()
	require.NoError(t, c.Close())
}

// A call with one key makes nothing on the heap. Under the race detector a sync.Pool drops some of what it is given.
func TestAllocations(t *testing.T) {
	c := combine1(t, nothing{}, combine.Options{})
	ctx := t.Context()
	assert.Less(t, testing.AllocsPerRun(1000, func() { _, _, _ = c.Get(ctx, 1) }), 1.0)
	assert.Less(t, testing.AllocsPerRun(1000, func() { _ = c.Put(ctx, 1, 1) }), 1.0)
}

// nothing is a dictionary that does nothing.
type nothing struct {
	structures.Dictionary[uint32, uint32]
}

func (nothing) FindInto(context.Context, []uint32, []uint32, []bool) error { return nil }
func (nothing) UpdateInto(context.Context, structures.Kind, []uint32, []uint32, []structures.Status) error {
	return nil
}
