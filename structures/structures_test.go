package structures_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

func TestNames(t *testing.T) {
	require.Equal(t, "insert-duplicate", InsertDuplicate.String())
	require.Equal(t, "mixed", Mixed.String())
	require.Equal(t, "Kind(99)", Kind(99).String())
	require.Equal(t, "absent", Absent.String())
	require.Equal(t, "Status(99)", Status(99).String())
	for k := Insert; k <= CountAll; k++ {
		require.Equal(t, k <= InsertMax, k.Inserts(), k)
	}
	require.False(t, Mixed.Inserts())
}

// Errors say in one line what was wrong and what is possible, and errors.Is and errors.As find their causes through
// wrappers.
func TestErrors(t *testing.T) {
	limit := &vk.LimitError{What: "bytes of an LSM", Want: 9, Most: 8, Option: "MaxBytes"}
	for text, err := range map[string]error{
		"operation 3 of the batch: mixed is not supported here": &KindError{
			Index: 3, Kind: Mixed},
		"a batch of 5 needs 5 values and got 4": &LengthError{
			Keys: 5, Other: "values", Got: 4},
		"a batch of 5 needs 10 ends of ranges and got 9": &LengthError{
			Keys: 5, Other: "ends of ranges", Got: 9, Need: 10},
		"a batch of 5 needs 0 weights, as the graph has none, and got 1": &LengthError{
			Keys: 5, Other: "weights, as the graph has none,", Got: 1, Need: -1},
		"-1 elements, but a call takes 0 to 8": &CountError{
			"elements", -1, 8},
		"option Tile: 3 is not a power of two": &vk.OptionError{Option: "Tile",
			Reason: "3 is not a power of two"},
		"option Capacity: 7 is not possible: too many": &CapacityError{"Capacity", 7,
			errors.New("too many")},
		"9 bytes of an LSM, but option MaxBytes allows at most 8": limit,
		"9 pairs of a sorted array, but at most 8 are possible": &vk.LimitError{What: "pairs of a sorted array",
			Want: 9, Most: 8},
		"5 operations of the batch left undone: " + limit.Error(): &PendingError{5, limit},
		"1 operation of the batch left undone: " + limit.Error():  &PendingError{1, limit},
	} {
		require.EqualError(t, err, text)
	}
	for _, err := range []error{limit, &vk.OutOfMemoryError{}} {
		require.ErrorIs(t, &PendingError{5, err}, vk.ErrNoRoom)
		require.ErrorIs(t, &CapacityError{"Capacity", 7, err}, vk.ErrNoRoom)
	}
	require.NotErrorIs(t, &PendingError{5, &StuckError{1}}, vk.ErrNoRoom)
	for _, err := range []error{&PendingError{5, limit}, &CapacityError{"Capacity", 7, limit},
		fmt.Errorf("around: %w", &PendingError{1, limit})} {
		require.ErrorIs(t, err, error(limit))
		var found *vk.LimitError
		require.ErrorAs(t, err, &found)
		require.Same(t, limit, found)
	}
}
