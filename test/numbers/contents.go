package numbers

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// All returns all pairs of a dictionary or a snapshot, in the order in which Chunks returns them.
func All[K, V structures.Number](ctx context.Context, d interface {
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error]
}) ([]K, []V, error) {
	all := new(structures.Pairs[K, V])
	for chunk, err := range d.Chunks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		all.Keys, all.Values = append(all.Keys, chunk.Keys...), append(all.Values, chunk.Values...)
	}
	return all.Keys, all.Values, nil
}

// Least returns the first pair of an ordered dictionary, and whether there is one.
func Least[K, V structures.Number](ctx context.Context, d interface {
	Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error]
}) (K, V, bool, error) {
	return first(d.Ascend(ctx, structures.AllKeys[K]()))
}

// Greatest returns the last pair of an ordered dictionary, and whether there is one.
func Greatest[K, V structures.Number](ctx context.Context, d interface {
	Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error]
}) (K, V, bool, error) {
	return first(d.Descend(ctx, structures.AllKeys[K]()))
}

func first[K, V structures.Number](pairs iter.Seq2[structures.Pair[K, V], error]) (K, V, bool, error) {
	for p, err := range pairs {
		return p.Key, p.Value, err == nil, err
	}
	return *new(K), *new(V), false, nil
}
