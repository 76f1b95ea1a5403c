// Package keytype maps what people and files write (integers, fractions, times, addresses, hexadecimal numbers) to the
// 32-bit words that vkds's dictionaries hold as keys and values, and back.
//
// Every mapping preserves order: for two inputs a < b of one type, the word of a is smaller than the word of b as an
// unsigned number, or the same where the type has no room for the difference (a fraction of a second, the last digits
// of a float). So an ordered dictionary answers range and neighbour questions on any of the types.
package keytype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vkds/vkds/internal/enum"
)

// Type says what a 32-bit word stands for. The zero value is Uint32.
type Type uint8

const (
	// Uint32 is an integer 0 to 4294967295, written in decimal or with 0x in
	// hexadecimal. The word is the number.
	Uint32 Type = iota
	// Int32 is an integer -2147483648 to 2147483647, written in decimal or with
	// 0x. The word is the number with its sign bit flipped.
	Int32
	// Float32 is a number rounded to the nearest 32-bit float. The word is the
	// float's bits, with the sign bit flipped for positive numbers and all bits
	// flipped for negative ones. Minus zero counts as zero; "not a number" has
	// no place in an order and is refused.
	Float32
	// Hex is an integer 0 to ffffffff written in hexadecimal, with or without
	// 0x, or as a code point is, U+4E00. The word is the number.
	Hex
	// Time is a second of 1970 to 2106-02-07, UTC, written as
	// 2006-01-02 15:04:05, without the seconds, as 2006-01-02, by RFC 3339 or as
	// the seconds since 1970. A fraction of a second is dropped. The word is the
	// seconds since 1970-01-01 00:00:00 UTC.
	Time
	// IPv4 is an address 0.0.0.0 to 255.255.255.255, written so or as an integer.
	// The word is the address, its first part the most significant byte.
	IPv4
)

var names = enum.Names[Type]{Uint32: "u32", Int32: "i32", Float32: "f32", Hex: "hex", Time: "time", IPv4: "ip"}

func (t Type) String() string { return names.String(t) }

// Types are all there are, by their names.
var Types = enum.Of("type", Uint32, Int32, Float32, Hex, Time, IPv4)

// What can be wrong with a text, a number or a time that should become a word.
var (
	ErrEmpty  = errors.New("is empty")
	ErrSyntax = errors.New("is malformed")
	ErrRange  = errors.New("is out of range")
	ErrNaN    = errors.New("is not a number")
)

// ValueError reports a text or a number that is none of its type's. It wraps
// one of ErrEmpty, ErrSyntax, ErrRange, ErrNaN and ErrNoRange.
type ValueError struct {
	Type Type
	Text string // as found, at most the first 40 bytes
	Err  error
}

func (e *ValueError) Unwrap() error { return e.Err }

func (e *ValueError) Error() string {
	switch e.Err {
	case ErrEmpty:
		return "empty where " + e.Type.noun() + " should be"
	case ErrRange:
		return fmt.Sprintf("%s is out of range (%s)", e.Text, e.Type.span())
	case ErrNaN:
		return fmt.Sprintf("%s has no place in an order", e.Text)
	case ErrNoRange:
		return fmt.Sprintf("%q is no range LO:HI", e.Text)
	}
	return fmt.Sprintf("%q is not %s", e.Text, e.Type.noun())
}

func (t Type) noun() string {
	switch t {
	case Float32:
		return "a number"
	case Hex:
		return "a hexadecimal number"
	case Time:
		return "a time"
	case IPv4:
		return "an IPv4 address"
	}
	return "an integer"
}

func (t Type) span() string {
	switch t {
	case Int32:
		return "-2147483648 to 2147483647"
	case Float32:
		return "32-bit floats"
	case Time:
		return "1970-01-01 00:00:00 to 2106-02-07 06:28:15"
	case IPv4:
		return "0.0.0.0 to 255.255.255.255"
	}
	return "0 to 4294967295"
}

func (t Type) fail(text string, err error) error {
	const most = 40
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return &ValueError{Type: t, Text: text, Err: err}
}

// Parse returns the word for a text; blanks around it don't count. An error is
// a *ValueError.
func (t Type) Parse(text string) (uint32, error) {
	w, err := t.parse(trim(text))
	if err != nil {
		return 0, t.fail(trim(text), err)
	}
	return w, nil
}

// ParseBytes is Parse for a slice of bytes; Uint32 and Hex don't allocate
// unless the text is malformed.
func (t Type) ParseBytes(text []byte) (uint32, error) {
	if t == Uint32 || t == Hex {
		if n, err := magnitude(trim(text), t == Hex); err == nil {
			return n, nil
		}
	}
	return t.Parse(string(text))
}

