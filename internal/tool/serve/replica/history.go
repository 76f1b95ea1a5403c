package replica

import (
	"fmt"
	"slices"
)

// Change is a key's new value, or its end. Changes have numbers, from 1 on and without gaps, that are the same on every
// member. Operations of one entry on the same key are one change. A new deadline is none.
type Change struct {
	Key, Value uint64
	Deleted    bool
	Text       *Record // what of them is text; nil: nothing
}

func (c Change) bytes() int {
	if c.Text == nil {
		return 0
	}
	return len(c.Text.Key) + len(c.Text.Value)
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

const (
	// mostChanges is how many of the last changes are kept, and at most as many more.
	mostChanges = 1 << 19
	// mostChanged is how many bytes their texts have at most.
	mostChanged = 256 << 20
)

// history has the last changes.
type history struct {
	before uint64 // the number of the change before the first one
	of     []Change
	bytes  int // of texts
}

func (h *history) last() uint64 { return h.before + uint64(len(h.of)) }

// add adds a change.
func (h *history) add(c Change) {
	h.bytes += c.bytes()
	if h.of = append(h.of, c); len(h.of) > 2*mostChanges || h.bytes > mostChanged {
		h.forget()
	}
}

// forget forgets the earlier half of the changes.
func (h *history) forget() {
	n := len(h.of) / 2
	for _, c := range h.of[:n] {
		h.bytes -= c.bytes()
	}
	h.before += uint64(n)
	h.of = append(make([]Change, 0, min(2*len(h.of), 2*mostChanges+1)), h.of[n:]...)
}

// since returns changes after one, at most so many, and with at most so many bytes of texts unless one has more.
func (h *history) since(number uint64, most, bytes int) ([]Change, error) {
	if number < h.before {
		return nil, &GoneError{h.before + 1}
	}
	if number > h.last() {
		return nil, &AheadError{number, h.last()}
	}
	all := h.of[number-h.before:]
	all = all[:min(most, len(all))]
	for i, c := range all {
		if bytes -= c.bytes(); bytes < 0 && i > 0 {
			all = all[:i]
			break
		}
	}
	return slices.Clone(all), nil // which doesn't keep the others in memory
}
