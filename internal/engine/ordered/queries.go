package ordered

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Queries has the queries of a Reader from slices of a user's types. The queries on streams are the Reader's own.
type Queries[K, V structures.Number] struct{ *Reader }

var _ structures.Queries[uint32, uint64] = Queries[uint32, uint64]{}

// Find returns the value of each key, and whether it is there.
func (q Queries[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	values, found = make([]V, len(keys)), make([]bool, len(keys))
	return values, found, q.FindInto(ctx, keys, values, found)
}

// FindInto is Find into the caller's slices.
func (q Queries[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	n := len(keys)
	if err := cmp.Or(q.of.Err(), pipeline.Fits(n, "values", values),
		pipeline.Fits(n, "found flags", found)); err != nil {
		return err
	}
	return q.ask(ctx, n, []pipeline.Column{pipeline.Keys(keys, q.width), pipeline.ValueResults(values, q.width),
		pipeline.Result(found)}, q.lookups())
}

// Get is Find of one key.
func (q Queries[K, V]) Get(ctx context.Context, key K) (V, bool, error) {
	values, found := make([]V, 1), make([]bool, 1)
	err := q.FindInto(ctx, []K{key}, values, found)
	return values[0], found[0], err
}

// Count returns the number of keys in each range.
func (q Queries[K, V]) Count(ctx context.Context, ranges []structures.Range[K]) ([]uint32, error) {
	counts := make([]uint32, len(ranges))
	return counts, q.Reader.Count(ctx, Words(ranges), counts)
}

// Range returns the pairs of each range.
func (q Queries[K, V]) Range(ctx context.Context, ranges []structures.Range[K]) (structures.Ranges[K, V], error) {
	out := structures.Ranges[K, V]{}
	if err := q.RangeInto(ctx, ranges, &out); err != nil {
		return structures.Ranges[K, V]{}, err
	}
	return out, nil
}

// RangeInto is Range into the caller's slices. It makes new slices if those have no room.
func (q Queries[K, V]) RangeInto(ctx context.Context, ranges []structures.Range[K],
	into *structures.Ranges[K, V]) error {
	if err := q.of.Err(); err != nil {
		return err
	}
	if into == nil {
		return &vk.OptionError{Option: "into", Reason: "nil"}
	}
	to := &Pairs[K, V]{structures.Pairs[K, V]{Keys: into.Keys[:0], Values: into.Values[:0]}, q.width}
	offsets, err := q.Reader.Range(ctx, Words(ranges), to, into.Offsets)
	if offsets != nil {
		*into = structures.Ranges[K, V]{Offsets: offsets, Keys: to.Keys, Values: to.Values}
	}
	return err
}

// Neighbor finds the neighbor of each key in one direction.
func (q Queries[K, V]) Neighbor(ctx context.Context, to structures.Direction,
	keys []K) (structures.Neighbors[K, V], error) {
	n := len(keys)
	if err := cmp.Or(q.of.Err(), pipeline.CheckDirection(to)); err != nil {
		return structures.Neighbors[K, V]{}, err
	}
	out := pipeline.NeighborsOf[K, V](n)
	return out, q.Neighbors(ctx, to, n, pipeline.Keys(keys, q.width), pipeline.KeyResults(out.Keys, q.width),
		pipeline.ValueResults(out.Values, q.width), pipeline.Founds(out.Found))
}

// Rank returns for each key the number of keys that are less.
func (q Queries[K, V]) Rank(ctx context.Context, keys []K) ([]uint32, error) {
	ranks := make([]uint32, len(keys))
	return ranks, q.Reader.Rank(ctx, len(keys), pipeline.Keys(keys, q.width), pipeline.Result(ranks))
}

// Select returns the pair of each rank.
func (q Queries[K, V]) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[K, V], error) {
	n := len(ranks)
	out := pipeline.NeighborsOf[K, V](n)
	return out, q.Reader.Select(ctx, n, pipeline.In(ranks), pipeline.KeyResults(out.Keys, q.width),
		pipeline.ValueResults(out.Values, q.width), pipeline.Founds(out.Found))
}

// Ascend returns the pairs of a range in key order.
func (q Queries[K, V]) Ascend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return transfer.Pairs(q.pages(ctx, r, false), false)
}

// Descend returns the pairs of a range in descending key order.
func (q Queries[K, V]) Descend(ctx context.Context, r structures.Range[K]) iter.Seq2[structures.Pair[K, V], error] {
	return transfer.Pairs(q.pages(ctx, r, true), true)
}

// All returns all pairs in key order.
func (q Queries[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return q.Ascend(ctx, structures.AllKeys[K]())
}

// Chunks returns all pairs in key order, many at a time.
func (q Queries[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return q.pages(ctx, structures.AllKeys[K](), false)
}

// pages returns the pairs of a range in parts, each in key order. If down is set, the last part comes first. The slices
// are valid until the next part.
func (q Queries[K, V]) pages(ctx context.Context, keys structures.Range[K],
	down bool) iter.Seq2[structures.Pairs[K, V], error] {
	return func(yield func(structures.Pairs[K, V], error) bool) {
		w, err := q.Walk(ctx, Words([]structures.Range[K]{keys})[0], down)
		page, more := &Pairs[K, V]{Width: q.width}, false
		for err == nil {
			page.Keys, page.Values = page.Keys[:0], page.Values[:0]
			more, err = w.Next(ctx, page)
			if err == nil && (!more || !yield(page.Pairs, nil)) {
				return
			}
		}
		yield(structures.Pairs[K, V]{}, err)
	}
}

// Pairs is the Sink of a user's pairs.
type Pairs[K, V structures.Number] struct {
	structures.Pairs[K, V]
	Width structures.Width // on the device
}

// Grow makes room for n pairs.
func (p *Pairs[K, V]) Grow(n int) {
	p.Keys, p.Values = slices.Grow(p.Keys, n), slices.Grow(p.Values, n)
}

// Extend adds n pairs, which the caller then reads.
func (p *Pairs[K, V]) Extend(n int) (keys, values pipeline.Column) {
	at := len(p.Keys)
	p.Keys, p.Values = slices.Grow(p.Keys, n)[:at+n], slices.Grow(p.Values, n)[:at+n]
	return pipeline.KeyResults(p.Keys[at:], p.Width), pipeline.ValueResults(p.Values[at:], p.Width)
}

// Words converts ranges of a user's keys to ranges of words.
func Words[K structures.Number](ranges []structures.Range[K]) []structures.Range[uint64] {
	keys := unsafe.Slice((*K)(unsafe.Pointer(unsafe.SliceData(ranges))), 2*len(ranges))
	return pairsOf(pipeline.Keys(keys, structures.Bits64))
}

// pairsOf returns the keys of a column as ranges, two keys each.
func pairsOf(keys pipeline.Column) []structures.Range[uint64] {
	words := pipeline.Words[uint64](keys)
	return unsafe.Slice((*structures.Range[uint64])(unsafe.Pointer(unsafe.SliceData(words))), len(words)/2)
}
