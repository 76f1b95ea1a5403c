// Package keytype converts values in files and on command lines (integers, fractions, times, addresses, hexadecimal
// numbers) to the words of 32 or 64 bits that are keys and values in vkds's dictionaries, and back. All words are
// uint64.
//
// Every conversion preserves order: for two values a < b of one type, the word of a is less than that of b, or equal if
// the type can't represent the difference (the last digits of a float). So an ordered dictionary answers range and
// neighbor queries for all types.
//
// Keys or values that are text stay on the host, in an Arena, and have numbers. The device has the numbers of values,
// and 64-bit hashes of keys. Answers are exact: if two texts have the same hash, another hash is used.
package keytype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/keys"
)

// Type is the meaning of a word. The zero value is Uint32. Types of 32 bits are even, and each is followed by the same
// type of 64 bits.
type Type uint8

const (
	// Uint32 is an integer from 0 to 4294967295, written in decimal, or in hexadecimal with 0x. The word is the number.
	Uint32 Type = iota
	// Uint64 is an integer from 0 to 18446744073709551615.
	Uint64
	// Int32 is an integer from -2147483648 to 2147483647, written in decimal or with 0x. The word is the number with
	// its sign bit flipped.
	Int32
	// Int64 is an integer from -9223372036854775808 to 9223372036854775807.
	Int64
	// Float32 is a number rounded to the nearest 32-bit float. The word is that of structures.KeyCode. Minus zero is
	// less than zero. "Not a number" has no place in the order, and is an error.
	Float32
	// Float64 is a number rounded to the nearest 64-bit float.
	Float64
	// Hex is an integer from 0 to ffffffff in hexadecimal, with or without 0x, or written as a code point, U+4E00. The
	// word is the number.
	Hex
	// Hex64 is the same with up to 16 digits.
	Hex64
	// Time is a second from 1970 to 2106-02-07, UTC, written as 2006-01-02 15:04:05, without the seconds, as
	// 2006-01-02, by RFC 3339, or as the seconds since 1970. The word is the seconds since 1970-01-01 00:00:00 UTC.
	// Times between two seconds have none.
	Time
	// Time64 is a nanosecond from 1677-09-21 to 2262-04-11, written in the same ways. The word is the nanoseconds since
	// 1970-01-01 00:00:00 UTC, as an Int64.
	Time64
	// IPv4 is an address from 0.0.0.0 to 255.255.255.255, written like this or as an integer. The word is the address,
	// with its first part in the most significant byte. A network, 192.0.2.0/24, is a range of addresses.
	IPv4
	// IPv6 is a /64 network of IPv6 addresses: 2001:db8::/64. The word is the first half of its addresses. A larger
	// network, 2001:db8::/32, is a range of these.
	IPv6
	// Text is any text. The word is its number in an Arena. This package does not parse or format such words.
	Text
)

var names = enum.Names[Type]{Uint32: "u32", Uint64: "u64", Int32: "i32", Int64: "i64", Float32: "f32", Float64: "f64",
	Hex: "hex", Hex64: "hex64", Time: "time", Time64: "time64", IPv4: "ip", IPv6: "ip6", Text: "text"}

func (t Type) String() string { return names.String(t) }

// Types are all types, by name.
var Types = enum.Of("type", Uint32, Uint64, Int32, Int64, Float32, Float64, Hex, Hex64, Time, Time64, IPv4, IPv6,
	Text)

// Width returns the width of the type's words.
func (t Type) Width() structures.Width { return structures.Width(t & 1) }

// most returns the greatest word of the type's width.
func (t Type) most() uint64 { return math.MaxUint64 >> (64 - t.Width().Bits()) }

// The reasons why a text, a number or a time has no word.
var (
	ErrEmpty  = errors.New("is empty")
	ErrSyntax = errors.New("is malformed")
	ErrRange  = errors.New("is out of range")
	ErrNaN    = errors.New("is not a number")
	// ErrFraction: a time within a second, but words are seconds.
	ErrFraction = errors.New("has a fraction of a second")
	// ErrNanoseconds: a time with digits beyond nanoseconds.
	ErrNanoseconds = errors.New("has digits beyond nanoseconds")
	// ErrAddress: an IPv6 address that is not a network.
	ErrAddress = errors.New("has 128 bits")
	// ErrNetwork: a network of several keys, which is a range.
	ErrNetwork = errors.New("is a range")
)

