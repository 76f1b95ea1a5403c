package keytype

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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
	none, _ := Joined(nil)
	assert.Zero(t, none.AddString("first"))
}
