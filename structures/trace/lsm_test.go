package trace_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// stack is what events tell of a stack of runs: which memory is which row, and how many pairs each has.
type stack struct {
	rows        map[uint32]uint32 // the place of each row
	pairs, left map[uint32]uint32 // by places: pairs, and those of a merge that are yet to come
	tiles       int
}

func (s *stack) follow(t *testing.T, all *trace.Trace) {
	for _, e := range all.Events {
		require.EqualValues(t, trace.NoOperation, e.Operation)
		switch e.What {
		case trace.Row:
			// A level without pairs may have given its memory back.
			maps.DeleteFunc(s.rows, func(_, place uint32) bool { return place == e.Place })
			s.rows[e.Other] = e.Place
		case trace.Index:
			s.pairs[e.Place] = e.Other
		case trace.Mark:
			s.pairs[e.Place] = 0
		case trace.Merge:
			s.tiles++
			merged := e.Merged()
			if s.left[e.Place] == 0 {
				s.pairs[e.Place], s.left[e.Place] = 0, merged.Whole
			}
			s.pairs[e.Place] += merged.Pairs
			s.left[e.Place] -= merged.Pairs
			require.LessOrEqual(t, s.pairs[e.Place], merged.Whole, "no tile is merged twice")
			if s.left[e.Place] == 0 {
				s.pairs[merged.Older], s.pairs[merged.Newer] = 0, 0
			}
		default:
			t.Fatalf("an event of other structures: %v", e)
		}
	}
}

// What the events tell of an LSM's rows is how many pairs its levels and its front have, after each batch and cleanup.
func TestLSM(t *testing.T) {
	pass.Unvalidated(t, "it makes the calls of other updates")
	pass.NotWidest(t, "4 and 8 lanes find as much")
	t.Run("32", func(t *testing.T) { levels[uint32](t) })
	t.Run("64", func(t *testing.T) { levels[uint64](t) })
}

func levels[K uint32 | uint64](t *testing.T) {
	d := open(t, 1<<16, vk.Options{})
	m, err := lsm.New[K, K](t.Context(), d, lsm.Options{Batch: 512})
	require.NoError(t, err)
	defer m.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	s := stack{map[uint32]uint32{}, map[uint32]uint32{}, map[uint32]uint32{}, 0}
	full := 0
	for batch := range 40 {
		n := []int{512, 512, rng.IntN(512), 512 + rng.IntN(3000), 4096}[rng.IntN(5)]
		keys, values := make([]K, n), make([]K, n)
		for i := range keys {
			keys[i], values[i] = K(rng.IntN(20000)), K(rng.Uint32())
		}
		switch {
		case batch%11 == 10:
			require.NoError(t, m.Cleanup(t.Context()))
		case batch%4 == 3:
			_, err = m.Delete(t.Context(), keys)
		default:
			_, err = m.Insert(t.Context(), keys, values)
		}
		require.NoError(t, err)
		s.follow(t, take(t, d))
		stats, err := m.Inspect().Stats(t.Context())
		require.NoError(t, err)
		have := map[uint32]int{}
		if stats.Front > 0 {
			have[0] = stats.Front
		}
		for _, l := range stats.Levels {
			have[uint32(l.Number)+1] = l.Pairs
			full++
		}
		told := map[uint32]int{}
		for row, place := range s.rows {
			require.Zero(t, s.left[place], "a merge isn't whole")
			if s.pairs[place] > 0 {
				told[row] = int(s.pairs[place])
			}
		}
		require.Equal(t, have, told, "after batch %d", batch)
	}
	require.Greater(t, full, 40)
	require.Greater(t, s.tiles, 200)
}
