package input

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// class is the class of a field by its form.
type class uint8

const (
	word  class = iota
	none        // nothing, or a null
	coded       // a number that is a code (Coded)
	whole       // an integer, also out of range
	fraction
	date
	address
	network // IPv6, also a smaller or larger network than a key
	classes
)

// nulls are the texts that mean no value in columns that are not text.
var nulls = map[string]bool{"": true, "NULL": true, "Null": true, "null": true, `\N`: true, "NA": true, "N/A": true,
	"NaN": true, "nan": true}

// isNull reports whether a field of a column that is not text has no value.
func isNull(field string) bool { return nulls[strings.TrimSpace(field)] }

// classify returns the class of a field, and whether the class's type has its value. "inf" and "cafe" are words.
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
		may bool // a quick check
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

// keptByFloat reports whether an integer is unchanged after a conversion to a float and back.
func keptByFloat(field string) bool {
	w, err := keytype.Float64.Parse(field)
	return err == nil && keytype.Float64.Format(w) == field
}

// Coded reports whether a number is written like a code, so that different texts have the same value: with a leading
// zero, 007, or as an integer with a plus sign, +4930.
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

// census counts the fields of each class, and those whose values the class's type has.
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

// guessType guesses the type of a column from its first fields. It is not known if they are all empty or of several
// kinds. With skip, which skips fields that are not values of the column, it is not known either if they are all words.
// With adapts, the column is text if most of its fields are words.
//
//   - Integers, fractions, times, IPv4 addresses or IPv6 networks: all fields are that, except empty ones. Integers and
//     fractions together are fractions, if floats have all the integers.
//   - Text: a field is a code (Coded), or none of the fields is one of these kinds.
func guessType(fields []string, skip, adapts bool) (t keytype.Type, known bool) {
	all, fit := census(fields)
	some := len(fields) - all[none]
	words := adapts && 2*all[word] > some
	if skip && !words {
		some -= all[word]
	}
	switch {
	case some == 0:
		return keytype.Uint32, false
	case all[coded] > 0, !skip && all[word] == some, words,
		all[address]+all[network] == some && all[address]*all[network] > 0:
		return keytype.Text, true
	case all[whole] == some:
		return keytype.Uint32, true
	case fit[whole]+all[fraction] == some:
		return keytype.Float64, true
	}
	for c, t := range map[class]keytype.Type{date: keytype.Time, address: keytype.IPv4, network: keytype.IPv6} {
		switch {
		case all[c] != some:
		case fit[c] == 0: // for example full IPv6 addresses
			return keytype.Text, true
		default:
			return t, true
		}
	}
	return keytype.Uint32, false
}

// called are the names of types in notes.
var called = map[keytype.Type]string{keytype.Text: "text", keytype.Float64: "fractions", keytype.Time: "times",
	keytype.IPv4: "IPv4 addresses", keytype.IPv6: "IPv6 networks"}

// guess sets the type of a column from its first fields, unless the caller has set it.
func (c *column) guess(o Options, file string, fields []string) {
	t, known := guessType(fields, o.SkipInvalid, c.Adapts)
	if !c.Any || c.Guessed || !known || t == keytype.Uint32 {
		return
	}
	c.Type, c.Wider = t, t.Wider()
	o.note("%s: column %s is taken for %s", file, quote(c.Name), called[t])
}

// valueError adds to the error of a value which type has the value, and which flag sets it.
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
	flag := e.column.Flag + " "
	if strings.HasSuffix(flag, "= ") { // --type COLUMN=
		flag = e.column.Flag
	}
	return fmt.Sprintf("%v (%s%s reads it)", e.error, flag, t)
}

// readable returns the first type that has the value of a text.
func (c Column) readable(text string) keytype.Type {
	for _, t := range []keytype.Type{keytype.Uint64, keytype.Int64, keytype.Float64, keytype.Time, keytype.IPv4} {
		_, err := t.First(t.Wider(), func(t keytype.Type) (uint64, error) { return t.Parse(text) })
		if c, _ := classify(text); c == whole && t == keytype.Float64 { // because it would be rounded
			continue
		}
		if err == nil && !Coded(text) {
			return t
		}
	}
	return keytype.Text
}
