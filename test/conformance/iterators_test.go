package conformance

import (
	"context"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// items are what an iterator gives, as numbers.
type items = iter.Seq2[uint64, error]

// itemsOf are those of any iterator, of one by itself or of many at a time.
func itemsOf[T any](of iter.Seq2[T, error], numbers func(T) []uint64) items {
	return func(yield func(uint64, error) bool) {
		for x, err := range of {
			if err != nil {
				yield(0, err)
				return
			}
			for _, n := range numbers(x) {
				if !yield(n, nil) {
					return
				}
			}
		}
	}
}

func ofPairs(pairs iter.Seq2[u32.Pair, error]) items {
	return itemsOf(pairs, func(p u32.Pair) []uint64 { return []uint64{uint64(p.Key)<<32 | uint64(p.Value)} })
}

func ofChunks(chunks iter.Seq2[u32.Pairs, error]) items {
	return itemsOf(chunks, func(c u32.Pairs) []uint64 {
		all := make([]uint64, len(c.Keys))
		for i, k := range c.Keys {
			if all[i] = uint64(k)<<32 | uint64(k); c.Values != nil {
				all[i] = uint64(k)<<32 | uint64(c.Values[i])
			}
		}
		return all
	})
}

func ofEdges(edges iter.Seq2[graph.Edge, error]) items {
	return itemsOf(edges, func(e graph.Edge) []uint64 { return []uint64{uint64(e.From)<<32 | uint64(e.To)} })
}

// iterated is a structure with its iterators and its changes, by name.
type iterated struct {
	iterators map[string]func(context.Context) items
	changes   map[string]func(*testing.T)
	restore   func() error // has it hold what it held at first
	snapshot  bool         // changes are invisible
	runs      bool         // an update on a stream is submitted by the call
	parts     bool         // it is read in several parts, so that a change has to be noticed
}

const (
	iteratedPairs = 140_000 // several parts of ordered structures on a CPU device
	another       = 1 << 20 // a key besides
)

// doing is a change by a call.
func doing[T any](call func() (T, error)) func(*testing.T) {
	return func(t *testing.T) {
		_, err := call()
		require.NoError(t, err)
	}
}

func doingOne(call func() error) func(*testing.T) {
	return func(t *testing.T) { require.NoError(t, call()) }
}

// iteratedDictionary is what all dictionaries have.
func iteratedDictionary(t *testing.T, d *vk.Device, s *vk.Stream, x u32.Dictionary, keys []uint32) iterated {
	ctx := t.Context()
	b := structures.DeviceBatch{Count: 2, Keys: testdevice.Upload(t, d, []uint32{1, 100_000})}
	update := func() error { return onstream.Of(x).On(s).Update(ctx, structures.Delete, b) }
	batch := u32.Batch{Kinds: []structures.Kind{structures.Delete}, Keys: keys[5:6], Values: keys[5:6]}
	all := iterated{
		iterators: map[string]func(context.Context) items{
			"All":    func(ctx context.Context) items { return ofPairs(x.All(ctx)) },
			"Chunks": func(ctx context.Context) items { return ofChunks(x.Chunks(ctx)) },
		},
		changes: map[string]func(*testing.T){
			"insert": doing(func() ([]structures.Status, error) {
				return x.Insert(ctx, []uint32{another}, []uint32{another})
			}),
			"assign": doing(func() ([]structures.Status, error) { return x.Insert(ctx, keys[7:8], keys[7:8]) }),
			"delete": doing(func() ([]structures.Status, error) { return x.Delete(ctx, keys[100_000:]) }),
			"apply":  doing(func() (u32.Results, error) { return x.Apply(ctx, batch) }),
			"clear":  doingOne(func() error { return x.Clear(ctx) }),
			"stream": func(t *testing.T) {
				require.NoError(t, update())
				require.NoError(t, s.Wait(ctx))
			},
			"not submitted": doingOne(update),
		},
		restore: func() error {
			s.Discard()
			_, err := x.Insert(ctx, keys, keys)
			if err == nil {
				_, err = x.Delete(ctx, []uint32{another})
			}
			return err
		},
	}
	if o, is := x.(u32.Ordered); is {
		all.parts = d.Info().Type == vk.CPU
		all.iterators["Ascend"] = func(ctx context.Context) items { return ofPairs(o.Ascend(ctx, u32.AllKeys)) }
		all.iterators["Descend"] = func(ctx context.Context) items { return ofPairs(o.Descend(ctx, u32.AllKeys)) }
	}
	if k, is := x.(interface{ UsedOn(*vk.Stream) }); is {
		room := testdevice.Room[uint32](t, d, 1)
		all.changes["kernels"] = func(t *testing.T) {
			s.Fill(room, 0, 1, 1)
			k.UsedOn(s)
			require.NoError(t, s.Wait(ctx))
		}
	}
	return all
}

// eachIterated has f try every sort of structure.
func eachIterated(t *testing.T, f func(t *testing.T, s *vk.Stream, x iterated)) {
	d := testdevice.Open(t)
	keys := make([]uint32, iteratedPairs)
	for i := range keys {
		keys[i] = uint32(i)
	}
	run := func(name string, open func(t *testing.T, s *vk.Stream) iterated) {
		t.Run(name, func(t *testing.T) {
			s := testdevice.Stream(t, d)
			f(t, s, open(t, s))
		})
	}
	run("slabhash", func(t *testing.T, s *vk.Stream) iterated {
		m, err := slabhash.Build(t.Context(), d, keys, keys, slabhash.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close()) })
		x := iteratedDictionary(t, d, s, m, keys)
		x.parts = true // one more part finds that there are no pairs left
		x.changes["rehash"] = doingOne(func() error { return m.Rehash(t.Context(), 30_000) })
		return x
	})
	run("slabhash set", func(t *testing.T, s *vk.Stream) iterated {
		m, err := slabhash.BuildSet(t.Context(), d, keys, slabhash.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Close()) })
		return iterated{
			iterators: map[string]func(context.Context) items{
				"All": func(ctx context.Context) items {
					return itemsOf(m.All(ctx), func(k uint32) []uint64 { return []uint64{uint64(k)<<32 | uint64(k)} })
				},
				"Chunks": func(ctx context.Context) items { return ofChunks(m.Chunks(ctx)) },
			},
			changes: map[string]func(*testing.T){
				"delete": doing(func() ([]structures.Status, error) { return m.Delete(t.Context(), keys[100_000:]) }),
				"clear":  doingOne(func() error { return m.Clear(t.Context()) }),
			},
			restore: func() error {
				_, err := m.Insert(t.Context(), keys)
				return err
			},
			parts: true,
		}
	})
	run("sortedarray", func(t *testing.T, s *vk.Stream) iterated {
		a, err := sortedarray.Build(t.Context(), d, keys, keys, sortedarray.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, a.Close()) })
		x := iteratedDictionary(t, d, s, a, keys)
		x.runs = true
		return x
	})
	run("lsm", func(t *testing.T, s *vk.Stream) iterated {
		l, err := lsm.Build(t.Context(), d, keys, keys, lsm.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		return iteratedDictionary(t, d, s, l, keys)
	})
	for _, snapshot := range []bool{false, true} {
		name := map[bool]string{false: "btree", true: "snapshot"}[snapshot]
		run(name, func(t *testing.T, s *vk.Stream) iterated {
			b, err := btree.Build(t.Context(), d, keys, keys, btree.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, b.Close()) })
			x := iteratedDictionary(t, d, s, b, keys)
			x.changes["moving"] = func(t *testing.T) {
				require.NoError(t, b.InShaders().On(s, btree.Moving{}, func(btree.Description) error { return nil }))
				require.NoError(t, s.Wait(t.Context()))
			}
			if !snapshot {
				return x
			}
			at, err := b.Snapshot(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, at.Close()) })
			x.snapshot = true
			x.iterators = map[string]func(context.Context) items{
				"All":     func(ctx context.Context) items { return ofPairs(at.All(ctx)) },
				"Chunks":  func(ctx context.Context) items { return ofChunks(at.Chunks(ctx)) },
				"Descend": func(ctx context.Context) items { return ofPairs(at.Descend(ctx, u32.AllKeys)) },
			}
			delete(x.changes, "not submitted") // what comes after it is vk.ErrUnsubmitted
			return x
		})
	}
	path := graph.Edges{From: keys[:iteratedPairs-1], To: keys[1:]}
	few := graph.Edges{From: keys[3:5], To: keys[7:9]}
	run("graph", func(t *testing.T, s *vk.Stream) iterated {
		ctx := t.Context()
		g, err := graph.Build(ctx, d, path, graph.Options{Directed: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, g.Close()) })
		b := graph.DeviceBatch{Count: 2, From: testdevice.Upload(t, d, few.From), To: testdevice.Upload(t, d, few.To)}
		return iterated{
			iterators: map[string]func(context.Context) items{
				"AllEdges": func(ctx context.Context) items { return ofEdges(g.AllEdges(ctx)) },
				"AllVertices": func(ctx context.Context) items {
					return itemsOf(g.AllVertices(ctx), func(v uint32) []uint64 { return []uint64{uint64(v)} })
				},
			},
			changes: map[string]func(*testing.T){
				"insert": doing(func() ([]structures.Status, error) { return g.InsertEdges(ctx, few) }),
				"delete": doing(func() ([]structures.Status, error) { return g.DeleteEdges(ctx, path) }),
				"vertex": doing(func() ([]structures.Status, error) { return g.DeleteVertices(ctx, keys[100_000:]) }),
				"clear":  doingOne(func() error { return g.Clear(ctx) }),
				"stream": func(t *testing.T) {
					require.NoError(t, g.On(s).Update(ctx, structures.Insert, b))
					require.NoError(t, s.Wait(ctx))
				},
				"not submitted": doingOne(func() error { return g.On(s).Update(ctx, structures.Insert, b) }),
			},
			restore: func() error {
				s.Discard()
				_, err := g.InsertEdges(ctx, path)
				if err == nil {
					_, err = g.DeleteEdges(ctx, few)
				}
				return err
			},
			parts: true,
		}
	})
	run("ordered graph", func(t *testing.T, s *vk.Stream) iterated {
		ctx := t.Context()
		g, err := ordered.Build(ctx, d, path, ordered.Options{Directed: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, g.Close()) })
		return iterated{
			iterators: map[string]func(context.Context) items{
				"AllEdges": func(ctx context.Context) items { return ofEdges(g.Now().AllEdges(ctx)) },
			},
			changes: map[string]func(*testing.T){
				"insert": doing(func() ([]structures.Status, error) { return g.InsertEdges(ctx, few) }),
				"delete": doing(func() ([]structures.Status, error) { return g.DeleteEdges(ctx, path) }),
			},
			restore: func() error {
				_, err := g.InsertEdges(ctx, path)
				if err == nil {
					_, err = g.DeleteEdges(ctx, few)
				}
				return err
			},
			parts: d.Info().Type == vk.CPU,
		}
	})
}

