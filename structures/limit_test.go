package structures_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// limited is a structure with a memory limit. Its elements are numbered.
type limited struct {
	insert func(first, n int) error
	length func() (uint64, error)
	check  func(n int) error // a query of elements, all of which are there
	remove func(n int) error // the first elements

	rebuild func() error // or nil: moves everything to other memory
	large   func() error // or nil: asks for more than the limit at once
	close   func() error
}

// A structure never takes more than MaxBytes, in addition to the memory that calls work in: on a device with only that
// much memory, the limit is always reached before the device's memory. At the limit, the structure answers queries and
// deletes, and then accepts elements again. After Close its memory is free.
func TestMaxBytes(t *testing.T) {
	pass.OneWidth(t, "the host counts memory")
	pass.OneDriver(t, "the host counts memory")
	pipeline.InChunksOf(500)
	t.Cleanup(func() { pipeline.InChunksOf(0) })
	const (
		limit = 2 << 20
		work  = 1 << 18   // staging memory for such chunks, and scratch memory
		both  = 2 * limit // the memory that a cleanup of an LSM takes
	)
	for name, c := range map[string]struct {
		least int // the least number of elements for which there must be room
		open  func(t *testing.T, d *vk.Device) limited
	}{
		"map":             {60_000, limitedMap(slabhash.Options{MaxBytes: limit})},
		"map, no rehash":  {60_000, limitedMap(slabhash.Options{MaxBytes: limit, MaxLoad: -1, Buckets: 3000})},
		"tree":            {40_000, limitedTree(btree.Options{MaxBytes: limit}, false)},
		"concurrent tree": {40_000, limitedTree(btree.Options{MaxBytes: limit, Path: btree.Concurrent}, false)},
		"snapshots":       {8_000, limitedTree(btree.Options{MaxBytes: limit}, true)},
		"lsm":             {40_000, limitedLSM(lsm.Options{MaxBytes: limit, Batch: 1 << 10})},
		"graph":           {10_000, limitedGraph(graph.Options{MaxBytes: limit, Weighted: true})},
		"ordered graph": {8_000, limitedOrdered(ordered.Options{Weighted: true,
			Tree: btree.Options{MaxBytes: limit}})},
	} {
		t.Run(name, func(t *testing.T) {
			bound := uint64(limit + work)
			if name == "lsm" {
				bound += both
			}
			d := testdevice.Open(t, vk.Options{MemoryLimit: bound})
			start, _ := d.Memory()
			l := c.open(t, d)
			most := watch(t, d)
			n := 0
			for failures := 0; failures < 2; {
				const batch = 4000
				err := l.insert(n, batch)
				length, lengthErr := l.length()
				require.NoError(t, lengthErr)
				if err == nil {
					n += batch
					require.EqualValues(t, n, length)
					require.Less(t, n, 1<<20)
					continue
				}
				requireLimit(t, err)
				require.GreaterOrEqual(t, length, uint64(n))
				failures++
			}
			t.Logf("%d elements, at most %d bytes", n, most.Load())
			require.LessOrEqual(t, most.Load(), uint64(limit+work))
			require.GreaterOrEqual(t, n, c.least)
			require.NoError(t, l.check(n))
			if l.rebuild != nil {
				if err := l.rebuild(); err != nil {
					requireLimit(t, err)
				}
				require.NoError(t, l.check(n))
			}
			if l.large != nil {
				requireLimit(t, l.large())
				require.NoError(t, l.check(n))
			}
			require.NoError(t, l.remove(n/2))
			require.NoError(t, l.insert(0, 1000))
			require.NoError(t, l.check(1000))
			now, _ := d.Memory()
			require.LessOrEqual(t, now, uint64(limit+work))
			require.NoError(t, l.close())
			now, _ = d.Memory()
			require.Equal(t, start, now)
		})
	}
}

// requireLimit requires that the limit, and not the device, has refused memory.
func requireLimit(t *testing.T, err error) {
	t.Helper()
	var full *vk.LimitError
	require.ErrorAs(t, err, &full, "%v", err)
	require.Equal(t, "MaxBytes", full.Option)
}

