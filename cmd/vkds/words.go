package main

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// words is a dictionary in the memory of the device or the host, as the commands see it. A word is the unsigned integer
// that stands for a key or a value (package keytype). Words come as uint64, also if the dictionary's own have 32 bits.
type words interface {
	UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64, status []structures.Status) error
	Delete(ctx context.Context, keys []uint64) ([]structures.Status, error)
	Find(ctx context.Context, keys []uint64) (values []uint64, found []bool, err error)
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error]
	Len(ctx context.Context) (uint64, error)
	Close() error

	width() structures.Width
	itself() any // the structure
	on(s *vk.Stream) structures.OnStream

	// Of ordered structures only:

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

// held implements words by a dictionary whose words are of type W. It is used by one goroutine at a time.
type held[W structures.Word] struct {
	structures.Dictionary[W, W]
	keys, values []W // reused by each batch: allocating them takes longer than filling them
}

func (h *held[W]) width() structures.Width { return structures.WidthOf[W]() }
func (h *held[W]) itself() any             { return h.Dictionary }

// on returns the structure's operations on a stream.
func (h *held[W]) on(s *vk.Stream) structures.OnStream {
	switch d := h.Dictionary.(type) {
	case *btree.Tree[W, W]:
		return d.On(s)
	case interface {
		On(*vk.Stream) structures.OrderedOnStream
	}:
		return d.On(s)
	default:
		return d.(interface {
			On(*vk.Stream) structures.ConcurrentOnStream
		}).On(s)
	}
}

func (h *held[W]) ordered() structures.Ordered[W, W] { return h.Dictionary.(structures.Ordered[W, W]) }

// narrowed converts words to W, in the slice *into, which is replaced if it is too short. Words of 64 bits are returned
// as they are.
func narrowed[W structures.Word](into *[]W, all []uint64) []W {
	if s, ok := any(all).([]W); ok {
		return s
	}
	if cap(*into) < len(all) {
		*into = make([]W, len(all))
	}
	s := (*into)[:len(all)]
	threads.Each(len(all), 8*len(all), func(first, end int) {
		for i, w := range all[first:end] {
			s[first+i] = W(w)
		}
	})
	return s
}

// widened converts words to 64 bits. Words of 64 bits are returned as they are.
func widened[W structures.Word](all []W) []uint64 {
	if s, ok := any(all).([]uint64); ok {
		return s
	}
	wide := make([]uint64, len(all))
	threads.Each(len(all), 8*len(all), func(first, end int) {
		for i, w := range all[first:end] {
			wide[first+i] = uint64(w)
		}
	})
	return wide
}

// greatest returns the greatest of some words, of which there is one.
func greatest(all []uint64) uint64 {
	var lock sync.Mutex
	most := all[0]
	threads.Each(len(all), 8*len(all), func(first, end int) {
		mine := slices.Max(all[first:end])
		lock.Lock()
		defer lock.Unlock()
		most = max(most, mine)
	})
	return most
}

// UpdateInto does a batch of updates.
func (h *held[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64,
	status []structures.Status) error {
	return h.Dictionary.UpdateInto(ctx, kind, narrowed(&h.keys, keys), narrowed(&h.values, values), status)
}

// Delete deletes keys. Each one's status is Deleted or Absent.
func (h *held[W]) Delete(ctx context.Context, keys []uint64) ([]structures.Status, error) {
	return h.Dictionary.Delete(ctx, narrowed(&h.keys, keys))
}

// Find looks keys up.
func (h *held[W]) Find(ctx context.Context, keys []uint64) ([]uint64, []bool, error) {
	values, found, err := h.Dictionary.Find(ctx, narrowed(&h.keys, keys))
	return widened(values), found, err
}

// Chunks yields all pairs, many at a time. Each chunk is valid until the next one.
func (h *held[W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error] {
	return func(yield func(structures.Pairs[uint64, uint64], error) bool) {
		for c, err := range h.Dictionary.Chunks(ctx) {
			if !yield(structures.Pairs[uint64, uint64]{Keys: widened(c.Keys), Values: widened(c.Values)}, err) {
				return
			}
		}
	}
}

// narrowedRange converts a range to W. The greatest word of 64 bits, which ends a range of all keys, becomes the
// greatest of W.
func narrowedRange[W structures.Word](r keyRange) structures.Range[W] {
	return structures.Range[W]{Lo: W(r.Lo), Hi: W(r.Hi)}
}

func narrowedRanges[W structures.Word](ranges []keyRange) []structures.Range[W] {
	all := make([]structures.Range[W], len(ranges))
	for i, r := range ranges {
		all[i] = narrowedRange[W](r)
	}
	return all
}

// Count counts the keys of ranges.
func (h *held[W]) Count(ctx context.Context, ranges []keyRange) ([]uint32, error) {
	return h.ordered().Count(ctx, narrowedRanges[W](ranges))
}

// Range returns the pairs of ranges.
func (h *held[W]) Range(ctx context.Context, ranges []keyRange) (structures.Ranges[uint64, uint64], error) {
	r, err := h.ordered().Range(ctx, narrowedRanges[W](ranges))
	return structures.Ranges[uint64, uint64]{Offsets: r.Offsets, Keys: widened(r.Keys), Values: widened(r.Values)}, err
}

// Ascend returns the pairs of a range in key order.
func (h *held[W]) Ascend(ctx context.Context, r keyRange) iter.Seq2[pair, error] {
	return widePairs(h.ordered().Ascend(ctx, narrowedRange[W](r)))
}

// Descend is Ascend the other way round.
func (h *held[W]) Descend(ctx context.Context, r keyRange) iter.Seq2[pair, error] {
	return widePairs(h.ordered().Descend(ctx, narrowedRange[W](r)))
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

// Neighbors finds a neighbor of each key.
func (h *held[W]) Neighbors(ctx context.Context, to structures.Direction, keys []uint64) (neighbors, error) {
	words := narrowed(&h.keys, keys)
	n, err := h.ordered().Neighbor(ctx, to, words)
	return neighbors{Keys: widened(n.Keys), Values: widened(n.Values), Found: n.Found}, err
}
