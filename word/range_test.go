package word_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/word"
	"pgregory.net/rapid"
)

func TestParseRange(t *testing.T) {
	for _, c := range []struct {
		typ    word.Type
		text   string
		lo, hi uint32
	}{
		{word.Uint32, " 1:2 ", 1, 2},
		{word.Uint32, "0x10 : 3", 16, 3},
		{word.Int32, "-1:1", 1<<31 - 1, 1<<31 + 1},
		{word.Float32, "-1.5:1e3", ^uint32(0xbfc00000), 0xc47a0000},
		{word.Hex, "ff:100", 0xff, 0x100},
		{word.Time, "2014-07-01:2014-07-02", 1404172800, 1404259200},
		{word.Time, "2014-07-01 00:00:01:2014-07-02 00:00:02", 1404172801, 1404259202},
		{word.Time, "2014-07-01T02:00:00+02:00:1404172801", 1404172800, 1404172801},
		{word.Time, "0:2014-07-01T00:00:00Z", 0, 1404172800},
	} {
		lo, hi, err := c.typ.ParseRange(c.text)
		require.NoError(t, err, c.text)
		assert.Equal(t, []uint32{c.lo, c.hi}, []uint32{lo, hi}, c.text)
	}
	for text, want := range map[string]error{
		"": word.ErrNoRange, "5": word.ErrNoRange, "1:2:3": word.ErrNoRange, "::": word.ErrNoRange,
		":5": word.ErrEmpty, "5:": word.ErrEmpty, "5:x": word.ErrSyntax, "-1:5": word.ErrRange,
	} {
		_, _, err := word.Uint32.ParseRange(text)
		assert.ErrorIs(t, err, want, text)
		var value *word.ValueError
		assert.ErrorAs(t, err, &value)
	}
}

// Two values as their type writes them make a range of every type.
func TestRangesAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := word.Type(rapid.IntRange(0, len(word.Names())-1).Draw(t, "type"))
		lo, hi := rapid.Uint32().Draw(t, "lo"), rapid.Uint32().Draw(t, "hi")
		for _, w := range []uint32{lo, hi} {
			if back, err := typ.Parse(typ.Format(w)); err != nil || back != w {
				t.Skip("a word that the type has no text for")
			}
		}
		gotLo, gotHi, err := typ.ParseRange(typ.Format(lo) + ":" + typ.Format(hi))
		if err != nil || gotLo != lo || gotHi != hi {
			t.Fatalf("%d, %d, %v", gotLo, gotHi, err)
		}
	})
}
