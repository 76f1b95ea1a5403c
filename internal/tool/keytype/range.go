package keytype

import (
	"errors"
	"math"
	"strings"
	"time"
)

// ErrNoRange reports a text without a colon between two values.
var ErrNoRange = errors.New("is not a range")

// ParseRange parses a range, LO:HI, and returns its ends. If an end is omitted, it is the least or the greatest value
// of t: LO:, :HI, and : for all. A network, 192.0.2.0/24, is the range of its elements. Values may have colons
// themselves, like times of day: the colon between the ends is the first one with a value, or nothing, on both sides. A
// text that is one value is not a range. LO may be above HI. HI is parsed by ParseEnd. The type of each end is the
// first of t and the wider types that has it. Error: *ValueError.
func (t Type) ParseRange(text string, wider ...Type) (lo, hi Value, err error) {
	text = trim(text)
	for _, t := range append([]Type{t}, wider...) {
		if t&^1 != IPv4 || !strings.Contains(text, "/") {
			continue
		}
		if first, last, err := t.network(text); err == nil {
			return Value{Type: t, Word: first}, Value{Type: t, Word: last}, nil
		}
	}
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
		lo, lerr := t.end(wider, text[:at], least, Type.parseStart)
		hi, herr := t.end(wider, text[at+1:], greatest, Type.ParseEnd)
		switch {
		case lerr == nil && herr == nil:
			return lo, hi, nil
		case strings.Count(text, ":") > 1: // another colon may be between the ends
		case lerr != nil:
			return lo, hi, lerr
		default:
			return lo, hi, herr
		}
	}
	return lo, hi, t.fail(text, ErrNoRange)
}

// end parses the end of a range. If it is omitted, it is the type's own.
func (t Type) end(wider []Type, text string, own uint64, parse func(Type, string) (uint64, error)) (Value, error) {
	if trim(text) == "" {
		return Value{Type: t, Word: own}, nil
	}
	return t.First(wider, func(t Type) (uint64, error) { return parse(t, text) })
}

// parseStart is Parse for the lower end of a range. A network is its first element.
func (t Type) parseStart(text string) (uint64, error) {
	if t&^1 == IPv4 {
		if first, _, err := t.network(trim(text)); err == nil {
			return first, nil
		}
	}
	return t.Parse(text)
}

// ParseEnd is Parse for the upper end of a range. A date without a time is the last moment of that day, and a network
// is its last element.
func (t Type) ParseEnd(text string) (uint64, error) {
	switch t {
	case Time, Time64:
		day, err := time.Parse(time.DateOnly, trim(text))
		if err == nil && (day.Unix() >= 0 || t == Time64) {
			return t.FromDay(day.Unix()/secondsADay, true)
		}
	case IPv4, IPv6:
		if _, last, err := t.network(trim(text)); err == nil {
			return last, nil
		}
	}
	return t.Parse(text)
}

// limits returns the words of a type's least and greatest value. For floats they are infinite: words beyond are not
// numbers, and have no place in the order.
func (t Type) limits() (least, greatest uint64) {
	if t == Float32 || t == Float64 {
		least, _ = t.float(math.Inf(-1)) // infinite numbers have a word
		greatest, _ = t.float(math.Inf(1))
		return least, greatest
	}
	return 0, t.most()
}
