package pipeline

import "github.com/vkds/vkds/structures"

// Lengths checks that what a batch says of each operation goes together. Error: *structures.LengthError.
func Lengths(b structures.Batch) error {
	if len(b.Kinds) != len(b.Keys) {
		return &structures.LengthError{Keys: len(b.Keys), Other: "kinds", Got: len(b.Kinds)}
	}
	if b.Values != nil && len(b.Values) != len(b.Keys) {
		return &structures.LengthError{Keys: len(b.Keys), Other: "values", Got: len(b.Values)}
	}
	if b.Highs != nil && len(b.Highs) != len(b.Keys) {
		return &structures.LengthError{Keys: len(b.Keys), Other: "highs", Got: len(b.Highs)}
	}
	return nil
}

// Pick returns the elements at some places, in the order of the places.
func Pick[T any](all []T, places []int) []T {
	some := make([]T, len(places))
	for j, i := range places {
		some[j] = all[i]
	}
	return some
}
