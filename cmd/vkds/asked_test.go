package main

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/input"
	"github.com/vkds/vkds/internal/keytype"
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
				var err error
				if what == "keys" {
					err = a.keys(keytype.Uint32, func(part []uint64) error {
						got = append(got, part...)
						return nil
					})
				} else {
					err = a.ranges(keytype.Uint32, func(part []keyRange) error {
						for _, r := range part {
							got = append(got, r.Lo, r.Hi)
						}
						return nil
					})
				}
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
