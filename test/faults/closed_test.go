package faults

import (
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// opened are handles of all sorts, each newly made on a device.
func opened(t *testing.T, d *vk.Device) (all []io.Closer) {
	ctx := t.Context()
	add := func(handle io.Closer, err error) {
		require.NoError(t, err)
		all = append(all, handle)
	}
	tree, err := btree.New[int64, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	o, err := ordered.New(ctx, d, ordered.Options{})
	require.NoError(t, err)
	narrow, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	add(slabhash.New[uint32, uint32](ctx, d, slabhash.Options{}))
	add(slabhash.New[int64, uint32](ctx, d, slabhash.Options{}))
	add(slabhash.NewSet[uint32](ctx, d, slabhash.Options{}))
	add(slabhash.NewSet[int64](ctx, d, slabhash.Options{}))
	add(filter.New[uint32](ctx, d, filter.Options{}))
	add(filter.New[int64](ctx, d, filter.Options{}))
	add(lsm.New[uint32, uint32](ctx, d, lsm.Options{}))
	add(lsm.New[int64, uint32](ctx, d, lsm.Options{}))
	add(sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{}))
	add(sortedarray.New[int64, uint32](ctx, d, sortedarray.Options{}))
	add(graph.New(ctx, d, graph.Options{}))
	add(graph.NewNamed[uint64](ctx, d, graph.Options{}))
	add(o.Snapshot(ctx))
	add(o, nil)
	add(narrow.Snapshot(ctx))
	add(narrow, nil)
	add(tree.Snapshot(ctx))
	add(tree, nil)
	return all
}

// names are what errors of closed handles call them, by the beginnings of their types.
var names = map[string][]error{
	"*slabhash.": closedAs("hash table"), "*btree.Tree": closedAs("tree"), "*btree.Snapshot": closedAs("snapshot"),
	"*lsm.": closedAs("LSM"), "*sortedarray.": closedAs("sorted array"), "*filter.": closedAs("filter"),
	"*graph.Graph": closedAs("graph"), "*graph.Named": closedAs("graph of names"),
	"*ordered.Graph": closedAs("graph", "tree"), "*ordered.View": closedAs("snapshot"),
}

func closedAs(names ...string) (all []error) {
	for _, name := range names {
		all = append(all, &vk.ClosedError{What: name})
	}
	return all
}

// Every method of a closed handle that returns an error returns a *vk.ClosedError, which is vk.ErrClosed and names the
// handle, whatever its arguments are.
func TestClosed(t *testing.T) {
	pass.OneWidth(t, "nothing is dispatched")
	for _, handle := range opened(t, testdevice.Open(t)) {
		require.NoError(t, handle.Close())
		x := reflect.ValueOf(handle)
		want := []error{vk.ErrClosed}
		for of, named := range names {
			if strings.HasPrefix(x.Type().String(), of) {
				want = named
			}
		}
		require.NotEqual(t, vk.ErrClosed, want[0], x.Type())
		for i := range x.NumMethod() {
			method := x.Type().Method(i).Name
			t.Run(x.Type().String()+"/"+method, func(t *testing.T) {
				if method == "Close" {
					require.NoError(t, handle.Close())
					return
				}
				refuses(t, x.Method(i), want...)
			})
		}
	}
}

// A nil pointer for results, a nil io.Writer and a nil io.Reader are an *vk.OptionError. The handle is left as
// it was: it can be closed.
func TestNilArguments(t *testing.T) {
	pass.OneWidth(t, "next to nothing is dispatched")
	d := testdevice.Open(t)
	var no *vk.OptionError
	for _, handle := range opened(t, d) {
		x := reflect.ValueOf(handle)
		for i := range x.NumMethod() {
			method := x.Type().Method(i).Name
			if method != "ApplyInto" && method != "RangeInto" && method != "Save" && method != "WriteTo" {
				continue
			}
			t.Run(x.Type().String()+"/"+method, func(t *testing.T) {
				in := inputs(t, x.Method(i).Type(), false)
				in[len(in)-1].SetZero()
				var out []reflect.Value
				require.NotPanics(t, func() { out = x.Method(i).Call(in) })
				err, _ := out[len(out)-1].Interface().(error)
				require.ErrorAs(t, err, &no)
			})
		}
		require.NoError(t, handle.Close())
	}
	of := func(_ any, err error) error { return err }
	ctx := t.Context()
	for name, err := range map[string]error{
		"map":           of(slabhash.Load[uint32, uint32](ctx, d, nil, slabhash.Options{})),
		"filter":        of(filter.Load[uint32](ctx, d, nil, filter.Options{})),
		"set":           of(slabhash.LoadSet[uint32](ctx, d, nil, slabhash.Options{})),
		"tree":          of(btree.Load[uint32, uint32](ctx, d, nil, btree.Options{})),
		"levels":        of(lsm.Load[uint32, uint32](ctx, d, nil, lsm.Options{})),
		"array":         of(sortedarray.Load[uint32, uint32](ctx, d, nil, sortedarray.Options{})),
		"graph":         of(graph.Load(ctx, d, nil, graph.Options{})),
		"named graph":   of(graph.LoadNamed[uint64](ctx, d, nil, graph.Options{})),
		"graph by text": of(graph.LoadNamedByText(ctx, d, nil, graph.Options{})),
		"ordered graph": of(ordered.Load(ctx, d, nil, ordered.Options{})),
	} {
		require.ErrorAs(t, err, &no, name)
	}
}

// Functions that take another handle return vk.ErrNotOpen for a nil pointer or a zero value, and vk.ErrClosed for one
// that is closed, at once. They leave nothing open.
func TestHandlesGivenToOthers(t *testing.T) {
	pass.OneWidth(t, "next to nothing is dispatched")
	ctx, d := t.Context(), testdevice.Open(t)
	of := func(_ any, err error) error { return err }
	tree, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	o, err := ordered.New(ctx, d, ordered.Options{})
	require.NoError(t, err)
	defer o.Close()
	now, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	defer now.Close()
	then, err := o.Snapshot(ctx)
	require.NoError(t, err)
	defer then.Close()
	stream := testdevice.Stream(t, d)

	closed, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	closedGraph, err := o.Snapshot(ctx)
	require.NoError(t, err)
	require.NoError(t, closedGraph.Close())
	rows, err := o.Now().CSR(ctx)
	require.NoError(t, err)
	require.NoError(t, rows.Close())
	g, err := graph.New(ctx, d, graph.Options{})
	require.NoError(t, err)
	require.NoError(t, g.Close())
	pool := newPool(t, d)
	require.NoError(t, pool.Close())

	type snapshot = btree.Snapshot[uint32, uint32]
	for want, handles := range map[error][]struct {
		s *snapshot
		o *ordered.View
		r *graph.CSR
		g *graph.Graph
		p *alloc.SlabPool
	}{
		vk.ErrNotOpen: {{}, {new(snapshot), new(ordered.View), new(graph.CSR), new(graph.Graph),
			new(alloc.SlabPool)}},
		vk.ErrClosed: {{closed, closedGraph, rows, g, pool}},
	} {
		for _, h := range handles {
			_, changes, err := tree.Changes(ctx, h.s)
			require.Nil(t, changes)
			all := map[string]error{
				"Changes":      err,
				"Diff, older":  last(btree.Diff(ctx, h.s, now)),
				"Diff, newer":  last(btree.Diff(ctx, now, h.s)),
				"DiffOn":       btree.DiffOn(stream, h.s, now, btree.DeviceDiff{}),
				"DiffOn newer": btree.DiffOn(stream, now, h.s, btree.DeviceDiff{}),
				"DiffEdges":    last(ordered.Diff(ctx, h.o, then)),
				"and newer":    last(ordered.Diff(ctx, then, h.o)),
				"FromCSR":      of(graph.Build(ctx, d, h.r, graph.Options{})),
				"analytics":    of(analytics.New(h.r).Components(ctx)),
				"live":         of(analytics.NewLive(h.g).Components(ctx)),
				"reclaimer":    of(alloc.NewReclaimer(ctx, h.p, alloc.ReclaimerOptions{})),
			}
			if h.p != nil { // or it is an option that is not there
				all["map"] = of(slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Pool: h.p}))
				all["tree"] = of(btree.New[uint32, uint32](ctx, d, btree.Options{Pool: h.p}))
				all["graph"] = of(graph.New(ctx, d, graph.Options{Pool: h.p}))
			}
			for name, err := range all {
				require.ErrorIs(t, err, want, name)
			}
		}
	}
	versions, err := tree.Inspect().Versions(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, versions.Snapshots)
}

