package pipeline

import (
	"errors"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Short reports whether an error says that there is too little room. A smaller batch may fit.
func Short(err error) bool {
	return errors.Is(err, vk.ErrNoRoom)
}

// NotBegun sets all statuses of a call that could not begin to Pending, and returns the call's error.
func NotBegun(statuses []structures.Status, operations int, err error) error {
	if unusable(err) {
		return err
	}
	clear(statuses)
	return Stopped(statuses, operations, err)
}

// Stopped returns the error of a batch. If operations are pending, it returns a *structures.PendingError around err.
// The number of pending operations is taken from the statuses or, without them, is left. If err is a
// *structures.PendingError about a part of the batch, it is replaced. If err is nil, Stopped returns nil.
func Stopped(statuses []structures.Status, left int, err error) error {
	if err == nil {
		return nil
	}
	if part, ok := err.(*structures.PendingError); ok {
		err = part.Err
	}
	if statuses != nil {
		left = 0
		for _, s := range statuses {
			if s == structures.Pending {
				left++
			}
		}
	}
	if left == 0 {
		return err
	}
	return &structures.PendingError{Operations: left, Err: err}
}

// Made returns the results of a call that makes the statuses itself: no statuses if nothing can have begun.
func Made(statuses []structures.Status, err error) ([]structures.Status, error) {
	if refused(err) {
		return nil, err
	}
	return statuses, err
}

// ResultsOf returns new results for a mixed batch.
func ResultsOf[K, V structures.Number](b structures.Batch[K, V]) structures.Results[K, V] {
	n := len(b.Keys)
	r := structures.Results[K, V]{Status: make([]structures.Status, n), Values: make([]V, n)}
	if slices.ContainsFunc(b.Kinds, structures.Kind.Ordered) {
		r.Keys = make([]K, n)
	}
	return r
}

// NeighborsOf returns room for n neighbors.
func NeighborsOf[K, V structures.Number](n int) structures.Neighbors[K, V] {
	return structures.Neighbors[K, V]{Keys: make([]K, n), Values: make([]V, n), Found: make([]bool, n)}
}

// MadeResults is Made for a mixed batch.
func MadeResults[K, V structures.Number](r structures.Results[K, V], err error) (structures.Results[K, V], error) {
	if refused(err) {
		return structures.Results[K, V]{}, err
	}
	return r, err
}

// refused reports whether an error is about the arguments, or about a handle that is not open.
func refused(err error) bool {
	var length *structures.LengthError
	var kind *structures.KindError
	return errors.As(err, &length) || errors.As(err, &kind) || unusable(err)
}

func unusable(err error) bool {
	_, closed := err.(*vk.ClosedError)
	return closed || err == vk.ErrNotOpen
}

// Impossible returns the error for an option that asks for more than is possible. If the option is not set, it is the
// cause, which names the option that is.
func Impossible(option string, asked int, cause error) error {
	if asked == 0 {
		return cause
	}
	return &structures.CapacityError{Option: option, Asked: asked, Err: cause}
}

// Cause returns the error inside a *structures.PendingError, for calls that do not report pending operations.
func Cause(err error) error {
	var pending *structures.PendingError
	if errors.As(err, &pending) {
		return pending.Err
	}
	return err
}

// After returns the Progress for a part of a call. total is the number of operations of the call, and before the number
// done before the part. After returns nil if p is nil.
func After(p structures.Progress, before, total int) structures.Progress {
	if p == nil {
		return nil
	}
	return func(done, _ int) { p(before+done, total) }
}
