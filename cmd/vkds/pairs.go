package main

import "iter"

// partLength is how many pairs are handed out at a time.
const partLength = 1 << 18

// inParts hands the pairs of a sequence out, many at a time and in its order, in slices that are valid until use
// returns; failed tells, as structures.Dictionary's sequences have it, what ended the sequence early.
func inParts(pairs iter.Seq2[uint32, uint32], failed func() error, use func(keys, values []uint32) error) error {
	keys, values := make([]uint32, 0, partLength), make([]uint32, 0, partLength)
	for k, v := range pairs {
		if len(keys) == partLength {
			if err := use(keys, values); err != nil {
				return err
			}
			keys, values = keys[:0], values[:0]
		}
		keys, values = append(keys, k), append(values, v)
	}
	if err := failed(); err != nil {
		return err
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