func (t Type) parse(text string) (uint32, error) {
	if text == "" {
		return 0, ErrEmpty
	}
	switch t {
	case Int32:
		digits, negative := strings.CutPrefix(text, "-")
		n, err := magnitude(digits, false)
		switch {
		case err == ErrEmpty:
			return 0, ErrSyntax
		case err != nil:
			return 0, err
		case negative && n > 1<<31, !negative && n >= 1<<31:
			return 0, ErrRange
		case negative:
			n = -n
		}
		return n ^ 1<<31, nil
	case Float32:
		f, err := strconv.ParseFloat(text, 32)
		if errors.Is(err, strconv.ErrRange) {
			return 0, ErrRange
		}
		if err != nil {
			return 0, ErrSyntax
		}
		return fromFloat(f)
	case Time:
		return parseTime(text)
	case IPv4:
		if n, err := magnitude(text, false); err != ErrSyntax {
			return n, err
		}
		return parseAddress(text)
	case Hex:
		if digits, ok := codePoint(text); ok {
			return magnitude(digits, true)
		}
	}
	if digits, negative := strings.CutPrefix(text, "-"); negative {
		if _, err := magnitude(digits, t == Hex); err == nil || err == ErrRange {
			return 0, ErrRange // a number, though not one of ours: say so
		}
	}
	return magnitude(text, t == Hex)
}

// magnitude reads an unsigned integer: decimal, or hexadecimal after 0x or
// where hex is set.
func magnitude[T ~string | ~[]byte](text T, hex bool) (uint32, error) {
	if len(text) == 0 {
		return 0, ErrEmpty
	}
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		text, hex = text[2:], true
	}
	base := uint64(10)
	if hex {
		base = 16
	}
	n, over := uint64(0), false
	for i := range len(text) {
		var d uint64
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			d = uint64(c - '0')
		case hex && 'a' <= c && c <= 'f':
			d = uint64(c-'a') + 10
		case hex && 'A' <= c && c <= 'F':
			d = uint64(c-'A') + 10
		default:
			return 0, ErrSyntax
		}
		if n = n*base + d; n > math.MaxUint32 {
			n, over = 0, true // keep reading: a bad digit later is the better reason
		}
	}
	if over {
		return 0, ErrRange
	}
	return uint32(n), nil
}

func trim[T ~string | ~[]byte](text T) T {
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	for len(text) > 0 && blank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && blank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

// codePoint returns the digits of U+4E00.
func codePoint(text string) (digits string, ok bool) {
	if len(text) < 3 || text[0] != 'U' && text[0] != 'u' || text[1] != '+' || strings.ContainsAny(text[2:], "xX") {
		return "", false
	}
	return text[2:], true
}

func parseAddress(text string) (uint32, error) {
	address, err := netip.ParseAddr(text)
	if err != nil || !address.Is4() {
		return 0, ErrSyntax
	}
	parts := address.As4()
	return binary.BigEndian.Uint32(parts[:]), nil
}

var layouts = []string{
	"2006-01-02 15:04:05", // also takes a fraction of a second, as each with seconds does
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	time.DateOnly,
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006-01-02 15:04Z07:00",
	"2006-01-02T15:04Z07:00",
}

func parseTime(text string) (uint32, error) {
	if n, err := magnitude(withoutFraction(text), false); err != ErrSyntax {
		return n, err
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return fromTime(at)
		}
	}
	return 0, ErrSyntax
}

// withoutFraction drops the fraction of a decimal number, and returns any other text as it is.
func withoutFraction(text string) string {
	const digits = "0123456789"
	whole, fraction, _ := strings.Cut(text, ".")
	if whole == "" || fraction == "" || strings.Trim(whole, digits) != "" || strings.Trim(fraction, digits) != "" {
		return text
	}
	return whole
}

func fromTime(at time.Time) (uint32, error) {
	s := at.Unix()
	if s < 0 || s > math.MaxUint32 {
		return 0, ErrRange
	}
	return uint32(s), nil
}

func fromFloat(f float64) (uint32, error) {
	if f != f {
		return 0, ErrNaN
	}
	single := float32(f)
	if math.IsInf(float64(single), 0) && !math.IsInf(f, 0) {
		return 0, ErrRange
	}
	bits := math.Float32bits(single + 0) // minus zero plus zero is zero
	if bits>>31 != 0 {
		return ^bits, nil
	}
	return bits | 1<<31, nil
}

func toFloat(w uint32) float32 {
	if w>>31 != 0 {
		return math.Float32frombits(w &^ (1 << 31))
	}
	return math.Float32frombits(^w)
}

