package main

import (
	"iter"

	"github.com/vkds/vkds/structures"
)

// partLength is how many pairs are handed out at a time.
const partLength = 1 << 18

// inParts hands the pairs of a sequence out, many at a time and in its order, in slices that are valid until use
// returns.
func inParts(pairs iter.Seq2[structures.Pair, error], use func(keys, values []uint32) error) error {
	keys, values := make([]uint32, 0, partLength), make([]uint32, 0, partLength)
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

// pairColumns are the columns of answers that are pairs.
var pairColumns = []string{"key", "value"}

// pairs writes pairs of a dictionary as rows.
func (a *answer) pairs(dict *dictionary, keys, values []uint32) error {
	return a.rows(len(keys), func(i int) {
		a.word(dict.key, keys[i])
		a.word(dict.value, values[i])
	})
}
