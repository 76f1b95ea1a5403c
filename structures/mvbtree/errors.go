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
