package pipeline

import (
	"errors"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Short says that an error is one of room: the device's memory, or a structure's own limit. A smaller batch may find
// some.
func Short(err error) bool {
	var memory *vk.OutOfMemoryError
	var size *vk.TooLargeError
	var own *structures.LimitError
	return errors.As(err, &memory) || errors.As(err, &size) || errors.As(err, &own)
}

// NotBegun has the statuses of a call with so many operations, that could not begin, say so, and returns what it does.
func NotBegun(statuses []structures.Status, operations int, err error) error {
	if unusable(err) {
		return err
	}
	clear(statuses)
	return Stopped(statuses, operations, err)
}

// Stopped returns what stopped a batch, around it a *structures.PendingError if operations are pending; nil if nothing
// did. How many are, the statuses say, or, without them, left. A *structures.PendingError about a part of the batch
// gives way to that of the whole.
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

// Made is what a call returns that makes the statuses itself: none where nothing can have been begun.
func Made(statuses []structures.Status, err error) ([]structures.Status, error) {
	if refused(err) {
		return nil, err
	}
	return statuses, err
}

// ResultsOf are new results for a mixed batch.
func ResultsOf[K, V structures.Number](b structures.Batch[K, V]) structures.Results[K, V] {
	n := len(b.Keys)
	r := structures.Results[K, V]{Status: make([]structures.Status, n), Values: make([]V, n)}
	if slices.ContainsFunc(b.Kinds, structures.Kind.Ordered) {
		r.Keys = make([]K, n)
	}
	return r
}

// MadeResults is Made for a mixed batch.
func MadeResults[K, V structures.Number](r structures.Results[K, V], err error) (structures.Results[K, V], error) {
	if refused(err) {
		return structures.Results[K, V]{}, err
	}
	return r, err
}

// refused says that an error is one of the arguments, or of a handle that is not open.
func refused(err error) bool {
	var length *structures.LengthError
	var kind *structures.KindError
	return errors.As(err, &length) || errors.As(err, &kind) || unusable(err)
}

func unusable(err error) bool { return err == vk.ErrClosed || err == vk.ErrNotOpen }

// Cause is what stopped a batch, without the number of pending operations, for calls that keep none of it.
func Cause(err error) error {
	var pending *structures.PendingError
	if errors.As(err, &pending) {
		return pending.Err
	}
	return err
}

// After returns the progress of a part of a call that has so many operations in total, of which some are done before
// the part; nil for nil.
func After(p structures.Progress, before, total int) structures.Progress {
	if p == nil {
		return nil
	}
	return func(done, _ int) { p(before+done, total) }
}
