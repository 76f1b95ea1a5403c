package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
)

// reported is a report of operations that took a millisecond each.
func reported(n int, ops ...string) *bench.Report {
	r := &bench.Report{Environment: bench.Environment{Seed: 7}}
	for _, op := range ops {
		r.Measurements = append(r.Measurements, bench.Measurement{Structure: "ours", Op: op, N: n, Operations: n,
			Length: 4,
			Wall:   []time.Duration{time.Millisecond}})
	}
	return r
}

// listPeer keeps pairs in a map, and for a range looks at them all.
func listPeer() peer {
	var m map[uint32]uint32
	return peer{
		name: "list", alone: true,
		reset: func(int) { m = map[uint32]uint32{} },
		insert: func(keys, values []uint32) {
			for i, k := range keys {
				m[k] = values[i]
			}
		},
		find: func(keys, values []uint32) {
			for i, k := range keys {
				values[i] = m[k]
			}
		},
		rangeQuery: func(lo, hi uint32, each func(uint32)) {
			for k, v := range m {
				if lo <= k && k <= hi {
					each(v)
				}
			}
		},
	}
}

func TestPeersAreMeasuredBeside(t *testing.T) {
	const n = 500
	r := reported(n, "build", "insert", "find-exist", "range", "gamma1")
	r.Measurements[1].Order = "ascending" // other keys than the peer's
	require.NoError(t, measureBeside(t.Context(), r, []peer{listPeer()}, 3))
	require.Len(t, r.Measurements, 5+3)
	for i, op := range []string{"insert", "find", "range"} {
		m := r.Measurements[5+i]
		require.Equal(t, []any{"list", op, n, n}, []any{m.Structure, m.Op, m.N, m.Operations})
		require.Len(t, m.Wall, 3)
		require.Len(t, m.Properties, 1, op)
		require.Equal(t, "of-time-of-ours-"+[]string{"build", "find-exist", "range"}[i], m.Properties[0].Unit)
		require.InEpsilon(t, float64(m.Time())/1e6, m.Properties[0].Value, 1e-6)
	}
	require.Equal(t, 4, r.Measurements[7].Length)

	r = reported(n, "find-all")
	require.NoError(t, measureBeside(t.Context(), r, []peer{listPeer()}, 1))
	require.Len(t, r.Measurements, 1+2, "ranges, though ours was not asked for any")
}

func TestWrongPeersAreFound(t *testing.T) {
	var wrong *bench.WrongError
	right := listPeer()
	p := right
	p.find = func(keys, values []uint32) { right.find(keys[1:], values[1:]) }
	require.ErrorAs(t, measureBeside(t.Context(), reported(500, "build"), []peer{p}, 1), &wrong)
	p = right
	p.rangeQuery = func(lo, hi uint32, each func(uint32)) { right.rangeQuery(lo+1, hi, each) }
	require.ErrorAs(t, measureBeside(t.Context(), reported(500, "build", "range"), []peer{p}, 1), &wrong)
}
