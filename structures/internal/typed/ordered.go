package typed

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Ordered is an ordered dictionary of a user's types over one of words.
func Ordered[K, V structures.Number, W structures.Word](of structures.Ordered[W, W]) structures.Ordered[K, V] {
	if same, is := of.(structures.Ordered[K, V]); is {
		return same
	}
	return ordered[K, V, W]{dictionary[K, V, W]{of}, queries[K, V, W]{of, of}, of}
}

// Queries are queries of a user's types over those of words.
func Queries[K, V structures.Number, W structures.Word](of structures.Queries[W, W]) structures.Queries[K, V] {
	if same, is := of.(structures.Queries[K, V]); is {
		return same
	}
	return queries[K, V, W]{of, of}
}

type ordered[K, V structures.Number, W structures.Word] struct {
	dictionary[K, V, W]
	queries[K, V, W]
	of structures.Ordered[W, W]
}

type queries[K, V structures.Number, W structures.Word] struct {
	structures.QueriesOnStream
	of structures.Queries[W, W]
}

// What both a dictionary and queries have.

func (o ordered[K, V, W]) Find(ctx context.Context, keys []K) ([]V, []bool, error) {
	return o.queries.Find(ctx, keys)
}

func (o ordered[K, V, W]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return o.queries.FindInto(ctx, keys, values, found)
}

func (o ordered[K, V, W]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return o.queries.All(ctx)
}

func (o ordered[K, V, W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return o.queries.Chunks(ctx)
}

func (o ordered[K, V, W]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return o.of.DeleteRange(ctx, rangesOf[K, W](ranges))
}

func (o queries[K, V, W]) Find(ctx context.Context, keys []K) ([]V, []bool, error) {
	values, found := make([]V, len(keys)), make([]bool, len(keys))
	return values, found, o.FindInto(ctx, keys, values, found)
}

func (o queries[K, V, W]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return findInto(ctx, o.of.FindInto, keys, values, found)
}

func (o queries[K, V, W]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return pairs[K, V](o.of.All(ctx))
}

func (o queries[K, V, W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return Chunks[K, V](o.of.Chunks(ctx))
}

// rangesOf are ranges of words.
func rangesOf[K structures.Number, W structures.Word](ranges []structures.Range[K]) []structures.Range[W] {
	words, code := make([]structures.Range[W], len(ranges)), structures.KeyCode[K]()
	for i, r := range ranges {
		words[i] = structures.Range[W]{Lo: W(code.Word(r.Lo)), Hi: W(code.Word(r.Hi))}
	}
	return words
}

func (o queries[K, V, W]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	return o.of.Count(ctx, rangesOf[K, W](ranges))
}

func (o queries[K, V, W]) CountInto(ctx context.Context, ranges []structures.Range[K], counts []uint32) error {
	return o.of.CountInto(ctx, rangesOf[K, W](ranges), counts)
}

func (o queries[K, V, W]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	r, err := o.of.Range(ctx, rangesOf[K, W](ranges))
	return structures.Ranges[K, V]{Offsets: r.Offsets, Keys: KeysOf[K](r.Keys), Values: ValuesOf[V](r.Values)}, err
}

func (o queries[K, V, W]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	r := structures.Ranges[W, W]{Offsets: into.Offsets}
	keys, values := plainKeys[K, W](), plainValues[V, W]()
	if keys {
		r.Keys = alias[W](into.Keys)
	}
	if values {
		r.Values = alias[W](into.Values)
	}
	err := o.of.RangeInto(ctx, rangesOf[K, W](ranges), &r)
	into.Offsets = r.Offsets
	if into.Keys = append(into.Keys[:0], KeysOf[K](r.Keys)...); keys {
		into.Keys = alias[K](r.Keys)
	}
	if into.Values = append(into.Values[:0], ValuesOf[V](r.Values)...); values {
		into.Values = alias[V](r.Values)
	}
	return err
}

func (o queries[K, V, W]) neighbors(n int,
	find func(into structures.Neighbors[K, V]) error) (structures.Neighbors[K, V], error) {
	out := structures.Neighbors[K, V]{Keys: make([]K, n), Values: make([]V, n), Found: make([]bool, n)}
	return out, find(out)
}

func (o queries[K, V, W]) toward(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	return o.neighbors(len(keys), func(into structures.Neighbors[K, V]) error {
		return o.NeighborInto(ctx, to, keys, into)
	})
}

func (o queries[K, V, W]) Successor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return o.toward(ctx, structures.Successor, keys)
}

func (o queries[K, V, W]) Predecessor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return o.toward(ctx, structures.Predecessor, keys)
}

func (o queries[K, V, W]) Floor(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return o.toward(ctx, structures.Floor, keys)
}

func (o queries[K, V, W]) Ceil(ctx context.Context, keys []K) (structures.Neighbors[K, V], error) {
	return o.toward(ctx, structures.Ceil, keys)
}

func (o queries[K, V, W]) NeighborInto(ctx context.Context, to structures.Direction, keys []K,
	into structures.Neighbors[K, V]) error {
	return o.neighborInto(into, len(keys), func(words structures.Neighbors[W, W]) error {
		return o.of.NeighborInto(ctx, to, Keys[W](keys), words)
	})
}

// neighborInto has pairs of words found, which where there is none are 0.
func (o queries[K, V, W]) neighborInto(into structures.Neighbors[K, V], n int,
	find func(words structures.Neighbors[W, W]) error) error {
	keys, values, found := keyResults[W](into.Keys), valueResults[W](into.Values), into.Found
	if found == nil && (keys.to != nil || values.to != nil) {
		found = make([]bool, n)
	}
	err := find(structures.Neighbors[W, W]{Keys: keys.words, Values: values.words, Found: found})
	keys.decode()
	values.decode()
	for i, is := range found {
		if !is && i < len(keys.to) {
			keys.to[i] = 0
		}
		if !is && i < len(values.to) {
			values.to[i] = 0
		}
	}
	return err
}

func (o queries[K, V, W]) Min(ctx context.Context) (key K, value V, found bool, err error) {
	return end[K, V](o.of.Min(ctx))
}

func (o queries[K, V, W]) Max(ctx context.Context) (key K, value V, found bool, err error) {
	return end[K, V](o.of.Max(ctx))
}

func end[K, V structures.Number, W structures.Word](k, v W, found bool, err error) (key K, value V, _ bool, _ error) {
	if found {
		key, value = structures.KeyCode[K]().Of(uint64(k)), structures.ValueCode[W, V]().Of(uint64(v))
	}
	return key, value, found, err
}

func (o queries[K, V, W]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	return o.of.Rank(ctx, Keys[W](keys))
}

func (o queries[K, V, W]) RankInto(ctx context.Context, keys []K, ranks []uint32) error {
	return o.of.RankInto(ctx, Keys[W](keys), ranks)
}

func (o queries[K, V, W]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	return o.neighbors(len(ranks), func(into structures.Neighbors[K, V]) error {
		return o.SelectInto(ctx, ranks, into)
	})
}

func (o queries[K, V, W]) SelectInto(ctx context.Context, ranks []uint32, into structures.Neighbors[K, V]) error {
	return o.neighborInto(into, len(ranks), func(words structures.Neighbors[W, W]) error {
		return o.of.SelectInto(ctx, ranks, words)
	})
}

func (o queries[K, V, W]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return pairs[K, V](o.of.Ascend(ctx, rangesOf[K, W]([]structures.Range[K]{r})[0]))
}

func (o queries[K, V, W]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return pairs[K, V](o.of.Descend(ctx, rangesOf[K, W]([]structures.Range[K]{r})[0]))
}
