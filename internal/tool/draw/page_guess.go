package draw

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/vkds/vkds/structures/trace"
)

// GuessNodes returns what the events of a tree tell of the nodes that it had when the trace began: which these are,
// their levels, and about where their ranges begin. It does not know what was in them.
func GuessNodes(t *trace.Trace) []Node {
	nodes, made := map[uint32]*Node{}, map[uint32]bool{}
	at := func(place uint32) *Node {
		if nodes[place] == nil {
			nodes[place] = &Node{Ref: place, Level: -1, Low: math.MaxUint64, Last: true}
		}
		return nodes[place]
	}
	level := func(place uint32, level int) {
		if n := at(place); n.Level < 0 {
			n.Level = level
		}
	}
	for _, e := range t.Events {
		switch e.What {
		case trace.Latch, trace.Latched:
			level(e.Place, int(e.Other))
		case trace.Write, trace.Change, trace.Erase, trace.Clean, trace.Keep:
			level(e.Place, 0)
		case trace.Separator:
			level(e.Place, int(e.Value))
		case trace.Split:
			level(e.Place, int(e.Value))
			made[e.Other] = true
		case trace.Grow:
			made[e.Other], made[uint32(e.Value)] = true, true
		}
	}
	operations := t.Operations()
	numbers := slices.Sorted(maps.Keys(operations))
	parents := map[uint32]uint32{}
	for found := true; found; { // a level a round
		found = false
		for _, number := range numbers {
			o := operations[number]
			for i, index := range o.Events {
				e := t.Events[index]
				if e.What != trace.Visit {
					continue
				}
				n := at(e.Place)
				n.Low = min(n.Low, o.Key)
				if i+1 == len(o.Events) {
					continue
				}
				next := t.Events[o.Events[i+1]]
				if next.What != trace.Visit {
					continue
				}
				switch below := at(next.Place); {
				case n.Level < 0 && below.Level >= 0:
					n.Level, found = below.Level+1, true
				case n.Level == below.Level+1:
					parents[next.Place] = e.Place
				}
			}
		}
	}
	var guessed []Node
	for place, n := range nodes {
		if !made[place] && n.Level >= 0 {
			guessed = append(guessed, *n)
		}
	}
	slices.SortFunc(guessed, func(a, b Node) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.Low, b.Low))
	})
	index := map[uint32]int{}
	for i := range guessed {
		n := &guessed[i]
		if i == 0 || guessed[i-1].Level != n.Level {
			n.Low = 0 // the first of its level
		}
		index[n.Ref] = i
		if above, ok := index[parents[n.Ref]]; ok && guessed[above].Level == n.Level+1 {
			parent := &guessed[above]
			parent.Keys, parent.Values = append(parent.Keys, n.Low), append(parent.Values, uint64(n.Ref))
		}
	}
	return guessed
}
