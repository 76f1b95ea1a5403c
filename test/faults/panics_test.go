package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// fuse counts down, and panics from 0 on.
type fuse struct{ left atomic.Int64 }

func (f *fuse) burn() {
	if f.left.Add(-1) < 0 {
		panic(f)
	}
}

// panicking is a context whose methods panic from some call on.
type panicking struct {
	context.Context
	fuse
}

func (c *panicking) Deadline() (time.Time, bool) { c.burn(); return c.Context.Deadline() }
func (c *panicking) Done() <-chan struct{}       { c.burn(); return c.Context.Done() }
func (c *panicking) Err() error                  { c.burn(); return c.Context.Err() }
func (c *panicking) Value(key any) any           { c.burn(); return c.Context.Value(key) }

// handle is what may be left locked.
type handle struct {
	name  string
	x     any
	alive func(ctx context.Context) error // a call that waits for all others
	check func(ctx context.Context) error // nil: there is none
	close func() error
}

// handles are one of each sort. Later ones use earlier ones.
func handles(t *testing.T, d *vk.Device, progress structures.Progress) []handle {
	ctx := t.Context()
	keys := []uint32{1, 2, 3, 4}
	dictionary := func(name string, x structures.Dictionary[uint32, uint32], check func(context.Context) error) handle {
		return handle{name: name, x: x, check: check, close: x.Close, alive: func(ctx context.Context) error {
			_, err := x.Insert(ctx, []uint32{9}, []uint32{9})
			return err
		}}
	}
	m, err := slabhash.Build(ctx, d, keys, keys, slabhash.Options{Progress: progress})
	require.NoError(t, err)
	set, err := slabhash.BuildSet(ctx, d, keys, slabhash.Options{Progress: progress})
	require.NoError(t, err)
	tree, err := btree.Build(ctx, d, keys, keys, btree.Options{Path: btree.Concurrent, Progress: progress})
	require.NoError(t, err)
	batched, err := btree.Build(ctx, d, keys, keys, btree.Options{Path: btree.Batched, Progress: progress})
	require.NoError(t, err)
	versions, err := btree.Build(ctx, d, keys, keys, btree.Options{Progress: progress})
	require.NoError(t, err)
	snapshot, err := versions.Snapshot(ctx)
	require.NoError(t, err)
	levels, err := lsm.Build(ctx, d, keys, keys, lsm.Options{Batch: 32, Cleanup: lsm.WhenStale(0.1),
		Progress: progress})
	require.NoError(t, err)
	array, err := sortedarray.Build(ctx, d, keys, keys, sortedarray.Options{Progress: progress})
	require.NoError(t, err)
	e := graph.Edges{From: keys, To: []uint32{2, 3, 4, 1}, Weights: keys}
	g, err := graph.Build(ctx, d, e, graph.Options{Weighted: true, Progress: progress})
	require.NoError(t, err)
	o, err := graph.BuildOrdered(ctx, d, e, graph.OrderedOptions{Weighted: true,
		Tree: btree.Options{Progress: progress}})
	require.NoError(t, err)
	named, err := graph.NewNamed[uint64](ctx, d, graph.Options{Weighted: true, Progress: progress})
	require.NoError(t, err)
	rows, err := g.CSR(ctx, true)
	require.NoError(t, err)
	of, live := analytics.New(rows), analytics.NewLive(g)
	components, err := analytics.NewConnectivity(ctx, d, 10)
	require.NoError(t, err)
	pool, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{})
	require.NoError(t, err)
	buffer, err := vk.NewBuffer[uint32](d, 3)
	require.NoError(t, err)
	edges := func(insert func(context.Context, graph.Edges) ([]structures.Status, error)) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := insert(ctx, graph.Edges{From: []uint32{5}, To: []uint32{6}, Weights: []uint32{7}})
			return err
		}
	}
	rank := func(a *analytics.Analyzer) func(context.Context) error {
		return func(ctx context.Context) error { _, err := a.Components(ctx); return err }
	}
	return []handle{
		dictionary("map", m, nil),
		{name: "set", x: set, close: set.Close, alive: func(ctx context.Context) error {
			_, err := set.Insert(ctx, []uint32{9})
			return err
		}},
		dictionary("tree", tree, tree.Check),
		dictionary("batched tree", batched, batched.Check),
		dictionary("versions", versions, versions.Check),
		{name: "snapshot", x: snapshot, close: snapshot.Close, alive: func(ctx context.Context) error {
			_, err := snapshot.Len(ctx)
			return err
		}},
		dictionary("lsm", levels, nil),
		dictionary("array", array, nil),
		{name: "graph", x: g, alive: edges(g.InsertEdges), check: g.Check, close: g.Close},
		{name: "ordered graph", x: o, alive: edges(o.InsertEdges), check: o.Check, close: o.Close},
		{name: "named graph", x: named, close: named.Close, check: named.Graph().Check,
			alive: func(ctx context.Context) error {
				_, err := named.InsertVertices(ctx, []uint64{9})
				return err
			}},
		{name: "rows", x: rows, close: rows.Close, alive: func(ctx context.Context) error {
			_, _, _, err := rows.Slices(ctx)
			return err
		}},
		{name: "analyzer", x: of, alive: rank(of), close: of.Close},
		{name: "live analyzer", x: live, alive: rank(live), close: live.Close},
		{name: "connectivity", x: components, close: components.Close, alive: func(ctx context.Context) error {
			_, err := components.Components(ctx)
			return err
		}},
		{name: "pool", x: pool, close: pool.Close, alive: func(ctx context.Context) error {
			_, err := pool.Stats(ctx)
			return err
		}},
		{name: "buffer", x: buffer, close: func() error { buffer.Free(); return nil },
			alive: func(ctx context.Context) error {
				return buffer.Upload(ctx, 0, make([]uint32, 3))
			}},
	}
}

