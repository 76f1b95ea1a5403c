package keytype_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		typ  keytype.Type
		text string
		want uint64
	}{
		{keytype.Uint32, "0", 0},
		{keytype.Uint32, "4294967295", math.MaxUint32},
		{keytype.Uint32, "0x1fffff50", 0x1fffff50},
		{keytype.Uint32, "0XFFFFFFFF", math.MaxUint32},
		{keytype.Uint32, " \t007\r", 7},
		{keytype.Uint32, "00000000000000000000000000000001", 1},
		{keytype.Uint32, "+7", 7},
		{keytype.Int32, "+7", 1<<31 + 7},
		{keytype.Int32, "-2147483648", 0},
		{keytype.Int32, "-1", 1<<31 - 1},
		{keytype.Int32, "0", 1 << 31},
		{keytype.Int32, "2147483647", math.MaxUint32},
		{keytype.Int32, "-0x10", 1<<31 - 16},
		{keytype.Float32, "0", 1 << 31},
		{keytype.Float32, "-0", 1<<31 - 1},
		{keytype.Float32, "1", 1<<31 | 0x3f800000},
		{keytype.Float32, "-1", 0xbf800000 ^ math.MaxUint32},
		{keytype.Float32, "inf", 1<<31 | 0x7f800000},
		{keytype.Hex, "10FFFF", 0x10ffff},
		{keytype.Hex, "0x41", 0x41},
		{keytype.Hex, "0", 0},
		{keytype.Time, "2014-07-01 00:00:00", 1404172800},
		{keytype.Time, "2014-07-01", 1404172800},
		{keytype.Time, "2014-07-01T02:00:00+02:00", 1404172800},
		{keytype.Time, "2014-07-01T00:00:00", 1404172800},
		{keytype.Time, "2014-07-01 00:00:00.000", 1404172800},
		{keytype.Time, "1404172800", 1404172800},
		{keytype.Time, "1404172800.000", 1404172800},
		{keytype.Time64, "1404172800.999", 1<<63 + 1404172800999e6},
		{keytype.Time64, "2014-07-01 00:00:00.999999999", 1<<63 + 1404172800999999999},
		{keytype.Time64, "2014-07-01T00:00:00.5Z", 1<<63 + 14041728005e8},
		{keytype.Time, "2014-07-01 00:30", 1404174600},
		{keytype.Time, "2014-07-01T00:30", 1404174600},
		{keytype.Time, "2014-07-01T02:30+02:00", 1404174600},
		{keytype.Time, "2014-07-01 00:30Z", 1404174600},
		{keytype.Hex, "U+4E00", 0x4e00},
		{keytype.Hex, "u+10ffff", 0x10ffff},
		{keytype.IPv4, "0.0.0.0", 0},
		{keytype.IPv4, "8.8.4.1", 8<<24 | 8<<16 | 4<<8 | 1},
		{keytype.IPv4, " 255.255.255.255 ", math.MaxUint32},
		{keytype.IPv4, "134744072", 134744072},
		{keytype.IPv4, "0x08080808", 134744072},
		{keytype.Time, "1970-01-01 00:00:00", 0},
		{keytype.Time, "2106-02-07 06:28:15", math.MaxUint32},
		{keytype.Uint64, "18446744073709551615", math.MaxUint64},
		{keytype.Uint64, "0x1000000000000000", 1 << 60},
		{keytype.Int64, "-9223372036854775808", 0},
		{keytype.Int64, "-1", 1<<63 - 1},
		{keytype.Int64, "9223372036854775807", math.MaxUint64},
		{keytype.Float64, "-0", 1<<63 - 1},
		{keytype.Float64, "0.1", 1<<63 | 0x3fb999999999999a},
		{keytype.Float64, "-1", math.MaxUint64 ^ 0xbff0000000000000},
		{keytype.Hex64, "ffffffffffffffff", math.MaxUint64},
		{keytype.Hex64, "U+4E00", 0x4e00},
		{keytype.Time64, "1970-01-01", 1 << 63},
		{keytype.Time64, "1969-12-31 23:59:59.999999999", 1<<63 - 1},
		{keytype.Time64, "-0.000000001", 1<<63 - 1},
		{keytype.Time64, "1.5", 1<<63 + 1500000000},
		{keytype.Time64, "1677-09-21 00:12:43.145224192", 0},
		{keytype.Time64, "2262-04-11T23:47:16.854775807Z", math.MaxUint64},
		{keytype.IPv4, "8.8.8.8/32", 0x08080808},
		{keytype.IPv6, "::/64", 0},
		{keytype.Time64, "1970-01-01 00:00:00.0000000010", 1<<63 + 1},
		{keytype.Time64, "0.00000000100", 1<<63 + 1},
		{keytype.IPv6, "2001:db8:0:1::/64", 0x20010db800000001},
		{keytype.IPv6, "ffff:ffff:ffff:ffff::/64", math.MaxUint64},
	} {
		got, err := c.typ.Parse(c.text)
		require.NoError(t, err, "%s %q", c.typ, c.text)
		assert.Equal(t, c.want, got, "%s %q", c.typ, c.text)
		got, err = c.typ.ParseBytes([]byte(c.text))
		require.NoError(t, err, "%s %q", c.typ, c.text)
		assert.Equal(t, c.want, got, "%s %q", c.typ, c.text)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		typ   keytype.Type
		text  string
		cause error
		say   string
	}{
		{keytype.Uint32, "", keytype.ErrEmpty, "empty where an integer should be"},
		{keytype.Uint32, "*", keytype.ErrSyntax, `"*" is not an integer`},
		{keytype.Uint32, "0x", keytype.ErrSyntax, `"0x" is not an integer`},
		{keytype.Uint32, "++5", keytype.ErrSyntax, `"++5" is not an integer`},
		{keytype.Uint32, "+-5", keytype.ErrSyntax, `"+-5" is not an integer`},
		{keytype.Int32, "-+5", keytype.ErrSyntax, `"-+5" is not an integer`},
		{keytype.Float64, "12_3", keytype.ErrSyntax, `"12_3" is not a number`},
		{keytype.Uint32, "1 2", keytype.ErrSyntax, `"1 2" is not an integer`},
		{keytype.Uint32, "1.0", keytype.ErrSyntax, `"1.0" is not an integer`},
		{keytype.Uint32, "-", keytype.ErrSyntax, `"-" is not an integer`},
		{keytype.Uint32, "-1", keytype.ErrRange, "-1 is out of range (0 to 4294967295)"},
		{keytype.Uint32, "4294967296", keytype.ErrRange, "4294967296 is out of range (0 to 4294967295)"},
		{keytype.Uint32, "0x100000000", keytype.ErrRange, "0x100000000 is out of range (0 to 4294967295)"},
		{keytype.Uint32, "99999999999999999999999999", keytype.ErrRange,
			"99999999999999999999999999 is out of range (0 to 4294967295)"},
		{keytype.Uint32, "99999999999999x", keytype.ErrSyntax, `"99999999999999x" is not an integer`},
		{keytype.Uint32, strings.Repeat("é", 99), keytype.ErrSyntax,
			`"` + strings.Repeat("é", 20) + `…" is not an integer`},
		{keytype.Int32, "-", keytype.ErrSyntax, `"-" is not an integer`},
		{keytype.Int32, "2147483648", keytype.ErrRange, "2147483648 is out of range (-2147483648 to 2147483647)"},
		{keytype.Int32, "-2147483649", keytype.ErrRange, "-2147483649 is out of range (-2147483648 to 2147483647)"},
		{keytype.Float32, "nan", keytype.ErrNaN, "nan has no place in an order"},
		{keytype.Float32, "1e39", keytype.ErrRange, "1e39 is out of range (32-bit floats)"},
		{keytype.Float32, "x", keytype.ErrSyntax, `"x" is not a number`},
		{keytype.Hex, "G", keytype.ErrSyntax, `"G" is not a hexadecimal number`},
		{keytype.Time, "yesterday", keytype.ErrSyntax, `"yesterday" is not a time`},
		{keytype.Time, "2014-13-01 00:00:00", keytype.ErrSyntax, `"2014-13-01 00:00:00" is not a time`},
		{keytype.Time, "1969-12-31 23:59:59", keytype.ErrRange,
			"1969-12-31 23:59:59 is out of range (1970-01-01 00:00:00 to 2106-02-07 06:28:15)"},
		{keytype.Time, "1969-12-31 23:59:59.9", keytype.ErrRange,
			"1969-12-31 23:59:59.9 is out of range (1970-01-01 00:00:00 to 2106-02-07 06:28:15)"},
		{keytype.Time, "4294967296.5", keytype.ErrRange,
			"4294967296.5 is out of range (1970-01-01 00:00:00 to 2106-02-07 06:28:15)"},
		{keytype.Time, "2014-07-01 08", keytype.ErrSyntax, `"2014-07-01 08" is not a time`},
		{keytype.Time, "2014-07-01 08:30.5", keytype.ErrSyntax, `"2014-07-01 08:30.5" is not a time`},
		{keytype.Time, "5.", keytype.ErrSyntax, `"5." is not a time`},
		{keytype.Time, ".5", keytype.ErrSyntax, `".5" is not a time`},
		{keytype.Time, "1.2.3", keytype.ErrSyntax, `"1.2.3" is not a time`},
		{keytype.Time, "0x10.5", keytype.ErrSyntax, `"0x10.5" is not a time`},
		{keytype.Hex, "U+", keytype.ErrSyntax, `"U+" is not a hexadecimal number`},
		{keytype.Hex, "U+0x41", keytype.ErrSyntax, `"U+0x41" is not a hexadecimal number`},
		{keytype.Hex, "U4E00", keytype.ErrSyntax, `"U4E00" is not a hexadecimal number`},
		{keytype.Hex, "U+100000000", keytype.ErrRange, "U+100000000 is out of range (0 to 4294967295)"},
		{keytype.Uint32, "U+41", keytype.ErrSyntax, `"U+41" is not an integer`},
		{keytype.IPv4, "", keytype.ErrEmpty, "empty where an IPv4 address should be"},
		{keytype.IPv4, "8.8.8", keytype.ErrSyntax, `"8.8.8" is not an IPv4 address`},
		{keytype.IPv4, "8.8.8.256", keytype.ErrSyntax, `"8.8.8.256" is not an IPv4 address`},
		{keytype.IPv4, "8.8.8.08", keytype.ErrSyntax, `"8.8.8.08" is not an IPv4 address`},
		{keytype.IPv4, "8.8.8.8/33", keytype.ErrSyntax, `"8.8.8.8/33" is not an IPv4 address`},
		{keytype.IPv4, "8.8.8.0/24", keytype.ErrNetwork,
			"8.8.8.0/24 is a range of addresses, and a key is one of them"},
		{keytype.IPv6, "2001:db8::/48", keytype.ErrNetwork,
			"2001:db8::/48 is a range of networks of /64, and a key is one of them"},
		{keytype.Time64, "2014-07-01 00:00:00.1234567891", keytype.ErrNanoseconds, "2014-07-01 00:00:00.1234567891 " +
			"has digits beyond nanoseconds, for which times have no room"},
		{keytype.Time64, "2014-07-01T00:00:00,0000000001Z", keytype.ErrNanoseconds, "2014-07-01T00:00:00,0000000001Z " +
			"has digits beyond nanoseconds, for which times have no room"},
		{keytype.Time64, "1404172800.0000000005", keytype.ErrNanoseconds, "1404172800.0000000005 has digits beyond " +
			"nanoseconds, for which times have no room"},
		{keytype.IPv4, "::1", keytype.ErrSyntax, `"::1" is not an IPv4 address`},
		{keytype.IPv4, "::ffff:8.8.8.8", keytype.ErrSyntax, `"::ffff:8.8.8.8" is not an IPv4 address`},
		{keytype.Uint64, "18446744073709551616", keytype.ErrRange,
			"18446744073709551616 is out of range (0 to 18446744073709551615)"},
		{keytype.Uint64, "184467440737095516150", keytype.ErrRange,
			"184467440737095516150 is out of range (0 to 18446744073709551615)"},
		{keytype.Int64, "9223372036854775808", keytype.ErrRange,
			"9223372036854775808 is out of range (-9223372036854775808 to 9223372036854775807)"},
		{keytype.Int64, "-9223372036854775809", keytype.ErrRange,
			"-9223372036854775809 is out of range (-9223372036854775808 to 9223372036854775807)"},
		{keytype.Float64, "1e309", keytype.ErrRange, "1e309 is out of range (64-bit floats)"},
		{keytype.Float64, "nan", keytype.ErrNaN, "nan has no place in an order"},
		{keytype.Hex64, "10000000000000000", keytype.ErrRange,
			"10000000000000000 is out of range (0 to 18446744073709551615)"},
		{keytype.Time64, "2262-04-12", keytype.ErrRange,
			"2262-04-12 is out of range (1677-09-21 00:12:43 to 2262-04-11 23:47:16)"},
		{keytype.Time64, "1677-09-21", keytype.ErrRange,
			"1677-09-21 is out of range (1677-09-21 00:12:43 to 2262-04-11 23:47:16)"},
		{keytype.Time64, "9223372037", keytype.ErrRange,
			"9223372037 is out of range (1677-09-21 00:12:43 to 2262-04-11 23:47:16)"},
		{keytype.Time64, "99999999999999999999", keytype.ErrRange,
			"99999999999999999999 is out of range (1677-09-21 00:12:43 to 2262-04-11 23:47:16)"},
		{keytype.IPv6, "2001:db8::1", keytype.ErrAddress, "2001:db8::1 is smaller than an IPv6 network of /64, and a " +
			"key has 64 bits: 2001:db8::/64 has one"},
		{keytype.IPv6, "2001:db8::/65", keytype.ErrAddress, "2001:db8::/65 is smaller than an IPv6 network of /64, " +
			"and a key has 64 bits: 2001:db8::/64 has one"},
		{keytype.IPv6, "8.8.8.8", keytype.ErrSyntax, `"8.8.8.8" is not an IPv6 network`},
		{keytype.IPv6, "::ffff:8.8.8.0/120", keytype.ErrAddress, "::ffff:8.8.8.0/120 is smaller than an IPv6 " +
			"network of /64, and a key has 64 bits: 2001:db8::/64 has one"},
		{keytype.IPv4, "4294967296", keytype.ErrRange, "4294967296 is out of range (0.0.0.0 to 255.255.255.255)"},
	} {
		_, err := c.typ.Parse(c.text)
		var ve *keytype.ValueError
		require.ErrorAs(t, err, &ve, "%s %q", c.typ, c.text)
		assert.ErrorIs(t, err, c.cause, "%s %q", c.typ, c.text)
		assert.EqualError(t, err, c.say)
		_, berr := c.typ.ParseBytes([]byte(c.text))
		assert.EqualError(t, berr, c.say)
	}
}