// FromInt returns the word of an integer that a binary file holds. Uint32, Hex,
// Time and IPv4 take 0 to 4294967295, Int32 and Float32 their own ranges. An error
// is a *ValueError.
func (t Type) FromInt(n int64) (uint32, error) {
	switch t {
	case Int32:
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return uint32(n) ^ 1<<31, nil
		}
	case Float32:
		return fromFloat(float64(n))
	default:
		if n >= 0 && n <= math.MaxUint32 {
			return uint32(n), nil
		}
	}
	return 0, t.fail(strconv.FormatInt(n, 10), ErrRange)
}

// FromUint is FromInt for unsigned integers.
func (t Type) FromUint(n uint64) (uint32, error) {
	if n > math.MaxInt64 {
		if t == Float32 {
			return fromFloat(float64(n))
		}
		return 0, t.fail(strconv.FormatUint(n, 10), ErrRange)
	}
	return t.FromInt(int64(n))
}

// FromBits returns the word of a value of four bytes that a binary file holds:
// Uint32, Hex, Time and IPv4 take any, Int32 is in two's complement and Float32 as
// IEEE 754 has it. Not a number is a *ValueError that wraps ErrNaN.
func (t Type) FromBits(bits uint32) (uint32, error) {
	switch t {
	case Int32:
		return bits ^ 1<<31, nil
	case Float32:
		w, err := fromFloat(float64(math.Float32frombits(bits)))
		if err != nil {
			return 0, t.fail("NaN", err)
		}
		return w, nil
	}
	return bits, nil
}

// Bits returns the value of four bytes that a binary file holds for a word: FromBits the other way round.
func (t Type) Bits(w uint32) uint32 {
	switch t {
	case Int32:
		return w ^ 1<<31
	case Float32:
		return math.Float32bits(toFloat(w))
	}
	return w
}

// FromFloat returns the word of a number that a binary file holds, which only
// Float32 takes; for any other type the error wraps ErrSyntax.
func (t Type) FromFloat(f float64) (uint32, error) {
	err := ErrSyntax
	if t == Float32 {
		var w uint32
		if w, err = fromFloat(f); err == nil {
			return w, nil
		}
	}
	return 0, t.fail(strconv.FormatFloat(f, 'g', -1, 64), err)
}

// FromTime returns the word of a moment that a binary file holds, less its
// fraction of a second. Only Time takes it; for any other type the error wraps
// ErrSyntax.
func (t Type) FromTime(at time.Time) (uint32, error) {
	err := ErrSyntax
	if t == Time {
		var w uint32
		if w, err = fromTime(at); err == nil {
			return w, nil
		}
	}
	return 0, t.fail(at.UTC().Format(time.RFC3339Nano), err)
}

const secondsADay = 24 * 60 * 60

// FromDay is FromTime for a day without a time, in days since 1970-01-01: its
// first second, or its last where it is the upper end of a range.
func (t Type) FromDay(days int64, end bool) (uint32, error) {
	w, err := t.FromTime(time.Unix(days*secondsADay, 0))
	if err == nil && end {
		w += min(secondsADay-1, math.MaxUint32-w)
	}
	return w, err
}

// Append appends the text of a word to dst, in a form that Parse reads back to
// the same word: decimal for the integers, the shortest fraction for floats,
// 0x and at least four digits for Hex, 2006-01-02 15:04:05 for times, 192.0.2.1
// for addresses.
func (t Type) Append(dst []byte, w uint32) []byte {
	switch t {
	case Int32:
		return strconv.AppendInt(dst, int64(int32(w^1<<31)), 10)
	case Float32:
		return strconv.AppendFloat(dst, float64(toFloat(w)), 'g', -1, 32)
	case Hex:
		return fmt.Appendf(dst, "0x%04x", w)
	case Time:
		return time.Unix(int64(w), 0).UTC().AppendFormat(dst, time.DateTime)
	case IPv4:
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, w))).AppendTo(dst)
	}
	return strconv.AppendUint(dst, uint64(w), 10)
}

// Format is Append to a new string.
func (t Type) Format(w uint32) string { return string(t.Append(nil, w)) }

// JSON returns what stands for a word in a JSON document: a number where JSON
// has one that is exact, else the text that Format gives (times, addresses,
// hexadecimal numbers, infinite floats, and words that are no float's, which no
// file or text gives but whoever makes words may: "NaN").
func (t Type) JSON(w uint32) any {
	switch t {
	case Uint32:
		return w
	case Int32:
		return int32(w ^ 1<<31)
	case Float32:
		if f := float64(toFloat(w)); !math.IsInf(f, 0) && !math.IsNaN(f) {
			return float32(f)
		}
	}
	return t.Format(w)
}
