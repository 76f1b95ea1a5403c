package lsm

import "math/bits"

// front as the level of a step is the run before the levels.
const front = -1

// step is what is done with a part of a batch: it is sorted and merged with the front, if that has pairs and is to be
// merged, and with full levels from lowest on, the newer first; what comes of it goes to a level that was empty, or
// becomes the front.
type step struct {
	from, n   int  // operations of the batch
	front     bool // merged with the front, which is empty afterwards unless the step ends there
	lowest    int  // the first level that may be merged
	to        int  // a level, or front
	rest      int  // pairs with the largest keys that do not go to the level but become the front
	unit      int  // n is batch << unit; front: it is less than a batch
	frontSize int  // pairs of the front before
}

// merges says how many runs the part is merged with.
func (s step) merges() int {
	n := max(0, s.to-s.lowest)
	if s.front {
		n++
	}
	return n
}

// state is how many pairs the runs have.
type state struct {
	full  uint32 // bit i: level i is full
	front int
}

func (s state) pairs(batch int) uint64 { return uint64(s.front) + uint64(s.full)*uint64(batch) }

// plan divides n operations into steps, in the order of time, and returns what the runs have afterwards.
//
// A batch that is no multiple of b is not filled up, as in section IV-A of the paper: what is left stays in the front,
// and the operations that come next are merged with that first. Once there are b or more, the first b in key order go
// on, and the others are the front. Where equal keys are parted by that, the older ones go on. A batch of many b is
// taken in parts of b·2^i, as large as they are and as the lowest full level allows, so that each is a carry like that
// of a single b, into a level that is empty.
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
