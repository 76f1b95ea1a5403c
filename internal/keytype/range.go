package keytype

import (
	"errors"
	"strings"
)

// ErrNoRange is what is wrong with a text that has no colon between two values.
var ErrNoRange = errors.New("is no range")

// ParseRange returns the words for the two ends of a range, written LO:HI. Either may hold colons itself, as times of
// day do: the colon between them is the first one that leaves a value on both sides. The ends come as they are
// written, also where LO is above HI. An error is a *ValueError.
func (t Type) ParseRange(text string) (lo, hi uint32, err error) {
	text = trim(text)
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], ':')
		if next < 0 {
			break
		}
		at += next
		lo, lerr := t.Parse(text[:at])
		hi, herr := t.Parse(text[at+1:])
		switch {
		case lerr == nil && herr == nil:
			return lo, hi, nil
		case strings.Count(text, ":") > 1: // another colon may do
		case lerr != nil:
			return 0, 0, lerr
		default:
			return 0, 0, herr
		}
	}
	return 0, 0, t.fail(text, ErrNoRange)
}