// An iterator whose structure changes after its first item gives what there was at one moment, or ends with
// ErrChanged; that of a snapshot gives what the snapshot has.
func TestIterators(t *testing.T) {
	pass.OneWidth(t, "what iterators read by is tested at each width by other tests")
	eachIterated(t, func(t *testing.T, s *vk.Stream, x iterated) {
		names, n := slices.Sorted(maps.Keys(x.iterators)), 0
		held := map[string]map[uint64]bool{}
		for name, iterator := range x.iterators {
			held[name] = map[uint64]bool{}
			for item, err := range iterator(t.Context()) {
				require.NoError(t, err)
				held[name][item] = true
			}
		}
		for change, do := range x.changes {
			name := names[n%len(names)]
			n++
			got, failed := 0, error(nil)
			for item, err := range x.iterators[name](t.Context()) {
				if failed = err; err != nil {
					continue
				}
				if !held[name][item] {
					require.Fail(t, "it gives what was not there", "%s, %s: %#x", name, change, item)
				}
				if got++; got == 1 {
					do(t)
				}
			}
			s.Discard()
			if x.snapshot || failed == nil && !(x.parts && name != "AllVertices") {
				require.NoError(t, failed, "%s, %s", name, change)
				require.Len(t, held[name], got, "%s, %s", name, change)
			} else {
				require.ErrorIs(t, failed, structures.ErrChanged, "%s, %s", name, change)
			}
			require.NoError(t, x.restore())
		}
	})
}

