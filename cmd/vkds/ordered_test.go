package main_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/stress"
)

// orderedStructures are those of the ordered commands, and known all of them.
var (
	orderedStructures = []string{"sortedarray", "lsm", "btree"}
	known             = append([]string{"slabhash"}, orderedStructures...)
)

func TestOrderedCommands(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "id,name,size\n10,a,1\n4294967295,b,20\n3,c,0\n10,d,11\n0,e,5\n")
	on := func(structure, command string, arguments ...string) string {
		out, _ := answer(t, "", append([]string{command, path, "--key", "id", "--value", "size", "--structure",
			structure}, arguments...)...)
		return out
	}
	for _, s := range orderedStructures {
		assert.Equal(t, "key,value\n3,0\n10,11\n0,5\n3,0\n10,11\n4294967295,20\n10,11\n",
			on(s, "range", "1:10", "10:1", "0:4294967295", "0xa:0xA", "11:4294967294"), s)
	}
	s := "sortedarray"
	assert.Equal(t, "key,value\n10,11\n4294967295,20\n0,5\n3,0\n0,5\n3,0\n10,11\n4294967295,20\n",
		on(s, "range", "4:", ":3", ":"))
	assert.Equal(t, "lo,hi,count\n4,4294967295,2\n0,3,2\n0,4294967295,4\n", on(s, "count", "4:", ":3", ":"))
	assert.Equal(t, "lo,hi,count\n1,10,2\n10,1,0\n0,4294967295,4\n", on(s, "count", "1:10", "10:1", "0:4294967295"))
	assert.Equal(t, "key,found,value\n0,3,0\n3,10,11\n4294967295,,\n", on(s, "successor", "0", "3", "4294967295"))
	assert.Equal(t, "key,found,value\n0,,\n3,0,5\n4294967295,10,11\n", on(s, "predecessor", "0", "3", "4294967295"))
	assert.Equal(t, "key,found,value\n0,0,5\n9,3,0\n", on(s, "floor", "0", "9"))
	assert.Equal(t, "key,found,value\n4,10,11\n4294967295,4294967295,20\n", on(s, "ceil", "4", "4294967295"))
	assert.Equal(t, "key,value\n10,11\n4,\n", on("lsm", "get", "10", "4"))
	assert.Equal(t, `{"key":3,"value":0}`+"\n"+`{"key":10,"value":11}`+"\n",
		on("lsm", "range", "--json", "1:10", "5:4"))
	assert.Equal(t, `{"lo":1,"hi":10,"count":2}`+"\n", on("lsm", "count", "--json", "1:10"))
	assert.Equal(t, `{"key":1,"found":3,"value":0}`+"\n"+`{"key":4294967295,"found":null,"value":null}`+"\n",
		on("sortedarray", "successor", "--json", "1", "4294967295"))
	assert.Empty(t, on("sortedarray", "range", "--json"), "nothing asked on standard input")

	_, _, status := runTool("", "floor", path, "--value", "size", "--must-exist", "7", "0")
	assert.Zero(t, status)
	_, _, status = runTool("", "predecessor", path, "--value", "size", "--must-exist", "7", "0")
	assert.Equal(t, 1, status)
}

// Ranges come from files and from standard input as keys do.
func TestRangesFromFiles(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "1,10\n2,20\n3,30\n")
	want := "key,value\n1,10\n2,20\n3,30\n"
	out, notes := answer(t, "1:2\n3:0x3\n", "range", path)
	assert.Equal(t, want, out)
	assert.Regexp(t, `\nvkds: counted 2 ranges in \S+ s; 3 keys in them\n$`, notes)
	out, _ = answer(t, "", "range", path, "--keys", write(t, "r.csv", "n,to,from\n9,2,1\n9,3,3\n"), "--keys-column",
		"from,to")
	assert.Equal(t, want, out)
	out, _ = answer(t, "\x01\x00\x00\x00\x02\x00\x00\x00", "count", path, "--keys", "-", "--keys-format", "u32le")
	assert.Equal(t, "lo,hi,count\n1,2,2\n", out)
	out, _ = answer(t, "3:\n:1\n", "range", path)
	assert.Equal(t, "key,value\n3,30\n1,10\n", out)
	out, _ = answer(t, "5,50\n6,60\n", "range", "-", "5:5")
	assert.Equal(t, "key,value\n5,50\n", out)

	// What count prints is asked again as it is.
	out, _ = answer(t, "", "range", path, "--keys", write(t, "c.csv", "lo,hi,count\n1,2,2\n3,3,1\n"))
	assert.Equal(t, want, out)
}

