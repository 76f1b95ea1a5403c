package faults

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/doctor"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// reader panics at the end of what it reads.
type reader struct{ of io.Reader }

func (r reader) Read(p []byte) (int, error) {
	n, err := r.of.Read(p)
	if err == io.EOF {
		panic(r)
	}
	return n, err
}

// closed closes what a function has made.
func closed[T io.Closer](x T, err error) error {
	if err != nil {
		return err
	}
	return x.Close()
}

// maker calls a package's function that asks something of the user.
type maker func(ctx context.Context, progress structures.Progress, dictionary, edges io.Reader) error

// makers are those of all packages, by package and name. body is that of loops.
func makers(t *testing.T, d *vk.Device, body func()) map[string]maker {
	ctx, keys := t.Context(), []uint32{1, 2, 3, 4}
	e := graph.Edges{From: keys, To: []uint32{2, 3, 4, 1}, Weights: keys}
	words := testdevice.Upload(t, d, keys)
	on := graph.DeviceEdges{Count: 4, From: words, To: words, Weights: words, Stream: testdevice.Stream(t, d)}
	bits, err := filter.New[uint32](ctx, d, filter.Options{Capacity: 100})
	require.NoError(t, err)
	var filterFile bytes.Buffer
	_, err = bits.Save(ctx, &filterFile)
	require.NoError(t, err)
	require.NoError(t, bits.Close())
	tree, err := btree.Build(ctx, d, keys, keys, btree.Options{})
	require.NoError(t, err)
	o, err := ordered.Build(ctx, d, e, ordered.Options{Weighted: true})
	require.NoError(t, err)
	rows, err := graph.BuildCSR(ctx, d, graph.Edges{From: keys, To: keys}, graph.CSROptions{})
	require.NoError(t, err)
	older, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	olderEdges, err := o.Snapshot(ctx)
	require.NoError(t, err)
	_, err = tree.Insert(ctx, []uint32{7, 8}, []uint32{9, 9})
	require.NoError(t, err)
	_, err = o.InsertEdges(ctx, graph.Edges{From: keys, To: keys, Weights: keys})
	require.NoError(t, err)
	newer, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	newerEdges, err := o.Snapshot(ctx)
	require.NoError(t, err)
	pool, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{})
	require.NoError(t, err)
	numbers, err := graph.NewNamed[uint64](ctx, d, graph.Options{})
	require.NoError(t, err)
	byText, err := graph.NewNamedByText(ctx, d, graph.Options{})
	require.NoError(t, err)
	numbered, texts := saveNamed(t, numbers, 7, 1<<40), saveNamed(t, byText, "", "a name")
	type progress = structures.Progress
	arcs := func(p progress) ordered.Options { return ordered.Options{Tree: btree.Options{Progress: p}} }
	return map[string]maker{
		"structures.Retry": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return structures.Retry(ctx, tree, structures.Insert, keys, keys, make([]structures.Status, len(keys)))
		},
		"doctor.Run": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			if _, panics := ctx.(*panicking); ctx != nil && !panics {
				return nil // its litmus tests take long
			}
			_, err := doctor.Run(ctx, d, doctor.Options{})
			return err
		},
		"alloc.NewSlabPool": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(alloc.NewSlabPool(ctx, d, alloc.PoolOptions{}))
		},
		"alloc.NewReclaimer": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(alloc.NewReclaimer(ctx, pool, alloc.ReclaimerOptions{}))
		},
		"btree.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(btree.New[uint32, uint32](ctx, d, btree.Options{Progress: p}))
		},
		"btree.Build": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(btree.Build(ctx, d, keys, keys, btree.Options{Progress: p}))
		},
		"btree.Load": func(ctx context.Context, p progress, r, _ io.Reader) error {
			return closed(btree.Load[uint32, uint32](ctx, d, r, btree.Options{Progress: p}))
		},
		"btree.Diff": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			for _, err := range btree.Diff(ctx, older, newer) {
				if err != nil {
					return err
				}
				body()
			}
			return nil
		},
		"lsm.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: 32, Progress: p}))
		},
		"lsm.Build": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(lsm.Build(ctx, d, keys, keys, lsm.Options{Batch: 32, Progress: p}))
		},
		"lsm.Load": func(ctx context.Context, p progress, r, _ io.Reader) error {
			return closed(lsm.Load[uint32, uint32](ctx, d, r, lsm.Options{Batch: 32, Progress: p}))
		},
		"primitives.Prepare": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return primitives.New(d, primitives.Options{}).Prepare(ctx, primitives.ReduceArgs{Op: primitives.Min})
		},
		"slabhash.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Progress: p}))
		},
		"slabhash.Build": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(slabhash.Build(ctx, d, keys, keys, slabhash.Options{Progress: p}))
		},
		"slabhash.Load": func(ctx context.Context, p progress, r, _ io.Reader) error {
			return closed(slabhash.Load[uint32, uint32](ctx, d, r, slabhash.Options{Progress: p}))
		},
		"slabhash.NewSet": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(slabhash.NewSet[uint32](ctx, d, slabhash.Options{Progress: p}))
		},
		"slabhash.BuildSet": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(slabhash.BuildSet(ctx, d, keys, slabhash.Options{Progress: p}))
		},
		"slabhash.LoadSet": func(ctx context.Context, p progress, r, _ io.Reader) error {
			return closed(slabhash.LoadSet[uint32](ctx, d, r, slabhash.Options{Progress: p}))
		},
		"filter.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(filter.New[uint32](ctx, d, filter.Options{Capacity: 100, Progress: p}))
		},
		"filter.Load": func(ctx context.Context, p progress, r, _ io.Reader) error {
			return closed(filter.Load[uint32](ctx, d, inPlaceOf(r, filterFile.Bytes()), filter.Options{Progress: p}))
		},
		"sortedarray.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{Progress: p}))
		},
		"sortedarray.Build": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(sortedarray.Build(ctx, d, keys, keys, sortedarray.Options{Progress: p}))
		},
		"sortedarray.Load": func(ctx context.Context, p progress, r, _ io.Reader) error {
			return closed(sortedarray.Load[uint32, uint32](ctx, d, r, sortedarray.Options{Progress: p}))
		},
		"graph.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(graph.New(ctx, d, graph.Options{Progress: p}))
		},
		"graph.Build": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(graph.Build(ctx, d, e, graph.Options{Weighted: true, Progress: p}))
		},
		"graph.Build, of device buffers": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(graph.Build(ctx, d, on, graph.Options{Vertices: 5, Weighted: true, Progress: p}))
		},
		"graph.Load": func(ctx context.Context, p progress, _, r io.Reader) error {
			return closed(graph.Load(ctx, d, r, graph.Options{Progress: p}))
		},
		"graph.Build, of rows": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(graph.Build(ctx, d, rows, graph.Options{Directed: true, Progress: p}))
		},
		"graph.NewCSR": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			offsets, targets := testdevice.Upload(t, d, []uint32{0, 1, 2}), testdevice.Upload(t, d, []uint32{1, 0})
			return closed(graph.NewCSR(ctx, d, graph.Rows{Vertices: 2, Arcs: 2, Offsets: offsets, Targets: targets}))
		},
		"graph.BuildCSR": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(graph.BuildCSR(ctx, d, graph.Edges{From: keys, To: keys, Weights: keys}, graph.CSROptions{}))
		},
		"graph.BuildCSR, of device buffers": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(graph.BuildCSR(ctx, d, on, graph.CSROptions{Vertices: 5}))
		},
		"graph.BuildCSR, of rows": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(graph.BuildCSR(ctx, d, rows, graph.CSROptions{}))
		},
		"graph.NewNamed": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(graph.NewNamed[uint64](ctx, d, graph.Options{Progress: p}))
		},
		"graph.NewNamedByText": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(graph.NewNamedByText(ctx, d, graph.Options{Progress: p}))
		},
		"graph.LoadNamed": func(ctx context.Context, p progress, _, r io.Reader) error {
			return closed(graph.LoadNamed[uint64](ctx, d, inPlaceOf(r, numbered), graph.Options{Progress: p}))
		},
		"graph.LoadNamedByText": func(ctx context.Context, p progress, _, r io.Reader) error {
			return closed(graph.LoadNamedByText(ctx, d, inPlaceOf(r, texts), graph.Options{Progress: p}))
		},
		"ordered.New": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(ordered.New(ctx, d, arcs(p)))
		},
		"ordered.Build": func(ctx context.Context, p progress, _, _ io.Reader) error {
			return closed(ordered.Build(ctx, d, graph.Edges{From: e.From, To: e.To}, arcs(p)))
		},
		"ordered.Load": func(ctx context.Context, p progress, _, r io.Reader) error {
			return closed(ordered.Load(ctx, d, r, arcs(p)))
		},
		"ordered.Diff": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			for _, err := range ordered.Diff(ctx, olderEdges, newerEdges) {
				if err != nil {
					return err
				}
				body()
			}
			return nil
		},
		"btree.SnapshotAt": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(btree.SnapshotAt(ctx, tree, older.Time()))
		},
		"analytics.NewConnectivity": func(ctx context.Context, _ progress, _, _ io.Reader) error {
			return closed(analytics.NewConnectivity(ctx, d, 10))
		},
	}
}

