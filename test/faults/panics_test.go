package faults

import (
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
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
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

// onStreams has the calls of a dictionary on streams that take a context.
type onStreams struct{ of onstream.Calls }

func (o onStreams) Update(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return o.of.On(s).Update(ctx, kind, b)
}

func (o onStreams) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return o.of.On(s).Finish(ctx, kind, b)
}

// orderedOnStreams has those of an ordered dictionary.
type orderedOnStreams struct{ onStreams }

func (o orderedOnStreams) FinishNeighbors(ctx context.Context, s *vk.Stream, to structures.Direction,
	n structures.DeviceNeighbors) error {
	return o.of.Ordered(s).FinishNeighbors(ctx, to, n)
}

// dictionaries are one of each sort, and what belongs to them. Later ones use earlier ones.
func dictionaries(t *testing.T, d *vk.Device, progress structures.Progress) []handle {
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
	alive := func(x structures.Dictionary[uint32, uint32]) func(context.Context) error {
		return dictionary("", x, nil).alive
	}
	nothing := func() error { return nil }
	return []handle{
		dictionary("map", m, nil),
		{name: "map inspected", x: m.Inspect(), close: nothing, alive: alive(m)},
		{name: "map on streams", x: onStreams{onstream.Of(m)}, close: nothing, alive: alive(m)},
		{name: "set", x: set, close: set.Close, alive: func(ctx context.Context) error {
			_, err := set.Insert(ctx, []uint32{9})
			return err
		}},
		dictionary("tree", tree, tree.Inspect().Check),
		{name: "tree inspected", x: tree.Inspect(), close: nothing, alive: alive(tree)},
		{name: "tree in shaders", x: tree.InShaders(), close: nothing, alive: alive(tree)},
		{name: "tree on streams", x: orderedOnStreams{onStreams{onstream.Of(tree)}}, close: nothing,
			alive: alive(tree)},
		dictionary("batched tree", batched, batched.Inspect().Check),
		dictionary("versions", versions, versions.Inspect().Check),
		{name: "snapshot", x: snapshot, close: snapshot.Close, alive: func(ctx context.Context) error {
			_, err := snapshot.Len(ctx)
			return err
		}},
		dictionary("lsm", levels, nil),
		{name: "lsm inspected", x: levels.Inspect(), close: nothing, alive: alive(levels)},
		{name: "lsm on streams", x: orderedOnStreams{onStreams{onstream.Of(levels)}}, close: nothing,
			alive: alive(levels)},
		dictionary("array", array, nil),
		{name: "array inspected", x: array.Inspect(), close: nothing, alive: alive(array)},
		{name: "array on streams", x: orderedOnStreams{onStreams{onstream.Of(array)}}, close: nothing,
			alive: alive(array)},
	}
}