func TestBinaryValues(t *testing.T) {
	w, err := keytype.Uint32.FromInt(math.MaxUint32)
	require.NoError(t, err)
	assert.EqualValues(t, math.MaxUint32, w)
	w, err = keytype.Int32.FromInt(-1)
	require.NoError(t, err)
	assert.Equal(t, "-1", keytype.Int32.Format(w))
	w, err = keytype.Float32.FromUint(1 << 63)
	require.NoError(t, err)
	assert.Equal(t, "9223372000000000000", keytype.Float32.Format(w))
	w, err = keytype.Float32.FromFloat(2.5)
	require.NoError(t, err)
	assert.Equal(t, "2.5", string(keytype.Float32.AppendJSON(nil, w)))
	w, err = keytype.Time.FromTime(time.Unix(1404172800, 0))
	require.NoError(t, err)
	assert.Equal(t, `"2014-07-01 00:00:00"`, string(keytype.Time.AppendJSON(nil, w)))
	_, err = keytype.Time.FromTime(time.Unix(1404172800, 999999999))
	assert.ErrorIs(t, err, keytype.ErrFraction)
	w, err = keytype.IPv4.FromInt(134744072)
	require.NoError(t, err)
	assert.Equal(t, `"8.8.8.8"`, string(keytype.IPv4.AppendJSON(nil, w)))
	for _, c := range []struct {
		days int64
		end  bool
		want string
	}{
		{0, false, "1970-01-01 00:00:00"}, {0, true, "1970-01-01 23:59:59"}, {16252, false, "2014-07-01 00:00:00"},
		{16252, true, "2014-07-01 23:59:59"},
		{49710, true, "2106-02-07 06:28:15"}} {
		w, err := keytype.Time.FromDay(c.days, c.end)
		require.NoError(t, err)
		assert.Equal(t, c.want, keytype.Time.Format(w))
	}

	for _, c := range []struct {
		err   error
		cause error
	}{
		{fail(keytype.Uint32.FromInt(-1)), keytype.ErrRange},
		{fail(keytype.Uint32.FromInt(1 << 32)), keytype.ErrRange},
		{fail(keytype.Uint32.FromUint(1 << 63)), keytype.ErrRange},
		{fail(keytype.Int32.FromInt(1 << 31)), keytype.ErrRange},
		{fail(keytype.Uint32.FromFloat(1)), keytype.ErrSyntax},
		{fail(keytype.Float32.FromFloat(1e300)), keytype.ErrRange},
		{fail(keytype.Float32.FromFloat(math.NaN())), keytype.ErrNaN},
		{fail(keytype.Uint32.FromTime(time.Unix(0, 0))), keytype.ErrSyntax},
		{fail(keytype.IPv4.FromTime(time.Unix(0, 0))), keytype.ErrSyntax},
		{fail(keytype.IPv4.FromInt(-1)), keytype.ErrRange},
		{fail(keytype.Time.FromTime(time.Unix(-1, 0))), keytype.ErrRange},
		{fail(keytype.Time.FromTime(time.Unix(-1, 999999999))), keytype.ErrRange},
		{fail(keytype.Time.FromDay(-1, true)), keytype.ErrRange},
		{fail(keytype.Time.FromDay(49711, true)), keytype.ErrRange},
		{fail(keytype.Uint32.FromDay(0, true)), keytype.ErrSyntax},
	} {
		assert.ErrorIs(t, c.err, c.cause)
	}
}