// watch returns the most memory that a device's buffers take at any moment until the test ends, found by polling.
func watch(t *testing.T, d *vk.Device) *atomic.Uint64 {
	var most atomic.Uint64
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			used, _ := d.Memory()
			most.Store(max(most.Load(), used))
			select {
			case <-end:
				return
			default:
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	t.Cleanup(func() { close(end); <-ended })
	return &most
}

// limitedDictionary has multiples of an odd constant as keys, so that they are not in order.
func limitedDictionary(t *testing.T, x structures.Dictionary[uint32, uint32]) limited {
	ctx := t.Context()
	keys := func(first, n int) []uint32 {
		all := make([]uint32, n)
		for i := range all {
			all[i] = uint32(first+i) * 2654435761
		}
		return all
	}
	return limited{
		insert: func(first, n int) error {
			_, err := x.Insert(ctx, keys(first, n), keys(first, n))
			return err
		},
		length: func() (uint64, error) { return x.Len(ctx) },
		check: func(n int) error {
			values, found, err := x.Find(ctx, keys(0, n))
			require.NotContains(t, found, false)
			require.Equal(t, keys(0, n), values)
			return err
		},
		remove: func(n int) error { _, err := x.Delete(ctx, keys(0, n)); return err },
		close:  x.Close,
	}
}

func limitedMap(o slabhash.Options) func(t *testing.T, d *vk.Device) limited {
	return func(t *testing.T, d *vk.Device) limited {
		m, err := slabhash.New[uint32, uint32](t.Context(), d, o)
		require.NoError(t, err)
		l := limitedDictionary(t, m)
		l.rebuild = func() error { return m.Rehash(t.Context(), 8000) }
		l.large = func() error { return m.Rehash(t.Context(), 20_000) }
		remove := l.remove
		l.remove = func(n int) error {
			if err := remove(n); err != nil {
				return err
			}
			return m.Flush(t.Context())
		}
		return l
	}
}

func limitedTree(o btree.Options, snapshot bool) func(t *testing.T, d *vk.Device) limited {
	return func(t *testing.T, d *vk.Device) limited {
		x, err := btree.New[uint32, uint32](t.Context(), d, o)
		require.NoError(t, err)
		l := limitedDictionary(t, x)
		if !snapshot {
			l.rebuild = func() error { return x.Compact(t.Context(), 0) }
			return l
		}
		var open []*btree.Snapshot[uint32, uint32]
		insert, remove := l.insert, l.remove
		l.insert = func(first, n int) error {
			at, err := x.Snapshot(t.Context())
			require.NoError(t, err)
			open = append(open, at)
			return insert(first, n)
		}
		l.remove = func(n int) error {
			for _, at := range open {
				require.NoError(t, at.Close())
			}
			open = nil
			return remove(n)
		}
		l.close = func() error {
			for _, at := range open {
				require.NoError(t, at.Close())
			}
			return x.Close()
		}
		return l
	}
}

func limitedLSM(o lsm.Options) func(t *testing.T, d *vk.Device) limited {
	return func(t *testing.T, d *vk.Device) limited {
		x, err := lsm.New[uint32, uint32](t.Context(), d, o)
		require.NoError(t, err)
		l := limitedDictionary(t, x)
		remove := l.remove
		l.remove = func(n int) error {
			if err := remove(n); err != nil {
				return err
			}
			return x.Cleanup(t.Context())
		}
		return l
	}
}

// limitedEdges are three edges from each vertex, to the vertices after it.
func limitedEdges(first, n int) graph.Edges {
	e := graph.Edges{From: make([]uint32, n), To: make([]uint32, n), Weights: make([]uint32, n)}
	for i := range n {
		from := uint32(first+i) / 3
		e.From[i], e.To[i], e.Weights[i] = from, from+1+uint32(first+i)%3, uint32(i)
	}
	return e
}

// queried is what answers queries about one: a graph itself, or a view of an ordered one.
type queried interface {
	FindEdges(ctx context.Context, e graph.Edges) (weights []uint32, found []bool, err error)
	Size(ctx context.Context) (vertices int, edges uint64, err error)
}

type editable interface {
	InsertEdges(ctx context.Context, e graph.Edges) ([]structures.Status, error)
	DeleteEdges(ctx context.Context, e graph.Edges) ([]structures.Status, error)
	Close() error
}

func limitedEditable(t *testing.T, g editable, of queried) limited {
	ctx := t.Context()
	return limited{
		insert: func(first, n int) error { _, err := g.InsertEdges(ctx, limitedEdges(first, n)); return err },
		length: func() (uint64, error) { _, edges, err := of.Size(ctx); return edges, err },
		check: func(n int) error {
			_, found, err := of.FindEdges(ctx, limitedEdges(0, n))
			require.NotContains(t, found, false)
			return err
		},
		remove: func(n int) error { _, err := g.DeleteEdges(ctx, limitedEdges(0, n)); return err },
		close:  g.Close,
	}
}

func limitedGraph(o graph.Options) func(t *testing.T, d *vk.Device) limited {
	return func(t *testing.T, d *vk.Device) limited {
		g, err := graph.New(t.Context(), d, o)
		require.NoError(t, err)
		l := limitedEditable(t, g, g)
		l.rebuild = func() error { return g.Rehash(t.Context()) }
		l.large = func() error {
			_, err := g.InsertVertices(t.Context(), []uint32{1 << 18})
			return err
		}
		return l
	}
}

func limitedOrdered(o ordered.Options) func(t *testing.T, d *vk.Device) limited {
	return func(t *testing.T, d *vk.Device) limited {
		g, err := ordered.New(t.Context(), d, o)
		require.NoError(t, err)
		return limitedEditable(t, g, g.Now())
	}
}
