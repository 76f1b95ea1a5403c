package lsm

import "math/bits"

// front, as the level of a step, means the run before the levels.
const front = -1

// step is the work on one part of a batch. The part is sorted and merged with the front, if that has pairs and takes
// part, and with the full levels from lowest on, the newest first. The result becomes a level that was empty, or the
// front.
type step struct {
	from, n   int  // operations of the batch
	front     bool // the front takes part, and is empty afterwards unless the step ends there or leaves a rest
	lowest    int  // the lowest level that may take part
	to        int  // a level, or front
	rest      int  // the number of pairs, those with the largest keys, that become the front instead
	unit      int  // n is batch << unit; front: n is less than a batch
	frontSize int  // pairs of the front before the step
}

// merges returns the number of runs that the part is merged with.
func (s step) merges() int {
	n := max(0, s.to-s.lowest)
	if s.front {
		n++
	}
	return n
}

// state is the number of pairs in the runs.
type state struct {
	full  uint32 // bit i: level i is full
	front int
}

func (s state) pairs(batch int) uint64 { return uint64(s.front) + uint64(s.full)*uint64(batch) }

// plan divides n operations into steps, in the order in which they run, and returns the state afterwards.
//
// A batch whose size is not a multiple of b is not padded (unlike section IV-A of the paper): the rest stays in the
// front and is merged with the next operations first. When the front has b pairs or more, the first b in key order move
// to the levels, and the others become the front. If equal keys are separated by this, the older ones move.
//
// A batch of many b is done in parts of b·2^i. The parts are as large as the batch and the lowest full level allow, so
// that each is carried into an empty level like a single b.
func (s state) plan(n, batch int) ([]step, state) {
	var steps []step
	for at := 0; at < n; {
		left := n - at
		if s.front > 0 || left < batch {
			t := step{from: at, n: left, front: s.front > 0, to: front, unit: front, frontSize: s.front}
			if left > batch {
				t.n = batch - s.front
			}
			s.front += t.n
			if s.front >= batch {
				t.to, t.rest = bits.TrailingZeros32(^s.full), s.front-batch
				s.full++
				s.front = t.rest
			}
			steps = append(steps, t)
			at += t.n
			continue
		}
		unit := min(bits.TrailingZeros32(s.full), bits.Len(uint(left/batch))-1)
		t := step{from: at, n: batch << unit, unit: unit, lowest: unit,
			to: unit + bits.TrailingZeros32(^(s.full >> unit))}
		s.full += 1 << unit
		steps = append(steps, t)
		at += t.n
	}
	return steps, s
}
