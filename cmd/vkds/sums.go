package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// sum adds a batch's values to those that their keys have. The host adds them, not the device, because it must see
// which sums don't fit the type of the values. The type becomes wider then, as for a large value in a table.
func (l *loader) sum(b batch) error {
	ids, there := b.keys, uint64(0) // keys or, of texts, their rows; rows below there have values
	if l.index != nil {
		there = uint64(len(l.textual.rows))
		rows, _, err := l.index.Put(l.ctx, b.column(0).some())
		l.words = l.index.Map().(words)
		if err != nil {
			return err
		}
		ids = rows
	}
	l.sorter.sort(ids, b.values)
	keys := slices.Compact(slices.Clone(ids))
	old, found := make([]uint64, len(keys)), make([]bool, len(keys))
	if l.index == nil {
		var err error
		if old, found, err = l.Find(l.ctx, keys); err != nil {
			return err
		}
	} else {
		for i, row := range keys {
			if found[i] = row < there; found[i] {
				old[i] = l.textual.rows[row]
			}
		}
	}
	sums := batch{keys: keys, values: make([]uint64, len(keys)), types: []keytype.Type{l.key, l.value}}
	added, inserted := 0, 0
	for i, key := range keys {
		var s keytype.Sum
		if found[i] {
			s.Add(l.value, old[i])
		} else {
			inserted++
		}
		for ; added < len(ids) && ids[added] == key; added++ {
			s.Add(l.value, b.values[added])
		}
		v, err := s.In(sums.types[1])
		if err != nil {
			return fmt.Errorf("the sum of key %s: %w", l.named(key), err)
		}
		v.Type.Widen(sums.types[1], sums.values[:i])
		sums.types[1], sums.values[i] = v.Type, v.Word
	}
	l.rows += int64(len(ids))
	l.assigned += int64(len(ids) - inserted)
	if err := l.become(sums); err != nil {
		return err
	}
	if l.index == nil {
		return l.UpdateInto(l.ctx, structures.Insert, keys, sums.values, nil)
	}
	l.textual.rows = append(l.textual.rows, make([]uint64, inserted)...)
	for i, row := range keys {
		l.textual.rows[row] = sums.values[i]
	}
	return nil
}

// named returns a key as messages show it. Of a text, key is the row.
func (l *loader) named(key uint64) string {
	if l.index == nil {
		return l.key.Format(key)
	}
	return strconv.Quote(string(l.index.Texts().At(key)))
}