// An iterator begins after the changes that streams have submitted, and not while one is recorded only: it would be
// done between two parts.
func TestIteratorsAfterStreams(t *testing.T) {
	pass.OneLavapipe(t, "the host orders iterators and streams")
	eachIterated(t, func(t *testing.T, s *vk.Stream, x iterated) {
		record := x.changes["not submitted"]
		if record == nil || x.runs {
			return
		}
		for name, iterator := range x.iterators {
			record(t)
			for _, err := range iterator(t.Context()) {
				require.ErrorIs(t, err, vk.ErrUnsubmitted, name)
			}
			_, err := s.Submit()
			require.NoError(t, err)
			for _, err := range iterator(t.Context()) {
				require.NoError(t, err, name)
			}
		}
	})
}

// The loads of buckets are read in parts, too.
func TestLoadsOfChanged(t *testing.T) {
	m, err := slabhash.New[uint32, uint32](t.Context(), testdevice.Open(t), slabhash.Options{Buckets: 100_000})
	require.NoError(t, err)
	defer m.Close()
	for _, change := range []func() error{
		func() error { return m.Rehash(t.Context(), 200_000) },
		func() error { _, err := m.Insert(t.Context(), []uint32{1}, []uint32{1}); return err },
	} {
		n := 0
		var failed error
		for _, err := range m.Inspect().Loads(t.Context()) {
			if failed = err; err != nil {
				break
			}
			if n++; n == 1 {
				require.NoError(t, change())
			}
		}
		require.ErrorIs(t, failed, structures.ErrChanged)
		require.Less(t, n, 200_000)
	}
}
