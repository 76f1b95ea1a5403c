package draw

import "github.com/vkds/vkds/structures/trace"

// merge is a merge of two runs, by the page's numbers of runs.
type merge struct {
	Older int64 `json:"older"` // none: the other one is copied
	Newer int64 `json:"newer"`
	Into  int64 `json:"into"`
	Pairs int64 `json:"pairs"` // that it writes
	Last  bool  `json:"last"`  // the next merge isn't of the same runs: these are empty afterwards
}

// runs returns the events of an LSM, and its merges, which are the operations of its page. The page numbers runs in the
// order in which events name them.
func (p *Page) runs() (events []int64, merges []merge) {
	numbers := map[uint32]int64{}
	number := func(place uint32) int64 {
		if place == 0 {
			return none
		}
		if _, known := numbers[place]; !known {
			numbers[place] = int64(len(numbers)) + 1
		}
		return numbers[place]
	}
	type under struct {
		merge int64
		left  uint32 // pairs that tiles have yet to bring
		of    trace.Merged
	}
	into := map[uint32]under{}
	events, merges = []int64{}, []merge{}
	for _, e := range p.Trace.Events {
		operation, key, value := int64(trace.NoOperation), int64(none), int64(none)
		if e.What == trace.Merge {
			m, u := e.Merged(), into[e.Place]
			of := trace.Merged{Older: m.Older, Newer: m.Newer, Whole: m.Whole}
			if u.left < m.Pairs || u.of != of { // tiles of the one before may have had no room among the events
				u = under{int64(len(merges)), m.Whole, of}
				merges = append(merges, merge{Older: number(m.Older), Newer: number(m.Newer), Into: number(e.Place),
					Pairs: int64(m.Whole)})
			}
			u.left -= m.Pairs
			into[e.Place] = u
			operation, value = u.merge, int64(m.Pairs)
		}
		events = append(events, int64(e.What), int64(e.Kernel), operation, number(e.Place), int64(e.Other), key, value)
	}
	for i := range merges {
		merges[i].Last = i+1 == len(merges) || merges[i].Older != merges[i+1].Older ||
			merges[i].Newer != merges[i+1].Newer
	}
	return events, merges
}

// BatchOf returns the pairs of an LSM's batch, as far as events tell: those of its lowest level, or of a higher one,
// from which the others follow. An LSM without levels has a front alone, whose pairs it returns then.
func BatchOf(t *trace.Trace) int {
	rows, front := map[uint32]uint32{}, uint32(1)
	for _, e := range t.Events {
		pairs := uint32(0)
		switch e.What {
		case trace.Row:
			rows[e.Place] = e.Other
		case trace.Merge:
			pairs = e.Merged().Whole
		case trace.Index:
			pairs = e.Other
		}
		row, is := rows[e.Place]
		switch {
		case !is || pairs == 0:
		case row == 0:
			front = max(front, pairs)
		default:
			return max(1, int(pairs>>(row-1)))
		}
	}
	return int(front)
}