func fail(_ uint64, err error) error { return err }

func TestNames(t *testing.T) {
	for _, name := range keytype.Types.Names() {
		typ, err := keytype.Types.Parse(name)
		require.NoError(t, err)
		assert.Equal(t, name, typ.String())
	}
	_, err := keytype.Types.Parse("u16")
	assert.EqualError(t, err, `unknown type "u16" (known: u32, u64, i32, i64, f32, f64, hex, hex64, time, time64, ip, `+
		`ip6, text)`)
	assert.Equal(t, `"0x0041"`, string(keytype.Hex.AppendJSON(nil, 0x41)))
	assert.Equal(t, `"+Inf"`, string(keytype.Float32.AppendJSON(nil, 1<<31|0x7f800000)))
	// Words that are no float's: JSON has no such numbers.
	assert.Equal(t, `"NaN"`, string(keytype.Float32.AppendJSON(nil, 0xffffffff)))
	assert.Equal(t, `"NaN"`, string(keytype.Float32.AppendJSON(nil, 0)))
	assert.Equal(t, "Type(77)", keytype.Type(77).String())
}

// Every word that has a text gives it back, whatever the type.
func TestFormatParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := keytype.Type(rapid.IntRange(0, len(keytype.Types.Names())-1).Draw(t, "type"))
		w := rapid.Uint64().Draw(t, "word") >> (64 - typ.Width().Bits())
		text := typ.Format(w)
		got, err := typ.Parse(text)
		if typ&^1 == keytype.Float32 && errors.Is(err, keytype.ErrNaN) {
			return // the 2^24 patterns that are no number
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got != w {
			t.Fatalf("%s %#x: %s parses as %#x", typ, w, text, got)
		}
	})
}

func TestOrderPreserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float32().Draw(t, "a"), rapid.Float32().Draw(t, "b")
		wa, erra := keytype.Float32.FromFloat(float64(a))
		wb, errb := keytype.Float32.FromFloat(float64(b))
		if erra != nil || errb != nil {
			t.Fatalf("%v %v", erra, errb)
		}
		negative, positive := math.Signbit(float64(a)), !math.Signbit(float64(b))
		if a == b && negative == positive { // -0 is another key than 0, and comes first
			if wa == wb || (wa < wb) != negative {
				t.Fatalf("%g and %g map to %#x and %#x", a, b, wa, wb)
			}
		} else if (a < b) != (wa < wb) || (a == b) != (wa == wb) {
			t.Fatalf("%g and %g map to %#x and %#x", a, b, wa, wb)
		}
		x, y := rapid.Uint32().Draw(t, "x"), rapid.Uint32().Draw(t, "y")
		wx, _ := keytype.IPv4.Parse(netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8),
			byte(x)}).String())
		wy, _ := keytype.IPv4.Parse(netip.AddrFrom4([4]byte{byte(y >> 24), byte(y >> 16), byte(y >> 8),
			byte(y)}).String())
		if (x < y) != (wx < wy) {
			t.Fatalf("addresses %#x and %#x map to %#x and %#x", x, y, wx, wy)
		}
		i, j := rapid.Int32().Draw(t, "i"), rapid.Int32().Draw(t, "j")
		wi, _ := keytype.Int32.FromInt(int64(i))
		wj, _ := keytype.Int32.FromInt(int64(j))
		if (i < j) != (wi < wj) {
			t.Fatalf("%d and %d map to %#x and %#x", i, j, wi, wj)
		}
	})
}