// user is what a test has methods call.
type user struct {
	body   func()    // of a loop over an iterator
	writer io.Writer // that is saved to
}

// arguments are values of all types that methods take, for three operations.
func arguments(t *testing.T, d *vk.Device, h handle, u user) map[reflect.Type]reflect.Value {
	all := map[reflect.Type]reflect.Value{}
	add := func(x any) { all[reflect.TypeOf(x)] = reflect.ValueOf(x) }
	keys, wide := []uint32{1, 7, 3}, []uint64{1, 7, 3}
	ranges := []structures.Range[uint32]{{Hi: 5}, {Lo: 3, Hi: 1 << 30}, structures.AllKeys[uint32]()}
	words := func() *vk.Buffer[uint32] { return testdevice.Upload(t, d, []uint32{1, 2, 3, 0}) }
	bytes, left := testdevice.Room[uint8](t, d, 4), testdevice.Upload(t, d, []uint32{0})
	for _, x := range []any{
		keys, wide, ranges[1], 40, 0.5, true, uint32(1), uint64(1), make([]bool, 3), make([]structures.Status, 3),
		structures.Insert, structures.Successor, ranges,
		structures.Batch[uint32, uint32]{Kinds: []structures.Kind{structures.Find, structures.Insert,
			structures.Delete},
			Keys: keys, Values: keys},
		&structures.Results[uint32, uint32]{Status: make([]structures.Status, 3), Values: make([]uint32, 3)},
		&structures.Ranges[uint32, uint32]{},
		structures.Neighbors[uint32, uint32]{Keys: make([]uint32, 3), Values: make([]uint32, 3),
			Found: make([]bool, 3)},
		structures.DeviceBatch{Count: 3, Keys: words(), Values: words(), Status: bytes, Left: left},
		structures.DeviceNeighbors{Count: 3, Keys: words(), OutKeys: words(), OutValues: words(), Status: bytes,
			Left: left},
		graph.Edges{From: keys, To: []uint32{2, 2, 2}, Weights: keys},
		graph.DeviceBatch{Count: 3, From: words(), To: words(), Weights: words(), Status: bytes, Left: left},
		graph.NamedEdges[uint64]{From: wide, To: []uint64{2, 2, 2}, Weights: keys},
		[]graph.NeighborRange{{Hi: 9}, {Vertex: 1, Hi: 9}, {Vertex: 2, Hi: 9}},
		analytics.BFSOptions{}, analytics.SSSPOptions{}, analytics.PageRankOptions{Iterations: 3},
		func() error { return nil }, func(graph.Device) error { return nil },
		btree.Node[uint64]{}, testdevice.Stream(t, d),
	} {
		add(x)
	}
	all[reflect.TypeFor[io.Writer]()] = reflect.ValueOf(u.writer)
	if x, ok := h.x.(*btree.Tree[uint32, uint32]); ok {
		s, err := x.Snapshot(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		add(s)
		add(s.Time())
	}
	return all
}

// method is a call of one.
type method struct {
	name string
	call func(ctx context.Context)
}

// methods are all of a handle's that take a context first.
func methods(t *testing.T, d *vk.Device, h handle, u user) (all []method) {
	arguments := arguments(t, d, h, u)
	stream := arguments[reflect.TypeFor[*vk.Stream]()].Interface().(*vk.Stream)
	of := reflect.ValueOf(h.x)
	for i := range of.NumMethod() {
		m, name := of.Method(i), of.Type().Method(i).Name
		if m.Type().NumIn() == 0 || m.Type().In(0) != reflect.TypeFor[context.Context]() {
			continue
		}
		in := []reflect.Value{{}}
		for j := 1; j < m.Type().NumIn(); j++ {
			x, ok := arguments[m.Type().In(j)]
			require.True(t, ok, "%s takes a %v, of which this test has none", name, m.Type().In(j))
			in = append(in, x)
		}
		all = append(all, method{name, func(ctx context.Context) {
			defer func() { // what was recorded can't have been submitted by who has panicked
				stream.Discard()
				require.NoError(t, stream.Wait(context.Background()))
			}()
			in := append([]reflect.Value(nil), in...)
			if in[0] = reflect.ValueOf(ctx); ctx == nil {
				in[0] = reflect.Zero(reflect.TypeFor[context.Context]())
			}
			for _, out := range m.Call(in) {
				switch out.Kind() {
				case reflect.Func:
					if out.IsNil() {
						continue
					}
					for range out.Seq2() {
						u.body()
					}
				case reflect.Pointer:
					if x, ok := out.Interface().(io.Closer); ok && !out.IsNil() {
						_ = x.Close()
					}
				}
			}
		}})
	}
	return all
}

// recovered runs a call, and returns what it panics with.
func recovered(call func()) (value any) {
	defer func() { value = recover() }()
	call()
	return nil
}

// A context that is nil, or whose methods panic at any of the calls that there are of them, leaves no handle locked,
// and nothing in it that isn't well.
func TestPanickingContext(t *testing.T) {
	pass.OneWidth(t, "who holds what is the host's business")
	d, err := vk.Open(vk.Options{CacheDir: "none"}) // what a panic leaves allocated goes with it
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	all := handles(t, d, nil)
	for _, h := range slices.Backward(all) {
		t.Run(h.name, func(t *testing.T) {
			for _, m := range methods(t, d, h, user{func() {}, io.Discard}) {
				_ = recovered(func() { m.call(nil) })
				alive(t, h, m.name+" of no context")
				for n := int64(0); n < 1000; n += 1 + 2*n {
					ctx := &panicking{Context: t.Context()}
					ctx.left.Store(n)
					if recovered(func() { m.call(ctx) }) == nil {
						break
					}
					alive(t, h, fmt.Sprintf("%s, whose context panics when asked %d times", m.name, n))
					if m.name == "Prepare" && n > 3 {
						break // it takes long
					}
				}
			}
			well(t, h)
		})
	}
}

// What a function of the user's does, or the body of a loop over an iterator, leaves no handle locked: a panic, which
// the user gets, and the goroutine's end.
func TestPanickingFunctions(t *testing.T) {
	pass.OneWidth(t, "who holds what is the host's business")
	d, err := vk.Open(vk.Options{CacheDir: "none"}) // what a panic leaves allocated goes with it
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	var does atomic.Pointer[func()]
	act := func() {
		if f := does.Load(); f != nil {
			(*f)()
		}
	}
	all := handles(t, d, func(_, _ int) { act() })
	acted, mine := false, new(int)
	panics := func() { acted = true; panic(mine) }
	exits := func() { acted = true; runtime.Goexit() }
	times := 0
	for _, h := range slices.Backward(all) {
		t.Run(h.name, func(t *testing.T) {
			for _, m := range methods(t, d, h, user{act, writer(act)}) {
				if m.name == "Prepare" || m.name == "Use" || m.name == "On" {
					continue // they take long, or nothing of this
				}
				for _, f := range []*func(){&panics, &exits} {
					acted = false
					does.Store(f)
					ended := make(chan any)
					go func() {
						var value any
						defer func() { ended <- value }()
						value = recovered(func() { m.call(t.Context()) })
					}()
					value := <-ended
					does.Store(nil)
					if !acted {
						break
					}
					times++
					if f == &panics {
						require.Same(t, mine, value, m.name)
					}
					alive(t, h, m.name+", whose function ends")
				}
			}
			well(t, h)
		})
	}
	require.Greater(t, times, 50)
	testPanickingReaders(t, d)
}

// writer acts at each Write.
type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

// reader panics at the end of what it reads.
type reader struct{ of io.Reader }

func (r reader) Read(p []byte) (int, error) {
	n, err := r.of.Read(p)
	if err == io.EOF {
		panic(r)
	}
	return n, err
}

// testPanickingReaders loads structures of what a panicking io.Reader reads: their memory is freed.
func testPanickingReaders(t *testing.T, d *vk.Device) {
	const n = 1<<20 + 1<<16 // so that there is a structure by the end
	var dictionary, edges bytes.Buffer
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i)
	}
	m, err := sortedarray.Build(t.Context(), d, keys, keys, sortedarray.Options{})
	require.NoError(t, err)
	_, err = m.WriteTo(&dictionary)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	g, err := graph.Build(t.Context(), d, graph.Edges{From: keys[:1000], To: keys[1:1001]}, graph.Options{})
	require.NoError(t, err)
	_, err = g.WriteTo(&edges)
	require.NoError(t, err)
	require.NoError(t, g.Close())
	for name, load := range map[string]func() error{
		"map": func() error {
			_, err := slabhash.Load[uint32, uint32](t.Context(), d, reader{bytes.NewReader(dictionary.Bytes())},
				slabhash.Options{})
			return err
		},
		"graph": func() error {
			_, err := graph.Load(t.Context(), d, reader{bytes.NewReader(edges.Bytes())}, graph.Options{})
			return err
		},
		"ordered graph": func() error {
			_, err := graph.LoadOrdered(t.Context(), d, reader{bytes.NewReader(edges.Bytes())}, graph.OrderedOptions{})
			return err
		},
	} {
		before, _ := d.Memory()
		require.IsType(t, reader{}, recovered(func() { _ = load() }), name)
		after, _ := d.Memory()
		require.LessOrEqual(t, after, before, name)
	}
}

// alive says that a handle still answers.
func alive(t *testing.T, h handle, after string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	require.NoError(t, h.alive(ctx), "after %s", after)
}

// well looks a handle over, and closes it.
func well(t *testing.T, h handle) {
	t.Helper()
	if h.check != nil {
		require.NoError(t, h.check(t.Context()))
	}
	closed := make(chan error)
	go func() { closed <- h.close() }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, "Close doesn't return")
	}
}
