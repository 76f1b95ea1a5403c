package outfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/outfile"
)

var formats = map[string]outfile.Format{"t.parquet": outfile.Parquet, "t.arrow": outfile.Arrow,
	"t.arrows": outfile.ArrowStream}

// words of a type, its least and its greatest among them.
func words(t *testing.T, typ keytype.Type, n int) (all []uint64) {
	if typ == keytype.Text {
		for i := range n {
			all = append(all, uint64((i+7)%n))
		}
		return all
	}
	lo, hi, err := typ.ParseRange(":")
	require.NoError(t, err)
	zero, err := typ.FromInt(0)
	require.NoError(t, err)
	all = []uint64{lo.Word, zero, hi.Word}
	for i := range uint64(n) {
		most := uint64(1)<<typ.Width().Bits() - 1
		all = append(all, (zero-7*i)&most, (zero+7*i)&most)
	}
	return all[:n]
}

// What is written is read back by package input, of every pair of types and in several parts.
func TestReadsBack(t *testing.T) {
	for name, format := range formats {
		for i := range keytype.Types.Names() {
			for j := range keytype.Types.Names() {
				c := outfile.Columns{Key: keytype.Type(i), Value: keytype.Type(j), KeyTexts: named("key"),
					ValueTexts: named("Wert äöü\x00")}
				keys, values := words(t, c.Key, 300), words(t, c.Value, 300)
				var out bytes.Buffer
				w, err := outfile.NewWriter(&out, format, c)
				require.NoError(t, err)
				for _, part := range [][2]int{{0, 100}, {100, 100}, {100, 299}, {299, 300}} {
					require.NoError(t, w.Write(keys[part[0]:part[1]], values[part[0]:part[1]]))
				}
				require.NoError(t, w.Close())
				gotKeys, gotValues := read(t, name, out.Bytes(), c)
				of := fmt.Sprintf("%s of %s and %s", name, c.Key, c.Value)
				require.Equal(t, shown(c.Key, c.KeyTexts, keys), gotKeys, of)
				require.Equal(t, shown(c.Value, c.ValueTexts, values), gotValues, of)
			}
		}
	}
}

// named are 300 texts, the first of them empty.
func named(what string) *keytype.Arena {
	var a keytype.Arena
	for i := range 300 {
		a.AddString(strings.Repeat(what, i%9) + strconv.Itoa(i)[:min(i, 1)])
	}
	return &a
}

// shown are words as people read them.
func shown(t keytype.Type, a *keytype.Arena, words []uint64) (all []string) {
	for _, w := range words {
		if t == keytype.Text {
			all = append(all, string(a.At(w)))
		} else {
			all = append(all, t.Format(w))
		}
	}
	return all
}

// Strings are UTF-8: what isn't is refused.
func TestNotUTF8(t *testing.T) {
	for name, format := range formats {
		c := outfile.Columns{Key: keytype.Text, KeyTexts: named("\xff")}
		w, err := outfile.NewWriter(io.Discard, format, c)
		require.NoError(t, err)
		require.NoError(t, w.Write([]uint64{0}, []uint64{0}))
		require.ErrorIs(t, w.Write([]uint64{1}, []uint64{0}), outfile.ErrNotUTF8, name)
	}
}

func read(t *testing.T, name string, data []byte, c outfile.Columns) (keys, values []string) {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, err := input.Open(context.Background(), path,
		input.Options{Columns: []input.Column{{Name: "key", Type: c.Key}, {Name: "value", Type: c.Value}}})
	require.NoError(t, err)
	defer r.Close()
	first, second := make([]uint64, 1000), make([]uint64, 1000)
	n, err := r.Read(first, second)
	keys, values = shown(c.Key, r.Texts()[0], first[:n]), shown(c.Value, r.Texts()[1], second[:n])
	if err == io.EOF {
		return nil, nil
	}
	require.NoError(t, err)
	more, err := r.Read(make([]uint64, 1), make([]uint64, 1))
	require.Equal(t, io.EOF, err)
	require.Zero(t, more)
	require.Zero(t, r.Skipped())
	return keys, values
}

// A table without rows is one, too.
func TestNoPairs(t *testing.T) {
	for name, format := range formats {
		var out bytes.Buffer
		w, err := outfile.NewWriter(&out, format, outfile.Columns{})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		keys, _ := read(t, name, out.Bytes(), outfile.Columns{})
		assert.Empty(t, keys, name)
	}
}

var errFull = errors.New("the disk is full")

// full takes so many bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	if f.left -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

// Wherever the writing fails, the error is the writer's own.
func TestFullDisk(t *testing.T) {
	keys := make([]uint64, 1000)
	for i := range keys {
		keys[i] = uint64(i)
	}
	for name, format := range formats {
		write := func(room int) error {
			w, err := outfile.NewWriter(&full{room}, format, outfile.Columns{})
			if err != nil {
				return err
			}
			return errors.Join(w.Write(keys, keys), w.Close())
		}
		var whole bytes.Buffer
		w, err := outfile.NewWriter(&whole, format, outfile.Columns{})
		require.NoError(t, err)
		require.NoError(t, w.Write(keys, keys))
		require.NoError(t, w.Close())
		require.NoError(t, write(whole.Len()), name)
		for room := 0; room < whole.Len(); room += 1 + room/16 {
			require.ErrorIs(t, write(room), errFull, fmt.Sprint(name, room))
		}
	}
}
