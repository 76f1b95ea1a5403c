package structures

import (
	"context"

	"github.com/vkds/vkds/vk"
)

// Updates has the batches of updates of one kind that every dictionary does. Each method returns the status of each
// operation.
//
// Errors of all methods: vk.ErrClosed and *LengthError, before anything is done; and *PendingError, whose Err is
// *vk.LimitError, *vk.OutOfMemoryError, the context's, or *StuckError if a stray write has damaged the structure.
type Updates[K, V Number] interface {
	// Insert inserts each pair, or assigns the value if the key is there. Statuses are Inserted or Assigned. If keys in
	// the batch are equal, the last value stays, and the statuses are as if the operations were done one after the
	// other.
	Insert(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found. A key that is there keeps
	// its value. If keys in the batch are equal, the first one counts.
	InsertUnique(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertAdd inserts each pair, or adds the value if the key is there. If keys in the batch are equal, all count:
	// the first one inserts its value if the key was not there, and the others add theirs. Statuses are Inserted or
	// Assigned, as if the operations were done one after the other. A pending operation has had no effect, so to do it
	// again adds nothing twice.
	//
	// Sums of integers wrap as in Go, at the width of values. Floats are added as in Go: IEEE 754, rounded to nearest,
	// with subnormal numbers. The order of a batch's additions is not specified, so a sum of more than two floats may
	// differ in its last bits from one run to the next. A sum that is not a number is the NaN with the bits 0x7fc00000,
	// or 0x7ff8000000000000.
	InsertAdd(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertMin inserts each pair, or assigns the value if it is less than the key's value. The status is Assigned if
	// the key was there, also if its value stays. Integers are compared as in Go, floats by their total order, as keys
	// are (KeyCode): -0 is less than 0, and a NaN is greater than all numbers, or less than all of them if its sign bit
	// is set.
	InsertMin(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertMax is InsertMin with the greater value.
	InsertMax(ctx context.Context, keys []K, values []V) ([]Status, error)
	// Delete removes each key. Statuses are Deleted or Absent.
	Delete(ctx context.Context, keys []K) ([]Status, error)
}

// Retry does the operations of an update again that a *PendingError has left pending, for example with a context that
// has not ended, or after other memory was freed. It takes the slices of the update with its statuses, and writes the
// statuses of the operations that it does. These take effect after the other operations of the update, also if their
// keys are equal.
//
// Errors: those of UpdateInto. After another *PendingError, call Retry again.
func Retry[K, V Number](ctx context.Context, d Dictionary[K, V], kind Kind, keys []K, values []V,
	status []Status) error {
	switch {
	case d == nil:
		return vk.ErrNotOpen
	case len(status) != len(keys):
		return &LengthError{Keys: len(keys), Other: "statuses", Got: len(status)}
	case values != nil && len(values) != len(keys):
		return &LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	var places []int
	var someKeys []K
	var someValues []V
	for i, s := range status {
		if s != Pending {
			continue
		}
		places, someKeys = append(places, i), append(someKeys, keys[i])
		if values != nil {
			someValues = append(someValues, values[i])
		}
	}
	if len(places) == 0 {
		return nil
	}
	done := make([]Status, len(places))
	err := d.UpdateInto(ctx, kind, someKeys, someValues, done)
	for j, i := range places {
		status[i] = done[j]
	}
	return err
}
