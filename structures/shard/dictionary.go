package shard

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// dictionary is what Map and Tree have in common.
type dictionary[K, V structures.Number] struct {
	*reader[K, V]
	shards []structures.Dictionary[K, V]
}

// opened returns the dictionary, or one that is not open.
func (d *dictionary[K, V]) opened() *dictionary[K, V] {
	if d == nil {
		return &dictionary[K, V]{reader: &reader[K, V]{core: &core{}}}
	}
	return d
}

// newDictionary makes a dictionary of empty shards.
func newDictionary[K, V structures.Number](ctx context.Context, p placement,
	shards []structures.Dictionary[K, V]) (*dictionary[K, V], error) {
	if err := check(shards); err != nil {
		return nil, err
	}
	d := &dictionary[K, V]{&reader[K, V]{core: newCore(p)}, slices.Clone(shards)}
	for _, s := range shards {
		d.reads = append(d.reads, s)
	}
	lens, err := d.lens(ctx)
	if err = cmp.Or(err, empty(lens)); err != nil {
		return nil, err
	}
	return d, nil
}

// updating does a shard's part of updates of one kind.
type updating[K, V structures.Number] struct {
	shards []structures.Dictionary[K, V]
	kind   structures.Kind
}

func (u updating[K, V]) call(ctx context.Context, s int, p part) error {
	var status []structures.Status
	if len(p.out) != 0 {
		status = typed[structures.Status](p.out[0])
	}
	return u.shards[s].UpdateInto(ctx, u.kind, typed[K](p.in[0]), typed[V](p.in[1]), status)
}

// checkUpdates checks the arguments of updates of one kind.
func (d *dictionary[K, V]) checkUpdates(kind structures.Kind, keys []K, values []V, status []structures.Status) error {
	if err := d.gate.Err(); err != nil {
		return err
	}
	if !kind.Inserts() && kind != structures.Delete && kind != structures.DeleteAll {
		return &structures.KindError{Kind: kind}
	}
	if kind.Inserts() && len(values) != len(keys) {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	if !everywhere(kind) && !d.updates(kind) {
		return &structures.KindError{Kind: kind}
	}
	return pipeline.Fits(len(keys), "statuses", status)
}

func (d *dictionary[K, V]) updateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if err := d.checkUpdates(kind, keys, values, status); err != nil {
		return err
	}
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer leave()
	return d.updateInside(ctx, kind, keys, values, status)
}

// updateInside is updateInto for a caller that has entered.
func (d *dictionary[K, V]) updateInside(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if !kind.Inserts() {
		values = nil
	}
	b := &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), columnOf(values)}, lanes: 1,
		do: updating[K, V]{d.shards, kind},
	}
	if status != nil {
		b.out, b.status = []column{columnOf(status), {}}, true
	}
	d.changes.Add(1)
	return unfinished(d.run(ctx, b))
}

// unfinished returns the error of an update that has left operations undone.
func unfinished(left int, err error) error {
	if left == 0 || kindRefused(err) {
		return err
	}
	return &structures.PendingError{Operations: left, Err: err}
}

func (d *dictionary[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, d.updateInto(ctx, kind, keys, values, status))
}

func (d *dictionary[K, V]) put(ctx context.Context, key K, value V) error {
	return d.updateInto(ctx, structures.Insert, []K{key}, []V{value}, nil)
}

// applying does a shard's part of a mixed batch.
type applying[K, V structures.Number] struct {
	shards []structures.Dictionary[K, V]
}

func (a applying[K, V]) call(ctx context.Context, s int, p part) error {
	r, err := a.shards[s].Apply(ctx, structures.Batch[K, V]{
		Kinds: typed[structures.Kind](p.in[0]), Keys: typed[K](p.in[1]), Values: typed[V](p.in[2]),
	})
	copy(typed[structures.Status](p.out[0]), r.Status)
	copy(typed[V](p.out[1]), r.Values)
	return err
}

// applyInside does a mixed batch without ordered queries. The caller has entered.
func (d *dictionary[K, V]) applyInside(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V],
	error) {
	r := pipeline.ResultsOf(b)
	d.changes.Add(1)
	left, err := d.run(ctx, &batch{
		n: len(b.Keys), keys: columnOf(b.Keys), do: applying[K, V]{shards: d.shards}, lanes: 1, whole: true,
		in:  []column{columnOf(b.Kinds), columnOf(b.Keys), columnOf(b.Values), {}},
		out: []column{columnOf(r.Status), columnOf(r.Values)}, status: true,
	})
	return pipeline.MadeResults(r, unfinished(left, err))
}

func (d *dictionary[K, V]) clear(ctx context.Context) error {
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return d.clearInside(ctx)
}

// clearInside is clear for a caller that has entered.
func (d *dictionary[K, V]) clearInside(ctx context.Context) error {
	d.changes.Add(1)
	return each(ctx, d.all(), func(s int) error { return d.shards[s].Clear(ctx) })
}