// What a column's words become where its type becomes a wider one is what that type makes of the same texts, and the
// order of all is kept.
func TestWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]keytype.Type{keytype.Uint32, keytype.Uint64, keytype.Int32,
			keytype.Hex, keytype.Time}).Draw(t, "from")
		to := rapid.SampledFrom(from.Wider()).Draw(t, "to")
		w := rapid.Uint64().Draw(t, "word") >> (64 - from.Width().Bits())
		words := []uint64{w}
		want, err := to.Parse(from.Format(w))
		if to.Widen(from, words) != (err == nil) || err == nil && words[0] != want {
			t.Fatalf("%s of %s became %s of %s, %v", from.Format(w), from, to.Format(words[0]), to, err)
		}
		if err != nil && words[0] != w {
			t.Fatal("a word was changed that no other can be")
		}
	})
	for i := range keytype.Types.Names() {
		from := keytype.Type(i)
		require.False(t, from.Width() == structures.Bits32 && from.Above().Width() == structures.Bits64 &&
			!slices.Contains(from.Wider(), from.Above()))
		require.Empty(t, keytype.Int64.Wider())
	}
	require.True(t, keytype.IPv6.Widen(keytype.IPv4, nil))
	require.False(t, keytype.IPv6.Widen(keytype.IPv4, []uint64{1}), "addresses are no networks")
}

