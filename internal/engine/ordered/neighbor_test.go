package ordered

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// A search gets more visits each time, up to the limit of a dispatch, and beyond it only while no search ends. In the
// end it is stuck.
func TestPatience(t *testing.T) {
	p := patience{Limits: Limits{VisitsAtOnce: 1000, Visits: 20_000}, visits: firstVisits}
	for _, want := range []int{256, 1000, 1000} {
		require.NoError(t, p.more(t.Context(), 3, false))
		require.Equal(t, want, p.visits)
	}
	for _, want := range []int{2000, 4000} {
		require.NoError(t, p.more(t.Context(), 3, true))
		require.Equal(t, want, p.visits)
	}
	require.NoError(t, p.more(t.Context(), 2, false))
	require.Equal(t, 1000, p.visits, "somebody was done")
	made, err := uint64(0), error(nil)
	for err == nil {
		made += uint64(p.visits)
		err = p.more(t.Context(), 2, true)
	}
	var stuck *structures.StuckError
	require.ErrorAs(t, err, &stuck)
	require.Equal(t, 2, stuck.Operations)
	require.Greater(t, made, p.Visits)
	require.Less(t, made, 3*p.Visits)
}
