package main

import (
	"context"
	"iter"

	"github.com/vkds/vkds/vk"
)

// partLength is the greatest number of pairs in a part.
const partLength = 1 << 18

// inParts calls use with the pairs of a sequence in its order, up to partLength at a time. The slices are valid until
// use returns.
func inParts(pairs iter.Seq2[pair, error], use func(keys, values []uint64) error) error {
	keys, values := make([]uint64, 0, partLength), make([]uint64, 0, partLength)
	for pair, err := range pairs {
		if err != nil {
			return err
		}
		if len(keys) == partLength {
			if err := use(keys, values); err != nil {
				return err
			}
			keys, values = keys[:0], values[:0]
		}
		keys, values = append(keys, pair.Key), append(values, pair.Value)
	}
	return use(keys, values)
}

// pairColumns are the columns of answers whose rows are pairs.
var pairColumns = []string{"key", "value"}

// answerPairs loads a DICT-or-TABLE and prints an answer whose pairs write writes.
func (g *global) answerPairs(ctx context.Context, s *source, path string, rows rowFlags,
	write func(d *vk.Device, dict *dictionary, a *answer) error) error {
	if err := checkInputs("-", path); err != nil {
		return err
	}
	return s.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		a := newAnswer(g.out, rows, pairColumns...)
		return a.end(write(d, dict, a))
	})
}

// pairs writes pairs of a dictionary as rows.
func (a *answer) pairs(dict *dictionary, keys, values []uint64) error {
	keyShown, valueShown := dict.keys(), dict.values()
	return a.rows(len(keys), func(r *row, i int) {
		r.word(keyShown, keys[i])
		r.word(valueShown, values[i])
	})
}
