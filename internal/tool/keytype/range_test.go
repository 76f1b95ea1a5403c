package keytype_test

import (
	"cmp"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"pgregory.net/rapid"
)

func TestParseRange(t *testing.T) {
	for _, c := range []struct {
		typ    keytype.Type
		text   string
		lo, hi uint64
	}{
		{keytype.Uint32, " 1:2 ", 1, 2},
		{keytype.Uint32, "0x10 : 3", 16, 3},
		{keytype.Int32, "-1:1", 1<<31 - 1, 1<<31 + 1},
		{keytype.Float32, "-1.5:1e3", 0xffffffff ^ 0xbfc00000, 0xc47a0000},
		{keytype.Hex, "ff:100", 0xff, 0x100},
		{keytype.Time, "2014-07-01:2014-07-02", 1404172800, 1404345599},
		{keytype.Time, "2014-07-01 : 2014-07-01", 1404172800, 1404259199},
		{keytype.Time, ":2014-07-01", 0, 1404259199},
		{keytype.Time, "2014-07-02:2014-07-01", 1404259200, 1404259199},
		{keytype.Time, "2106-02-07:2106-02-07", 4294944000, 4294967295},
		{keytype.Time, "2014-07-01 08:00:2014-07-01 12:30", 1404201600, 1404217800},
		{keytype.Time, "2014-07-01 08:00:30:2014-07-01 12:30", 1404201630, 1404217800},
		{keytype.Time64, "2014-07-01 08:00:2014-07-01 12:30:15.7", 1<<63 + 1404201600e9, 1<<63 + 1404217815700e6},
		{keytype.Time, "2014-07-01T08:00Z:2014-07-01", 1404201600, 1404259199},
		{keytype.Time, "2014-07-01 08:00:", 1404201600, 4294967295},
		{keytype.Time, ":2014-07-01 08:00:30", 0, 1404201630},
		{keytype.Time, ":2014-07-01 00:00", 0, 1404172800},
		{keytype.IPv4, "8.8.8.0:8.8.8.255", 0x08080800, 0x080808ff},
		{keytype.Hex, "U+4E00:U+9FFF", 0x4e00, 0x9fff},
		{keytype.Time, "2014-07-01 00:00:01:2014-07-02 00:00:02", 1404172801, 1404259202},
		{keytype.Time, "2014-07-01T02:00:00+02:00:1404172801", 1404172800, 1404172801},
		{keytype.Time, "0:2014-07-01T00:00:00Z", 0, 1404172800},
		{keytype.Time64, "1970-01-01:1970-01-01", 1 << 63, 1<<63 + 86400*1e9 - 1},
		{keytype.Time64, "1969-12-31:1969-12-31", 1<<63 - 86400*1e9, 1<<63 - 1},
		{keytype.IPv6, "2001:db8::/32:2001:db8::/32", 0x20010db8 << 32, 0x20010db8ffffffff},
		{keytype.IPv6, "::/0:::/0", 0, 1<<64 - 1},
		{keytype.IPv6, "2001:db8::/32", 0x20010db8 << 32, 0x20010db8ffffffff},
		{keytype.IPv6, "2001:db8::/64", 0x20010db8 << 32, 0x20010db8 << 32},
		{keytype.IPv4, "10.0.0.0/8", 10 << 24, 11<<24 - 1},
		{keytype.IPv4, "10.1.2.3/16", 10<<24 + 1<<16, 10<<24 + 2<<16 - 1},
		{keytype.IPv4, "10.0.0.0/8:12.0.0.0/8", 10 << 24, 13<<24 - 1},
		{keytype.IPv4, "0.0.0.0/0", 0, math.MaxUint32},
		{keytype.IPv6, "2001:db8::/64:", 0x20010db8 << 32, 1<<64 - 1},
	} {
		lo, hi, err := c.typ.ParseRange(c.text)
		require.NoError(t, err, c.text)
		assert.Equal(t, []keytype.Value{{Type: c.typ, Word: c.lo}, {Type: c.typ, Word: c.hi}},
			[]keytype.Value{lo, hi}, c.text)
	}
	for _, text := range []string{"2014-07-01 08:00:30", "2014-07-01 08:00", "2014-07-01T08:00:30+02:00",
		"1404172800"} {
		_, _, err := keytype.Time.ParseRange(text)
		assert.ErrorIs(t, err, keytype.ErrNoRange, text) // and not from 08:00 to 30 seconds after 1970 began
	}
	for text, want := range map[string]error{
		"": keytype.ErrNoRange, "5": keytype.ErrNoRange, "1:2:3": keytype.ErrNoRange, "::": keytype.ErrNoRange,
		":x": keytype.ErrSyntax, "x:": keytype.ErrSyntax, "5:x": keytype.ErrSyntax, "-1:5": keytype.ErrRange,
	} {
		_, _, err := keytype.Uint32.ParseRange(text)
		assert.ErrorIs(t, err, want, text)
		var value *keytype.ValueError
		assert.ErrorAs(t, err, &value)
	}
}

