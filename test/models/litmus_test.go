package models

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// check requires that a model has no fault, or that it has one.
func check(t *testing.T, m Model, right bool) {
	t.Helper()
	states, fault := Explore(m)
	if right {
		require.Empty(t, fault)
	} else {
		require.NotEmpty(t, fault, "the fault is not found")
	}
	t.Logf("%d states %s", states, fault)
}

// holds checks a model, and that it has a fault when it is broken.
func holds(t *testing.T, model func(broken bool) Model) {
	t.Helper()
	check(t, model(false), true)
	check(t, model(true), false)
}

// The litmus tests that say what the explorer allows: a message that is passed on.
func TestMessagePassing(t *testing.T) {
	const data, flag = 0, 1
	pass := func(releases, acquires, follows bool) Model {
		return Model{
			Places: []int{0, 0},
			Threads: []func(*Thread) int{
				func(t *Thread) int {
					t.Store(data, 1)
					if releases {
						t.Release()
					}
					t.Store(flag, 1)
					return 0
				},
				func(t *Thread) int {
					if t.Load(flag)[0] == 0 {
						return 1
					}
					if acquires {
						t.Acquire()
					}
					if follows {
						t.Follow(data)
					}
					return t.Load(data)[0]
				},
			},
			Fault: func(_, returned []int) string {
				if returned[1] == 0 {
					return "the flag is there without the data"
				}
				return ""
			},
		}
	}
	for _, c := range []struct{ releases, acquires, follows, right bool }{
		{true, true, false, true}, {true, false, true, true},
		{false, true, false, false}, {true, false, false, false}, {false, false, true, false},
	} {
		_, fault := Explore(pass(c.releases, c.acquires, c.follows))
		require.Equal(t, c.right, fault == "", "%+v: %s", c, fault)
	}
}

// Two that add at once: an atomic takes the last value, and a load with a store may not.
func TestLostUpdate(t *testing.T) {
	holds(t, func(broken bool) Model {
		add := func(t *Thread) int {
			for seen := 0; ; {
				if broken {
					t.Store(0, t.Load(0)[0]+1)
					return 0
				}
				before := t.CAS(0, seen, seen+1)
				if before == seen {
					return 0
				}
				seen = before
			}
		}
		return Model{Places: []int{0}, Threads: []func(*Thread) int{add, add}, Fault: func(places, _ []int) string {
			if places[0] != 2 {
				return "an addition is lost"
			}
			return ""
		}}
	})
}
