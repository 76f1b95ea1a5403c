package keytype

import (
	"math"
	"strings"
	"time"
)

// Wider are the types that a column may turn out to be of which is of type t as far as it was read, in the order in
// which they are tried. Widen makes their words.
func (t Type) Wider() []Type {
	switch t {
	case Uint32:
		return []Type{Uint64, Int64}
	case Uint64:
		return []Type{Int64}
	case Hex:
		return []Type{Hex64}
	case Time:
		return []Type{Time64}
	case IPv4:
		return []Type{IPv6}
	}
	return nil
}

// Above is the type of those of Wider whose words are those of t where t has them, which go on above; t where there is
// none. A dictionary of t can be asked for these: they are not there.
func (t Type) Above() Type {
	if t == Uint32 || t == Hex {
		return t + 1
	}
	return t
}

// Widen makes words of t of words of one of the types that it is wider than, in place. Where one has none it tells so,
// and they stay as they are: a number above 2^63 among negative ones, an address among networks.
func (t Type) Widen(from Type, words []uint64) bool {
	switch {
	case t == from || t == from.Above():
	case t == Int64:
		for _, w := range words {
			if w > math.MaxInt64 {
				return false
			}
		}
		for i, w := range words {
			words[i] = int64s.Word(int64(w))
		}
	case t == Time64:
		for i, w := range words {
			words[i] = int64s.Word(int64(w) * int64(time.Second))
		}
	default:
		return len(words) == 0
	}
	return true
}

// ParseExact is Parse, but that Time has no room for a fraction of a second: ErrRange.
func (t Type) ParseExact(text string) (uint64, error) {
	w, err := t.Parse(text)
	if err == nil && t == Time && strings.ContainsAny(text, ".,") {
		if at, _ := parseTime(trim(text)); at.Nanosecond() != 0 {
			return 0, t.fail(trim(text), ErrRange)
		}
	}
	return w, err
}

// FromTimeExact is FromTime as ParseExact is Parse.
func (t Type) FromTimeExact(at time.Time) (uint64, error) {
	w, err := t.FromTime(at)
	if err == nil && t == Time && at.Nanosecond() != 0 {
		return 0, t.fail(at.UTC().Format(time.RFC3339Nano), ErrRange)
	}
	return w, err
}
