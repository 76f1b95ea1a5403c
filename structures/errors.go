package structures

import (
	"errors"
	"fmt"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/vk"
)

// LengthError says that two slices of a call, which go together, differ in length, or that a buffer is too short.
type LengthError struct {
	Keys  int    // or what else the call is about
	Other string // which slice, or buffer, does not match them
	Got   int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("a batch of %d, but %d %s", e.Keys, e.Got, e.Other)
}

// CountError says that a call is about more elements than kernels can number, or about less than none. Nothing was
// recorded.
type CountError struct {
	What string // "keys", "pairs of all ranges", …
	N    int    // how many; where that passes an int, the greatest one
	Most int    // what can be had
}

func (e *CountError) Error() string {
	return fmt.Sprintf("%d %s, but a call takes 0 to %d", e.N, e.What, e.Most)
}

// OptionError says which option, or other argument, is not valid. An into, an io.Writer or an io.Reader that is nil is
// one. Nothing was allocated or changed.
type OptionError = vk.OptionError

// CapacityError says that an option asks for more than there can be. Nothing was allocated.
type CapacityError struct {
	Option string // "Capacity", "Buckets", …
	Asked  int    // its value
	Err    error  // why not: *vk.OutOfMemoryError, *vk.TooLargeError, or the structure's own limit
}

func (e *CapacityError) Error() string {
	return fmt.Sprintf("option %s of %d can't be had: %v", e.Option, e.Asked, e.Err)
}

func (e *CapacityError) Unwrap() error { return e.Err }

// KindError says that a batch has an operation of a kind that the structure does not do.
type KindError struct {
	Index int
	Kind  Kind
}

func (e *KindError) Error() string {
	return fmt.Sprintf("operation %d of the batch: no such operation here: %v", e.Index, e.Kind)
}

// DirectionError says that there is no such direction in which to look for a neighbor.
type DirectionError struct{ Direction Direction }

func (e *DirectionError) Error() string {
	return fmt.Sprintf("%v: a neighbor is the successor, the predecessor, the floor or the ceil", e.Direction)
}

// PendingError says that a batch could not be finished. The operations done have their status in the
// results that came with it; those not done have the status Pending.
type PendingError struct {
	Operations int   // how many are not done
	Err        error // why
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("%d operations of the batch not done: %v", e.Operations, e.Err)
}

func (e *PendingError) Unwrap() error { return e.Err }

// ErrSuperseded says that a batch without a Status or a Left can't be finished: its stream has had another such batch
// since, or never had this one.
var ErrSuperseded = errors.New("structures: a later batch without Status or Left has taken this one's place")

// ErrChanged ends an iteration over a structure that was changed meanwhile.
var ErrChanged = errors.New("structures: changed while it was iterated over")

// ReentryError says that a function which a call on a structure runs, as Options.Progress is, has called the same
// structure: it would wait for its own end.
type ReentryError = gate.ReentryError

// SnapshotsError says that a call would make a structure's nodes anew, which open snapshots need as they are.
type SnapshotsError struct{ Open int }

func (e *SnapshotsError) Error() string {
	if e.Open == 1 {
		return "a snapshot is open, for which nodes stay where they are: close it first"
	}
	return fmt.Sprintf("%d snapshots are open, for which nodes stay where they are: close them first", e.Open)
}

// StuckError says that operations could not be done however often they were tried, though there is room: what stands in
// their way is a latch that is never released, because a kernel that held it was ended, or what only a stray write
// leaves: a list that has no end, or keys out of order. Operations beside them, that the same lanes work on, may be
// left with them.
type StuckError struct{ Operations int }

func (e *StuckError) Error() string {
	return fmt.Sprintf("%d operations stand before a latch that is not released, in a list without an end, or among "+
		"keys out of order", e.Operations)
}

// LimitError says that a structure, or a pool, would grow beyond a limit of its own, whatever memory the device has.
type LimitError = vk.LimitError

// These errors say what is wrong with what a Load is given; errors.Is finds them in a *SavedError.
var (
	ErrNotSaved     = errors.New("is no saved dictionary")
	ErrSavedVersion = errors.New("was saved by another version of vkds: build it again")
	ErrTruncated    = errors.New("ends too early: the saved dictionary is truncated")
	ErrCorrupt      = errors.New("is corrupt")
	// ErrText: a dictionary of the tool's, which keeps texts beside it.
	ErrText = errors.New("has keys or values that are text: vkds dump writes them to other files")
	// ErrSeveralValues: what it was saved from was a slabhash.Map, which can load it, too.
	ErrSeveralValues = errors.New("has keys with several values")
)

// TypeError says that a saved dictionary can't be loaded as one of other types. A type is loaded as itself or as a
// wider one that has all its numbers: int32 as int64, uint32 as uint64 or int64, float32 as float64. It comes in a
// *SavedError.
type TypeError struct {
	What   string // "keys" or "values"
	Saved  string // their type as saved: "int32"; "" if an earlier version saved them, which named no types
	Bits   int    // that a number takes, if Saved is ""
	Loaded string // the type that Load was asked for
}

func (e *TypeError) Error() string {
	if e.Saved == "" {
		return fmt.Sprintf("has keys and values of %d bits whose types an earlier version of vkds didn't save: load "+
			"them as the types that they were saved with, not with %s of type %s", e.Bits, e.What, e.Loaded)
	}
	return fmt.Sprintf("has %s of type %s, which can't be loaded as %s", e.What, e.Saved, e.Loaded)
}

// SavedError says that what was read is no saved dictionary, a damaged one, or one of other types. Errors of the
// io.Reader's own are none.
type SavedError struct {
	Err error // one of the errors above or a *TypeError, with what is known beside
}

func (e *SavedError) Error() string { return "what was read " + e.Err.Error() }

func (e *SavedError) Unwrap() error { return e.Err }