// Functions that make structures, or load them, leave nothing of the Device locked where what the user hands in panics.
func TestPanicsInMakers(t *testing.T) {
	pass.OneWidth(t, "who holds what is the host's business")
	d := panicDevice(t)
	keys := []uint32{1, 2, 3, 4}
	dictionary, edges := save(t, d, keys, graph.Edges{From: keys, To: keys})
	armed := true
	panics := func() {
		if armed {
			panic(t)
		}
	}
	all := makers(t, d, panics)
	for _, name := range asking(t, false, "alloc", "doctor", "structures", "structures/btree", "structures/filter",
		"structures/graph", "structures/graph/analytics", "structures/graph/ordered", "structures/lsm",
		"structures/primitives", "structures/slabhash", "structures/sortedarray") {
		require.Contains(t, all, name, "it may panic by what a user hands in")
	}
	whole := func(r io.Reader) io.Reader { return r }
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			call := func(ctx context.Context, p structures.Progress, read func(io.Reader) io.Reader) error {
				return make(ctx, p, read(bytes.NewReader(dictionary)), read(bytes.NewReader(edges)))
			}
			armed = true
			_ = recovered(func() { _ = call(nil, nil, whole) })
			for n := int64(0); n < 1000; n += 1 + 2*n {
				ctx := &panicking{Context: t.Context()}
				ctx.left.Store(n)
				if name == "doctor.Run" && n > 0 || recovered(func() { _ = call(ctx, nil, whole) }) == nil {
					break
				}
			}
			_ = recovered(func() { _ = call(t.Context(), func(_, _ int) { panics() }, whole) })
			_ = recovered(func() { _ = call(t.Context(), nil, func(r io.Reader) io.Reader { return reader{r} }) })
			armed = false
			inTime(t, name, func() error { return call(t.Context(), nil, whole) })
		})
	}
}

