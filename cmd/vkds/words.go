package main

import (
	"context"
	"iter"
	"slices"

	"github.com/vkds/vkds/structures"
)

// words is a dictionary in the device's memory as the commands see it: its keys and values are words of 64 bits,
// whatever their width there. Keys that are too wide for it can be asked for, and aren't there.
type words interface {
	UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64, status []structures.Status) error
	Delete(ctx context.Context, keys []uint64) ([]structures.Status, error)
	Find(ctx context.Context, keys []uint64) (values []uint64, found []bool, err error)
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error]
	Len(ctx context.Context) (uint64, error)
	Close() error

	width() structures.Width
	itself() any // the structure

	// Of those that keep an order:

	Count(ctx context.Context, ranges []keyRange) ([]uint32, error)
	Range(ctx context.Context, ranges []keyRange) (structures.Ranges[uint64, uint64], error)
	Ascend(ctx context.Context, r keyRange) iter.Seq2[pair, error]
	Descend(ctx context.Context, r keyRange) iter.Seq2[pair, error]
	Neighbors(ctx context.Context, to structures.Direction, keys []uint64) (neighbors, error)
}

type (
	pair      = structures.Pair[uint64, uint64]
	keyRange  = structures.Range[uint64]
	neighbors = structures.Neighbors[uint64, uint64]
)

// held are the words of a dictionary of one width. They are used by one goroutine at a time.
type held[W structures.Word] struct {
	structures.Dictionary[W, W]
	keys, values []W // of the last batch: new slices take longer than the words
}

func (h *held[W]) width() structures.Width           { return structures.WidthOf[W]() }
func (h *held[W]) itself() any                       { return h.Dictionary }
func (h *held[W]) ordered() structures.Ordered[W, W] { return h.Dictionary.(structures.Ordered[W, W]) }

// most is the greatest word of a width.
func most[W structures.Word]() uint64 { return uint64(^W(0)) }

// narrowed are words in W, in a slice that may be used again.
func narrowed[W structures.Word](into *[]W, all []uint64) []W {
	if s, ok := any(all).([]W); ok {
		return s
	}
	if cap(*into) < len(all) {
		*into = make([]W, len(all))
	}
	s := (*into)[:len(all)]
	for i, w := range all {
		s[i] = W(w)
	}
	return s
}

// widened are words in 64 bits; those that have them are themselves.
func widened[W structures.Word](all []W) []uint64 {
	if s, ok := any(all).([]uint64); ok {
		return s
	}
	wide := make([]uint64, len(all))
	for i, w := range all {
		wide[i] = uint64(w)
	}
	return wide
}

