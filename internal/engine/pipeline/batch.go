package pipeline

import (
	"slices"

	"github.com/vkds/vkds/structures"
)

// Lengths checks that the slices of a batch have the same length, and that insertions have values, except in a set.
// Error: *structures.LengthError.
func Lengths[K, V structures.Number](b structures.Batch[K, V], set bool) error {
	if len(b.Kinds) != len(b.Keys) {
		return &structures.LengthError{Keys: len(b.Keys), Other: "kinds", Got: len(b.Kinds)}
	}
	brings := b.Values != nil || !set && slices.ContainsFunc(b.Kinds, structures.Kind.Inserts)
	if brings && len(b.Values) != len(b.Keys) {
		return &structures.LengthError{Keys: len(b.Keys), Other: "values", Got: len(b.Values)}
	}
	if b.Highs != nil && len(b.Highs) != len(b.Keys) {
		return &structures.LengthError{Keys: len(b.Keys), Other: "highs", Got: len(b.Highs)}
	}
	return nil
}

// Fits checks that a slice is nil or as long as the keys that it belongs to. Error: *structures.LengthError.
func Fits[T any](keys int, name string, s []T) error {
	if s != nil && len(s) != keys {
		return &structures.LengthError{Keys: keys, Other: name, Got: len(s)}
	}
	return nil
}

// Cut returns a part of a slice, or nil if the slice is nil.
func Cut[T any](s []T, first, end int) []T {
	if s == nil {
		return nil
	}
	return s[first:end]
}

// Pick returns the elements at some places, in the order of the places.
func Pick[T any](all []T, places []int) []T {
	some := make([]T, len(places))
	for j, i := range places {
		some[j] = all[i]
	}
	return some
}

// Spread is the inverse of Pick: it writes some elements to their places.
func Spread[T any](to, some []T, places []int) {
	for j, i := range places {
		to[i] = some[j]
	}
}