// Order is that of what keys stand for.
func TestOrderOfTypes(t *testing.T) {
	hostSuffices(t)
	path := write(
		t, "t.csv", "at,x,n\n2014-07-01 00:30:00,-1.5,7\n2014-07-01 00:00:00,-20,-8\n2014-07-02 00:00:00,0.5,-7\n")
	out, _ := answer(t, "", "range", path, "--key", "at", "--key-type", "time", "--value", "x", "--value-type", "f32",
		"2014-07-01 00:00:00:2014-07-01 23:59:59")
	assert.Equal(t, "key,value\n2014-07-01 00:00:00,-20\n2014-07-01 00:30:00,-1.5\n", out)
	out, _ = answer(t, "", "range", path, "--key", "x", "--key-type", "f32", "--value", "n", "--value-type", "i32",
		"--", "-2:inf")
	assert.Equal(t, "key,value\n-1.5,7\n0.5,-7\n", out)
	out, _ = answer(t, "", "count", path, "--key", "x", "--key-type", "f32", "--value", "n", "--value-type", "i32", ":",
		"0:")
	assert.Equal(t, "lo,hi,count\n-Inf,+Inf,3\n0,+Inf,1\n", out)
	out, _ = answer(t, "", "count", path, "--key", "at", "--key-type", "time", "--value", "x", "--value-type", "f32",
		"2014-07-01 00:30:00:", ":2014-07-01")
	assert.Equal(
		t, "lo,hi,count\n2014-07-01 00:30:00,2106-02-07 06:28:15,2\n1970-01-01 00:00:00,2014-07-01 23:59:59,2\n", out)
	out, _ = answer(t, "", "predecessor", path, "--key", "n", "--key-type", "i32", "--value", "x", "--value-type",
		"f32", "--", "-7", "-8")
	assert.Equal(t, "key,found,value\n-7,-8,-20\n-8,,\n", out)
}

func TestStructuresAreSaved(t *testing.T) {
	needDevice(t)
	var rows strings.Builder
	const n = 5000
	for i := range n {
		fmt.Fprintf(&rows, "%d,%d\n", (i*7919)%n, i)
	}
	path := write(t, "t.csv", rows.String())
	dir := t.TempDir()
	for structure, arguments := range map[string][]string{"slabhash": nil,
		"lsm": {"--structure", "lsm", "--batch", "256"}, "sortedarray": {"--structure", "sortedarray"},
		"btree": {"--structure", "btree", "--fill", "0.9"}} {
		dict := filepath.Join(dir, structure+".vkds")
		answer(t, "", append([]string{"build", path, "-o", dict}, arguments...)...)
		out, _ := answer(t, "", "stats", dict, "--json")
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &object))
		assert.Equal(t, structure, object["structure"])
		assert.EqualValues(t, n, object["pairs"])
		assert.Positive(t, object["bytes"])
		if structure == "lsm" {
			assert.EqualValues(t, 256, object["batch"])
			assert.EqualValues(t, 0, object["stale"])
		}
		if structure == "btree" {
			assert.Greater(t, object["fill"], 0.8)
			assert.Len(t, object["nodes_by_level"], int(object["height"].(float64))+1)
			assert.Less(t, object["bytes_per_pair"], 13.)
		}
		// A hash table's pairs are put in order.
		out, _ = answer(t, "", "range", dict, "7:9")
		assert.Equal(t, fmt.Sprintf("key,value\n7,%d\n8,%d\n9,%d\n", place(7, n), place(8, n), place(9, n)), out)
	}
	// One becomes another.
	again := filepath.Join(dir, "again.vkds")
	answer(t, "", "build", filepath.Join(dir, "slabhash.vkds"), "--structure", "lsm", "-o", again)
	out, _ := answer(t, "", "stats", again)
	assert.Contains(t, out, "measure,value\nstructure,lsm\n")

	assert.Equal(t, "slabhash keeps no order, which range needs (ordered: btree, mvbtree, lsm, sortedarray)",
		refusal(t, "", "range", path, "1:2", "--structure", "slabhash"))
	assert.Equal(t, "slabhash keeps no order, which floor needs (ordered: btree, mvbtree, lsm, sortedarray)",
		refusal(t, "", "floor", filepath.Join(dir, "slabhash.vkds"), "1", "--structure", "slabhash"))
	assert.Equal(t, "--fill is for btree, not for lsm",
		refusal(t, "", "count", path, "1:2", "--fill", "0.7", "--structure", "lsm"))
	assert.Contains(t, refusal(t, "", "count", path, "1:2", "--fill", "2", "--structure", "btree"),
		"a fill of 2 makes no sense for btree")
	assert.Equal(t, "--batch is for lsm, not for sortedarray", refusal(t, "", "count", path, "1:2", "--batch", "64"))
	assert.Equal(t, "--load is for slabhash, not for lsm",
		refusal(t, "", "get", path, "1", "--load", "1", "--structure", "lsm"))
	assert.Contains(t, refusal(t, "", "count", path, "1:2", "--structure", "lsm", "--batch", "3"), "power of two")
}