// others are graphs, what analyzes them, and what is made on a device directly. Later ones use earlier ones.
func others(t *testing.T, d *vk.Device, progress structures.Progress) []handle {
	ctx := t.Context()
	keys := []uint32{1, 2, 3, 4}
	e := graph.Edges{From: keys, To: []uint32{2, 3, 4, 1}, Weights: keys}
	g, err := graph.Build(ctx, d, e, graph.Options{Weighted: true, Progress: progress})
	require.NoError(t, err)
	o, err := ordered.Build(ctx, d, e, ordered.Options{Weighted: true,
		Tree: btree.Options{Progress: progress}})
	require.NoError(t, err)
	named, err := graph.NewNamed[uint64](ctx, d, graph.Options{Weighted: true, Progress: progress})
	require.NoError(t, err)
	f, err := filter.New[uint32](ctx, d, filter.Options{Capacity: 100, Progress: progress})
	require.NoError(t, err)
	rows, err := g.CSR(ctx, true)
	require.NoError(t, err)
	of, live := analytics.New(rows), analytics.NewLive(g)
	components, err := analytics.NewConnectivity(ctx, d, 10)
	require.NoError(t, err)
	pool, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{})
	require.NoError(t, err)
	reclaimer, err := alloc.NewReclaimer(ctx, pool, alloc.ReclaimerOptions{})
	require.NoError(t, err)
	buffer, err := vk.NewBuffer[uint32](d, 3)
	require.NoError(t, err)
	snapshot, err := o.Snapshot(ctx)
	require.NoError(t, err)
	stream, uses := testdevice.Stream(t, d), new(vk.Uses)
	use := func(ctx context.Context) error {
		stream.Discard()
		stream.Fill(buffer, 0, 1, 1)
		uses.On(stream)
		if err := stream.Wait(ctx); err != nil {
			return err
		}
		return uses.Rest(ctx)
	}
	require.NoError(t, use(ctx))
	point, err := stream.Submit()
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
		{name: "graph", x: g, alive: edges(g.InsertEdges), check: g.Inspect().Check, close: g.Close},
		{name: "ordered graph", x: o, alive: edges(o.InsertEdges), check: o.Check, close: o.Close},
		{name: "ordered graph now", x: o.Now(), close: o.Now().Close, alive: func(ctx context.Context) error {
			_, _, err := o.Now().Size(ctx)
			return err
		}},
		{name: "graph on a stream", x: g.On(stream), close: func() error { stream.Discard(); return nil },
			alive: func(ctx context.Context) error {
				stream.Discard() // what was recorded before the panic
				return edges(g.InsertEdges)(ctx)
			}},
		{name: "graph inspected", x: g.Inspect(), alive: edges(g.InsertEdges), check: g.Inspect().Check,
			close: func() error { return nil }},
		{name: "graph in shaders", x: g.InShaders(), alive: edges(g.InsertEdges), check: g.Inspect().Check,
			close: func() error { return nil }},
		{name: "snapshot of a graph", x: snapshot, close: snapshot.Close, alive: func(ctx context.Context) error {
			_, _, err := snapshot.FindEdges(ctx, e)
			return err
		}},
		{name: "named graph", x: named, close: named.Close, check: named.Graph().Inspect().Check,
			alive: func(ctx context.Context) error {
				_, err := named.InsertVertices(ctx, []uint64{9})
				return err
			}},
		{name: "filter", x: f, close: f.Close, alive: func(ctx context.Context) error { return f.Insert(ctx, keys) }},
		{name: "filter inspected", x: f.Inspect(), close: func() error { return nil },
			alive: func(ctx context.Context) error { return f.Insert(ctx, keys) }},
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
		{name: "reclaimer", x: reclaimer, close: reclaimer.Close, alive: func(ctx context.Context) error {
			_, err := reclaimer.Stats(ctx)
			return err
		}},
		{name: "buffer", x: buffer, close: func() error { buffer.Free(); return nil },
			alive: func(ctx context.Context) error {
				return buffer.Upload(ctx, 0, make([]uint32, 3))
			}},
		{name: "stream", x: stream, alive: use, close: stream.Close},
		{name: "device", x: d, alive: use, close: func() error { return nil }},
		{name: "point", x: point, alive: point.Wait, close: func() error { return nil }},
		{name: "uses", x: uses, alive: use, close: func() error { return nil }},
	}
}

// user is what a test has methods call.
type user struct {
	body   func()          // of a loop over an iterator
	writer io.Writer       // that is saved to
	failed func(err error) // nil: errors are of no interest
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
		[]ordered.NeighborRange{{Hi: 9}, {Vertex: 1, Hi: 9}, {Vertex: 2, Hi: 9}},
		analytics.BFSOptions{}, analytics.SSSPOptions{}, analytics.PageRankOptions{Iterations: 3},
		analytics.CommunitiesOptions{},
		btree.Node[uint64]{}, btree.Moving{}, "a label", testdevice.Stream(t, d),
	} {
		add(x)
	}
	all[reflect.TypeFor[io.Writer]()] = reflect.ValueOf(u.writer)
	all[reflect.TypeFor[any]()] = reflect.ValueOf("a key")
	all[reflect.TypeFor[error]()] = reflect.ValueOf(io.ErrUnexpectedEOF)
	if _, ok := h.x.(*filter.Filter[uint32]); ok {
		other, err := filter.New[uint32](t.Context(), d, filter.Options{Capacity: 100})
		require.NoError(t, err)
		t.Cleanup(func() { _ = other.Close() })
		add(other)
	}
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
	name     string
	context  bool // it is given one,
	function bool // and a function to call, or a writer
	call     func(ctx context.Context)
}

var aContext = reflect.TypeFor[context.Context]()

// asks says whether a method is given what it may call: a context, another interface that others implement, too, or a
// function.
func asks(method reflect.Type) bool {
	for i := range method.NumIn() {
		in := method.In(i)
		n := in.NumMethod() // the last ones are those that are not exported
		ours := in.Kind() == reflect.Interface && n > 0 && !in.Method(n-1).IsExported()
		if in.Kind() == reflect.Func || in.Kind() == reflect.Interface && !ours {
			return true
		}
	}
	return false
}

