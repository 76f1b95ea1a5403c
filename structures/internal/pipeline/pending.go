package pipeline

import (
	"errors"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Short says that an error is one of room: the device's memory, or a structure's own limit. A smaller batch may find some.
func Short(err error) bool {
	var memory *vk.OutOfMemoryError
	var size *vk.TooLargeError
	var own *structures.LimitError
	return errors.As(err, &memory) || errors.As(err, &size) || errors.As(err, &own)
}

// NotBegun is what a call with so many operations returns that could not begin: all of them are pending. A closed
// structure has no statuses.
func NotBegun(operations int, err error) ([]structures.Status, error) {
	if err == vk.ErrClosed {
		return nil, err
	}
	statuses := make([]structures.Status, operations)
	return statuses, Stopped(statuses, err)
}

// Stopped returns what stopped a batch, around it a *structures.PendingError if operations are pending; nil if nothing did. A
// *structures.PendingError about a part of the batch gives way to that of the whole.
func Stopped(statuses []structures.Status, err error) error {
	if err == nil {
		return nil
	}
	if part, ok := err.(*structures.PendingError); ok {
		err = part.Err
	}
	pending := 0
	for _, s := range statuses {
		if s == structures.Pending {
			pending++
		}
	}
	if pending == 0 {
		return err
	}
	return &structures.PendingError{Operations: pending, Err: err}
}

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