func place(key, n int) int {
	for i := range n {
		if (i*7919)%n == key {
			return i
		}
	}
	return -1
}

func TestOrderedCommandsRefuse(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "1,10\n")
	assert.Equal(t, `range 2 of the command line: "5" is not a range LO:HI`, refusal(t, "", "range", path, "1:2", "5"))
	assert.Equal(t, `range 1 of the command line: "x" is not an integer`, refusal(t, "", "count", path, "1:x"))
	assert.Equal(t, `standard input:2: "1:2:3" is not a range LO:HI`, refusal(t, "1:2\n1:2:3\n", "range", path))
	assert.Equal(t, `key 1 of the command line: "1:2" is not an integer`, refusal(t, "", "successor", path, "1:2"))
	assert.Equal(t, `key 1 of the command line: "1.5" is not an integer (--key-type f64 reads it)`,
		refusal(t, "", "successor", path, "1.5"))
	assert.Equal(t, `range 1 of the command line: "2014-07-01" is not an integer (--key-type time reads it)`,
		refusal(t, "", "count", path, "1:2014-07-01"))
	assert.Contains(t, refusal(t, "", "range", path, "1:2", "--keys", "f"), "not from both")
	assert.Contains(t, refusal(t, "", "range", path, "--keys", "f.csv", "--keys-column", "a"), "two columns")
	assert.Contains(t, refusal(t, "", "ceil", "-"), "can't both come from standard input")
	assert.Equal(t, `unknown structure "btrie" (known: slabhash, btree, mvbtree, lsm, sortedarray)`,
		refusal(t, "", "range", path, "1:1", "--structure", "btrie"))
	assert.Equal(t, "range takes a DICT or a TABLE, then ranges (see vkds range --help)", refusal(t, "", "range"))
}

// oracle is a table in a Go program: its keys in order, and their values.
type oracle struct {
	key, value keytype.Type
	keys       []uint64
	values     map[uint64]uint64
}

func newOracle(t *testing.T, path string, o input.Options) oracle {
	keys, values := load(t, path, o)
	last := map[uint64]uint64{}
	for i, k := range keys {
		last[k] = values[i]
	}
	slices.Sort(keys)
	return oracle{o.Columns[0].Type, o.Columns[1].Type, slices.Compact(keys), last}
}

// greatest is the greatest word of the keys' type.
func (o oracle) greatest() uint64 { return 1<<o.key.Width().Bits() - 1 }

