package main_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"context"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/vk"
)

// saved writes a dictionary as no build would.
func saved(t *testing.T, h dictfile.Header, keys, values []uint64) string {
	path := filepath.Join(t.TempDir(), "d.vkds")
	h.Pairs = int64(len(keys))
	w, err := dictfile.Create(t.Context(), path, h)
	require.NoError(t, err)
	require.NoError(t, w.Write(keys, values))
	require.NoError(t, w.Close())
	return path
}

// holds is what a saved dictionary of a few pairs has.
func holds(t *testing.T, path string) map[uint64]uint64 {
	r, err := dictfile.Open(t.Context(), path)
	require.NoError(t, err)
	defer r.Close()
	keys, values := make([]uint64, 100), make([]uint64, 100)
	n, err := r.Read(keys, values)
	require.NoError(t, err)
	require.Less(t, n, len(keys), "more than a few")
	pairs := map[uint64]uint64{}
	for i, k := range keys[:n] {
		pairs[k] = values[i]
	}
	return pairs
}

// A saved dictionary comes from wherever tables come from.
func TestSavedThroughPipe(t *testing.T) {
	hostSuffices(t)
	dict := saved(t, dictfile.Header{Structure: "slabhash", KeyType: "i32"}, []uint64{1 << 31, 1<<31 + 1},
		[]uint64{10, 11})
	text, err := os.ReadFile(dict)
	require.NoError(t, err)
	out, _ := answer(t, string(text), "get", "-", "0", "1", "2")
	assert.Equal(t, "key,value\n0,10\n1,11\n2,\n", out)
	assert.Equal(t, "standard input: must be an uncompressed regular file", refusal(t, string(text), "verify", "-"))
	assert.Contains(t, refusal(t, string(text[:len(text)-1]), "get", "-", "0"), "standard input: ends too early")
	assert.Equal(t, dict+":1: looks like a saved dictionary, not like text", refusal(t, "", "tally", dict))
	assert.Equal(t, dict+": looks like a saved dictionary, not like values of 4 bytes",
		refusal(t, "", "tally", dict, "--format", "u32le"))
	assert.Equal(t, `"": is not the name of a file`, refusal(t, "", "get", "", "1"))
}

// What no build writes is refused by whatever loads it.
func TestSavedNonsense(t *testing.T) {
	needDevice(t)
	for _, structure := range known {
		dict := saved(t, dictfile.Header{Structure: structure}, []uint64{1, 2, 1, 3, 1}, []uint64{10, 20, 30, 40, 50})
		assert.Equal(t, dict+": is corrupt: 2 of its pairs have a key that others have, too",
			refusal(t, "", "get", dict, "1"), structure)
	}
	for parameter, structure := range map[string]string{"load": "slabhash", "fill": "btree", "batch": "lsm"} {
		for _, value := range []float64{-1, 0, 1e-300, 1e300} {
			dict := saved(t, dictfile.Header{Structure: structure, Parameters: map[string]float64{parameter: value}},
				[]uint64{1}, []uint64{2})
			said := refusal(t, "", "get", dict, "1")
			assert.Contains(t, said, fmt.Sprintf("%s: a %s of %g makes no sense for %s", dict, parameter, value,
				structure))
		}
	}
}

// Binary keys are values of the keys' type, in tally and among the keys asked for,
// and JSON stays JSON whatever the words.
func TestBinaryKeysAndJSON(t *testing.T) {
	hostSuffices(t)
	five := "\x05\x00\x00\x00"
	minus := "\xfb\xff\xff\xff"
	out, _ := answer(t, five+minus+five, "tally", "-", "--format", "u32le", "--type", "i32")
	assert.Equal(t, "key,count\n5,2\n-5,1\n", out)
	table := write(t, "t.csv", "5,10\n-5,20\n")
	out, _ = answer(t, five+minus, "get", table, "--key-type", "i32", "--keys-format", "u32le")
	assert.Equal(t, "key,value\n5,10\n-5,20\n", out)
	out, _ = answer(t, minus+five, "count", table, "--key-type", "i32", "--keys-format", "u32le")
	assert.Equal(t, "lo,hi,count\n-5,5,2\n", out)

	var floats []byte
	for _, bits := range []uint64{0x3f800000, 0x7f800000, 0x7fc00000} { // 1, infinite, none
		floats = binary.LittleEndian.AppendUint32(floats, uint32(bits))
	}
	assert.Equal(t, "standard input: row 3: column 1: NaN has no place in an order",
		refusal(t, string(floats), "tally", "-", "--format", "u32le", "--type", "f32", "--json"))
	out, _ = answer(t, string(floats), "tally", "-", "--format", "u32le", "--type", "f32", "--json", "--skip-invalid")
	assert.Equal(t, `{"key":1,"count":1}`+"\n"+`{"key":"+Inf","count":1}`+"\n", out)

	// Words that are no float's, as only another program may save.
	dict := saved(t, dictfile.Header{Structure: "sortedarray", KeyType: "f32", ValueType: "f32"},
		[]uint64{0, 0xffffffff}, []uint64{0xffffffff, 0})
	for _, arguments := range [][]string{{"range", "--", "-inf:inf"}, {"get", "1"}, {"successor", "inf"},
		{"predecessor", "--", "-inf"}, {"count", "1:2"}, {"stats"}} {
		out, _ := answer(t, "", append([]string{arguments[0], dict, "--json"}, arguments[1:]...)...)
		values := json.NewDecoder(strings.NewReader(out))
		for values.More() {
			var value map[string]any
			require.NoError(t, values.Decode(&value), "%v: %s", arguments, out)
		}
	}
	out, _ = answer(t, "", "successor", dict, "--json", "inf")
	assert.Equal(t, `{"key":"+Inf","found":"NaN","value":"NaN"}`+"\n", out)
	// An empty dictionary has statistics, too.
	for _, structure := range known {
		out, _ := answer(t, "", "stats", "-", "--structure", structure, "--json")
		assert.True(t, json.Valid([]byte(out)), "%s: %s", structure, out)
	}
}

