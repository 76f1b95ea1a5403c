package keytype_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"pgregory.net/rapid"
)

// What is wrong with a value is told by the type that it comes nearest to.
func TestFirst(t *testing.T) {
	for _, c := range []struct {
		from       keytype.Type
		text, want string
	}{
		{keytype.Uint32, "18446744073709551616", "18446744073709551616 is out of range (0 to 18446744073709551615)"},
		{keytype.Uint64, "18446744073709551616", "18446744073709551616 is out of range (0 to 18446744073709551615)"},
		{keytype.Int32, "9223372036854775808",
			"9223372036854775808 is out of range (-9223372036854775808 to 9223372036854775807)"},
		{keytype.Uint32, "-9223372036854775809",
			"-9223372036854775809 is out of range (-9223372036854775808 to 9223372036854775807)"},
		{keytype.Uint32, "x", `"x" is not an integer`},
		{keytype.Hex, "10000000000000000", "10000000000000000 is out of range (0 to 18446744073709551615)"},
		{keytype.Time, "2300-01-01", "2300-01-01 is out of range (1677-09-21 00:12:43 to 2262-04-11 23:47:16)"},
		{keytype.IPv4, "2001:db8::1",
			"2001:db8::1 is smaller than an IPv6 network of /64, and a key has 64 bits: 2001:db8::/64 has one"},
	} {
		_, err := c.from.First(c.from.Wider(), func(t keytype.Type) (uint64, error) { return t.Parse(c.text) })
		assert.EqualError(t, err, c.want, c.from)
	}
	_, err := keytype.Time.Parse("2014-07-01 00:00:00.5")
	assert.EqualError(t, err, "2014-07-01 00:00:00.5 has a fraction of a second, for which times of 32 bits have no "+
		"room")
	w, err := keytype.Time.Parse("2014-07-01 00:00:00.000")
	require.NoError(t, err)
	assert.EqualValues(t, 1404172800, w)
}

// If the greatest word of a type has one in another, all have.
func TestGreatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := keytype.Type(rapid.IntRange(0, len(keytype.Types.Names())-1).Draw(t, "from"))
		to := keytype.Type(rapid.IntRange(0, len(keytype.Types.Names())-1).Draw(t, "to"))
		shift := 64 - from.Width().Bits()
		a, b := rapid.Uint64().Draw(t, "a")>>shift, rapid.Uint64().Draw(t, "b")>>shift
		if to.Widen(from, []uint64{max(a, b)}) && !to.Widen(from, []uint64{min(a, b)}) {
			t.Fatalf("%s has a word for %s of %s, not for %s", to, from.Format(max(a, b)), from, from.Format(min(a, b)))
		}
	})
}

// The types that a column takes, one value after the other, are the narrowest that hold all of them.
func TestJoin(t *testing.T) {
	type span struct {
		typ         keytype.Type
		least, most string
	}
	ranges := []span{{keytype.Uint32, "0", "4294967295"}, {keytype.Int32, "-2147483648", "2147483647"},
		{keytype.Uint64, "0", "18446744073709551615"}, {keytype.Int64, "-9223372036854775808", "9223372036854775807"}}
	number := func(text string) *big.Int {
		n, _ := new(big.Int).SetString(text, 10)
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		var least, most *big.Int
		var there keytype.Extent
		is := keytype.Uint32
		for range rapid.IntRange(1, 5).Draw(t, "values") {
			from := rapid.SampledFrom(ranges).Draw(t, "type").typ
			w := rapid.Uint64().Draw(t, "word") >> (64 - from.Width().Bits())
			v, err := is.First(is.Wider(), func(to keytype.Type) (uint64, error) { return to.Parse(from.Format(w)) })
			if err == nil {
				n := number(from.Format(w))
				if least == nil || n.Cmp(least) < 0 {
					least = n
				}
				if most == nil || n.Cmp(most) > 0 {
					most = n
				}
				var next keytype.Type
				if next, err = there.Join(is, is.Wider(), v); err == nil {
					there.Widen(next, is)
					words := []uint64{v.Word}
					if !next.Widen(v.Type, words) {
						t.Fatal("no word in the type that holds it")
					}
					is = next
					there.Add(words)
				}
			} else {
				least, most = number(ranges[3].least), number(ranges[2].most) // which no type holds
			}
			holds := func(r span) bool {
				return number(r.least).Cmp(least) <= 0 && number(r.most).Cmp(most) >= 0
			}
			if err != nil {
				for _, r := range ranges {
					if holds(r) {
						t.Fatalf("%s holds all, but: %v", r.typ, err)
					}
				}
				return
			}
			for _, r := range ranges {
				if holds(r) {
					if r.typ != is {
						t.Fatalf("%s to %s became %s, not %s", least, most, is, r.typ)
					}
					break
				}
			}
		}
	})
}

// A place is that of the greatest value that isn't above.
func TestPlace(t *testing.T) {
	value := func(typ keytype.Type, w uint64) *big.Int {
		switch text := typ.Format(w); {
		case typ&^1 == keytype.Time:
			at, _ := keytype.Time64.Parse(text)
			n, _ := new(big.Int).SetString(keytype.Int64.Format(at), 10)
			return n
		default:
			n, _ := new(big.Int).SetString(text, 0)
			return n
		}
	}
	kinds := [][]keytype.Type{{keytype.Uint32, keytype.Int32, keytype.Uint64, keytype.Int64},
		{keytype.Hex, keytype.Hex64}, {keytype.Time, keytype.Time64}}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		from, to := rapid.SampledFrom(kind).Draw(t, "from"), rapid.SampledFrom(kind).Draw(t, "to")
		w := rapid.Uint64().Draw(t, "word") >> (64 - from.Width().Bits())
		most := ^uint64(0) >> (64 - to.Width().Bits())
		word, at, ok := to.Place(from, w)
		if !ok || word > most {
			t.Fatal("no place")
		}
		is := value(from, w)
		var right bool
		switch at {
		case keytype.On:
			right = value(to, word).Cmp(is) == 0
		case keytype.After:
			right = value(to, word).Cmp(is) < 0 && (word == most || value(to, word+1).Cmp(is) > 0)
		case keytype.Below:
			right = word == 0 && value(to, 0).Cmp(is) > 0
		}
		if !right {
			t.Fatalf("%s of %s is put %d %s of %s", from.Format(w), from, at, to.Format(word), to)
		}
	})
	_, _, ok := keytype.IPv4.Place(keytype.IPv6, 0)
	assert.False(t, ok)
	_, _, ok = keytype.Uint32.Place(keytype.Hex, 0)
	assert.False(t, ok)
}