// between are the places of the keys in a range.
func (o oracle) between(lo, hi uint64) (from, to int) {
	from, _ = slices.BinarySearch(o.keys, lo)
	to, found := slices.BinarySearch(o.keys, hi)
	if found {
		to++
	}
	return from, max(from, to)
}

// neighbor answers an ordered command.
func (o oracle) neighbor(command string, k uint64) []string {
	at, found := slices.BinarySearch(o.keys, k)
	switch {
	case command == "successor" && found:
		at++
	case command == "predecessor", command == "floor" && !found:
		at--
	}
	if at < 0 || at >= len(o.keys) {
		return []string{o.key.Format(k), "", ""}
	}
	return []string{o.key.Format(k), o.key.Format(o.keys[at]), o.value.Format(o.values[o.keys[at]])}
}

// checkOrdered asks every ordered command about a table kept in a structure, and compares with the oracle.
func checkOrdered(t *testing.T, path, structure string, want realTable) {
	o := newOracle(t, path, want.options)
	random := rand.New(rand.NewPCG(7, uint64(len(o.keys))))
	var asked, ends strings.Builder
	neighbors := map[string][][]string{}
	commands := []string{"successor", "predecessor", "floor", "ceil"}
	for i := range 2000 {
		k := o.keys[random.IntN(len(o.keys))] + random.Uint64N(3) - 1
		if i < 2 {
			k = uint64(-i) // 0 and the greatest
		}
		if k &= o.greatest(); i == 2 && o.key.Above() != o.key {
			k = o.greatest() + 1 // which can be asked for, and isn't there
		}
		if _, err := o.key.Above().Parse(o.key.Format(k)); err != nil {
			continue
		}
		fmt.Fprintln(&asked, o.key.Format(k))
		for _, c := range commands {
			neighbors[c] = append(neighbors[c], o.neighbor(c, k))
		}
	}
	var counts, pairs [][]string
	for i := range 300 {
		lo := o.keys[random.IntN(len(o.keys))] + random.Uint64N(3) - 1
		hi := lo + random.Uint64N(1<<(1+i%31)) // where that is more than there is, reversed
		if i == 0 {
			lo, hi = o.keys[0], o.keys[len(o.keys)-1]
		}
		lo, hi = lo&o.greatest(), hi&o.greatest()
		if _, _, err := o.key.ParseRange(o.key.Format(lo) + ":" + o.key.Format(hi)); err != nil {
			continue
		}
		from, to := o.between(lo, hi)
		if to-from > 2000 && i > 0 {
			continue
		}
		fmt.Fprintf(&ends, "%s:%s\n", o.key.Format(lo), o.key.Format(hi))
		counts = append(counts, []string{o.key.Format(lo), o.key.Format(hi), strconv.Itoa(to - from)})
		for _, k := range o.keys[from:to] {
			pairs = append(pairs, []string{o.key.Format(k), o.value.Format(o.values[k])})
		}
	}
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", append([]string{"build", path, "--structure", structure, "-o", dict}, want.arguments...)...)
	check := func(command, asked, header string, want [][]string) {
		out, _ := answer(t, asked, command, dict)
		got, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(t, err)
		require.Equal(t, header, strings.Join(got[0], ","))
		require.Equal(t, len(want), len(got)-1, command)
		for i := range want {
			if !slices.Equal(want[i], got[i+1]) {
				t.Fatalf("%s: row %d is %v, want %v", command, i, got[i+1], want[i])
			}
		}
	}
	check("range", ends.String(), "key,value", pairs)
	check("count", ends.String(), "lo,hi,count", counts)
	for _, c := range commands {
		check(c, asked.String(), "key,found,value", neighbors[c])
	}
}

// known is a question about a table, and its answer, told beforehand.
type knownAnswer struct {
	path      string // below the folder of the data
	arguments []string
	command   string
	asked     []string
	want      string
}

func checkKnown(t *testing.T, folder string, c knownAnswer, structures []string) {
	for _, structure := range structures {
		out, _ := answer(t, "", slices.Concat([]string{c.command, filepath.Join(folder, c.path), "--structure",
			structure}, c.arguments, c.asked)...)
		_, rows, _ := strings.Cut(out, "\n")
		assert.Equal(t, c.want, rows, "%s, %s", c.path, structure)
	}
}

