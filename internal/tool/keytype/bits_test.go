package keytype_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

func TestBits(t *testing.T) {
	minusOne, err := keytype.Int32.Parse("-1")
	require.NoError(t, err)
	assert.Equal(t, uint64(math.MaxUint32), keytype.Int32.Bits(minusOne))
	half, err := keytype.Float32.Parse("-0.5")
	require.NoError(t, err)
	assert.Equal(t, uint64(math.Float32bits(-0.5)), keytype.Float32.Bits(half))
	rapid.Check(t, func(t *rapid.T) {
		typ := keytype.Type(rapid.IntRange(0, len(keytype.Types.Names())-1).Draw(t, "type"))
		bits := rapid.Uint64().Draw(t, "bits")
		if typ.Width() == structures.Bits32 {
			bits &= math.MaxUint32
		}
		w, err := typ.FromBits(bits)
		if err != nil {
			t.Skip("not a number")
		}
		if back, err := typ.FromBits(typ.Bits(w)); err != nil || back != w {
			t.Fatalf("%s: %#x became %#x", typ, w, back)
		}
	})
}

func TestHex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Uint64().Draw(t, "word") >> rapid.IntRange(0, 63).Draw(t, "shift")
		assert.Equal(t, fmt.Sprintf("0x%04x", w), keytype.Hex64.Format(w))
	})
}