// last is the error that a sequence ends with.
func last[T any](all iter.Seq2[T, error]) (end error) {
	for _, err := range all {
		end = err
	}
	return end
}

// What describes a structure to shaders has no address of memory that was freed: it is the zero value where the
// structure is closed, or its pool, and where both are, in either order.
func TestDeviceOfWhatIsClosed(t *testing.T) {
	ctx, d := t.Context(), testdevice.Open(t)
	for name, open := range map[string]func(*alloc.SlabPool) (device func() any, close func() error, err error){
		"map": func(pool *alloc.SlabPool) (func() any, func() error, error) {
			m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Pool: pool})
			return func() any { return m.InShaders().Description() }, m.Close, err
		},
		"set": func(pool *alloc.SlabPool) (func() any, func() error, error) {
			s, err := slabhash.NewSet[uint32](ctx, d, slabhash.Options{Pool: pool})
			return func() any { return s.InShaders().Description() }, s.Close, err
		},
		"tree": func(pool *alloc.SlabPool) (func() any, func() error, error) {
			tree, err := btree.New[uint32, uint32](ctx, d, btree.Options{Pool: pool})
			return func() any { return tree.InShaders().Description() }, tree.Close, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			device, close, err := open(nil)
			require.NoError(t, err)
			require.NotZero(t, device())
			require.NoError(t, close())
			require.Zero(t, device())

			pool := newPool(t, d)
			device, close, err = open(pool)
			require.NoError(t, err)
			require.NoError(t, close())
			require.Zero(t, device(), "in a pool that is open")
			require.NotZero(t, pool.Description())
			require.NoError(t, pool.Close())
			require.Zero(t, pool.Description())
			require.Zero(t, device())

			pool = newPool(t, d)
			device, close, err = open(pool)
			require.NoError(t, err)
			require.NotZero(t, device())
			require.NoError(t, pool.Close())
			require.Zero(t, device(), "in a pool that is closed")
			require.NoError(t, close())
			require.Zero(t, device())
		})
	}
}

func newPool(t *testing.T, d *vk.Device) *alloc.SlabPool {
	t.Helper()
	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{})
	require.NoError(t, err)
	return pool
}
