package keytype

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Wider are the types that a column may turn out to be of which is of type t as far as it was read, in the order in
// which they are tried, the narrow ones first. Widen makes their words.
func (t Type) Wider() []Type {
	switch t {
	case Uint32:
		return []Type{Int32, Uint64, Int64}
	case Int32, Uint64:
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

// Integer tells whether a type is of integers that are written in decimal.
func (t Type) Integer() bool { return t <= Int64 }

// Above is the type of those of Wider whose words are those of t where t has them, which go on above; t where there is
// none.
func (t Type) Above() Type {
	if t == Uint32 || t == Hex {
		return t + 1
	}
	return t
}

// Widen makes words of t of words of one of the types that it is wider than, in place. Where one has none it tells so,
// and they stay as they are: a number above 2^63 among negative ones, an address among networks. If the greatest of
// some words has one, all have.
func (t Type) Widen(from Type, words []uint64) bool {
	switch {
	case t == from || t == from.Above() || len(words) == 0:
	case from == Uint32 && t == Int32, (from == Uint32 || from == Uint64) && t == Int64:
		sign := t.most()/2 + 1
		for _, w := range words {
			if w >= sign {
				return false
			}
		}
		for i := range words {
			words[i] |= sign
		}
	case from == Int32 && t == Int64:
		for i, w := range words {
			words[i] = int64s.Word(int64(int32(from.Bits(w))))
		}
	case from == Time && t == Time64:
		for i, w := range words {
			words[i] = int64s.Word(int64(w) * int64(time.Second))
		}
	default:
		return false
	}
	return true
}

// Value is a word, and the type that it is of.
type Value struct {
	Type Type
	Word uint64
}

func (v Value) String() string { return v.Type.Format(v.Word) }

// First is a value of the first of t and some wider types that has a word for it, which word gives. Where none has one,
// the error is that of the type that comes nearest.
func (t Type) First(wider []Type, word func(Type) (uint64, error)) (Value, error) {
	w, err := word(t)
	if err == nil || len(wider) == 0 {
		return Value{t, w}, err
	}
	for _, to := range wider {
		w, toErr := word(to)
		if toErr == nil {
			return Value{to, w}, nil
		}
		// A number that is too great for unsigned types is no matter of signed ones, and what isn't written as one of a
		// type is none of it.
		if !errors.Is(toErr, ErrSyntax) && !(unsigned(t) && !unsigned(to) && !negative(toErr)) {
			err = toErr
		}
	}
	return Value{}, err
}

func unsigned(t Type) bool { return t == Uint32 || t == Uint64 }

// negative tells whether what an error is about begins with a minus sign.
func negative(err error) bool {
	var value *ValueError
	return errors.As(err, &value) && strings.HasPrefix(value.Text, "-")
}

// Extent is what there is of a type: nothing, or words up to a greatest one.
type Extent struct {
	Some     bool
	Greatest uint64
}

// Add adds words.
func (e *Extent) Add(words []uint64) {
	for _, w := range words {
		e.Some, e.Greatest = true, max(e.Greatest, w)
	}
}

// Join is the first of a type and some wider ones in which a value has a word, and what there is of the type has, too.
// An error is a *TogetherError.
func (e Extent) Join(t Type, wider []Type, v Value) (Type, error) {
	holds := func(to, from Type, w uint64) bool { return to.Widen(from, []uint64{w}) }
	if holds(t, v.Type, v.Word) {
		return t, nil
	}
	for _, to := range wider {
		if holds(to, v.Type, v.Word) && (!e.Some || holds(to, t, e.Greatest)) {
			return to, nil
		}
	}
	return t, &TogetherError{v, Value{t, e.Greatest}}
}

// Widen makes words of another type of what there is of one, as Join has found that there are.
func (e *Extent) Widen(to, from Type) {
	if words := []uint64{e.Greatest}; e.Some && to.Widen(from, words) {
		e.Greatest = words[0]
	}
}

// TogetherError tells of a value that has a word in no type in which what was there before has words.
type TogetherError struct{ Value, Before Value }

func (e *TogetherError) Error() string {
	return fmt.Sprintf("%s is of no type that also holds %s, which was there before", e.Value, e.Before)
}

// Place is where a value stands among those of a type that has no word for each value of its kind.
type Place uint8

const (
	Below Place = iota // all of them
	On                 // one of them
	After              // one of them, and before the next, if there is one
)

// Place returns where the value of a word of another type stands among the values of t, and the word of t that it is on
// or after. Integers have places among one another, and so have hexadecimal ones, and times; ok tells of others.
func (t Type) Place(from Type, w uint64) (word uint64, at Place, ok bool) {
	switch {
	case t == from:
		return w, On, true
	case t.Integer() && from.Integer(), t&^1 == Hex && from&^1 == Hex:
		word, at = t.placeOfInteger(from.integer(w))
	case t == Time64 && from == Time:
		word, at = int64s.Word(int64(w)*int64(time.Second)), On
	case t == Time && from == Time64:
		word, at = t.placeOfTime(int64s.Of(w))
	default:
		return 0, Below, false
	}
	return word, at, true
}

// integer is the value of a word that is one: how far it is from 0, and on which side.
func (t Type) integer(w uint64) (magnitude uint64, negative bool) {
	value := int64(t.Bits(w))
	switch {
	case t == Int32:
		value = int64(int32(value))
	case t != Int64:
		return w, false
	}
	if value < 0 {
		return -uint64(value), true
	}
	return uint64(value), false
}

func (t Type) placeOfInteger(magnitude uint64, negative bool) (word uint64, at Place) {
	err := error(nil)
	switch word = magnitude; {
	case t&^1 == Int32:
		word, err = t.signed(magnitude, negative)
	case negative || magnitude > t.most():
		err = ErrRange
	}
	switch {
	case err == nil:
		return word, On
	case negative:
		return 0, Below
	}
	return t.most(), After
}

func (t Type) placeOfTime(nanoseconds int64) (word uint64, at Place) {
	const second = int64(time.Second)
	switch seconds := nanoseconds / second; {
	case nanoseconds < 0:
		return 0, Below
	case seconds > math.MaxUint32:
		return t.most(), After
	case nanoseconds%second != 0:
		return uint64(seconds), After
	default:
		return uint64(seconds), On
	}
}
