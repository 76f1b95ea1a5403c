package keytype

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Wider returns the types that a column of type t may get if its values need it, in the order in which they are tried,
// the narrow ones first. Widen converts the words.
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

// Integer reports whether a type is of integers that are written in decimal.
func (t Type) Integer() bool { return t <= Int64 }

// Above returns the type of Wider that has the words of t, and greater ones, or t if there is none.
func (t Type) Above() Type {
	if t == Uint32 || t == Hex {
		return t + 1
	}
	return t
}

// Widen converts words to t, in place, from a type that t is wider than. It returns false, and changes nothing, if one
// of them has no word: a number of 2^63 or more among signed ones, or an address among networks. If the greatest of
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

// Value is a word with its type. The word of a null says nothing.
type Value struct {
	Type Type
	Word uint64
	Null bool
}

func (v Value) String() string { return v.Type.Format(v.Word) }

// First returns the value of the first of t and wider types that has one. word returns the word of a type. If none has
// one, the error is that of the type that comes nearest.
func (t Type) First(wider []Type, word func(Type) (uint64, error)) (Value, error) {
	w, err := word(t)
	if err == nil || len(wider) == 0 {
		return Value{Type: t, Word: w}, err
	}
	for _, to := range wider {
		w, toErr := word(to)
		if toErr == nil {
			return Value{Type: to, Word: w}, nil
		}
		// The error of a signed type does not matter for a number that is too great for unsigned types, nor that of a
		// type with another syntax.
		if !errors.Is(toErr, ErrSyntax) && !(unsigned(t) && !unsigned(to) && !negative(toErr)) {
			err = toErr
		}
	}
	return Value{}, err
}

func unsigned(t Type) bool { return t == Uint32 || t == Uint64 }

// negative reports whether the value of an error begins with a minus sign.
func negative(err error) bool {
	var value *ValueError
	return errors.As(err, &value) && strings.HasPrefix(value.Text, "-")
}

// Extent describes words of a type: there are none, or some up to a greatest one.
type Extent struct {
	Some     bool
	Greatest uint64
}

// Add adds words.
func (e *Extent) Add(words []uint64) {
	greatest := e.Greatest
	for _, w := range words {
		greatest = max(greatest, w)
	}
	e.Some, e.Greatest = e.Some || len(words) > 0, greatest
}

// Join returns the first of t and wider types that has words both for a value and for the words of the Extent, which
// are of type t. Error: *TogetherError.
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
	return t, &TogetherError{v, Value{Type: t, Word: e.Greatest}}
}

// Widen converts the Extent to another type, which Join has found to have the words.
func (e *Extent) Widen(to, from Type) {
	if words := []uint64{e.Greatest}; e.Some && to.Widen(from, words) {
		e.Greatest = words[0]
	}
}

// TogetherError reports a value for which no type has words that also has words for the values before.
type TogetherError struct{ Value, Before Value }

func (e *TogetherError) Error() string {
	return fmt.Sprintf("%s is of no type that also holds %s, which was there before", e.Value, e.Before)
}

// Place is where a value is in the order of a type's values, which may not include it.
type Place uint8

const (
	Below Place = iota // less than all of them
	On                 // equal to one of them
	After              // greater than one of them and less than the next, if there is one
)

// Place returns the place of a value of another type among the values of t, and the word of t that it is equal to or
// after. ok is false unless both types are of integers, both are hexadecimal, or both are times.
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

// integer returns the magnitude and the sign of an integer's word.
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
