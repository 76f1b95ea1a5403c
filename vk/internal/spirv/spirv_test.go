package spirv

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	code, err := os.ReadFile("../../testdata/" + name + ".spv")
	require.NoError(t, err)
	return code
}

func TestParse(t *testing.T) {
	m, err := Parse(read(t, "scale"))
	require.NoError(t, err)
	require.Equal(t, "main", m.Entry)
	require.NotContains(t, m.Capabilities, uint32(CapabilityInt64))
	require.Equal(t, [3]Size{{Value: 1, Specialized: true}, {Value: 1}, {Value: 1}}, m.LocalSize)
	require.Contains(t, m.Constants, Constant{"FACTOR", 7, 32, 1})
	require.Contains(t, m.Constants, Constant{"WORKGROUP", 0, 32, 64})
	require.Equal(t, 24, m.PushBytes)
	require.Equal(t, []Word{{0, "x", Integer}, {4, "x", Integer}, {8, "y", Integer}, {12, "y", Integer},
		{16, "count", Integer}, {20, "add", Integer}}, m.Push)

	m, err = Parse(read(t, "subgroup"))
	require.NoError(t, err)
	require.True(t, m.LocalSize[0].Specialized)
	require.EqualValues(t, 3, m.LocalSize[0].ID)

	m, err = Parse(read(t, "atomic64"))
	require.NoError(t, err)
	require.Subset(t, m.Capabilities, []uint32{CapabilityInt64, CapabilityInt64Atomics})
	require.Equal(t, []Word{{0, "total", Low}, {4, "total", High}, {8, "steps[0]", Low}, {12, "steps[0]", High},
		{16, "steps[1]", Low}, {20, "steps[1]", High}, {24, "unused", Float}}, m.Push)
	require.Equal(t, Size{Value: 64}, m.LocalSize[0])

	m, err = Parse(read(t, "plain"))
	require.NoError(t, err)
	require.Empty(t, m.Push)
	require.Empty(t, m.Constants)
	require.EqualValues(t, 32, m.LocalSize[0].Value)
}

// FuzzParse checks that Parse returns for any bytes.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"scale", "subgroup", "atomic64", "plain", "spin"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		m, err := Parse(code)
		if err == nil {
			require.NotEmpty(t, code)
			require.LessOrEqual(t, len(m.Push)*4, 4*1024*1024)
		}
	})
}

// TestDamage cuts modules at every word, and replaces every word by wrong numbers.
func TestDamage(t *testing.T) {
	for _, name := range []string{"scale", "atomic64"} {
		code := read(t, name)
		for at := 0; at < len(code); at += 4 {
			_, err := Parse(code[:at])
			require.Error(t, err, "%s cut at %d", name, at)
			for _, wild := range []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x00010000,
				binary.LittleEndian.Uint32(code[at:]) + 1} {
				damaged := append([]byte(nil), code...)
				binary.LittleEndian.PutUint32(damaged[at:], wild)
				Parse(damaged) // with or without an error, it must return and allocate little memory
			}
		}
	}
}
