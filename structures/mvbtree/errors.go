package mvbtree

import "fmt"

// UnprotectedError says that no open snapshot has a time.
type UnprotectedError struct{ Time uint64 }

func (e *UnprotectedError) Error() string {
	return fmt.Sprintf("no snapshot of time %d is open", e.Time)
}

// ForeignError says that two snapshots are not of one tree.
type ForeignError struct{}

func (e *ForeignError) Error() string { return "snapshots of different trees can't be compared" }

// OrderError says that of two snapshots that are compared on a stream the first one is not the older one.
type OrderError struct{ Older, Newer uint64 } // their times

func (e *OrderError) Error() string {
	return fmt.Sprintf("a snapshot of time %d isn't older than one of time %d, and comes first", e.Older, e.Newer)
}