func (d *dictionary[K, V]) prepare(ctx context.Context) error {
	if err := d.gate.Err(); err != nil {
		return err
	}
	return each(ctx, d.all(), func(s int) error { return d.shards[s].Prepare(ctx) })
}

func (d *dictionary[K, V]) close() error {
	ctx := context.Background()
	return d.gate.Close(func() error {
		err := each(ctx, d.all(), func(s int) error { return d.shards[s].Close() })
		if err == nil || lostOnly(err) {
			d.gate.End()
		}
		return err
	})
}

// filling inserts pairs into a dictionary that a call has entered, and writes their statuses. In all, total pairs come.
type filling[K, V structures.Number] interface {
	fill(ctx context.Context, total uint64, keys []K, values []V, status []structures.Status) error
}

// load inserts the pairs of a saved dictionary into an empty one.
func (d *dictionary[K, V]) load(ctx context.Context, r io.Reader, into filling[K, V]) error {
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if r == nil {
		return &vk.OptionError{Option: "io.Reader", Reason: "nil"}
	}
	lens, err := d.lens(ctx)
	if err = cmp.Or(err, empty(lens)); err != nil {
		return err
	}
	in, err := saved.NewReader(r)
	if err == nil {
		err = in.As(saved.Pairs[K, V]())
	}
	if err != nil {
		return err
	}
	return fillFrom(ctx, in, into)
}

func fillFrom[K, V structures.Number](ctx context.Context, in *saved.Reader, into filling[K, V]) error {
	const atOnce = 1 << 20
	keyWords, valueWords := make([]uint64, atOnce), make([]uint64, atOnce)
	keys, values, status := make([]K, atOnce), make([]V, atOnce), make([]structures.Status, atOnce)
	key, value := structures.KeyCode[K](), structures.ValueCode[K, V]()
	again := 0
	for {
		n, err := saved.ReadWords(in, keyWords, valueWords)
		switch {
		case err == io.EOF:
			return in.Repeated(again)
		case err != nil:
			return err
		}
		for i := range n {
			keys[i], values[i] = key.Of(keyWords[i]), value.Of(valueWords[i])
		}
		if err := into.fill(ctx, uint64(in.Header().Pairs), keys[:n], values[:n], status[:n]); err != nil {
			return pipeline.Cause(err)
		}
		for _, s := range status[:n] {
			if s == structures.Assigned {
				again++
			}
		}
	}
}

// everywhere reports whether every dictionary does operations of a kind in mixed batches.
func everywhere(k structures.Kind) bool {
	return k.Inserts() && k != structures.InsertDuplicate || k == structures.Delete || k == structures.Find ||
		k == structures.CountAll
}

// checkMixed checks the arguments of a mixed batch, before any shard does its part.
func (d *dictionary[K, V]) checkMixed(b structures.Batch[K, V]) error {
	if err := cmp.Or(d.gate.Err(), pipeline.Lengths(b, false)); err != nil {
		return err
	}
	var asked [most]bool // kinds, of which one is asked for once
	for i, k := range b.Kinds {
		switch {
		case everywhere(k) || asked[k]:
		case k.Ranges() && b.Highs == nil:
			return &structures.LengthError{Keys: len(b.Keys), Other: "highs"}
		case k == structures.FindRange && b.Width < 1:
			return &structures.LengthError{Keys: len(b.Keys), Other: "pairs a range (Width)", Need: 1, Got: b.Width}
		case !d.does(k):
			return &structures.KindError{Index: i, Kind: k}
		}
		asked[k] = true
	}
	return nil
}

// does reports whether all shards do operations of a kind in mixed batches.
func (d *dictionary[K, V]) does(k structures.Kind) bool {
	if k.Ordered() && !d.place.ordered {
		return false
	}
	return d.accept(func(ended context.Context, s structures.Dictionary[K, V]) error {
		_, err := s.Apply(ended, structures.Batch[K, V]{
			Kinds: []structures.Kind{k}, Keys: make([]K, 1), Values: make([]V, 1), Highs: make([]K, 1), Width: 1,
		})
		return err
	})
}

// updates reports whether all shards do batches of updates of a kind.
func (d *dictionary[K, V]) updates(k structures.Kind) bool {
	var values []V
	if k.Inserts() {
		values = make([]V, 1)
	}
	return d.accept(func(ended context.Context, s structures.Dictionary[K, V]) error {
		return s.UpdateInto(ended, k, make([]K, 1), values, nil)
	})
}

// accept reports whether no shard refuses the kind of an operation. They check the kind before they look at the
// context, which has ended, so they do nothing.
func (d *dictionary[K, V]) accept(ask func(ended context.Context, s structures.Dictionary[K, V]) error) bool {
	ended, end := context.WithCancel(context.Background())
	end()
	for _, s := range d.shards {
		if kindRefused(ask(ended, s)) {
			return false
		}
	}
	return true
}
