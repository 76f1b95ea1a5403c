package structures

import (
	"cmp"
	"errors"
	"fmt"
)

// LengthError says that two slices of a call that belong together differ in length, or that a buffer is too short.
type LengthError struct {
	Keys  int    // the number of keys, or of other elements that the call is about
	Other string // the slice or buffer that does not match
	Got   int
	Need  int // the length that is needed, of a buffer at least. 0: it is Keys; -1: none is
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("a batch of %d needs %d %s and got %d", e.Keys, max(cmp.Or(e.Need, e.Keys), 0), e.Other, e.Got)
}

// CountError says that the number of elements of a call is negative, or greater than kernels can index. Nothing was
// recorded.
type CountError struct {
	What string // "keys", "pairs of all ranges", …
	N    int    // how many; the greatest int if the number does not fit one
	Most int    // the greatest number that is allowed
}

func (e *CountError) Error() string {
	return fmt.Sprintf("%d %s, but a call takes 0 to %d", e.N, e.What, e.Most)
}

// CapacityError says that an option asks for more than is possible. Nothing was allocated. That of a hash table names
// its Load, too, because it tells how much memory a Capacity takes.
type CapacityError struct {
	Option string // "Capacity", "Buckets", …
	Asked  int    // its value
	Err    error  // why not: *vk.OutOfMemoryError, *vk.LimitError, or the structure's own limit
}

func (e *CapacityError) Error() string {
	return fmt.Sprintf("option %s: %d is not possible: %v", e.Option, e.Asked, e.Err)
}

func (e *CapacityError) Unwrap() error { return e.Err }

// KindError says that an operation of a batch has a kind that the call or the structure does not support.
type KindError struct {
	Index int
	Kind  Kind
}

func (e *KindError) Error() string {
	return fmt.Sprintf("operation %d of the batch: %v is not supported here", e.Index, e.Kind)
}

// PendingError says that a batch could not be finished. In the statuses that come with it, finished operations have
// their status, and the others have the status Pending. Retry does these again.
type PendingError struct {
	Operations int   // how many are not done
	Err        error // why
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("%s of the batch left undone: %v", operations(e.Operations), e.Err)
}

func (e *PendingError) Unwrap() error { return e.Err }

// ErrSuperseded says that a batch without a Status or a Left can't be finished, because its stream has recorded another
// such batch since, or never recorded this one.
var ErrSuperseded = errors.New("structures: the stream has recorded another batch without Status or Left since, or " +
	"never recorded this one")

// ErrChanged ends an iteration over a structure that changed during the iteration.
var ErrChanged = errors.New("structures: the structure changed during the iteration")

// StuckError says that operations could not be done after many tries, although there is room. A latch is never released
// because the kernel that held it was killed; a stray write has damaged the structure: a list has no end, or keys are
// out of order; or an ordered query of a mixed batch is too long for one dispatch, such as a count of 2^19 leaves: ask
// it by itself. Operations that run on the same lanes may be left undone as well.
type StuckError struct{ Operations int }

func (e *StuckError) Error() string {
	return operations(e.Operations) + " can't be done: a latch is never released, a list has no end, keys are out of " +
		"order, or an ordered query of a mixed batch is too long"
}

func operations(n int) string {
	if n == 1 {
		return "1 operation"
	}
	return fmt.Sprintf("%d operations", n)
}

// These errors say what is wrong with the input of a Load. They are inside a *SavedError, where errors.Is finds them.
var (
	ErrNotSaved     = errors.New("is not a saved dictionary")
	ErrSavedVersion = errors.New("was saved by another version of vkds: build it again")
	ErrTruncated    = errors.New("ends too early: the saved dictionary is truncated")
	ErrCorrupt      = errors.New("is corrupt")
	// ErrText: a dictionary of the vkds tool, which keeps texts in other files.
	ErrText = errors.New("has keys or values that are text: vkds dump writes them to other files")
	// ErrSeveralValues: a slabhash.Map was saved, and only a slabhash.Map can load it.
	ErrSeveralValues = errors.New("has keys with several values")
)

// TypeError says that a saved dictionary can't be loaded with the types that Load was called with. A type can be loaded
// as itself or as a wider type that has all its numbers: int32 as int64, uint32 as uint64 or int64, float32 as float64.
// It comes inside a *SavedError.
type TypeError struct {
	What   string // "keys" or "values"
	Saved  string // the type as saved, for example "int32"; "" if an earlier version saved no types
	Bits   int    // the width of a number, if Saved is ""
	Loaded string // the type that Load was asked for
}

func (e *TypeError) Error() string {
	if e.Saved == "" {
		return fmt.Sprintf("has keys and values of %d bits whose types an earlier version of vkds didn't save: load "+
			"them as the types that they were saved with, not with %s of type %s", e.Bits, e.What, e.Loaded)
	}
	return fmt.Sprintf("has %s of type %s, which can't be loaded as %s", e.What, e.Saved, e.Loaded)
}

// SavedError says that the input of a Load is not a saved dictionary, is damaged, or has other types. Errors of the
// io.Reader are returned as they are.
type SavedError struct {
	Err error // one of the errors above or a *TypeError, with details
}

func (e *SavedError) Error() string { return "the input " + e.Err.Error() }

func (e *SavedError) Unwrap() error { return e.Err }
