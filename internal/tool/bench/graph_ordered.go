package bench

import (
	"context"
	"errors"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// sortedInsert measures a batch of insertions that is brought into the order of its vertices first.
func (r *graphRun) sortedInsert(ctx context.Context) (err error) {
	bulk := primitives.New(r.d, primitives.Options{})
	defer func() { err = errors.Join(err, bulk.Close()) }()
	sorted := graph.DeviceEdges{Count: r.batch}
	var scratch *vk.Buffer[uint32]
	for name, b := range map[string]struct {
		to    **vk.Buffer[uint32]
		words int
	}{
		"graph sorted from": {&sorted.From, r.batch}, "graph sorted to": {&sorted.To, r.batch},
		"graph sort": {&scratch, bulk.SortScratch(r.batch, true, primitives.Widths{})/4 + 1},
	} {
		if *b.to, err = r.room(name, b.words); err != nil {
			return err
		}
	}
	return r.update(ctx, structures.Insert, sorted, func() error {
		return bulk.Sort(r.stream, primitives.SortArgs{Keys: r.more.From.Address(), Values: r.more.To.Address(),
			OutKeys: sorted.From.Address(), OutValues: sorted.To.Address(), Bits: r.arcs.scale,
			Length: primitives.Length{N: r.batch}, Scratch: scratch.Address()})
	})
}

// hostEdges are edges in slices.
func (r *graphRun) hostEdges(n int, of func(i int) int) (e graph.Edges) {
	e.From, e.To = make([]uint32, n), make([]uint32, n)
	_ = each(n, func(i int) error {
		e.From[i], e.To[i] = r.arcs.at(of(i))
		return nil
	})
	return e
}

// buildOrdered makes the graph of the first n edges, in a tree with room for a batch.
func (r *graphRun) buildOrdered(ctx context.Context) (err error) {
	if err := r.close(); err != nil {
		return err
	}
	o := graph.OrderedOptions{Directed: true, Vertices: r.arcs.vertices}
	o.Tree.Capacity = r.n + r.batch
	r.ordered, err = graph.BuildOrdered(ctx, r.d, r.hostEdges(r.n, func(i int) int { return i }), o)
	if err == nil {
		err = r.ordered.Tree().Reserve(ctx, 2*r.n+2*r.batch) // slabs that are found at the first look
	}
	return err
}

// batchKeys are the keys of a batch in the tree.
func (r *graphRun) batchKeys(ctx context.Context, fresh bool) (*vk.Buffer[uint32], error) {
	return r.words(ctx, "graph keys", 2*r.batch, func(i int) uint32 {
		from, to := r.arcs.at(r.chosen(i/2, fresh))
		if i%2 == 0 {
			return to
		}
		return from
	})
}

// updateOrdered measures a batch of one kind on the tree of an ordered graph of the n edges.
func (r *graphRun) updateOrdered(ctx context.Context, kind structures.Kind, fresh bool) error {
	keys, err := r.batchKeys(ctx, fresh)
	if err != nil {
		return err
	}
	values, err := r.words(ctx, "graph values", 2*r.batch, func(int) uint32 { return 0 })
	if err != nil {
		return err
	}
	return r.eachPath(r.batch, func(path btree.Path, _ Measurement) error {
		b := structures.DeviceBatch{Count: r.batch, Keys: keys, Values: values}
		m := r.result(r.batch)
		record := func() error { return r.ordered.Tree().On(r.stream).Update(ctx, kind, b) }
		if path != btree.Batched {
			b.Left, b.Alone = r.left, true
			record = func() error { return r.ordered.Tree().On(r.stream).Apply(kind, b) }
		}
		if path != btree.AutoPath {
			m.Form += " " + path.String()
		}
		return r.add(r.measure(ctx, task{Measurement: m, pending: path != btree.Batched, prepare: r.buildOrdered,
			record: record, check: func(ctx context.Context) error { return r.checkOrdered(ctx, kind, fresh) }}))
	})
}

// checkOrdered looks at what a batch has made of an ordered graph.
func (r *graphRun) checkOrdered(ctx context.Context, kind structures.Kind, fresh bool) error {
	e := r.hostEdges(r.batch, func(i int) int { return r.chosen(i, fresh) })
	_, found, err := r.ordered.Now().FindEdges(ctx, e)
	if err != nil {
		return err
	}
	for i, there := range found {
		if there != kind.Inserts() {
			return r.wrong("edge %d of the batch: found %v behind %v", i, there, kind)
		}
	}
	_, edges, err := r.ordered.Now().Size(ctx)
	if want := r.distinct(fresh); err == nil && fresh && edges != want {
		err = r.wrong("%d edges, not %d", edges, want)
	}
	return errors.Join(err, r.ordered.Check(ctx))
}

// rows measures the taking of sorted rows.
func (r *graphRun) rows(ctx context.Context, take func(context.Context) (*graph.CSR, error)) error {
	m := r.result(r.n)
	m.Batch = 0
	var csr *graph.CSR
	m, err := r.measureWall(ctx, m, func(ctx context.Context) error {
		if csr == nil {
			return nil
		}
		return csr.Close()
	}, func(ctx context.Context) (err error) {
		csr, err = take(ctx)
		return err
	}, nil, "")
	if err != nil {
		return err
	}
	if want := r.distinct(false); uint64(csr.Arcs) != want {
		err = r.wrong("%d arcs, not %d", csr.Arcs, want)
	}
	return r.add(m, errors.Join(err, csr.Close()))
}

func (r *graphRun) insertOrdered(ctx context.Context) error {
	return r.updateOrdered(ctx, structures.Insert, true)
}

func (r *graphRun) deleteOrdered(ctx context.Context) error {
	return r.updateOrdered(ctx, structures.Delete, false)
}

// findOrdered measures lookups of a batch of edges that are there, in the tree.
func (r *graphRun) findOrdered(ctx context.Context) error {
	if err := r.buildOrdered(ctx); err != nil {
		return err
	}
	keys, err := r.batchKeys(ctx, false)
	if err != nil {
		return err
	}
	found, err := r.room("graph found", (r.batch+31)/32)
	if err != nil {
		return err
	}
	values, err := r.room("graph values", 2*r.batch)
	if err != nil {
		return err
	}
	l := structures.DeviceLookups{Count: r.batch, Keys: keys, Values: values, FoundBits: found}
	return r.add(r.measure(ctx, task{
		Measurement: r.result(r.batch),
		record:      func() error { return r.ordered.Tree().On(r.stream).Find(l) },
		check: func(ctx context.Context) error {
			bits := make([]uint32, (r.batch+31)/32)
			if err := found.Download(ctx, 0, bits); err != nil {
				return err
			}
			for i := range r.batch {
				if bits[i/32]>>(i%32)&1 == 0 {
					return r.wrong("edge %d of the batch was not found", i)
				}
			}
			return nil
		},
	}))
}

func (r *graphRun) hashedRows(ctx context.Context) error {
	if err := r.build(ctx); err != nil {
		return err
	}
	return r.rows(ctx, func(ctx context.Context) (*graph.CSR, error) { return r.graph.CSR(ctx, true) })
}

func (r *graphRun) orderedRows(ctx context.Context) error {
	if err := r.buildOrdered(ctx); err != nil {
		return err
	}
	return r.rows(ctx, func(ctx context.Context) (*graph.CSR, error) { return r.ordered.Now().CSR(ctx) })
}
