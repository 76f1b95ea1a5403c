package keytype

import (
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

// AddAll adds what Add adds, until the arena is full.
func TestArenaAddAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 3<<20)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	for k, n := range []int{0, 1, 70, 40_000, 40_000, 300_000} {
		var ends []uint32
		for at := uint32(0); len(ends) < 2*n && at < uint32(len(text)); { // close together, or not
			end := min(at+random.Uint32N(300)>>random.Uint32N(9), uint32(len(text)))
			ends = append(ends, at, end)
			at = end + uint32(k%2)*random.Uint32N(200)
		}
		n := len(ends) / 2
		if k == 5 { // too much
			text = append(text, text...)
			for range 25 {
				ends = append(ends, 0, uint32(len(text)))
			}
			n += 25
		}
		var all, one Arena
		all.Add([]byte("first"))
		one.Add([]byte("first"))
		added := all.AddAll(text, ends)
		for i := 0; i < n && !one.Full(); i++ {
			one.Add(text[ends[2*i]:ends[2*i+1]])
		}
		var some Arena
		numbers := []uint64{}
		for i := range n {
			numbers = append(numbers, uint64(i))
		}
		some.Add([]byte("first"))
		require.Equal(t, added, some.AddSome(Some{arenaOf(text, ends), numbers}))
		for i := range uint64(some.Len()) {
			require.Equal(t, one.At(i), some.At(i))
		}
		require.Equal(t, one.Len(), added+1)
		require.Equal(t, one.Bytes(), all.Bytes())
		for i := range uint64(one.Len()) {
			require.Equal(t, one.At(i), all.At(i))
		}
	}
}

func arenaOf(text []byte, ends []uint32) *Arena {
	var all Arena
	for i := 0; i < len(ends); i += 2 {
		all.Add(text[ends[i]:ends[i+1]])
	}
	return &all
}

// An empty text at the very end of a block has a place, and so do texts in a block that was made for a longer one.
func TestArenaAddAllAtEnds(t *testing.T) {
	text := []byte(strings.Repeat("0123456789abcdef", 5<<20/16))
	var all Arena
	all.Add(text) // in a block of its own
	all.Reset()
	for _, n := range []uint32{fullBlock - 1, 1, 1 << 20, 7, 1 << 20, fullBlock} {
		first := all.Len()
		ends := []uint32{0, 0, 0, n / 2, n / 2, n, n, n}
		require.Equal(t, 4, all.AddAll(text, ends))
		for i := range 4 {
			require.Equal(t, string(text[ends[2*i]:ends[2*i+1]]), string(all.At(uint64(first+i))))
		}
	}
}
