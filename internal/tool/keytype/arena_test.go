package keytype

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Joined has all texts, one arena's after the other's, and can be added to.
func TestJoined(t *testing.T) {
	var arenas []*Arena
	var want []string
	for i := range 5 {
		a := &Arena{}
		for k := range 3000 * (i % 3) { // some are empty, and some have several blocks
			text := strings.Repeat("x", k%50) + strconv.Itoa(i)
			a.AddString(text)
			want = append(want, text)
		}
		arenas = append(arenas, a)
	}
	all, firsts := Joined(arenas)
	assert.Equal(t, []uint64{0, 0, 3000, 9000, 9000}, firsts)
	for range 10_000 {
		assert.EqualValues(t, len(want), all.AddString("more"))
		want = append(want, "more")
	}
	assert.Equal(t, len(want), all.Len())
	bytes := 0
	for i, text := range want {
		assert.Equal(t, text, string(all.At(uint64(i))))
		bytes += len(text)
	}
	assert.Equal(t, bytes, all.Bytes())
	// What is added to one is not added to another that shares the same texts.
	one, _ := Joined(arenas[:2])
	two, _ := Joined(arenas[:2])
	one.AddString("one")
	two.AddString("two")
	assert.Equal(t, "one", string(one.At(3000)))
	assert.Equal(t, "two", string(two.At(3000)))
	none, _ := Joined(nil)
	assert.Zero(t, none.AddString("first"))
}

// Texts of all lengths have places, also empty ones at the end of a block, and those after others were removed.
func TestArenaPlaces(t *testing.T) {
	long := []byte(strings.Repeat("0123456789", 1<<20))
	var all Arena
	var want []int
	for _, length := range []int{firstBlock, 0, 0, fullBlock, 0, 1, 0, fullBlock + 1, 0, len(long), 0, 0, 7,
		fullBlock - 7, 0, firstBlock - 1, 0, 1, 0} {
		want = append(want, length)
		all.Add(long[len(long)-length:])
	}
	check := func() {
		require.Equal(t, len(want), all.Len())
		bytes := 0
		for i, length := range want {
			require.Equal(t, string(long[len(long)-length:]), string(all.At(uint64(i))))
			bytes += length
		}
		require.Equal(t, bytes, all.Bytes())
	}
	check()
	for _, n := range []int{18, 15, 11, 10, 4, 2} {
		all.Truncate(n)
		want = append(want[:n], 3, 0)
		all.Add(long[len(long)-3:])
		all.Add(nil)
		check()
	}
}

// AddList and AddSome add what Add adds: all, and until the arena is full.
func TestArenaAddsMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	long := make([]byte, 4<<20-1)
	for i := range long {
		long[i] = byte(random.Uint32())
	}
	for _, n := range []int{0, 1, 70, 40_000, 300_000} {
		var list TextList
		texts := Some{Arena: &Arena{}}
		for i := range n {
			text := long[random.IntN(1000):][:random.Uint32N(300)>>random.Uint32N(9)]
			if n == 70 && i%2 == 0 { // too long for one block together, and too much for one arena
				text = long
			}
			list.Add(text)
			texts.Numbers = append(texts.Numbers, texts.Add(text))
		}
		require.Equal(t, n, list.Len())
		var all, some, one Arena
		for _, a := range []*Arena{&all, &some, &one} {
			a.Add([]byte("first"))
		}
		added := 0
		for from := 0; from < n; {
			to := from + 1 + random.IntN(n-from)
			require.EqualValues(t, 1+from, all.AddList(&list, from, to))
			from = to
		}
		for i := range n {
			if !one.Full() {
				added++
			}
			one.Add(texts.At(i))
		}
		require.Equal(t, added, some.AddSome(texts))
		require.Equal(t, n == 70, added < n)
		require.Equal(t, one.Len(), all.Len())
		require.Equal(t, added+1, some.Len())
		require.Equal(t, one.Bytes(), all.Bytes())
		for i := range uint64(one.Len()) {
			require.True(t, bytes.Equal(one.At(i), all.At(i)))
			require.True(t, i > uint64(added) || bytes.Equal(one.At(i), some.At(i)))
		}
	}
}

// Texts that were removed from a list are not added, and its memory is used again.
func TestTextListTruncate(t *testing.T) {
	var list TextList
	for range 3 {
		for _, text := range []string{"", "a", "", "bcd", "e"} {
			list.Add([]byte(text))
		}
		list.Truncate(7)
		require.Equal(t, 5, list.Len())
		list.Truncate(4)
		list.Add([]byte("f"))
		var a Arena
		require.Zero(t, a.AddList(&list, 1, 5))
		for i, text := range []string{"a", "", "bcd", "f"} {
			require.Equal(t, text, string(a.At(uint64(i))))
		}
		list.Truncate(0)
		require.Zero(t, list.Len())
	}
}

// An empty text at the very end of a block has a place, and so do texts in a block that was made for a longer one.
func TestArenaAddListAtEnds(t *testing.T) {
	text := []byte(strings.Repeat("0123456789abcdef", 5<<20/16))
	var all Arena
	all.Add(text) // in a block of its own
	all.Reset()
	for _, n := range []int{fullBlock - 1, 1, 1 << 20, 7, 1 << 20, fullBlock} {
		parts := [][]byte{{}, text[:n/2], text[n/2 : n], {}}
		var list TextList
		for _, part := range parts {
			list.Add(part)
		}
		first := all.AddList(&list, 0, 4)
		for i, part := range parts {
			require.Equal(t, string(part), string(all.At(first+uint64(i))))
		}
	}
}
