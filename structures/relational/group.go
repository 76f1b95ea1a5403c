package relational

import (
	"context"
	"reflect"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
)

// Aggregates is a set of what Group computes of the values of each group, besides their number.
type Aggregates uint8

const (
	Sums  Aggregates = 1 << iota
	Mins             // the least value
	Maxs             // the greatest value
	Means            // the sum divided by the number
)

// Groups is the result of Group: one element of each slice for each key, in ascending order of keys. Slices that were
// not asked for are nil.
type Groups[K, V, S structures.Number] struct {
	Keys       []K
	Counts     []uint64 // how many values each key has
	Sums       []S
	Mins, Maxs []V
	Means      []float64
}

// Group groups values by their keys: values[i] belongs to keys[i]. S is the type of sums:
//
//	g, err := relational.Group[uint64](ctx, r, users, bytes, relational.Sums|relational.Maxs)
//
// Sums of integers are exact. One that does not fit S is an *OverflowError, never a wrong sum; if S is a float type,
// the nearest float of the exact sum is returned. Values are added as float64 if V is a float type; S must then be one,
// too. The order of these additions, and so the last bits of the sum, may differ between devices. Means are exact sums
// divided by counts.
//
// Minimum and maximum of floats are by their total order (structures.KeyCode), where a NaN is greater than all numbers,
// or less than all if its sign bit is set. A sum with a NaN is NaN.
//
// Slices may have any length. If they take more device memory than MaxBytes, they are grouped in parts, whose groups
// are merged in host memory. values may be nil if nothing is asked for.
//
// Errors: *structures.LengthError, *OverflowError, *vk.OptionError if S is an integer type and V is not,
// *vk.OutOfMemoryError, vk.ErrClosed, and the context's, which is checked between parts.
func Group[S, K, V structures.Number](ctx context.Context, r *Relational, keys []K, values []V,
	ask Aggregates) (g Groups[K, V, S], err error) {
	job := grouping{
		n: len(keys), values: len(values), ask: ask, types: typesOf[K, V](),
		sums: numberType{primitives.ValueTypeOf[S](), structures.WidthOf[S]()},
	}
	job.keyColumn = pipeline.Keys(keys, job.types.Key)
	job.valueColumn = pipeline.Values(values, job.types.Value)
	all, sums, err := r.group(ctx, job)
	if err != nil {
		if over, is := err.(*OverflowError); is {
			over.Key = structures.KeyCode[K]().Of(all.keys[over.Group])
			over.Type = reflect.TypeFor[S]().String()
		}
		return g, err
	}
	g.Keys, g.Counts = numbersOf(all.keys, structures.KeyCode[K]()), all.counts
	g.Sums = numbersOf(sums, structures.ValueCode[S, S]())
	g.Mins = numbersOf(all.mins, structures.ValueCode[V, V]())
	g.Maxs = numbersOf(all.maxs, structures.ValueCode[V, V]())
	g.Means = all.means(ask, job.types.Type)
	return g, nil
}

// Distinct returns the different keys of a slice, in ascending order, and how often each is there. Errors: those of
// Group.
func Distinct[K structures.Number](ctx context.Context, r *Relational, keys []K) (distinct []K, counts []uint64,
	err error) {
	job := grouping{n: len(keys), types: typesOf[K, uint32]()}
	job.keyColumn = pipeline.Keys(keys, job.types.Key)
	all, _, err := r.group(ctx, job)
	return numbersOf(all.keys, structures.KeyCode[K]()), all.counts, err
}

// types has the widths of keys and values on the device, and the type of values.
type types struct {
	primitives.Widths
	Type primitives.ValueType
}

// typesOf returns the types of a call with slices. Keys are stored as wide as their values at least, as Sort needs it.
func typesOf[K, V structures.Number]() types {
	return types{primitives.Widths{Key: structures.PairWidth[K, V](), Value: structures.WidthOf[V]()},
		primitives.ValueTypeOf[V]()}
}

// numbersOf returns the numbers of words.
func numbersOf[T structures.Number](words []uint64, code structures.Code[T]) []T {
	if words == nil {
		return nil
	}
	all := make([]T, len(words))
	threads.Each(len(words), 8*len(words), func(first, end int) {
		for i := first; i < end; i++ {
			all[i] = code.Of(words[i])
		}
	})
	return all
}
