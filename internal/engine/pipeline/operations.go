package pipeline

import (
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Operations is a batch from Go slices.
type Operations struct {
	Kind         structures.Kind
	N            int
	Kinds        []structures.Kind   // of a Mixed batch
	Keys, Values Column              // values of a mixed batch go to the device and come back
	Status       []structures.Status // nil: not wanted
}

// UpdatesOf returns a batch of updates of one kind from a user's slices. Only insertions use values. Error:
// *structures.LengthError.
func UpdatesOf[K, V structures.Number](kind structures.Kind, keys []K, values []V, status []structures.Status,
	w structures.Width) (o Operations, err error) {
	o = Operations{Kind: kind, N: len(keys), Keys: Keys(keys, w), Status: status}
	if kind.Inserts() {
		if o.Values = Values(values, w); len(values) != len(keys) {
			return o, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
		}
	}
	return o, Fits(len(keys), "statuses", status)
}

// MixedOf returns a mixed batch from a user's slices. Check their lengths first (Lengths).
func MixedOf[K, V structures.Number](b structures.Batch[K, V], into *structures.Results[K, V],
	w structures.Width) Operations {
	return Operations{
		N: len(b.Keys), Kinds: b.Kinds, Keys: Keys(b.Keys, w), Values: Mixed(b.Kinds, b.Values, into.Values, w),
		Status: into.Status,
	}
}

// Inserts reports whether any of the operations inserts.
func (o Operations) Inserts() bool {
	return o.Kind.Inserts() || slices.ContainsFunc(o.Kinds, structures.Kind.Inserts)
}

// Part returns the operations from first to end, without end.
func (o Operations) Part(first, end int) Operations {
	n := end - first
	return Operations{
		Kind: o.Kind, N: n, Kinds: Cut(o.Kinds, first, end), Keys: o.Keys.Part(first, n),
		Values: o.Values.Part(first, n), Status: Cut(o.Status, first, end),
	}
}

// Pick returns the operations at some places, in the order of the places, with their own memory for statuses and
// results.
func (o Operations) Pick(places []int) Operations {
	return Operations{
		Kind: o.Kind, N: len(places), Kinds: Pick(o.Kinds, places), Keys: o.Keys.Pick(places),
		Values: o.Values.Pick(places), Status: make([]structures.Status, len(places)),
	}
}

// CheckDirection returns an error if a Direction is not one of the constants.
func CheckDirection(to structures.Direction) error {
	if to > structures.Ceil {
		return &vk.OptionError{Option: "direction",
			Reason: to.String() + " is not Successor, Predecessor, Floor or Ceil"}
	}
	return nil
}
