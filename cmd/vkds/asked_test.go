package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// A file of more than is read ahead comes whole and in its order, whether or not something was read ahead.
func TestAskedInParts(t *testing.T) {
	for _, n := range []int{0, 2, 2 * batchLength, 2*batchLength + 6} {
		words, data := make([]uint64, n), []byte{}
		for i := range words {
			words[i] = uint64(uint32(i) * 2654435761)
			data = binary.LittleEndian.AppendUint32(data, uint32(words[i]))
		}
		path := filepath.Join(t.TempDir(), "keys")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		for _, what := range []string{"keys", "ranges"} {
			for _, ahead := range []bool{false, true} {
				a := asked{global: &global{out: io.Discard, err: io.Discard}, ctx: context.Background(),
					flags: &pflag.FlagSet{}, what: what, path: path,
					options: input.Options{Format: input.U32LE}}
				if ahead {
					require.NoError(t, a.begin(asking(keytype.Uint32)))
				}
				got := []uint64{}
				err := a.read(keytype.Uint32, func(b batch) error {
					for i, k := range b.keys {
						if got = append(got, k); what == "ranges" {
							got = append(got, b.values[i])
						}
					}
					return nil
				})
				require.NoError(t, err)
				a.close()
				require.Len(t, got, n)
				for i, w := range got {
					if w != words[i] {
						t.Fatalf("%s, %v: word %d is %d, want %d", what, ahead, i, w, words[i])
					}
				}
			}
		}
	}
}

// What is asked is read once where the keys are of the type that they were taken for, and else once more.
func TestAskedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte("id\n1\n-5\n5000000000\n"), 0o600))
	for _, c := range []struct {
		arguments  []string
		taken, is  keytype.Type
		names, end int // how often the line of names was told of; the last key
	}{
		{nil, keytype.Uint32, keytype.Uint32, 1, 5000000000},
		{nil, keytype.Uint32, keytype.Int64, 2, 5000000000},
		{[]string{"1", "-5", "7"}, keytype.Uint32, keytype.Uint32, 0, 7},
		{[]string{"1", "-5", "7"}, keytype.Uint32, keytype.Int32, 0, 7},
	} {
		var notes bytes.Buffer
		a := asked{global: &global{out: io.Discard, err: &notes, verbose: true}, ctx: context.Background(),
			flags: &pflag.FlagSet{}, what: "keys", path: path, arguments: c.arguments,
			options: input.Options{Otherwise: input.Text}}
		require.NoError(t, a.begin(asking(c.taken)))
		var got []string
		require.NoError(t, a.read(c.is, func(b batch) error {
			for _, k := range b.keys {
				got = append(got, b.types[0].Format(k))
			}
			return nil
		}))
		a.close()
		require.Equal(t, []string{"1", "-5", strconv.Itoa(c.end)}, got)
		require.Equal(t, c.names, strings.Count(notes.String(), "taken for a name"), notes.String())
	}
}