var unicodeCase = realTable{
	"unicode-case.csv.gz", []string{"--key", "code_point", "--value", "lowercase"},
	input.Options{Columns: columns("code_point", keytype.Uint32, "lowercase", keytype.Uint32)}, 34924, 2384772743,
}

// geoipFloors are ranges of addresses, and the number of each one's country.
const geoipFloors = "134744072,134739200,225\n16777217,16777216,16\n3238004363,3238002688,161\n" +
	"1539136282,1539136256,225\n3365928968,3363831808,31\n1,0,0\n4294967295,3758096384,0\n"

var taxi = realTable{
	"nyc_taxi.csv.gz", []string{"--key-type", "time"},
	input.Options{Columns: columns("", keytype.Time, "", keytype.Uint32)}, 10320, 0,
}

// The tables that are shipped, so that every machine checks some (testdata/README.md tells of them).
func TestShippedTablesInOrder(t *testing.T) {
	hostSuffices(t)
	folder := filepath.Join("..", "..", "testdata")
	checkKnown(t, folder, knownAnswer{unicodeCase.path, unicodeCase.arguments, "count",
		[]string{"0:0x7F", "0x1F600:0x1F64F", "0x4E00:0x9FFF", "0x9FFF:0x4E00", "0:1114109", "0:4294967295"},
		"0,127,128\n128512,128591,80\n19968,40959,2\n40959,19968,0\n0,1114109,34924\n0,4294967295,34924\n"},
		orderedStructures)
	checkKnown(t, folder, knownAnswer{taxi.path, taxi.arguments, "range",
		[]string{"2014-11-02 00:30:00:2014-11-02 01:59:59", "2015-01-31 23:30:00:2106-01-01"},
		"2014-11-02 00:30:00,23109\n2014-11-02 01:00:00,39197\n2014-11-02 01:30:00,35212\n2015-01-31 23:30:00,26288\n"},
		orderedStructures)
	out, _ := answer(t, "", "floor", filepath.Join(folder, "geoip.csv.gz"), "--structure", "btree",
		"134744072", "16777217", "3238004363", "1539136282", "3365928968", "1", "4294967295")
	assert.Equal(t, "key,found,value\n"+geoipFloors, out)
	for _, structure := range []string{"lsm", "btree"} {
		checkOrdered(t, filepath.Join(folder, unicodeCase.path), structure, unicodeCase)
	}
}

