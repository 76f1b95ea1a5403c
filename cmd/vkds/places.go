package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// numbers are words of one column, and how to show them.
type numbers struct {
	shown
	words []uint64
}

// asking returns the column of keys to look up in a dictionary whose keys are of type t. They may also be of the types
// that are wider than t. The dictionary has no words for such keys and can't contain them, but they have a place in its
// order.
func asking(t keytype.Type) input.Column { return input.Column{Type: t, Wider: t.Wider()} }

// placed are the places of keys among the words of a dictionary. at says whether a key is on its word, after it, or
// below all words.
type placed struct {
	words []uint64
	at    []keytype.Place // nil: all keys are on their words
}

// place returns the places of keys. It is an error if their type has no order in common with the dictionary's keys.
func (d *dictionary) place(keys numbers) (p placed, err error) {
	if keys.Type == d.key {
		return placed{words: keys.words}, nil
	}
	p = placed{make([]uint64, len(keys.words)), make([]keytype.Place, len(keys.words))}
	for i, k := range keys.words {
		ok := true
		if p.words[i], p.at[i], ok = d.key.Place(keys.Type, k); !ok {
			return p, fmt.Errorf("%s is asked for, but keys are of type %s", keys.Format(k), d.key)
		}
	}
	return p, nil
}

// those returns the words of the keys with this place, and the indices of these keys.
func (p placed) those(at keytype.Place) (words []uint64, keys []int) {
	for i, w := range p.words {
		if p.at[i] == at {
			words, keys = append(words, w), append(keys, i)
		}
	}
	return words, keys
}

// spread sets all[places[i]] to results[i].
func spread[T any](all, results []T, places []int) {
	for i, place := range places {
		all[place] = results[i]
	}
}

// find looks keys up.
func (d *dictionary) find(ctx context.Context, keys numbers) ([]uint64, []bool, error) {
	if d.index != nil {
		return d.findTexts(ctx, keys)
	}
	p, err := d.place(keys)
	if err != nil {
		return nil, nil, err
	}
	if p.at == nil {
		return d.Find(ctx, p.words)
	}
	words, places := p.those(keytype.On)
	values, found, err := d.Find(ctx, words)
	if err != nil {
		return nil, nil, err
	}
	allValues, allFound := make([]uint64, len(p.words)), make([]bool, len(p.words))
	spread(allValues, values, places)
	spread(allFound, found, places)
	return allValues, allFound, nil
}

// remove deletes keys. Each one's status is Deleted or Absent.
func (d *dictionary) remove(ctx context.Context, keys numbers) ([]structures.Status, error) {
	if d.index != nil {
		return d.index.Delete(ctx, keys.some())
	}
	p, err := d.place(keys)
	if err != nil {
		return nil, err
	}
	if p.at == nil {
		return d.Delete(ctx, p.words)
	}
	words, places := p.those(keytype.On)
	statuses, err := d.Delete(ctx, words)
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]structures.Status{structures.Absent}, len(p.words))
	spread(all, statuses, places)
	return all, nil
}

// neighbors finds a neighbor of each key.
func (d *dictionary) neighbors(ctx context.Context, to structures.Direction, keys numbers) (neighbors, error) {
	p, err := d.place(keys)
	if err != nil {
		return neighbors{}, err
	}
	if p.at == nil {
		return d.Neighbors(ctx, to, p.words)
	}
	all := neighbors{Keys: make([]uint64, len(p.words)), Values: make([]uint64, len(p.words)),
		Found: make([]bool, len(p.words))}
	up := to == structures.Successor || to == structures.Ceil
	for _, at := range []keytype.Place{keytype.On, keytype.After, keytype.Below} {
		words, places := p.those(at)
		direction := to
		switch {
		case len(words) == 0 || at == keytype.Below && !up:
			continue
		case at == keytype.After && up:
			direction = structures.Successor
		case at == keytype.After:
			direction = structures.Floor
		case at == keytype.Below:
			direction = structures.Ceil // of the least word
		}
		found, err := d.Neighbors(ctx, direction, words)
		if err != nil {
			return all, err
		}
		spread(all.Keys, found.Keys, places)
		spread(all.Values, found.Values, places)
		spread(all.Found, found.Found, places)
	}
	return all, nil
}

// ranges returns the ranges of words between the given ends, which may be keys that have no word.
func (d *dictionary) ranges(los, his numbers) ([]keyRange, error) {
	lo, err := d.place(los)
	if err != nil {
		return nil, err
	}
	hi, err := d.place(his)
	if err != nil {
		return nil, err
	}
	all := make([]keyRange, len(lo.words))
	for i := range all {
		r := keyRange{Lo: lo.words[i], Hi: hi.words[i]}
		if lo.at != nil && lo.at[i] == keytype.After {
			r.Lo++
		}
		if hi.at != nil && hi.at[i] == keytype.Below || r.Lo < lo.words[i] || r.Lo > r.Hi {
			r = keyRange{Lo: 1, Hi: 0}
		}
		all[i] = r
	}
	return all, nil
}
