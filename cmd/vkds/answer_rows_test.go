package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"pgregory.net/rapid"
)

// plainRow is what a row must be, formatted by nothing that answers are formatted with.
func plainRow(json bool, a, b shown, v, w uint64, there bool) string {
	value := func(c shown, w uint64) string {
		switch text := ""; {
		case c.Type == keytype.Text:
			if text = string(c.texts.At(w)); json {
				return plainJSON(text)
			}
			if text != "" && !strings.ContainsAny(text, ",\"\n\r") {
				return text
			}
			return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		case json:
			return string(c.AppendJSON(nil, w))
		}
		return c.Type.Format(w)
	}
	second, form := "", "%s,%s,%d,%s\n"
	if json {
		second, form = "null", `{"a":%s,"b":%s,"c":%d,"d":%s}`+"\n"
	}
	fourth := second
	if there {
		second, fourth = value(b, w), "7"
	}
	return fmt.Sprintf(form, value(a, v), second, v, fourth)
}

func plainJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

// Chunks of any size, formatted by many goroutines, are the rows one after the other.
func TestRowsInChunks(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	var texts keytype.Arena
	for _, text := range []string{"", "a", "a,b", `say "x"`, "two\nlines", "\r", "\t\x01\x7f", "é\u2028\u2029\xff€",
		"\\<&>", strings.Repeat("long ", 99)} {
		texts.Add([]byte(text))
	}
	types := len(keytype.Types.Names())
	const n = 131
	for rows := 1; rows <= 64; rows++ {
		a := shown{keytype.Type(rows % types), &texts}
		b := shown{keytype.Type((rows / 2) % types), &texts}
		word := func(c shown) uint64 {
			if c.Type == keytype.Text {
				return chance.Uint64N(uint64(texts.Len()))
			}
			return chance.Uint64() >> chance.UintN(64) >> (64 - c.Width().Bits())
		}
		var as, bs [n]uint64
		var there [n]bool
		for i := range n {
			as[i], bs[i], there[i] = word(a), word(b), chance.UintN(4) > 0
		}
		for limit, json := range map[int]bool{n - 1: false, 70: true, math.MaxInt: rows%2 == 0} {
			var got bytes.Buffer
			x := newAnswer(&got, rowFlags{json: json, left: uint64(limit)}, "a", "b", "c", "d")
			x.chunkRows, x.chunkBytes = rows, 1+chance.IntN(2000)
			x.chunks = x.chunks[:2]
			err := x.rows(n, func(r *row, i int) {
				r.word(a, as[i])
				r.wordIf(b, bs[i], there[i])
				r.number(as[i])
				r.numberIf(7, there[i])
			})
			assert.Equal(t, limit < n, err == errEnough)
			require.NoError(t, x.end(err))
			var want strings.Builder
			if !json {
				want.WriteString("a,b,c,d\n")
			}
			for i := range min(n, limit) {
				want.WriteString(plainRow(json, a, b, as[i], bs[i], there[i]))
			}
			require.Equal(t, want.String(), got.String(), "%s, %s, chunks of %d rows", a.Type, b.Type, rows)
		}
	}
}

// failing takes so many writes.
type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An error of the output ends the answer, and no goroutine formats rows after that.
func TestRowsFail(t *testing.T) {
	t.Parallel()
	for writes := range 8 {
		words := make([]uint64, 1<<20) // which the race detector watches
		a := newAnswer(&failing{writes}, rowFlags{left: math.MaxUint64}, "a")
		err := a.rows(len(words), func(r *row, i int) { r.number(words[i]) })
		clear(words)
		assert.ErrorIs(t, a.end(err), errFull)
	}
}

func TestJSONText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
			return string(b)
		})).Draw(t, "text")
		if got := string(appendJSONText(nil, []byte(text))); got != plainJSON(text) {
			t.Fatalf("%q became %s", text, got)
		}
	})
}

// What formatting alone takes of one core, in bytes of the answer.
func BenchmarkRows(b *testing.B) {
	words := make([]uint64, 1<<16)
	var texts keytype.Arena
	for i := range words {
		words[i] = uint64(i) * 0x9e3779b1 & math.MaxUint32
		texts.AddString(fmt.Sprint("text ", i))
	}
	for _, json := range []bool{false, true} {
		for _, name := range keytype.Types.Names() {
			typ, err := keytype.Types.Parse(name)
			require.NoError(b, err)
			c := shown{typ, &texts}
			b.Run(fmt.Sprintf("%s/json=%t", name, json), func(b *testing.B) {
				var size counted
				a := newAnswer(&size, rowFlags{json: json, left: math.MaxUint64}, pairColumns...)
				a.chunkRows = len(words)
				b.ReportAllocs()
				for b.Loop() {
					err := a.rows(len(words), func(r *row, i int) {
						w := words[i]
						if typ == keytype.Text {
							w &= uint64(len(words) - 1)
						}
						r.word(c, w)
						r.number(w)
					})
					require.NoError(b, err)
				}
				b.SetBytes(int64(size) / int64(b.N))
			})
		}
	}
}

type counted int64

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}