// UpdateInto does a batch of updates, whose words have the dictionary's width.
func (h *held[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64,
	status []structures.Status) error {
	return h.Dictionary.UpdateInto(ctx, kind, narrowed(&h.keys, keys), narrowed(&h.values, values), status)
}

// fitting are the keys that have the dictionary's width, and where they stand; nil where all have.
func (h *held[W]) fitting(keys []uint64) (fit []W, at []int) {
	all := true
	for _, k := range keys {
		all = all && k <= most[W]()
	}
	if all {
		return narrowed(&h.keys, keys), nil
	}
	at = []int{}
	for i, k := range keys {
		if k <= most[W]() {
			fit, at = append(fit, W(k)), append(at, i)
		}
	}
	return fit, at
}

// spread puts results in their places among n.
func spread[T any](results []T, at []int, n int) []T {
	if at == nil {
		return results
	}
	all := make([]T, n)
	for i, place := range at {
		all[place] = results[i]
	}
	return all
}

// Delete deletes keys, and says of each whether it was there.
func (h *held[W]) Delete(ctx context.Context, keys []uint64) ([]structures.Status, error) {
	fit, at := h.fitting(keys)
	statuses, err := h.Dictionary.Delete(ctx, fit)
	if err != nil || at == nil {
		return statuses, err
	}
	all := slices.Repeat([]structures.Status{structures.Absent}, len(keys))
	for i, place := range at {
		all[place] = statuses[i]
	}
	return all, nil
}

// Find looks keys up.
func (h *held[W]) Find(ctx context.Context, keys []uint64) ([]uint64, []bool, error) {
	fit, at := h.fitting(keys)
	values, found, err := h.Dictionary.Find(ctx, fit)
	if err != nil {
		return nil, nil, err
	}
	return spread(widened(values), at, len(keys)), spread(found, at, len(keys)), nil
}

// Chunks are all pairs, many at a time, valid until the next ones come.
func (h *held[W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error] {
	return func(yield func(structures.Pairs[uint64, uint64], error) bool) {
		for c, err := range h.Dictionary.Chunks(ctx) {
			if !yield(structures.Pairs[uint64, uint64]{Keys: widened(c.Keys), Values: widened(c.Values)}, err) {
				return
			}
		}
	}
}

// clamped are those keys of a range that have the dictionary's width.
func clamped[W structures.Word](r keyRange) structures.Range[W] {
	if r.Lo > most[W]() {
		return structures.Range[W]{Lo: 1, Hi: 0}
	}
	return structures.Range[W]{Lo: W(r.Lo), Hi: W(min(r.Hi, most[W]()))}
}

func clampedAll[W structures.Word](ranges []keyRange) []structures.Range[W] {
	all := make([]structures.Range[W], len(ranges))
	for i, r := range ranges {
		all[i] = clamped[W](r)
	}
	return all
}

// Count counts the keys of ranges.
func (h *held[W]) Count(ctx context.Context, ranges []keyRange) ([]uint32, error) {
	return h.ordered().Count(ctx, clampedAll[W](ranges))
}

// Range returns the pairs of ranges.
func (h *held[W]) Range(ctx context.Context, ranges []keyRange) (structures.Ranges[uint64, uint64], error) {
	r, err := h.ordered().Range(ctx, clampedAll[W](ranges))
	return structures.Ranges[uint64, uint64]{Offsets: r.Offsets, Keys: widened(r.Keys), Values: widened(r.Values)}, err
}

// Ascend returns the pairs of a range in key order.
func (h *held[W]) Ascend(ctx context.Context, r keyRange) iter.Seq2[pair, error] {
	return widePairs(h.ordered().Ascend(ctx, clamped[W](r)))
}

// Descend is Ascend the other way round.
func (h *held[W]) Descend(ctx context.Context, r keyRange) iter.Seq2[pair, error] {
	return widePairs(h.ordered().Descend(ctx, clamped[W](r)))
}

func widePairs[W structures.Word](pairs iter.Seq2[structures.Pair[W, W], error]) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		for p, err := range pairs {
			if !yield(pair{Key: uint64(p.Key), Value: uint64(p.Value)}, err) {
				return
			}
		}
	}
}

// Neighbors finds a neighbor of each key. Below those that are too wide are all keys, above them is none.
func (h *held[W]) Neighbors(ctx context.Context, to structures.Direction, keys []uint64) (neighbors, error) {
	fit, at := h.fitting(keys)
	n := structures.Neighbors[W, W]{Keys: make([]W, len(fit)), Values: make([]W, len(fit)),
		Found: make([]bool, len(fit))}
	if err := h.ordered().NeighborInto(ctx, to, fit, n); err != nil {
		return neighbors{}, err
	}
	all := neighbors{Keys: spread(widened(n.Keys), at, len(keys)), Values: spread(widened(n.Values), at, len(keys)),
		Found: spread(n.Found, at, len(keys))}
	if at == nil || to == structures.Successor || to == structures.Ceil {
		return all, nil
	}
	key, value, found, err := h.ordered().Max(ctx)
	for i, k := range keys {
		if k > most[W]() {
			all.Keys[i], all.Values[i], all.Found[i] = uint64(key), uint64(value), found
		}
	}
	return all, err
}