// FuzzUint32 checks the hand-written integer reader against math/big.
func FuzzUint32(f *testing.F) {
	seeds := []string{"0", "42", "0x1F", "4294967296", "-1", "0x", "", "  7 ", "1_0", "+1", "++1", "0b1", "*"}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := keytype.Uint32.ParseBytes(text)
		want, ok := naive(text)
		if ok != (err == nil) || ok && got != want {
			t.Fatalf("%q: got %d, %v; want %d, %v", text, got, err, want, ok)
		}
	})
}

func naive(text []byte) (uint64, bool) {
	s := string(bytes.Trim(text, " \t\r"))
	base := 10
	if len(s) > 1 && s[0] == '+' && strings.Contains("0123456789", s[1:2]) {
		s = s[1:]
	}
	if len(s) > 2 && strings.EqualFold(s[:2], "0x") {
		s, base = s[2:], 16
	}
	if s == "" || strings.ContainsAny(s, "+-_") {
		return 0, false
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok || n.BitLen() > 32 {
		return 0, false
	}
	return n.Uint64(), true
}

// Floats have ordinary digits, those that package json writes.
func TestFloatDigits(t *testing.T) {
	for _, c := range []struct {
		typ  keytype.Type
		text string
	}{
		{keytype.Float64, "1000000"}, {keytype.Float64, "-0"}, {keytype.Float64, "0"}, {keytype.Float64, "0.000001"},
		{keytype.Float64, "1e-7"}, {keytype.Float64, "1e-10"}, {keytype.Float64, "1e-100"}, {keytype.Float64, "1e+21"},
		{keytype.Float64, "999999999999999900000"}, {keytype.Float64, "-1.5e-9"}, {keytype.Float32, "16777216"},
		{keytype.Float32, "1e-7"}, {keytype.Float32, "1e+21"}, {keytype.Float32, "0.1"}, {keytype.Float32, "-0"},
	} {
		w, err := c.typ.Parse(c.text)
		require.NoError(t, err)
		assert.Equal(t, c.text, c.typ.Format(w))
		assert.Equal(t, c.text, string(c.typ.AppendJSON(nil, w)))
	}
	rapid.Check(t, func(t *rapid.T) {
		f, single := rapid.Float64().Draw(t, "f"), rapid.Float32().Draw(t, "single")
		for _, c := range []struct {
			number any
			bits   int
			wide   float64
		}{{f, 64, f}, {single, 32, float64(single)}} {
			if want, err := json.Marshal(c.number); err == nil &&
				string(want) != string(keytype.AppendFloat(nil, c.wide, c.bits)) {
				t.Fatalf("%s, not %s", keytype.AppendFloat(nil, c.wide, c.bits), want)
			}
		}
	})
	for _, c := range []struct {
		typ  keytype.Type
		text string
	}{{keytype.Uint64, "18446744073709551615"}, {keytype.Int64, "-9223372036854775808"}, {keytype.Int32, "-1"}} {
		w, err := c.typ.Parse(c.text)
		require.NoError(t, err)
		assert.Equal(t, c.text, string(c.typ.AppendJSON(nil, w)), "all digits")
	}
}
