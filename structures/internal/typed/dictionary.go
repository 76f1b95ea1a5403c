package typed

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/vkds/vkds/structures"
)

// Dictionary is a dictionary of a user's types over one of words.
func Dictionary[K, V structures.Number, W structures.Word](of structures.Dictionary[W, W]) structures.Dictionary[K, V] {
	if same, is := of.(structures.Dictionary[K, V]); is {
		return same
	}
	return dictionary[K, V, W]{of}
}

type dictionary[K, V structures.Number, W structures.Word] struct{ of structures.Dictionary[W, W] }

func (d dictionary[K, V, W]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	do := map[structures.Kind]func(context.Context, []W, []W) ([]structures.Status, error){
		structures.Insert: d.of.Insert, structures.InsertUnique: d.of.InsertUnique,
		structures.InsertAdd: d.of.InsertAdd,
		structures.InsertMin: d.of.InsertMin, structures.InsertMax: d.of.InsertMax,
	}
	return do[kind](ctx, Keys[W](keys), Values[W](values))
}

func (d dictionary[K, V, W]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.Insert, keys, values)
}

func (d dictionary[K, V, W]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertUnique, keys, values)
}

func (d dictionary[K, V, W]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertAdd, keys, values)
}

func (d dictionary[K, V, W]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertMin, keys, values)
}

func (d dictionary[K, V, W]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertMax, keys, values)
}

func (d dictionary[K, V, W]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return d.of.Delete(ctx, Keys[W](keys))
}

func (d dictionary[K, V, W]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if kind != structures.DeleteAll {
		return d.of.UpdateInto(ctx, kind, Keys[W](keys), Values[W](values), status)
	}
	counts := make([]W, len(values)) // values are numbers of pairs
	if values == nil {
		counts = nil
	}
	err := d.of.UpdateInto(ctx, kind, Keys[W](keys), counts, status)
	for i, n := range counts {
		values[i] = V(n)
	}
	return err
}

func (d dictionary[K, V, W]) Find(ctx context.Context, keys []K) ([]V, []bool, error) {
	values, found := make([]V, len(keys)), make([]bool, len(keys))
	return values, found, d.FindInto(ctx, keys, values, found)
}

// FindInto looks keys up, whose values are 0 where they are absent.
func (d dictionary[K, V, W]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	out, there := valueResults[W](values), found
	if out.to != nil && there == nil {
		there = make([]bool, len(keys))
	}
	err := d.of.FindInto(ctx, Keys[W](keys), out.words, there)
	out.decode()
	if out.to != nil && structures.Float[V]() {
		for i, is := range there[:min(len(there), len(values))] {
			if !is {
				values[i] = 0
			}
		}
	}
	return err
}

func (d dictionary[K, V, W]) Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error) {
	return Apply(ctx, b, d.of.Apply)
}

// Apply does a batch of a user's types by what does one of words.
func Apply[K, V structures.Number, W structures.Word](ctx context.Context, b structures.Batch[K, V],
	apply func(context.Context, structures.Batch[W, W]) (structures.Results[W, W], error)) (structures.Results[K, V],
	error) {
	r, err := apply(ctx, batchOf[K, V, W](b))
	out := structures.Results[K, V]{
		Status: r.Status, Values: ValuesOf[V](r.Values), Keys: KeysOf[K](r.Keys),
		Ranges: structures.Ranges[K, V]{
			Offsets: r.Ranges.Offsets, Keys: KeysOf[K](r.Ranges.Keys), Values: ValuesOf[V](r.Ranges.Values),
		},
	}
	plainNumbers(b.Kinds, r.Status, r.Values, r.Keys, out.Values, out.Keys)
	return out, err
}

func (d dictionary[K, V, W]) ApplyInto(ctx context.Context, b structures.Batch[K, V],
	into *structures.Results[K, V]) error {
	return ApplyInto(ctx, b, into, d.of.ApplyInto)
}