// saveNamed returns what a graph of names is saved as, and closes it.
func saveNamed[ID comparable](t *testing.T, n *graph.Named[ID], names ...ID) []byte {
	var file bytes.Buffer
	_, err := n.InsertEdges(t.Context(), graph.NamedEdges[ID]{From: names[:1], To: names[1:]})
	require.NoError(t, err)
	_, err = n.Save(t.Context(), &file)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	return file.Bytes()
}

// inPlaceOf reads a file, and at its end panics if r does.
func inPlaceOf(r io.Reader, file []byte) io.Reader {
	if _, panics := r.(reader); panics {
		return reader{bytes.NewReader(file)}
	}
	return bytes.NewReader(file)
}

// save returns what saved structures are.
func save(t *testing.T, d *vk.Device, keys []uint32, e graph.Edges) (dictionary, edges []byte) {
	var pairs, arcs bytes.Buffer
	m, err := sortedarray.Build(t.Context(), d, keys, keys, sortedarray.Options{})
	require.NoError(t, err)
	_, err = m.Save(t.Context(), &pairs)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	g, err := graph.Build(t.Context(), d, e, graph.Options{})
	require.NoError(t, err)
	_, err = g.Save(t.Context(), &arcs)
	require.NoError(t, err)
	require.NoError(t, g.Close())
	return pairs.Bytes(), arcs.Bytes()
}

// Structures are loaded of what a panicking io.Reader reads: their memory is freed.
func TestPanickingReaders(t *testing.T) {
	pass.OneWidth(t, "who holds what is the host's business")
	d := panicDevice(t)
	keys := make([]uint32, 1<<20+1<<16) // so that there is a structure by the end
	for i := range keys {
		keys[i] = uint32(i)
	}
	dictionary, edges := save(t, d, keys, graph.Edges{From: keys[:1000], To: keys[1:1001]})
	numbers, err := graph.NewNamed[uint64](t.Context(), d, graph.Options{})
	require.NoError(t, err)
	byText, err := graph.NewNamedByText(t.Context(), d, graph.Options{})
	require.NoError(t, err)
	numbered, texts := saveNamed(t, numbers, 7, 1<<40), saveNamed(t, byText, "", "a name")
	for name, load := range map[string]func() error{
		"map": func() error {
			_, err := slabhash.Load[uint32, uint32](t.Context(), d, reader{bytes.NewReader(dictionary)},
				slabhash.Options{})
			return err
		},
		"graph": func() error {
			_, err := graph.Load(t.Context(), d, reader{bytes.NewReader(edges)}, graph.Options{})
			return err
		},
		"named graph": func() error {
			_, err := graph.LoadNamed[uint64](t.Context(), d, reader{bytes.NewReader(numbered)}, graph.Options{})
			return err
		},
		"graph by text": func() error {
			_, err := graph.LoadNamedByText(t.Context(), d, reader{bytes.NewReader(texts)}, graph.Options{})
			return err
		},
		"ordered graph": func() error {
			_, err := ordered.Load(t.Context(), d, reader{bytes.NewReader(edges)}, ordered.Options{})
			return err
		},
	} {
		before, _ := d.Memory()
		require.IsType(t, reader{}, recovered(func() { _ = load() }), name)
		after, _ := d.Memory()
		require.LessOrEqual(t, after, before, name)
	}
}
