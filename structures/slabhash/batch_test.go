package slabhash_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// Batches of more operations than one dispatch takes, beside many small ones.
func TestManyChunks(t *testing.T) {
	d := testdevice.Open(t)
	n := 1<<17*3 + 5 // on a CPU device four chunks
	var told [][2]int
	m := newMap(t, d, Options{Progress: func(done, total int) { told = append(told, [2]int{done, total}) }})
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i) * 2654435761 // odd: all differ
	}
	progress := func(total int) {
		t.Helper()
		require.NotEmpty(t, told)
		last := 0
		for _, p := range told {
			require.Equal(t, total, p[1])
			require.Less(t, last, p[0], "progress %v", told)
			last = p[0]
		}
		require.Equal(t, total, last)
		told = nil
	}
	all(t, structures.Inserted, n, insert(t, m, keys, keys), "insert")
	progress(n)
	values, found := find(t, m, keys)
	all(t, true, n, found, "found")
	same(t, keys, values, "values")
	progress(n)
	counts, err := m.CountAll(t.Context(), keys)
	require.NoError(t, err)
	all(t, 1, n, counts, "counts")
	progress(n)
	s, err := m.Delete(t.Context(), keys[:n-3])
	require.NoError(t, err)
	all(t, structures.Deleted, n-3, s, "delete")
	progress(n - 3)
	require.NoError(t, m.Flush(t.Context()))
	progress(int(m.InShaders().Description().Buckets))
	for i := range 50 { // the staging memory is used again and again
		s := insert(t, m, keys[i*i:i*i+i], keys[i*i:i*i+i])
		all(t, structures.Inserted, i, s, "small batch")
	}
}

func TestCancellation(t *testing.T) {
	d := testdevice.Open(t)
	n := 1<<17*5 + 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := false
	m := newMap(t, d, Options{Capacity: n, MaxLoad: -1, Progress: func(int, int) {
		if stop {
			cancel()
		}
	}})
	keys := ramp(n, 1, 3)

	// Before anything: nothing happens.
	s, err := m.Insert(cancelled(t), keys, keys)
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, n, pending.Operations)
	all(t, structures.Pending, n, s, "statuses")
	requireContents(t, d, m, nil)
	for name, call := range map[string]func(context.Context) error{
		"find":    func(ctx context.Context) error { _, _, err := m.Find(ctx, keys); return err },
		"findall": func(ctx context.Context) error { _, _, err := m.FindAll(ctx, keys); return err },
		"count":   func(ctx context.Context) error { _, err := m.CountAll(ctx, keys); return err },
		"len":     func(ctx context.Context) error { _, err := m.Len(ctx); return err },
		"stats":   func(ctx context.Context) error { _, err := m.Inspect().Stats(ctx); return err },
		"flush":   m.Flush,
		"clear":   m.Clear,
		"rehash":  func(ctx context.Context) error { return m.Rehash(ctx, 100) },
	} {
		require.ErrorIs(t, call(cancelled(t)), context.Canceled, name)
	}

	// Within: some chunks are done, and the statuses say which operations.
	stop = d.Info().Type == vk.CPU // elsewhere it is one chunk
	s, err = m.Insert(ctx, keys, keys)
	if stop {
		require.ErrorAs(t, err, &pending)
		require.ErrorIs(t, err, context.Canceled)
		want := map[uint32]uint32{}
		for i, status := range s {
			if status == structures.Inserted {
				want[keys[i]] = keys[i]
			}
		}
		require.NotEmpty(t, want)
		require.Equal(t, n-len(want), pending.Operations)
		require.NotZero(t, pending.Operations)
		stop = false
		requireContents(t, d, m, want)
	}
	// The rest, by the same call.
	_, err = m.InsertUnique(t.Context(), keys, keys)
	require.NoError(t, err)
	length, err := m.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, n, length)
}

// Cancelled flushes and rehashes leave all that was there.
func TestCancelledUpkeep(t *testing.T) {
	d := testdevice.Open(t)
	var cancel context.CancelFunc
	m := newMap(t, d, Options{Buckets: 1<<16 + 9, MaxLoad: -1, Progress: func(done, total int) {
		if cancel != nil && done < total {
			cancel()
		}
	}})
	keys := distinct(rand.New(rand.NewPCG(1, 2)), 50000, m.InShaders().Description())
	insert(t, m, keys, keys)
	_, err := m.Delete(t.Context(), keys[:20000])
	require.NoError(t, err)
	want := map[uint32]uint32{}
	for _, k := range keys[20000:] {
		want[k] = k
	}
	for _, call := range []func(context.Context) error{
		m.Flush,
		func(ctx context.Context) error { return m.Rehash(ctx, 1<<16+1000) },
	} {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		err := call(ctx)
		cancel()
		cancel = nil
		if d.Info().Type == vk.CPU { // elsewhere these are single dispatches
			require.ErrorIs(t, err, context.Canceled)
			require.EqualValues(t, 1<<16+9, m.InShaders().Description().Buckets)
		}
		requireContents(t, d, m, want)
	}
	require.NoError(t, m.Flush(t.Context()))
	requireContents(t, d, m, want)
}

// Mixed batches of all kinds, on distinct keys, against a Go map.
func TestMixedKinds(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		m := newMap(t, d, Options{Buckets: 16})
		rng := rand.New(rand.NewPCG(9, 9))
		want := map[uint32]uint32{}
		for range 6 {
			var b u32.Batch
			keys := distinct(rng, 700, Description{Mask: 1})
			for i := range keys {
				keys[i] %= 1500 // so that they come again, though maybe twice in this batch
			}
			seen := map[uint32]bool{}
			for _, k := range keys {
				if !seen[k] {
					seen[k] = true
					b.Kinds = append(b.Kinds, structures.Insert+structures.Kind(rng.IntN(int(structures.CountAll))))
					b.Keys = append(b.Keys, k)
					b.Values = append(b.Values, rng.Uint32())
				}
			}
			for i := range b.Kinds {
				if b.Kinds[i] == structures.InsertDuplicate {
					b.Kinds[i] = structures.Insert
				}
			}
			r, err := m.Apply(t.Context(), b)
			require.NoError(t, err)
			for i, k := range b.Keys {
				old, there := want[k]
				status, value := structures.Found, r.Values[i]
				v := b.Values[i]
				if b.Kinds[i].Inserts() {
					switch {
					case !there:
						want[k], status = v, structures.Inserted
					case b.Kinds[i] == structures.InsertUnique:
					default:
						status = structures.Assigned
						want[k] = map[structures.Kind]uint32{
							structures.Insert: v, structures.InsertAdd: old + v, structures.InsertMin: min(old, v),
							structures.InsertMax: max(old, v),
						}[b.Kinds[i]]
					}
				} else {
					switch b.Kinds[i] {
					case structures.Find:
						value = old
					case structures.CountAll:
						value = 1
					case structures.Delete:
						status = structures.Deleted
						delete(want, k)
					case structures.DeleteAll:
						status, value = structures.Deleted, 1
						delete(want, k)
					}
					if !there {
						status = structures.Absent
						if b.Kinds[i] != structures.Delete {
							value = 0
						}
					}
				}
				if r.Status[i] != status || r.Values[i] != value {
					t.Fatalf("%v of key %d: %v %d, want %v %d", b.Kinds[i], k, r.Status[i], r.Values[i], status, value)
				}
			}
			requireContents(t, d, m, want)
		}
	})
}
