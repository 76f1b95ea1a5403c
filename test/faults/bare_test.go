package faults

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	keytypes "github.com/vkds/vkds/structures/keys"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// cause returns what an error is about in the end. No error in its chain is joined of several.
func cause(t *testing.T, err error, what string) error {
	t.Helper()
	for {
		_, joined := err.(interface{ Unwrap() []error })
		require.False(t, joined, "%s: %v", what, err)
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// ending is a context that has ended when it is asked for the last of so many times.
type ending struct {
	context.Context
	looks looks
	done  chan struct{}
}

var errEnded = errors.New("the test's context has ended")

func endingAfter(ctx context.Context, n int) *ending {
	return &ending{ctx, looks{ctx, n}, make(chan struct{})}
}

func (e *ending) Done() <-chan struct{} { return e.done }

func (e *ending) Err() error {
	if e.looks.Err() == nil {
		return nil
	}
	select {
	case <-e.done:
	default:
		close(e.done)
	}
	return errEnded
}

// Whatever stops a call, each method of each handle returns one error: the context's as Err returns it, or a documented
// one, alone or in a *structures.PendingError.
func TestBareErrors(t *testing.T) {
	pass.OneWidth(t, "errors are the host's business")
	pass.OneDriver(t, "errors are the host's business")
	d, err := vk.Open(vk.Options{CacheDir: "none", MemoryLimit: 32 << 20})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	total := 0
	for _, h := range slices.Backward(append(dictionaries(t, d, nil), others(t, d, nil)...)) {
		t.Run(h.name, func(t *testing.T) {
			var now string
			var last error // that a method has returned, in the end
			times := 0
			u := user{body: func() {}, writer: io.Discard, failed: func(err error) {
				last = cause(t, err, now)
				times++
				var capacity *structures.CapacityError
				if err != last && !errors.As(err, &capacity) {
					require.IsType(t, &structures.PendingError{}, err, "%s: %v", now, err)
				}
			}}
			all := methods(t, d, h, u)
			refused := map[string]bool{"Prepare": true} // methods that take long, or refuse what they get here
			each := func(what string, call func(m method)) {
				times = 0
				for _, m := range all {
					if now, last = m.name+", "+what, nil; m.context && !refused[m.name] {
						call(m)
					}
				}
				t.Logf("%s: %d errors", what, times)
				total += times
			}
			each("as it should", func(m method) {
				m.call(t.Context())
				refused[m.name] = last != nil
			})
			each("whose context ends", func(m method) {
				for n := 0; n < 100; n += 1 + 2*n {
					last = nil
					if m.call(endingAfter(t.Context(), n)); last == nil {
						return
					}
					require.Same(t, errEnded, last, now)
				}
			})
			each("without memory", func(m method) {
				defer takeAll(t, d)()
				m.call(t.Context())
				if last != nil {
					require.IsType(t, &vk.OutOfMemoryError{}, last, "%s: %v", now, last)
				}
			})
			require.NoError(t, h.close())
			each("after Close", func(m method) {
				m.call(t.Context())
				if last != nil {
					require.IsType(t, &vk.ClosedError{}, last, now)
				}
			})
		})
	}
	require.Greater(t, total, 500)
}

// takeAll takes all memory that a device has left, but for small buffers that fit into holes. free gives it back.
func takeAll(t *testing.T, d *vk.Device) (free func()) {
	used, budget := d.Memory()
	b, err := vk.NewBuffer[byte](d, int((budget-used)&^255))
	require.NoError(t, err)
	return b.Free
}

// requireBare says that an error is of the type of another one, or the very one if that is a variable, perhaps with
// others around or in it, of which each has one at most.
func requireBare(t *testing.T, want, err error) {
	t.Helper()
	require.Error(t, err)
	cause(t, err, "error")
	variable := reflect.TypeOf(want) == reflect.TypeOf(vk.ErrClosed)
	for e := err; e != nil; e = errors.Unwrap(e) {
		if e == want || !variable && reflect.TypeOf(e) == reflect.TypeOf(want) {
			return
		}
	}
	require.Failf(t, "another error", "%T: %v, not a %T", err, err, want)
}

// Each error type and variable that the packages document comes unjoined, where it can be caused at once.
func TestErrorTypes(t *testing.T) {
	pass.OneWidth(t, "errors are the host's business")
	pass.OneDriver(t, "errors are the host's business")
	ctx, d, other := t.Context(), testdevice.Open(t, vk.Options{MemoryLimit: 64 << 20}), testdevice.Open(t)
	keys := []uint32{1, 2, 3, 4}
	m, err := slabhash.Build(ctx, d, keys, keys, slabhash.Options{})
	require.NoError(t, err)
	tree, err := btree.Build(ctx, d, keys, keys, btree.Options{})
	require.NoError(t, err)
	second, err := btree.Build(ctx, d, keys, keys, btree.Options{})
	require.NoError(t, err)
	levels, err := lsm.Build(ctx, d, keys, keys, lsm.Options{Batch: 32})
	require.NoError(t, err)
	array, err := sortedarray.Build(ctx, d, keys, keys, sortedarray.Options{})
	require.NoError(t, err)
	arcs, err := graph.Build(ctx, d, graph.Edges{From: keys, To: []uint32{2, 3, 4, 1}}, graph.Options{Directed: true})
	require.NoError(t, err)
	rows, err := arcs.CSR(ctx, true)
	require.NoError(t, err)
	of := analytics.New(rows)
	at, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	_, err = tree.Insert(ctx, keys, keys)
	require.NoError(t, err)
	later, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	elsewhere, err := second.Snapshot(ctx)
	require.NoError(t, err)
	for _, x := range []io.Closer{m, tree, second, levels, array, arcs, rows, of, at, later, elsewhere} {
		defer func() { require.NoError(t, x.Close()) }()
	}
	s := testdevice.Stream(t, d)
	buffer, foreign := testdevice.Upload(t, d, make([]uint32, 4)), testdevice.Upload(t, other, make([]uint32, 4))
	var saved bytes.Buffer
	_, err = m.Save(ctx, &saved)
	require.NoError(t, err)
	load := func(from []byte) error {
		_, err := btree.Load[uint32, uint32](ctx, d, bytes.NewReader(from), btree.Options{})
		return err
	}
	damaged := bytes.Clone(saved.Bytes())
	damaged[len(damaged)/2] ^= 1
	p := primitives.New(d, primitives.Options{})
	defer func() { require.NoError(t, p.Close()) }()
	type call struct {
		want error
		call func() error
	}
	calls := map[string]call{
		"too large": {&vk.LimitError{}, func() error { _, err := vk.NewBuffer[byte](d, -1); return err }},
		"memory":    {&vk.OutOfMemoryError{}, func() error { _, err := vk.NewBuffer[byte](d, 65<<20); return err }},
		"budget":    {&vk.LimitError{}, func() error { _, err := vk.NewBuffer[byte](d.Budget("", 1), 1); return err }},
		"no device": {vk.ErrNotOpen, func() error { _, err := vk.NewBuffer[byte](nil, 1); return err }},
		"upload":    {&vk.RangeError{}, func() error { return buffer.Upload(ctx, 3, keys) }},
		"device":    {&vk.NoDeviceError{}, func() error { _, err := vk.Open(vk.Options{Device: "none"}); return err }},
		"vk option": {&vk.OptionError{}, func() error { _, err := vk.Open(vk.Options{StagingBytes: -1}); return err }},
		"subgroups": {&vk.MissingFeatureError{}, func() error {
			_, err := vk.Open(vk.Options{SubgroupSize: 3})
			return err
		}},
		"pool": {&vk.LimitError{}, func() error {
			_, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{MaxBytes: 1})
			return err
		}},
		"truncated": {structures.ErrTruncated, func() error { return load(saved.Bytes()[:saved.Len()-1]) }},
		"corrupt":   {structures.ErrCorrupt, func() error { return load(damaged) }},
		"not saved": {structures.ErrNotSaved, func() error {
			return load([]byte("something else, which is long enough"))
		}},
		"type": {&structures.TypeError{}, func() error {
			_, err := btree.Load[float32, uint32](ctx, d, bytes.NewReader(saved.Bytes()), btree.Options{})
			return err
		}},
		"saved": {&structures.SavedError{}, func() error { return load(damaged) }},
		"direction": {&vk.OptionError{}, func() error {
			_, err := tree.Neighbor(ctx, 99, keys)
			return err
		}},
		"snapshots": {btree.ErrSnapshots, func() error { return tree.Compact(ctx, 0) }},
		"fill":      {&vk.OptionError{}, func() error { return tree.Compact(ctx, 2) }},
		"time": {btree.ErrNoSnapshot, func() error {
			_, err := btree.SnapshotAt(ctx, tree, 12345)
			return err
		}},
		"two trees": {&vk.OptionError{}, func() error {
			return btree.DiffOn(s, at, elsewhere, btree.DeviceDiff{})
		}},
		"order": {&vk.OptionError{}, func() error {
			return btree.DiffOn(s, later, at, btree.DeviceDiff{Total: buffer})
		}},
		"vertex": {&graph.VertexError{}, func() error {
			_, err := graph.BuildCSR(ctx, d, graph.Edges{From: keys, To: keys}, graph.CSROptions{Vertices: 2})
			return err
		}},
		"offset": {&graph.OffsetError{}, func() error {
			_, err := graph.NewCSR(ctx, d, graph.Rows{Vertices: 2, Arcs: 2, Offsets: buffer, Targets: buffer})
			return err
		}},
		"vertices": {&graph.VertexError{}, func() error {
			_, err := arcs.InsertEdges(ctx, graph.Edges{From: []uint32{math.MaxUint32}, To: []uint32{1}})
			return err
		}},
		"edges": {&structures.LengthError{}, func() error {
			_, err := arcs.InsertEdges(ctx, graph.Edges{From: keys})
			return err
		}},
		"directed": {analytics.ErrDirected, func() error { _, err := of.Triangles(ctx); return err }},
		"bits": {&vk.OptionError{}, func() error {
			return p.Sort(s, primitives.SortArgs{FirstBit: 33, Length: primitives.Length{N: 1}})
		}},
		"no address": {primitives.ErrNoMemory, func() error {
			return p.Sort(s, primitives.SortArgs{Length: primitives.Length{N: 1}})
		}},
		"key": {&keytypes.RangeError{}, func() error { _, err := keytypes.OfTime(time.Time{}); return err }},
	}
	for name, x := range map[string]structures.Dictionary[uint32, uint32]{"map": m, "tree": second, "lsm": levels,
		"array": array} {
		calls[name+", values"] = call{&structures.LengthError{}, func() error {
			_, err := x.Insert(ctx, keys, keys[:3])
			return err
		}}
		calls[name+", status"] = call{&structures.LengthError{}, func() error {
			return x.UpdateInto(ctx, structures.Insert, keys, keys, make([]structures.Status, 3))
		}}
		calls[name+", kind"] = call{&structures.KindError{}, func() error {
			_, err := x.Apply(ctx, structures.Batch[uint32, uint32]{Kinds: []structures.Kind{99, 1, 1, 1}, Keys: keys,
				Values: keys})
			return err
		}}
		calls[name+", foreign"] = call{&vk.ForeignError{}, func() error {
			return onstream.Of(x).On(s).Find(structures.DeviceLookups{Count: 1, Keys: foreign, Values: buffer})
		}}
		calls[name+", count"] = call{&structures.CountError{}, func() error {
			return onstream.Of(x).On(s).Find(structures.DeviceLookups{Count: -1, Keys: buffer, Values: buffer})
		}}
		calls[name+", short"] = call{&structures.LengthError{}, func() error {
			return onstream.Of(x).On(s).Find(structures.DeviceLookups{Count: 5, Keys: buffer, Values: buffer})
		}}
	}
	batch := structures.DeviceBatch{Count: 1, Keys: buffer, Values: buffer}
	for name, x := range map[string]any{"map": m, "tree": second} {
		calls[name+", superseded"] = call{structures.ErrSuperseded, func() error {
			never := batch
			never.Count = 2
			return onstream.Of(x).On(s).Finish(ctx, structures.Insert, never)
		}}
	}
	for name, x := range map[string]structures.Dictionary[uint32, uint32]{"tree": second, "lsm": levels} {
		calls[name+", unsubmitted"] = call{vk.ErrUnsubmitted, func() error {
			defer s.Discard()
			require.NoError(t, onstream.Of(x).On(s).Update(ctx, structures.Insert, batch))
			_, err := x.Insert(ctx, keys, keys)
			return err
		}}
	}
	calls["map, changed"] = call{structures.ErrChanged, func() error {
		for _, err := range m.All(ctx) {
			if err != nil {
				return err
			}
			require.NoError(t, m.Clear(ctx))
		}
		return nil
	}}
	for name, c := range calls {
		t.Run(name, func(t *testing.T) { requireBare(t, c.want, c.call()) })
	}
}