// ValueError reports a text or a number that is not a value of its type. It wraps one of ErrEmpty, ErrSyntax, ErrRange,
// ErrFraction, ErrNanoseconds, ErrNaN, ErrAddress, ErrNetwork and ErrNoRange.
type ValueError struct {
	Type Type
	Text string // as found, at most 40 bytes of it
	Err  error
}

func (e *ValueError) Unwrap() error { return e.Err }

func (e *ValueError) Error() string {
	switch e.Err {
	case ErrEmpty:
		return "empty where " + e.Type.noun() + " should be"
	case ErrRange:
		return fmt.Sprintf("%s is out of range (%s)", e.Text, e.Type.span())
	case ErrFraction:
		return fmt.Sprintf("%s has a fraction of a second, for which times of 32 bits have no room", e.Text)
	case ErrNanoseconds:
		return fmt.Sprintf("%s has digits beyond nanoseconds, for which times have no room", e.Text)
	case ErrNaN:
		return fmt.Sprintf("%s has no place in an order", e.Text)
	case ErrAddress:
		return fmt.Sprintf("%s is smaller than an IPv6 network of /64, and a key has 64 bits: 2001:db8::/64 has one",
			e.Text)
	case ErrNetwork:
		return fmt.Sprintf("%s is a range of %s, and a key is one of them", e.Text, e.Type.members())
	case ErrNoRange:
		return fmt.Sprintf("%q is not a range LO:HI", e.Text)
	}
	return fmt.Sprintf("%q is not %s", e.Text, e.Type.noun())
}

func (t Type) noun() string {
	switch t {
	case Float32, Float64:
		return "a number"
	case Hex, Hex64:
		return "a hexadecimal number"
	case Time, Time64:
		return "a time"
	case IPv4:
		return "an IPv4 address"
	case IPv6:
		return "an IPv6 network"
	}
	return "an integer"
}

// members names the elements of a range of addresses or networks.
func (t Type) members() string {
	if t == IPv6 {
		return "networks of /64"
	}
	return "addresses"
}

