package typed

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Ordered is an ordered dictionary of a user's types over one of words, and the queries of its reader.
func Ordered[K, V structures.Number, W structures.Word](of structures.Ordered[W, W],
	q structures.Queries[K, V]) structures.Ordered[K, V] {
	return ordered[K, V, W]{dictionary[K, V, W]{of}, q, of}
}

type ordered[K, V structures.Number, W structures.Word] struct {
	dictionary[K, V, W]
	structures.Queries[K, V]
	of structures.Ordered[W, W]
}

// What both a dictionary and queries have.

func (o ordered[K, V, W]) Find(ctx context.Context, keys []K) ([]V, []bool, error) {
	return o.Queries.Find(ctx, keys)
}

func (o ordered[K, V, W]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	return o.Queries.FindInto(ctx, keys, values, found)
}

func (o ordered[K, V, W]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return o.Queries.All(ctx)
}

func (o ordered[K, V, W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return o.Queries.Chunks(ctx)
}

func (o ordered[K, V, W]) DeleteRange(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	words, code := make([]structures.Range[W], len(ranges)), structures.KeyCode[K]()
	for i, r := range ranges {
		words[i] = structures.Range[W]{Lo: W(code.Word(r.Lo)), Hi: W(code.Word(r.Hi))}
	}
	return o.of.DeleteRange(ctx, words)
}
