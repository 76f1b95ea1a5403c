package replica

import "fmt"

// Change is a key's new value, or its end. Changes have numbers, from 1 on and without gaps, that are the same on every
// member. Operations of one entry on the same key are one change. A new deadline is none.
type Change struct {
	Key, Value uint64
	Deleted    bool
}

// GoneError says that changes are asked for that are no longer known.
type GoneError struct{ First uint64 }

func (e *GoneError) Error() string {
	return fmt.Sprintf("changes before %d are no longer known: read all pairs, and go on from there", e.First)
}

// AheadError says that changes after one are asked for that this member doesn't have yet.
type AheadError struct{ Since, Last uint64 }

func (e *AheadError) Error() string {
	return fmt.Sprintf("the last change here is %d, before %d", e.Last, e.Since)
}

// mostChanges is how many of the last changes are kept, and at most as many more.
const mostChanges = 1 << 19

// history has the last changes.
type history struct {
	before uint64 // the number of the change before the first one
	of     []Change
}

func (h *history) last() uint64 { return h.before + uint64(len(h.of)) }

// add adds a change. It never changes what since has returned.
func (h *history) add(c Change) {
	if len(h.of) == 2*mostChanges {
		h.before += mostChanges
		h.of = append(make([]Change, 0, 2*mostChanges), h.of[mostChanges:]...)
	}
	h.of = append(h.of, c)
}

// since returns changes after one, at most so many.
func (h *history) since(number uint64, most int) ([]Change, error) {
	if number < h.before {
		return nil, &GoneError{h.before + 1}
	}
	if number > h.last() {
		return nil, &AheadError{number, h.last()}
	}
	all := h.of[number-h.before:]
	return all[:min(most, len(all)):min(most, len(all))], nil
}
