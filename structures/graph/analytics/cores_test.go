package analytics_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph/analytics"
)

// cores peels in Go, one vertex after the other.
func cores(rows [][]neighbor) []uint32 {
	left, out, gone := make([]int, len(rows)), make([]uint32, len(rows)), make([]bool, len(rows))
	for v, row := range rows {
		left[v] = len(row)
	}
	k := 0
	for range rows {
		least := -1
		for v := range rows {
			if !gone[v] && (least < 0 || left[v] < left[least]) {
				least = v
			}
		}
		k = max(k, left[least])
		gone[least], out[least] = true, uint32(k)
		for _, n := range rows[least] {
			left[n.to]--
		}
	}
	return out
}

func TestCores(t *testing.T) {
	eachShape(t, false, func(t *testing.T, e *edges, a *Analyzer) {
		r, err := a.Cores(t.Context())
		if !e.undirected {
			require.ErrorIs(t, err, ErrDirected)
			return
		}
		require.NoError(t, err)
		want, most := cores(e.rows()), uint32(0)
		for _, k := range want {
			most = max(most, k)
		}
		require.Equal(t, want, r.Cores)
		require.Equal(t, most, r.Most)
	})
}
