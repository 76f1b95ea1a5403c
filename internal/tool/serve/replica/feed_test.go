package replica

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// replay returns the pairs that a file of changes makes, and checks its numbers.
func replay(t *testing.T, path string) (pairs map[string]string, last uint64) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"change", "key", "value"}, lines[0])
	pairs = map[string]string{}
	for _, l := range lines[1:] {
		number, err := strconv.ParseUint(l[0], 10, 64)
		require.NoError(t, err)
		switch {
		case number == 0 && l[1] == "":
			clear(pairs)
			last = 0
		case number == 0:
			require.Zero(t, last)
			pairs[l[1]] = l[2]
		case l[1] == "":
			require.Zero(t, last)
			last = number
		default:
			require.Equal(t, last+1, number)
			last = number
			if pairs[l[1]] = l[2]; l[2] == "" {
				delete(pairs, l[1])
			}
		}
	}
	return pairs, last
}

// However a member ends, and whatever the end of its file loses that no snapshot has, the file has all changes in the
// end, each once. One that lacks what the log no longer has begins anew.
func TestFeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "changes.csv")
	o := Options{Dir: t.TempDir(), Types: integers, Changes: path}
	kept := int64(len(feedHead)) // what the disk must have of the file
	var whole []byte
	for round := range 12 {
		n := open(t, o)
		lead(t, n)
		all, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(all, whole), "round %d", round)
		if whole == nil {
			kept = int64(len(all)) // it may have begun anew
		}
		whole = nil
		for range 20 {
			var ops []Op
			for range 1 + rand.IntN(20) {
				op := set(1<<63+rand.Uint64N(50), 1<<63+rand.Uint64N(3))
				if rand.IntN(3) == 0 {
					op = Op{Kind: Delete, Key: op.Key}
				}
				ops = append(ops, op)
			}
			_, err := n.Write(ops)
			require.NoError(t, err)
			if rand.IntN(30) == 0 {
				require.NoError(t, n.Compact())
				info, err := os.Stat(path)
				require.NoError(t, err)
				kept = info.Size()
			}
		}
		want, number := map[string]string{}, n.state.changes.last()
		for p, err := range n.state.pairs.All(t.Context()) {
			require.NoError(t, err)
			want[integers.Key.Format(p.Key)] = integers.Value.Format(p.Value)
		}
		require.NoError(t, n.Close())
		got, last := replay(t, path)
		require.Equal(t, want, got)
		require.Equal(t, number, last)
		all, err = os.ReadFile(path)
		require.NoError(t, err)
		switch size := int64(len(all)); round % 4 {
		case 0, 1: // a part that the disk need not have had: it comes again, the same
			whole = all
			require.NoError(t, os.Truncate(path, kept+rand.Int64N(size-kept+1)))
		case 2: // more than that
			require.NoError(t, os.Truncate(path, int64(len(feedHead))+rand.Int64N(size-int64(len(feedHead))+1)))
		default:
			require.NoError(t, os.Remove(path))
		}
	}
	require.NoError(t, os.WriteFile(path+"2", []byte("a,b\n"), 0o600))
	o.Changes = path + "2"
	_, err := Open(t.Context(), o)
	require.ErrorContains(t, err, "is not empty")
}
