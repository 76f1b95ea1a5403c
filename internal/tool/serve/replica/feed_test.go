package replica

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// replay returns the pairs that a file of changes makes, and checks its numbers.
func replay(t *testing.T, path string) (pairs map[string]string, last uint64) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"change", "op", "key", "value"}, lines[0])
	pairs = map[string]string{}
	for _, l := range lines[1:] {
		number, err := strconv.ParseUint(l[0], 10, 64)
		require.NoError(t, err)
		switch {
		case l[1] == "begin":
			require.Equal(t, lines[1], l, "the name of the file")
			clear(pairs)
			last = 0
		case l[1] == "last":
			require.Zero(t, last)
			last = number
		case number == 0:
			require.Zero(t, last)
			require.Equal(t, "set", l[1])
			pairs[l[2]] = l[3]
		default:
			require.Equal(t, last+1, number)
			last = number
			if pairs[l[2]] = l[3]; l[1] == "delete" {
				delete(pairs, l[2])
			} else {
				require.Equal(t, "set", l[1])
			}
		}
	}
	return pairs, last
}

// However a member ends, and whatever the disk has lost of the file that it had not been told to keep, the file has all
// changes in the end, each once. One that is away, or lacks what the log no longer has, begins anew.
func TestFeed(t *testing.T) {
	t.Run("numbers", func(t *testing.T) { testFeed(t, integers) })
	t.Run("texts", func(t *testing.T) { testFeed(t, Types{keytype.Text, keytype.Text}) })
}

func testFeed(t *testing.T, types Types) {
	x := wording{types}
	path := filepath.Join(t.TempDir(), "changes.csv")
	o := Options{Dir: t.TempDir(), Types: types, Changes: path}
	var whole []byte
	for round := range 15 {
		n := open(t, o)
		lead(t, n)
		all, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(all, whole), "round %d", round)
		whole = nil
		place, err := n.log.recall(feedKey) // what a crash leaves
		require.NoError(t, err)
		for range 20 {
			var ops []Op
			for range 1 + rand.IntN(20) {
				op := set(1<<63+rand.Uint64N(50), 1<<63+rand.Uint64N(3))
				if types.text() && rand.IntN(20) == 0 { // keyText(0) is empty
					op.Key = 0
				}
				if rand.IntN(3) == 0 {
					op = Op{Kind: Delete, Key: op.Key}
				}
				ops = append(ops, op)
			}
			_, err := n.Write(x.texts(ops))
			require.NoError(t, err)
			if rand.IntN(30) == 0 {
				require.NoError(t, n.Compact())
				place, err = n.log.recall(feedKey)
				require.NoError(t, err)
			}
		}
		want, number := map[string]string{}, n.state.changes.last()
		for p, err := range n.state.pairs.All(t.Context()) {
			require.NoError(t, err)
			r := n.state.record(p.Key)
			key := string(appendField(nil, types.Key, p.Key, r.Key))
			want[key] = string(appendField(nil, types.Value, p.Value, r.Value))
		}
		require.NoError(t, n.Close())
		got, last := replay(t, path)
		if types.text() {
			got = quoted(got)
		}
		require.Equal(t, want, got)
		require.Equal(t, number, last)
		all, err = os.ReadFile(path)
		require.NoError(t, err)
		kept := int(binary.LittleEndian.Uint64(place[8:]))
		lost := kept + rand.IntN(len(all)-kept+1)
		switch round % 5 {
		case 0: // it ended in peace
			whole = all
		case 1: // the end is lost
			whole = all
			require.NoError(t, os.Truncate(path, int64(lost)))
			forget(t, o.Dir, place)
		case 2: // what is before the end is lost
			whole = bytes.Clone(all)
			clear(all[lost : lost+(len(all)-lost)/2])
			require.NoError(t, os.WriteFile(path, all, 0o600))
			forget(t, o.Dir, place)
		case 3: // changes while there is no file
			o.Changes = ""
			n := open(t, o)
			lead(t, n)
			_, err := n.Write(x.texts([]Op{set(1<<63, 1<<63+uint64(round)+10)}))
			require.NoError(t, err)
			if round > 5 {
				require.NoError(t, n.Compact())
			}
			require.NoError(t, n.Close())
			o.Changes = path
		default:
			require.NoError(t, os.Remove(path))
		}
	}
}

func quoted(pairs map[string]string) map[string]string {
	all := map[string]string{}
	for k, v := range pairs {
		all[`"`+k+`"`] = `"` + v + `"`
	}
	return all
}

// An empty text in the file is told from nothing, by readers of CSV that don't tell quotes, and a text has its bytes.
func TestFeedOfTexts(t *testing.T) {
	f := &feed{types: Types{keytype.Text, keytype.Text}}
	var file bytes.Buffer
	f.w = bufio.NewWriter(&file)
	require.NoError(t, f.write([]Change{{Text: &Record{"", "\x00,\"\n"}}, {Text: &Record{"\"", ""}},
		{Text: &Record{Key: ""}, Deleted: true}}, 3))
	require.Equal(t, "1,set,\"\",\"\x00,\"\"\n\"\n2,set,\"\"\"\",\"\"\n3,delete,\"\",\n", file.String())
}

// forget makes a folder remember another place in the file.
func forget(t *testing.T, dir string, place []byte) {
	l, err := openLog(filepath.Join(dir, "log.db"))
	require.NoError(t, err)
	require.NoError(t, l.Set(feedKey, place))
	require.NoError(t, l.Close())
}

// Only one server at a time writes a file, and only one that knows all that is in it.
func TestFeedOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "changes.csv")
	one := Options{Dir: t.TempDir(), Types: integers, Changes: path}
	two := Options{Dir: t.TempDir(), Types: integers, Changes: path}
	write := func(o Options, values ...uint64) {
		n := open(t, o)
		lead(t, n)
		for _, v := range values {
			_, err := n.Write([]Op{set(1<<63, 1<<63+v)}, nil)
			require.NoError(t, err)
		}
		require.NoError(t, n.Close())
	}
	refused := func(o Options, because string) {
		t.Helper()
		before, err := os.ReadFile(o.Changes)
		if err == nil {
			defer func() {
				after, err := os.ReadFile(o.Changes)
				require.NoError(t, err)
				require.Equal(t, before, after)
			}()
		}
		_, err = Open(t.Context(), o)
		require.ErrorContains(t, err, because)
		require.ErrorContains(t, err, "--changes "+o.Changes)
	}
	write(one, 1, 2, 3)
	refused(two, "not the file that this folder has written last: move it away")
	require.NoError(t, os.Remove(path))
	write(two, 11, 12, 13, 14, 15, 16, 17)
	refused(one, "not the file that this folder has written last")

	n := open(t, two)
	refused(Options{Dir: t.TempDir(), Types: integers, Changes: path}, "another process has it open")
	require.NoError(t, n.Close())

	other := two // from one file to another, and back
	other.Changes = path + "2"
	write(other, 18)
	refused(two, "not the file that this folder has written last")
	require.NoError(t, os.Rename(path+"2", path))
	write(two, 19)
	got, last := replay(t, path)
	require.Equal(t, map[string]string{"0": "19"}, got)
	require.EqualValues(t, 9, last)
	require.NoError(t, os.Truncate(path, 60))
	refused(two, "it has 60 bytes of the ")

	two.Changes = os.DevNull
	_, err := Open(t.Context(), two)
	require.ErrorContains(t, err, "it is no regular file")
}
