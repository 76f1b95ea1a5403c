package keytype

import (
	"errors"
	"math"
	"strings"
	"time"
)

// ErrNoRange is what is wrong with a text that has no colon between two values.
var ErrNoRange = errors.New("is no range")

// ParseRange returns the words for the two ends of a range, written LO:HI. Either end may be left out, and is then the
// least or the greatest value of the type: LO:, :HI, and : for all. Values may hold colons themselves, as times of day
// do: the colon between the ends is the first one that leaves a value, or nothing, on both sides, and what is one value
// is no range. The ends come as they are written, also where LO is above HI, and HI as ParseEnd has it. An error is a
// *ValueError.
func (t Type) ParseRange(text string) (lo, hi uint64, err error) {
	text = trim(text)
	if _, err := t.Parse(text); err == nil {
		return 0, 0, t.fail(text, ErrNoRange)
	}
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], ':')
		if next < 0 {
			break
		}
		at += next
		lo, lerr := t.parseLow(text[:at])
		hi, herr := t.parseHigh(text[at+1:])
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

// parseLow returns the word of a range's lower end.
func (t Type) parseLow(text string) (uint64, error) {
	if trim(text) == "" {
		least, _ := t.limits()
		return least, nil
	}
	return t.Parse(text)
}

// parseHigh returns the word of a range's upper end.
func (t Type) parseHigh(text string) (uint64, error) {
	if trim(text) == "" {
		_, greatest := t.limits()
		return greatest, nil
	}
	return t.ParseEnd(text)
}

// ParseEnd is Parse for the upper end of a range: a date without a time is the last moment of that day, and a network
// the last /64 in it.
func (t Type) ParseEnd(text string) (uint64, error) {
	switch t {
	case Time, Time64:
		day, err := time.Parse(time.DateOnly, trim(text))
		if err == nil && (day.Unix() >= 0 || t == Time64) {
			return t.FromDay(day.Unix()/secondsADay, true)
		}
	case IPv6:
		if network, err := parseNetwork(trim(text)); err == nil {
			first, err := t.Parse(text)
			return first | uint64(math.MaxUint64)>>network.Bits(), err
		}
	}
	return t.Parse(text)
}

// limits are the words of a type's least and greatest value. Those of floats are the infinite ones: words beyond them
// are no numbers, and have no place in an order.
func (t Type) limits() (least, greatest uint64) {
	if t == Float32 || t == Float64 {
		least, _ = t.float(math.Inf(-1)) // infinite numbers always have a word
		greatest, _ = t.float(math.Inf(1))
		return least, greatest
	}
	return 0, t.most()
}