// An end that is left out is the least or the greatest value of the type, of every type.
func TestOpenRanges(t *testing.T) {
	limits := map[keytype.Type][2]string{
		keytype.Uint32: {"0", "4294967295"}, keytype.Int32: {"-2147483648", "2147483647"},
		keytype.Float32: {"-inf", "inf"},
		keytype.Hex:     {"0", "ffffffff"}, keytype.Time: {"1970-01-01 00:00:00", "2106-02-07 06:28:15"},
		keytype.IPv4: {"0.0.0.0", "255.255.255.255"}, keytype.Uint64: {"0", "18446744073709551615"},
		keytype.Int64:   {"-9223372036854775808", "9223372036854775807"},
		keytype.Float64: {"-inf", "inf"}, keytype.Hex64: {"0", "ffffffffffffffff"},
		keytype.Time64: {"1677-09-21 00:12:43.145224192", "2262-04-11 23:47:16.854775807"},
		keytype.IPv6:   {"::/64", "ffff:ffff:ffff:ffff::/64"},
	}
	middle := map[keytype.Type]string{keytype.Time: "2014-07-01 00:30:05", keytype.Time64: "2014-07-01 00:30:05.25",
		keytype.IPv6: "2001:db8:0:1::/64"}
	for i, name := range keytype.Types.Names() {
		typ := keytype.Type(i)
		if typ == keytype.Text { // which has no order
			continue
		}
		require.Contains(t, limits, typ, "what are the limits of %s?", name)
		m := cmp.Or(middle[typ], "5")
		parsed := map[string][2]string{
			":": limits[typ], " : ": limits[typ], m + ":": {m, limits[typ][1]}, m + " : ": {m, limits[typ][1]},
			":" + m: {limits[typ][0], m}, " :" + m: {limits[typ][0], m},
		}
		for text, ends := range parsed {
			lo, hi, err := typ.ParseRange(text)
			require.NoError(t, err, "%s %q", name, text)
			for i, got := range []keytype.Value{lo, hi} {
				want, err := typ.Parse(ends[i])
				require.NoError(t, err)
				assert.Equal(t, keytype.Value{Type: typ, Word: want}, got, "%s %q, end %d", name, text, i)
				again, err := typ.Parse(got.String()) // as count prints it
				require.NoError(t, err)
				assert.Equal(t, want, again)
			}
		}
	}
}

// Two values as their type writes them make a range of every type.
func TestRangesAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := keytype.Type(rapid.IntRange(0, int(keytype.Text)-1).Draw(t, "type"))
		shift := 64 - typ.Width().Bits()
		lo, hi := rapid.Uint64().Draw(t, "lo")>>shift, rapid.Uint64().Draw(t, "hi")>>shift
		for _, w := range []uint64{lo, hi} {
			if back, err := typ.Parse(typ.Format(w)); err != nil || back != w {
				t.Skip("a word that the type has no text for")
			}
		}
		gotLo, gotHi, err := typ.ParseRange(typ.Format(lo) + ":" + typ.Format(hi))
		if err != nil || gotLo.Word != lo || gotHi.Word != hi {
			t.Fatalf("%v, %v, %v", gotLo, gotHi, err)
		}
	})
}