// methods are all of a handle's that ask something of the user.
func methods(t *testing.T, d *vk.Device, h handle, u user) (all []method) {
	arguments := arguments(t, d, h, u)
	stream := arguments[reflect.TypeFor[*vk.Stream]()].Interface().(*vk.Stream)
	of := reflect.ValueOf(h.x)
	for i := range of.NumMethod() {
		m, name := of.Method(i), of.Type().Method(i).Name
		if !asks(m.Type()) {
			continue
		}
		in, function := make([]reflect.Value, m.Type().NumIn()), false
		for j := range in {
			of := m.Type().In(j)
			x, ok := arguments[of]
			switch {
			case of == aContext: // each call has its own
				x = reflect.Zero(of)
			case of.Kind() == reflect.Func:
				function = true
				x = reflect.MakeFunc(of, func([]reflect.Value) (out []reflect.Value) {
					u.body()
					for i := range of.NumOut() {
						out = append(out, reflect.Zero(of.Out(i)))
					}
					return out
				})
			default:
				require.True(t, ok, "%s takes a %v, of which this test has none", name, of)
				function = function || of == reflect.TypeFor[io.Writer]()
			}
			in[j] = x
		}
		all = append(all, method{name, in[0].Type() == aContext, function, func(ctx context.Context) {
			defer func() { // what was recorded can't have been submitted by who has panicked
				stream.Discard()
				require.NoError(t, stream.Wait(context.Background()))
			}()
			in := append([]reflect.Value(nil), in...)
			if in[0].Type() == aContext && ctx != nil {
				in[0] = reflect.ValueOf(ctx)
			}
			failed := func(x reflect.Value) {
				if err, ok := x.Interface().(error); ok && u.failed != nil {
					u.failed(err)
				}
			}
			for _, out := range m.Call(in) {
				switch out.Kind() {
				case reflect.Interface:
					failed(out)
				case reflect.Func:
					if out.IsNil() {
						continue
					}
					for _, err := range out.Seq2() {
						failed(err)
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

// What a user hands in leaves no handle locked, and nothing in it that isn't well: a context that is nil, or whose
// methods panic, at any of the calls that there are of them; a function, or the body of a loop over an iterator, that
// panics, which the user gets, or ends its goroutine.
func TestPanicsInDictionaries(t *testing.T) {
	testPanics(t, dictionaries, "structures/btree", "structures/lsm", "structures/slabhash", "structures/sortedarray")
}

func TestPanicsInOthers(t *testing.T) {
	testPanics(t, others, "alloc", "structures/filter", "structures/graph", "structures/graph/analytics",
		"structures/graph/ordered", "vk")
}

// testPanics tries all that handles there are of some packages.
func testPanics(t *testing.T, handles func(*testing.T, *vk.Device, structures.Progress) []handle, packages ...string) {
	pass.OneWidth(t, "who holds what is the host's business")
	d := panicDevice(t)
	var does atomic.Pointer[func()]
	act := func() {
		if f := does.Load(); f != nil {
			(*f)()
		}
	}
	all := handles(t, d, func(_, _ int) { act() })
	var types []string
	for _, h := range all {
		types = append(types, typesOf(h.x)...)
	}
	require.Subset(t, types, asking(t, true, packages...), "what calls what a user hands in")
	for _, h := range slices.Backward(all) {
		t.Run(h.name, func(t *testing.T) {
			for _, m := range methods(t, d, h, user{body: act, writer: writer(act)}) {
				if m.context {
					testPanickingContext(t, h, m)
				}
				if m.name != "Prepare" { // it takes long
					acts := testPanickingFunction(t, h, m, &does)
					require.True(t, acts || !m.function, "%s calls no function", m.name)
				}
			}
			well(t, h)
		})
	}
}

// panicDevice is a device that has to close by the test's end: what a panic leaves allocated goes with it.
func panicDevice(t *testing.T) *vk.Device {
	d, err := vk.Open(vk.Options{CacheDir: "none"})
	require.NoError(t, err)
	t.Cleanup(func() { inTime(t, "the device's Close", d.Close) })
	return d
}

func testPanickingContext(t *testing.T, h handle, m method) {
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

// testPanickingFunction says whether the method has called a function of the user's.
func testPanickingFunction(t *testing.T, h handle, m method, does *atomic.Pointer[func()]) bool {
	acted, mine := false, new(int)
	panics := func() { acted = true; panic(mine) }
	exits := func() { acted = true; runtime.Goexit() }
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
			return false
		}
		if f == &panics {
			require.Same(t, mine, value, m.name)
		}
		alive(t, h, m.name+", whose function ends")
	}
	return true
}

// writer acts at each Write.
type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
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
	inTime(t, "Close", h.close)
}

// inTime requires that a call returns.
func inTime(t *testing.T, name string, call func() error) {
	t.Helper()
	ended := make(chan error)
	go func() { ended <- call() }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, name+" doesn't return")
	}
}