func (t Type) span() string {
	switch t {
	case Int32:
		return "-2147483648 to 2147483647"
	case Int64:
		return "-9223372036854775808 to 9223372036854775807"
	case Float32:
		return "32-bit floats"
	case Float64:
		return "64-bit floats"
	case Time:
		return "1970-01-01 00:00:00 to 2106-02-07 06:28:15"
	case Time64:
		return "1677-09-21 00:12:43 to 2262-04-11 23:47:16"
	case IPv4:
		return "0.0.0.0 to 255.255.255.255"
	case Uint64, Hex64:
		return "0 to 18446744073709551615"
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

// Parse returns the word of a text, without blanks around it. Error: *ValueError.
func (t Type) Parse(text string) (uint64, error) {
	w, err := t.parse(trim(text))
	if err != nil {
		return 0, t.fail(trim(text), err)
	}
	return w, nil
}

// ParseBytes is Parse for a slice of bytes. For integers it does not allocate, unless the text is malformed.
func (t Type) ParseBytes(text []byte) (uint64, error) {
	switch t {
	case Uint32, Uint64, Hex, Hex64:
		if n, err := magnitude(trim(text), t&^1 == Hex); err == nil && n <= t.most() {
			return n, nil
		}
	case Int32, Int64:
		digits, negative := bytes.CutPrefix(trim(text), []byte("-"))
		if n, err := magnitude(digits, false); err == nil {
			if w, err := t.signed(n, negative); err == nil {
				return w, nil
			}
		}
	}
	return t.Parse(string(text))
}

func (t Type) parse(text string) (uint64, error) {
	if text == "" {
		return 0, ErrEmpty
	}
	hex := t&^1 == Hex
	switch t {
	case Uint32, Uint64:
		text = withoutPlus(text)
	case Int32, Int64:
		digits, negative := strings.CutPrefix(withoutPlus(text), "-")
		n, err := magnitude(digits, false)
		if err == ErrEmpty {
			err = ErrSyntax
		}
		if err != nil {
			return 0, err
		}
		return t.signed(n, negative)
	case Float32, Float64:
		f, err := strconv.ParseFloat(text, t.Width().Bits())
		if strings.Contains(text, "_") { // Go accepts it between digits
			err = ErrSyntax
		}
		if errors.Is(err, strconv.ErrRange) {
			return 0, ErrRange
		}
		if err != nil {
			return 0, ErrSyntax
		}
		return t.float(f)
	case Time, Time64:
		at, err := parseTime(text)
		if err != nil {
			return 0, err
		}
		return t.time(at)
	case IPv4:
		if n, err := t.magnitude(text, false); err != ErrSyntax {
			return n, err
		}
		fallthrough
	case IPv6:
		first, last, err := t.network(text)
		if err == nil && first != last {
			err = ErrNetwork
		}
		return first, err
	case Hex, Hex64:
		if digits, ok := codePoint(text); ok {
			return t.magnitude(digits, true)
		}
	}
	if digits, negative := strings.CutPrefix(text, "-"); negative {
		if _, err := magnitude(digits, hex); err == nil || err == ErrRange {
			return 0, ErrRange // a number, but not of this type
		}
	}
	return t.magnitude(text, hex)
}

// withoutPlus returns a number without a plus sign before its digits.
func withoutPlus(text string) string {
	if len(text) > 1 && text[0] == '+' && text[1]-'0' <= 9 {
		return text[1:]
	}
	return text
}

// magnitude parses an unsigned integer of the type's width.
func (t Type) magnitude(text string, hex bool) (uint64, error) {
	n, err := magnitude(text, hex)
	if err == nil && n > t.most() {
		return 0, ErrRange
	}
	return n, err
}

// signed returns the word of an integer with this magnitude.
func (t Type) signed(n uint64, negative bool) (uint64, error) {
	sign := t.most()/2 + 1
	if negative && n > sign || !negative && n >= sign {
		return 0, ErrRange
	}
	if negative {
		n = -n
	}
	return (n ^ sign) & t.most(), nil
}

// magnitude parses an unsigned integer: decimal, or hexadecimal after 0x or if hex is set.
func magnitude[T ~string | ~[]byte](text T, hex bool) (uint64, error) {
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
		// Continue after an overflow, because a bad digit is the better reason for an error.
		if n >= 1<<60 { // otherwise there is room for another digit
			high, low := bits.Mul64(n, base)
			over = over || high != 0 || low > math.MaxUint64-d
		}
		n = n*base + d
	}
	if over {
		return 0, ErrRange
	}
	return n, nil
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

// network returns the first and the last word of a network, or the word of an address twice.
func (t Type) network(text string) (first, last uint64, err error) {
	var network netip.Prefix // not valid for an address
	var address netip.Addr
	if strings.Contains(text, "/") {
		network, err = netip.ParsePrefix(text)
		address = network.Addr()
	} else {
		address, err = netip.ParseAddr(text)
	}
	bits := t.Width().Bits()
	switch {
	case err != nil || address.Zone() != "" || address.Is4() != (t == IPv4):
		return 0, 0, ErrSyntax
	case t == IPv4 && !network.IsValid():
		network = netip.PrefixFrom(address, bits)
	case t == IPv6 && (!network.IsValid() || network.Bits() > bits || address.Is4In6()):
		return 0, 0, ErrAddress
	}
	if t == IPv4 {
		parts := network.Masked().Addr().As4()
		first = uint64(binary.BigEndian.Uint32(parts[:]))
	} else if first, err = keys.OfIPv6Prefix(network); err != nil {
		return 0, 0, err
	}
	return first, first | t.most()>>network.Bits(), nil
}

var layouts = []string{
	"2006-01-02 15:04:05", // also takes a fraction of a second, as all layouts with seconds do
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00",
	time.DateOnly,
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006-01-02 15:04Z07:00",
	"2006-01-02T15:04Z07:00",
}

func parseTime(text string) (time.Time, error) {
	if at, err := parseSeconds(text); err != ErrSyntax {
		return at, err
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			if _, fraction, _ := strings.Cut(strings.ReplaceAll(text, ",", "."), "."); tooFine(fraction) {
				err = ErrNanoseconds
			}
			return at, err
		}
	}
	return time.Time{}, ErrSyntax
}

// places is the number of digits of nanoseconds.
const places = 9

// tooFine reports whether a fraction of a second, maybe with more text after it, is not a whole number of nanoseconds.
func tooFine(fraction string) bool {
	digits := fraction[:len(fraction)-len(strings.TrimLeft(fraction, "0123456789"))]
	return len(digits) > places && strings.Trim(digits[places:], "0") != ""
}

// parseSeconds parses the seconds since 1970, which may have a fraction, and before 1970 a minus sign.
func parseSeconds(text string) (time.Time, error) {
	const digits = "0123456789"
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, has := strings.Cut(text, ".")
	if has && (whole == "" || fraction == "" || strings.Trim(whole, digits) != "" ||
		strings.Trim(fraction, digits) != "") {
		return time.Time{}, ErrSyntax
	}
	n, err := magnitude(whole, false)
	switch {
	case err == ErrEmpty:
		return time.Time{}, ErrSyntax
	case err != nil:
		return time.Time{}, err
	case n > 1<<40: // outside of all types; the sums below do not overflow
		return time.Time{}, ErrRange
	case tooFine(fraction):
		return time.Time{}, ErrNanoseconds
	}
	nanoseconds, _ := strconv.ParseInt((fraction + "000000000")[:places], 10, 64)
	if negative {
		return time.Unix(-int64(n), -nanoseconds), nil
	}
	return time.Unix(int64(n), nanoseconds), nil
}

var (
	int64s   = structures.KeyCode[int64]()
	float32s = structures.KeyCode[float32]()
	float64s = structures.KeyCode[float64]()
)

// time returns the word of a time.
func (t Type) time(at time.Time) (uint64, error) {
	if t == Time64 {
		n, err := keys.OfTime(at)
		if err != nil {
			return 0, ErrRange
		}
		return int64s.Word(n), nil
	}
	switch s := at.Unix(); {
	case s < 0 || s > math.MaxUint32:
		return 0, ErrRange
	case at.Nanosecond() != 0:
		return 0, ErrFraction
	default:
		return uint64(s), nil
	}
}

// moment returns the time of a word.
func (t Type) moment(w uint64) time.Time {
	if t == Time64 {
		return keys.Time(int64s.Of(w))
	}
	return time.Unix(int64(w), 0).UTC()
}

// float returns the word of a float.
func (t Type) float(f float64) (uint64, error) {
	if f != f {
		return 0, ErrNaN
	}
	if t == Float64 {
		return float64s.Word(f), nil
	}
	single := float32(f)
	if math.IsInf(float64(single), 0) && !math.IsInf(f, 0) {
		return 0, ErrRange
	}
	return float32s.Word(single), nil
}

// number returns the float of a word.
func (t Type) number(w uint64) float64 {
	if t == Float64 {
		return float64s.Of(w)
	}
	return float64(float32s.Of(w))
}

// FromInt returns the word of an integer in a binary file. Unsigned types and addresses take what fits their width,
// other types their own ranges. For times it is seconds. Error: *ValueError.
func (t Type) FromInt(n int64) (w uint64, err error) {
	switch {
	case n >= 0:
		return t.FromUint(uint64(n))
	case t == Int32 || t == Int64:
		w, err = t.signed(-uint64(n), true)
	case t == Float32 || t == Float64:
		w, err = t.float(float64(n))
	case t == Time64 && n >= -1<<40:
		w, err = t.time(time.Unix(n, 0))
	default:
		err = ErrRange
	}
	if err != nil {
		return 0, t.fail(strconv.FormatInt(n, 10), err)
	}
	return w, nil
}

// FromUint is FromInt for unsigned integers.
func (t Type) FromUint(n uint64) (w uint64, err error) {
	switch w = n; t {
	case Int32, Int64:
		w, err = t.signed(n, false)
	case Float32, Float64:
		w, err = t.float(float64(n))
	case Time64:
		w, err = t.time(time.Unix(int64(min(n, 1<<40)), 0))
	default:
		if n > t.most() {
			err = ErrRange
		}
	}
	if err != nil {
		return 0, t.fail(strconv.FormatUint(n, 10), err)
	}
	return w, nil
}

// Plain reports whether the bits of all values in a binary file are their words.
func (t Type) Plain() bool {
	switch t {
	case Int32, Int64, Float32, Float64, Time64:
		return false
	}
	return true
}

// FromBits returns the word of a value in a binary file, which has as many bytes as the type. Signed integers and times
// of 64 bits are in two's complement, floats are IEEE 754. "Not a number" is a *ValueError that wraps ErrNaN.
func (t Type) FromBits(bits uint64) (uint64, error) {
	var f float64
	switch t {
	case Int32, Int64, Time64:
		return bits ^ (t.most()/2 + 1), nil
	case Float32:
		f = float64(math.Float32frombits(uint32(bits)))
	case Float64:
		f = math.Float64frombits(bits)
	default:
		return bits, nil
	}
	w, err := t.float(f)
	if err != nil {
		return 0, t.fail("NaN", err)
	}
	return w, nil
}

// Bits returns the value in a binary file of a word, with as many bytes as the type. It is the inverse of FromBits.
func (t Type) Bits(w uint64) uint64 {
	switch t {
	case Int32, Int64, Time64:
		return w ^ (t.most()/2 + 1)
	case Float32:
		return uint64(math.Float32bits(float32s.Of(w)))
	case Float64:
		return math.Float64bits(float64s.Of(w))
	}
	return w
}

// FromFloat returns the word of a float in a binary file. Only Float32 and Float64 have one; for other types the error
// wraps ErrSyntax.
func (t Type) FromFloat(f float64) (uint64, error) {
	err := ErrSyntax
	if t == Float32 || t == Float64 {
		var w uint64
		if w, err = t.float(f); err == nil {
			return w, nil
		}
	}
	return 0, t.fail(strconv.FormatFloat(f, 'g', -1, 64), err)
}

// FromTime returns the word of a time in a binary file. Only Time and Time64 have one; for other types the error wraps
// ErrSyntax.
func (t Type) FromTime(at time.Time) (uint64, error) {
	err := ErrSyntax
	if t == Time || t == Time64 {
		var w uint64
		if w, err = t.time(at); err == nil {
			return w, nil
		}
	}
	return 0, t.fail(at.UTC().Format(time.RFC3339Nano), err)
}

const secondsADay = 24 * 60 * 60

// FromDay is FromTime for a day without a time, in days since 1970-01-01: its first moment, or if it is the upper end
// of a range, its last.
func (t Type) FromDay(days int64, end bool) (uint64, error) {
	w, err := t.FromTime(time.Unix(days*secondsADay, 0))
	if err == nil && end {
		day := uint64(secondsADay)
		if t == Time64 {
			day *= uint64(time.Second)
		}
		w += min(day-1, t.most()-w)
	}
	return w, err
}

// Append appends the text of a word to dst. Parse returns the same word for it. It is decimal for integers, the
// shortest fraction for floats, 0x and at least four digits for Hex, 2006-01-02 15:04:05 for times, with a fraction if
// there is one, 192.0.2.1 for addresses, and 2001:db8::/64 for networks.
func (t Type) Append(dst []byte, w uint64) []byte {
	switch t {
	case Int32:
		return strconv.AppendInt(dst, int64(int32(t.Bits(w))), 10)
	case Int64:
		return strconv.AppendInt(dst, int64(t.Bits(w)), 10)
	case Float32, Float64:
		return AppendFloat(dst, t.number(w), t.Width().Bits())
	case Hex, Hex64:
		dst = append(dst, "0x"...)
		for least := uint64(0x1000); least > max(w, 1); least >>= 4 {
			dst = append(dst, '0')
		}
		return strconv.AppendUint(dst, w, 16)
	case Time, Time64:
		return t.moment(w).AppendFormat(dst, time.DateTime+".999999999")
	case IPv4:
		return keys.IPv4(uint32(w)).AppendTo(dst)
	case IPv6:
		return keys.IPv6Prefix(w).AppendTo(dst)
	}
	return strconv.AppendUint(dst, w, 10)
}

// AppendFloat appends a number of 32 or 64 bits with as few digits as distinguish it from all others, as in JSON: with
// an exponent only from 1e21 on, and below 1e-6. Infinite numbers are +Inf and -Inf, and -0 is not 0.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	abs := math.Abs(f)
	small, large := abs < 1e-6, abs >= 1e21
	if bits == 32 {
		small, large = float32(abs) < 1e-6, float32(abs) >= 1e21
	}
	if !large && (!small || f == 0) {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	if n := len(dst); n >= 4 && string(dst[n-4:n-1]) == "e-0" {
		dst = append(dst[:n-2], dst[n-1]) // 1e-7
	}
	return dst
}

// Format is Append to a new string.
func (t Type) Format(w uint64) string { return string(t.Append(nil, w)) }

// AppendJSON appends the JSON of a word: a number with all its digits if JSON has it, otherwise the text of Append as a
// string. The latter are times, addresses, hexadecimal numbers, infinite floats, and NaN, which only programs can have
// saved.
func (t Type) AppendJSON(dst []byte, w uint64) []byte {
	switch t {
	case Uint32, Uint64, Int32, Int64:
		return t.Append(dst, w)
	case Float32, Float64:
		if f := t.number(w); f-f == 0 { // f is finite
			return t.Append(dst, w)
		}
	}
	return append(t.Append(append(dst, '"'), w), '"')
}