// The known answers of the real data that isn't shipped, by its README.
func TestKnownAnswersInOrder(t *testing.T) {
	hostSuffices(t)
	data := dataFolder(t)
	geoip := []string{"--value", "3"} // the start of a range, and its country
	ends := []string{"--value", "2"}
	unicode := []string{"--delimiter", ";", "--key-type", "hex", "--value", "4"}
	at := []string{"--key-type", "time", "--value-type", "f32"}
	for i, c := range []knownAnswer{
		{"geoip-ipv4/GeoIP-ranges.csv.gz", geoip, "count",
			[]string{"1677721600:1694498815", "3221225472:3758096383", "0:4294967295"},
			"1677721600,1694498815,12\n3221225472,3758096383,61603\n0,4294967295,207937\n"},
		{"geoip-ipv4/GeoIP-ranges.csv.gz", geoip, "floor",
			[]string{"134744072", "16777217", "3238004363", "1539136282", "3365928968", "1", "4294967295"},
			geoipFloors},
		{"geoip-ipv4/GeoIP-ranges.csv.gz", ends, "floor", []string{"134744072", "16777217"},
			"134744072,134739200,135185663\n16777217,16777216,16777471\n"},
		{"unicode/UnicodeData.txt.gz", unicode, "count", []string{"0:7F", "1F600:1F64F", "4E00:9FFF", "0:10FFFD"},
			"0x0000,0x007f,128\n0x1f600,0x1f64f,80\n0x4e00,0x9fff,2\n0x0000,0x10fffd,34924\n"},
		{"nab/nyc_taxi.csv.gz", at, "count", []string{"1404172800:1422747000"},
			"2014-07-01 00:00:00,2015-01-31 23:30:00,10320\n"},
		{"nab/machine_temperature_system_failure.csv.gz", at, "count",
			[]string{"1386018900:1392823500", "0:4294967295"},
			"2013-12-02 21:15:00,2014-02-19 15:25:00,22683\n1970-01-01 00:00:00,2106-02-07 06:28:15,22683\n"},
		{"nab/ambient_temperature_system_failure.csv.gz", at, "count", []string{"1372896000:1401289200"},
			"2013-07-04 00:00:00,2014-05-28 15:00:00,7267\n"},
		{"nab/Twitter_volume_AAPL.csv.gz", at, "count", []string{"1424986973:1429757273"},
			"2015-02-26 21:42:53,2015-04-23 02:47:53,15902\n"},
		{"nab/ec2_network_in_5abac7.csv.gz", at, "count", []string{"1393695360:1395114060"},
			"2014-03-01 17:36:00,2014-03-18 03:41:00,4719\n"},
		{"nab/occupancy_6005.csv.gz", at, "count", []string{"1441115100:1442507040"},
			"2015-09-01 13:45:00,2015-09-17 16:24:00,2380\n"},
	} {
		structures := orderedStructures
		if stress.Level == 0 {
			structures = structures[i%len(structures):][:1]
		}
		checkKnown(t, data, c, structures)
	}
}

// Every ordered command over every table, against a Go program.
func TestTablesInOrder(t *testing.T) {
	hostSuffices(t)
	data := dataFolder(t)
	for i, want := range ofEachKind(tables) {
		t.Run(want.path, func(t *testing.T) {
			checkOrdered(t, filepath.Join(data, want.path), orderedStructures[i%len(orderedStructures)], want)
		})
	}
}

// A range of more pairs than are fetched at a time.
func TestLargeRange(t *testing.T) {
	needDevice(t)
	var rows strings.Builder
	const n = 1<<18 + 1000
	for i := range n {
		fmt.Fprintf(&rows, "%d,%d\n", 2*i, i)
	}
	path := write(t, "t.csv", rows.String())
	out, _ := answer(t, "", "range", path, "0:1", "0:"+fmt.Sprint(math.MaxUint32), "5:6")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 1+1+n+1)
	for i := range n {
		if want := fmt.Sprintf("%d,%d", 2*i, i); lines[2+i] != want {
			t.Fatalf("line %d is %s", i, lines[2+i])
		}
	}
	assert.Equal(t, "6,3", lines[2+n])
}

// Many keys in no order, some twice, of a table and of what is saved of it as any structure: by each ordered structure.
func TestOrderedManyKeys(t *testing.T) {
	hostSuffices(t)
	rng, want := rand.New(rand.NewPCG(7, 7)), map[int64]int{}
	var table strings.Builder
	for i := range 6000 {
		key := int64(rng.Uint64()) >> (rng.Uint32N(5) * 12)
		want[key] = i
		fmt.Fprintf(&table, "%d,%d\n", key, i)
	}
	path := write(t, "many.csv", table.String())
	var rows strings.Builder
	keys := make([]int64, 0, len(want))
	for key := range want {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	rows.WriteString("key,value\n")
	for _, key := range keys {
		fmt.Fprintf(&rows, "%d,%d\n", key, want[key])
	}
	for _, as := range known {
		dict := filepath.Join(t.TempDir(), as+".vkds")
		answer(t, "", "build", path, "--no-header", "--key-type", "i64", "--structure", as, "-o", dict)
		out, _ := answer(t, "", "range", dict, ":")
		assert.Equal(t, rows.String(), out, as)
		out, _ = answer(t, "", "max", dict)
		assert.Equal(t, fmt.Sprintf("key,value\n%d,%d\n", keys[len(keys)-1], want[keys[len(keys)-1]]), out, as)
	}
}
