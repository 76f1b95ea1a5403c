package keytype

import (
	"errors"
	"math"
	"strings"
	"time"
)

// ErrNoRange is what is wrong with a text that has no colon between two values.
var ErrNoRange = errors.New("is no range")

// ParseRange returns the two ends of a range, written LO:HI. Either end may be left out, and is then the least or the
// greatest value of t: LO:, :HI, and : for all. Values may hold colons themselves, as times of day do: the colon
// between the ends is the first one that leaves a value, or nothing, on both sides, and what is one value is no range.
// The ends come as they are written, also where LO is above HI, and HI as ParseEnd has it; each is of the first of t
// and some wider types that has it. An error is a *ValueError.
func (t Type) ParseRange(text string, wider ...Type) (lo, hi Value, err error) {
	text = trim(text)
	if _, err := t.First(wider, func(t Type) (uint64, error) { return t.Parse(text) }); err == nil {
		return lo, hi, t.fail(text, ErrNoRange)
	}
	least, greatest := t.limits()
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], ':')
		if next < 0 {
			break
		}
		at += next
		lo, lerr := t.end(wider, text[:at], least, Type.Parse)
		hi, herr := t.end(wider, text[at+1:], greatest, Type.ParseEnd)
		switch {
		case lerr == nil && herr == nil:
			return lo, hi, nil
		case strings.Count(text, ":") > 1: // another colon may do
		case lerr != nil:
			return lo, hi, lerr
		default:
			return lo, hi, herr
		}
	}
	return lo, hi, t.fail(text, ErrNoRange)
}

// end returns the end of a range that has a text, or the type's own.
func (t Type) end(wider []Type, text string, own uint64, parse func(Type, string) (uint64, error)) (Value, error) {
	if trim(text) == "" {
		return Value{t, own}, nil
	}
	return t.First(wider, func(t Type) (uint64, error) { return parse(t, text) })
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
