// Package transfer moves all pairs of a structure out of it or into it: as sequences, each ending with its error, and
// as saved dictionaries.
package transfer

import (
	"iter"

	"github.com/vkds/vkds/structures"
)

// Sequence returns the elements that each yields, and then its error, if there is one.
func Sequence[T any](each func(yield func(T) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		h := &handing[T]{yield: yield}
		if err := each(h.one); err != nil && !h.enough {
			yield(*new(T), err)
		}
	}
}

// handing yields elements without errors until the consumer stops.
type handing[T any] struct {
	yield  func(T, error) bool
	enough bool
}

func (h *handing[T]) one(x T) bool {
	h.enough = !h.yield(x, nil)
	return !h.enough
}

// Pairs returns the pairs of chunks, one by one. If down is set, each chunk is reversed.
func Pairs[K, V structures.Number](chunks iter.Seq2[structures.Pairs[K, V], error],
	down bool) iter.Seq2[structures.Pair[K, V], error] {
	return func(yield func(structures.Pair[K, V], error) bool) {
		for chunk, err := range chunks {
			if err != nil {
				yield(structures.Pair[K, V]{}, err)
				return
			}
			for i := range chunk.Keys {
				if down {
					i = len(chunk.Keys) - 1 - i
				}
				if !yield(structures.Pair[K, V]{Key: chunk.Keys[i], Value: chunk.Values[i]}, nil) {
					return
				}
			}
		}
	}
}

// Keys returns the keys of chunks, one by one.
func Keys[K, V structures.Number](chunks iter.Seq2[structures.Pairs[K, V], error]) iter.Seq2[K, error] {
	return func(yield func(K, error) bool) {
		for chunk, err := range chunks {
			if err != nil {
				yield(0, err)
				return
			}
			for _, k := range chunk.Keys {
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}