// ApplyInto is Apply into the caller's slices.
func ApplyInto[K, V structures.Number, W structures.Word](ctx context.Context, b structures.Batch[K, V],
	into *structures.Results[K, V],
	apply func(context.Context, structures.Batch[W, W], *structures.Results[W, W]) error) error {
	words := batchOf[K, V, W](b)
	if into == nil {
		return apply(ctx, words, nil)
	}
	values, keys := valueResults[W](into.Values), keyResults[W](into.Keys)
	lists := slices.Contains(b.Kinds, structures.FindRange)
	status := into.Status
	if status == nil && (values.to != nil || keys.to != nil) {
		status = make([]structures.Status, len(b.Keys))
	}
	r := structures.Results[W, W]{Status: status, Values: values.from(words.Values).words, Keys: keys.words}
	err := apply(ctx, words, &r)
	values.decode()
	keys.decode()
	plainNumbers(b.Kinds, status, r.Values, r.Keys, values.to, keys.to)
	if lists {
		into.Ranges = structures.Ranges[K, V]{
			Offsets: append(into.Ranges.Offsets[:0], r.Ranges.Offsets...),
			Keys:    append(into.Ranges.Keys[:0], KeysOf[K](r.Ranges.Keys)...),
			Values:  append(into.Ranges.Values[:0], ValuesOf[V](r.Ranges.Values)...),
		}
	}
	return err
}

// batchOf is a batch of words.
func batchOf[K, V structures.Number, W structures.Word](b structures.Batch[K, V]) structures.Batch[W, W] {
	return structures.Batch[W, W]{
		Kinds: b.Kinds, Keys: Keys[W](b.Keys), Values: Values[W](b.Values), Highs: Keys[W](b.Highs), Width: b.Width,
		OwnMoments: b.OwnMoments,
	}
}

// plainNumbers has results that are numbers of pairs, and the 0 of those that found nothing, be these numbers: they are
// no words of a user's type. What was decoded as it is may be nil.
func plainNumbers[K, V structures.Number, W structures.Word](kinds []structures.Kind, status []structures.Status,
	valueWords, keyWords []W, values []V, keys []K) {
	for i, kind := range kinds {
		neighbor := kind.Ordered() && !kind.Ranges()
		counts := kind == structures.DeleteAll || kind == structures.CountAll || kind.Ranges()
		absent := (kind == structures.Find || neighbor) && len(status) == len(kinds) && status[i] != structures.Found
		if i < len(values) && (counts || absent) {
			values[i] = V(valueWords[i])
		}
		if i < len(keys) && (!neighbor || absent) {
			keys[i] = 0
		}
	}
}

func (d dictionary[K, V, W]) Len(ctx context.Context) (uint64, error) { return d.of.Len(ctx) }
func (d dictionary[K, V, W]) Clear(ctx context.Context) error         { return d.of.Clear(ctx) }
func (d dictionary[K, V, W]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return d.of.Save(ctx, w)
}
func (d dictionary[K, V, W]) WriteTo(w io.Writer) (int64, error) { return d.of.WriteTo(w) }
func (d dictionary[K, V, W]) Prepare(ctx context.Context) error  { return d.of.Prepare(ctx) }
func (d dictionary[K, V, W]) Metrics() structures.Metrics        { return d.of.Metrics() }
func (d dictionary[K, V, W]) Close() error                       { return d.of.Close() }
func (d dictionary[K, V, W]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return pairs[K, V](d.of.All(ctx))
}
func (d dictionary[K, V, W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return Chunks[K, V](d.of.Chunks(ctx))
}

// pairs are a sequence of pairs of words.
func pairs[K, V structures.Number, W structures.Word](
	of iter.Seq2[structures.Pair[W, W], error]) iter.Seq2[structures.Pair[K, V], error] {
	key, value := structures.KeyCode[K](), structures.ValueCode[W, V]()
	return func(yield func(structures.Pair[K, V], error) bool) {
		for p, err := range of {
			typed := structures.Pair[K, V]{}
			if err == nil {
				typed = structures.Pair[K, V]{Key: key.Of(uint64(p.Key)), Value: value.Of(uint64(p.Value))}
			}
			if !yield(typed, err) {
				return
			}
		}
	}
}

// Chunks are a sequence of chunks of words.
func Chunks[K, V structures.Number, W structures.Word](
	of iter.Seq2[structures.Pairs[W, W], error]) iter.Seq2[structures.Pairs[K, V], error] {
	return func(yield func(structures.Pairs[K, V], error) bool) {
		for p, err := range of {
			if !yield(structures.Pairs[K, V]{Keys: KeysOf[K](p.Keys), Values: ValuesOf[V](p.Values)}, err) {
				return
			}
		}
	}
}
