package structures

import "context"

// Updates are batches of updates of one kind, as every dictionary takes them. A structure may embed them: they are its
// own methods. Each says what has become of each operation. Errors of all: vk.ErrClosed and *LengthError before
// anything is done; *PendingError, with the statuses that say what is done, around *LimitError, *vk.OutOfMemoryError,
// *StuckError where memory is as only a stray write can leave it, or the context's.
type Updates[K, V Number] interface {
	// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned. Of equal keys in the
	// batch the last one's value stays, and their statuses are those of one after the other.
	Insert(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertUnique inserts each pair whose key is not there: Inserted or Found. A key that is there keeps its value. Of
	// equal keys in the batch the first one counts.
	InsertUnique(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertAdd inserts each pair, or adds its value to the one that is there. Of equal keys in the batch all count:
	// the first one of a key that was not there inserts its value, the others update that. Statuses are those of
	// Insert: one after the other, Inserted or Assigned. Each operation is done once, or is Pending and had no effect,
	// so that doing the pending ones again adds nothing twice.
	//
	// Sums of integers wrap as Go's do, at the width of values. Each addition of floats is Go's: IEEE 754, rounded to
	// nearest, with subnormal numbers. The order of a batch's additions is not specified, so a sum of more than two
	// floats may differ in its last bits from one run to the next. A sum that is not a number is the NaN whose bits are
	// 0x7fc00000, or 0x7ff8000000000000.
	InsertAdd(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertMin is InsertAdd with the lesser of the two values in place of the sum. The status is Assigned if the key
	// was there, also if its value was the lesser one and stays. Integers are compared as Go does.
	// Floats are compared by their total order, as keys are (KeyCode): -0 is less than 0, and a NaN is greater than all
	// numbers, or less than all of them if its sign bit is set.
	InsertMin(ctx context.Context, keys []K, values []V) ([]Status, error)
	// InsertMax is InsertMin with the greater one.
	InsertMax(ctx context.Context, keys []K, values []V) ([]Status, error)
	// Delete removes each key: Deleted or Absent.
	Delete(ctx context.Context, keys []K) ([]Status, error)
}
