package pipeline

import (
	"cmp"
	"slices"

	"github.com/vkds/vkds/structures"
)

// Lengths checks that what a batch says of each operation goes together, and that insertions bring values, unless they
// are of a set. Error: *structures.LengthError.
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

// Fits checks that a slice which goes with so many keys is as long as these, or is not there. Error:
// *structures.LengthError.
func Fits[T any](keys int, name string, s []T) error {
	if s != nil && len(s) != keys {
		return &structures.LengthError{Keys: keys, Other: name, Got: len(s)}
	}
	return nil
}

// FitsResults checks the slices that the results of a batch go to. Errors: *structures.LengthError,
// *structures.OptionError.
func FitsResults[K, V structures.Number](b structures.Batch[K, V], r *structures.Results[K, V]) error {
	if r == nil {
		return &structures.OptionError{Option: "into", Reason: "nil"}
	}
	n := len(b.Keys)
	return cmp.Or(Fits(n, "statuses", r.Status), Fits(n, "values for the results", r.Values),
		Fits(n, "keys for the results", r.Keys))
}

// Cut is a part of a slice, or nil of nil.
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
