package structures

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	require.Equal(t, "insert-duplicate", InsertDuplicate.String())
	require.Equal(t, "mixed", Mixed.String())
	require.Equal(t, "Kind(99)", Kind(99).String())
	require.Equal(t, "absent", Absent.String())
	require.Equal(t, "Status(99)", Status(99).String())
	for k := Insert; k <= Count; k++ {
		require.Equal(t, k <= Max, k.Inserts(), k)
	}
	require.False(t, Mixed.Inserts())
	require.Equal(t, "operation 3 of the batch: no such operation here: mixed", (&KindError{3, Mixed}).Error())
	why := errors.New("no more")
	err := &PendingError{5, why}
	require.Equal(t, "5 operations of the batch not done: no more", err.Error())
	require.ErrorIs(t, err, why)
}
