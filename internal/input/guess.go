package input

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/keytype"
)

// class is what a field looks like.
type class uint8

const (
	word  class = iota
	none        // nothing, or something that stands for it
	coded       // a number with a leading zero, as codes have it
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
		case LeadingZero(field):
			return coded, true
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

// LeadingZero tells whether a number is written with one, so that it is another text than its value: 007.
func LeadingZero[T ~string | ~[]byte](number T) bool {
	at := 0
	for at < len(number) && (number[at] == ' ' || number[at] == '\t') {
		at++
	}
	if at < len(number) && (number[at] == '-' || number[at] == '+') {
		at++
	}
	return at+1 < len(number) && number[at] == '0' && number[at+1]-'0' <= 9
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
//   - Integers, fractions, times, IPv4 addresses or IPv6 networks are what all are, but for empty ones.
//   - Text is what holds a number with a leading zero, and what holds none of these.
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
	case all[whole]+all[fraction] == some:
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
	return fmt.Sprintf("%v (%s %s reads it)", e.error, e.column.Flag, e.column.readable(e.text))
}

// readable is the first type of which a text is a value.
func (c Column) readable(text string) keytype.Type {
	for _, t := range []keytype.Type{keytype.Uint64, keytype.Int64, keytype.Float64, keytype.Time, keytype.IPv4} {
		_, err := t.First(t.Wider(), func(t keytype.Type) (uint64, error) { return t.Parse(text) })
		if c, _ := classify(text); c == whole && t == keytype.Float64 { // it would be rounded
			continue
		}
		if err == nil && !LeadingZero(text) {
			return t
		}
	}
	return keytype.Text
}
