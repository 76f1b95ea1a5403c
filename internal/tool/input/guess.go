package input

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// class is what a field looks like.
type class uint8

const (
	word  class = iota
	none        // nothing, or something that stands for it
	coded       // a number that Coded tells of
	whole       // also one that is out of range
	fraction
	date
	address
	network // of IPv6, also a smaller or larger one than is a key
	classes
)

// nulls are what stands for nothing in columns that aren't text.
var nulls = map[string]bool{"": true, "NULL": true, "Null": true, "null": true, `\N`: true, "NA": true, "N/A": true,
	"NaN": true, "nan": true}

// isNull tells whether a field of a column that isn't text holds nothing.
func isNull(field string) bool { return nulls[strings.TrimSpace(field)] }

// classify tells what a field looks like, and whether there is a word for it. "inf" and "cafe" are words.
func classify(field string) (c class, fits bool) {
	field = strings.TrimSpace(field)
	if isNull(field) {
		return none, false
	}
	parses := func(t keytype.Type) error { _, err := t.Parse(field); return err }
	digits := strings.ContainsAny(field, "0123456789")
	if digits {
		signed := keytype.Int64
		if field[0] != '-' {
			signed = keytype.Uint64
		}
		c := whole
		err := parses(signed)
		if errors.Is(err, keytype.ErrSyntax) {
			c, err = fraction, parses(keytype.Float64)
		}
		switch {
		case errors.Is(err, keytype.ErrSyntax):
		case Coded(field):
			return coded, true
		case c == whole:
			return c, keptByFloat(field)
		default:
			return c, err == nil
		}
	}
	for _, k := range []struct {
		class
		keytype.Type
		may bool // which is cheap to tell
	}{
		{date, keytype.Time64, digits && strings.Contains(field, "-")},
		{address, keytype.IPv4, digits && strings.Trim(field, "0123456789./") == ""},
		{network, keytype.IPv6, strings.Contains(field, ":") && strings.Trim(field, "0123456789abcdefABCDEF.:/") == ""},
	} {
		if !k.may {
			continue
		}
		if err := parses(k.Type); !errors.Is(err, keytype.ErrSyntax) {
			return k.class, err == nil
		}
	}
	return word, false
}

// keptByFloat tells whether an integer is the same when it is read as a float and written again.
func keptByFloat(field string) bool {
	w, err := keytype.Float64.Parse(field)
	return err == nil && keytype.Float64.Format(w) == field
}

// Coded tells whether a number is written as codes are and its value is not, so that they are different texts: with a
// leading zero, 007, or as an integer with a plus sign, +4930.
func Coded[T ~string | ~[]byte](number T) bool {
	at := 0
	for at < len(number) && (number[at] == ' ' || number[at] == '\t') {
		at++
	}
	plus := at < len(number) && number[at] == '+'
	if plus || at < len(number) && number[at] == '-' {
		at++
	}
	if at+1 < len(number) && number[at] == '0' && number[at+1]-'0' <= 9 {
		return true
	}
	if !plus {
		return false
	}
	digits := at
	for at < len(number) && number[at]-'0' <= 9 {
		at++
	}
	digits = at - digits
	for at < len(number) && (number[at] == ' ' || number[at] == '\t' || number[at] == '\r') {
		at++
	}
	return digits > 0 && at == len(number)
}

// census counts fields by their classes, and those among them that have a word.
func census(fields []string) (all, fit [classes]int) {
	for _, field := range fields {
		c, fits := classify(field)
		all[c]++
		if fits {
			fit[c]++
		}
	}
	return all, fit
}

// guessType returns what a column holds whose first fields are these. It is not known where there is nothing in them,
// or values of several kinds, or, with skip, which passes over what is no value of the column, nothing but words.
//
//   - Integers, fractions, times, IPv4 addresses or IPv6 networks are what all are, but for empty ones. Integers beside
//     fractions are fractions if floats keep them.
//   - Text is what holds a number that Coded tells of, and what holds none of these.
func guessType(fields []string, skip bool) (t keytype.Type, known bool) {
	all, fit := census(fields)
	some := len(fields) - all[none]
	if skip {
		some -= all[word]
	}
	switch {
	case some == 0:
		return keytype.Uint32, false
	case all[coded] > 0, !skip && all[word] == some, all[address]+all[network] == some && all[address]*all[network] > 0:
		return keytype.Text, true
	case all[whole] == some:
		return keytype.Uint32, true
	case fit[whole]+all[fraction] == some:
		return keytype.Float64, true
	}
	for c, t := range map[class]keytype.Type{date: keytype.Time, address: keytype.IPv4, network: keytype.IPv6} {
		switch {
		case all[c] != some:
		case fit[c] == 0: // such as full addresses of IPv6
			return keytype.Text, true
		default:
			return t, true
		}
	}
	return keytype.Uint32, false
}

// called are the types in notes.
var called = map[keytype.Type]string{keytype.Text: "text", keytype.Float64: "fractions", keytype.Time: "times",
	keytype.IPv4: "IPv4 addresses", keytype.IPv6: "IPv6 networks"}

// guess gives a column of which nobody has said what it holds the type that its first fields show.
func (c *column) guess(o Options, file string, fields []string) {
	t, known := guessType(fields, o.SkipInvalid)
	if !c.Any || !known || t == keytype.Uint32 {
		return
	}
	c.Type, c.Wider = t, t.Wider()
	o.note("%s: column %s is taken for %s", file, quote(c.Name), called[t])
}

// valueError adds to what is wrong with a value which type would read it, and how to say so.
type valueError struct {
	error
	column Column
	text   string
}

func (e *valueError) Unwrap() error { return e.error }

func (e *valueError) Error() string {
	t := e.column.readable(e.text)
	if t == keytype.Text && e.column.Ordered {
		return e.error.Error()
	}
	return fmt.Sprintf("%v (%s %s reads it)", e.error, e.column.Flag, t)
}

// readable is the first type of which a text is a value.
func (c Column) readable(text string) keytype.Type {
	for _, t := range []keytype.Type{keytype.Uint64, keytype.Int64, keytype.Float64, keytype.Time, keytype.IPv4} {
		_, err := t.First(t.Wider(), func(t keytype.Type) (uint64, error) { return t.Parse(text) })
		if c, _ := classify(text); c == whole && t == keytype.Float64 { // it would be rounded
			continue
		}
		if err == nil && !Coded(text) {
			return t
		}
	}
	return keytype.Text
}