// What a Go program has saved the tool opens, a set's keys with values of 0; and the other way round.
func TestSavedByAProgram(t *testing.T) {
	needDevice(t)
	d, err := vk.Open(vk.Options{})
	require.NoError(t, err)
	defer d.Close()
	tree, err := btree.Build(t.Context(), d, []uint32{5, 3}, []uint32{50, 30}, btree.Options{Fill: 0.9})
	require.NoError(t, err)
	defer tree.Close()
	set, err := slabhash.BuildSet(t.Context(), d, []uint64{7 << 40}, slabhash.Options{})
	require.NoError(t, err)
	defer set.Close()
	signed, err := slabhash.Build(t.Context(), d, []int64{-5}, []int32{-1 << 31}, slabhash.Options{})
	require.NoError(t, err)
	defer signed.Close()
	floats, err := lsm.Build(t.Context(), d, []float64{-1.5}, []float32{2.25}, lsm.Options{})
	require.NoError(t, err)
	defer floats.Close()
	for want, s := range map[string]interface {
		Save(ctx context.Context, w io.Writer) (int64, error)
	}{"3,30\n5,50\n": tree, "7696581394432,0\n": set,
		"-5,-2147483648\n": signed, "-1.5,2.25\n": floats} {
		path := filepath.Join(t.TempDir(), "d.vkds")
		f, err := os.Create(path)
		require.NoError(t, err)
		_, err = s.Save(t.Context(), f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		out, _ := answer(t, "", "dump", path)
		assert.Equal(t, "key,value\n"+want, out)
		answer(t, "", "verify", path)
	}

	path := filepath.Join(t.TempDir(), "built.vkds")
	answer(t, "", "build", write(t, "t.csv", "5,50\n3,30\n"), "--structure", "lsm", "--batch", "64", "-o", path)
	loads(t, d, path, []uint32{3, 5}, []uint32{30, 50})
	answer(t, "", "build", write(t, "t.csv", "-5,10\n3,20\n9,-30\n"), "-o", path)
	loads(t, d, path, []int32{-5, 3, 9}, []int32{10, 20, -30})
	loads(t, d, path, []int64{-5, 3, 9}, []int64{10, 20, -30})
	var refused *structures.TypeError
	_, err = loadTree[uint32, uint32](t, d, path)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, structures.TypeError{What: "keys", Saved: "int32", Loaded: "uint32"}, *refused)

	// What only the tool has is numbers for a program: times are nanoseconds or seconds, addresses their bits.
	for _, c := range []struct {
		kind string
		text string
		key  int64
	}{
		{"time", "2014-07-01 00:00:01.5", 1404172801_500_000_000}, {"time", "2014-07-01 00:00:01", 1404172801},
		{"hex", "0x1f600", 0x1f600}, {"ip", "8.8.8.8", 0x08080808}, {"f32", "0.5", 0},
	} {
		answer(t, "", "build", write(t, "t.csv", c.text+",-6\n"), "--key-type", c.kind, "-o", path)
		if c.kind == "f32" {
			loads(t, d, path, []float64{0.5}, []int32{-6})
			continue
		}
		loads(t, d, path, []int64{c.key}, []int64{-6})
	}
}

func loadTree[K, V structures.Number](t *testing.T, d *vk.Device, path string) (*btree.Tree[K, V], error) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	return btree.Load[K, V](t.Context(), d, f, btree.Options{})
}

// loads requires that a program that loads a file has these pairs.
func loads[K, V structures.Number](t *testing.T, d *vk.Device, path string, keys []K, values []V) {
	x, err := loadTree[K, V](t, d, path)
	require.NoError(t, err)
	defer x.Close()
	gotKeys, gotValues, err := numbers.All(t.Context(), x)
	require.NoError(t, err)
	assert.Equal(t, keys, gotKeys)
	assert.Equal(t, values, gotValues)
}

// An earlier version of the library named no types: that is said, and the numbers are unsigned.
func TestSavedWithoutTypes(t *testing.T) {
	needDevice(t)
	out, notes := answer(t, "", "get", filepath.Join("..", "..", "internal", "engine", "saved", "testdata", "v3.vkds"),
		"4294967295")
	assert.Equal(t, "key,value\n4294967295,0\n", out)
	assert.Contains(t, notes, "v3.vkds was saved by an earlier version, which named no types: its keys and values are "+
		"read as unsigned integers\n")
}
