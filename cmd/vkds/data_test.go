package main_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
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

// dataFolder is where the real data are that aren't shipped: VKDS_DATA, or
// ../shared/data seen from the repository.
func dataFolder(t *testing.T) string {
	data := folder()
	if _, err := os.Stat(filepath.Join(data, "README.md")); err != nil {
		t.Skipf("no real data beside those in testdata: %v (set VKDS_DATA to their folder)", err)
	}
	return data
}

func folder() string {
	return cmp.Or(os.Getenv("VKDS_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
}

// trace is a file of keys, and what is known of it.
type trace struct {
	path               string
	arguments          []string
	requests, distinct uint64
	least, most        uint64
	frequent, times    uint64
	from, to           uint64 // a range of keys,
	inRange, asked     uint64 // the distinct keys in it and the requests for them
	once               uint64 // keys asked once
	sum                uint64 // of the distinct keys
	skipped            uint64
}

var be = []string{"--format", "u32be"}
var second = []string{"--format", "csv", "--column", "2", "--delimiter", " "}

// traces are those of ../shared/data/README.md; sums are modulo 2^64.
var traces = []trace{
	{"lirs/2_pools.trace.gz", []string{"--skip-invalid"}, 100000, 9939, 1, 9999, 79, 541, 2499, 5000, 2486, 12702, 293,
		49697014, 2},
	{"lirs/sprite.trace.gz", nil, 133996, 7075, 0, 7074, 5651, 468, 1768, 3537, 1770, 28362, 1437, 25024275, 0},
	{"lirs/multi3.trace.gz", nil, 30241, 7454, 0, 7453, 303, 168, 1863, 3727, 1865, 5638, 3366, 27777331, 0},
	{"lirs/loop.trace.gz", nil, 505500, 1011, 0, 1010, 0, 500, 252, 505, 254, 127000, 0, 510555, 0},
	{"cache2k/web12.trace.xz", be, 95607, 13756, 0, 13755, 282, 914, 3439, 6878, 3440, 20115, 6207, 94606890, 0},
	{"cache2k/orm-night.trace.xz", be, 5000000, 86466, 2942464, 4050829313, 3625574912, 27344, 2294725120, 2696949248,
		21618, 1203255, 11649, 231218486827543, 0},
	{"adapt_size/request.trace.xz", second, 66987, 36815, 0, 36814, 134, 1031, 9203, 18407, 9205, 13506, 29858,
		677653705, 0},
	{"address/gcc.trace.gz", second, 515683, 35070, 0, 4294967295, 536870280, 14526, 805686080, 805775392, 8769, 24224,
		21334, 28230529151709, 0},
	{"address/gzip.trace.gz", second, 481044, 160167, 0, 994739224, 805662336, 61448, 845820848, 886918096, 40043,
		80114, 623, 141989713374357, 0},
	{"address/swim.trace.gz", second, 303193, 22605, 0, 4294967295, 536870168, 25755, 990747696, 1005070368, 5652, 6605,
		16893, 21852594413057, 0},
	{"corda/trace_vaultservice.gz", []string{"--format", "u64be"}, 135702, 90468, 18216897189925, 18446663871922459580,
		750657942571658, 2, 4607963063522344643, 9236033427148003783, 22618, 33878, 45234, 3524283449915908690, 0},
}

func TestTraces(t *testing.T) {
	hostSuffices(t)
	data := dataFolder(t)
	for _, want := range traces {
		t.Run(want.path, func(t *testing.T) {
			checkTrace(t, filepath.Join(data, "caffeine-traces", want.path), want)
		})
	}
}

// The traces that are shipped, so that every machine checks them, once.
func TestShippedTrace(t *testing.T) {
	needDevice(t)
	corda := filepath.Join("..", "..", "testdata", "corda-vault.trace.gz")
	for path, want := range map[string]trace{corda: traces[len(traces)-1],
		filepath.Join("..", "..", "testdata", "orm-night.trace.xz"): traces[5]} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		same, err := os.ReadFile(filepath.Join(folder(), "caffeine-traces", want.path))
		if err != nil || !bytes.Equal(data, same) { // else TestTraces has it
			checkTrace(t, path, want)
		}
	}
	want := traces[len(traces)-1]
	out, _ := answer(t, "", append([]string{"tally", corda, "--json", "--top", "1"}, want.arguments...)...)
	assert.Equal(t, fmt.Sprintf(`{"key":%d,"count":%d}`+"\n", want.frequent, want.times), out)
}

func checkTrace(t *testing.T, path string, want trace) {
	out, notes := answer(t, "", append([]string{"tally", path}, want.arguments...)...)
	got := trace{path: want.path, arguments: want.arguments, least: math.MaxUint64, from: want.from, to: want.to}
	lastKey, lastCount := uint64(0), uint64(1<<63)
	for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if i == 0 {
			require.Equal(t, "key,count", line)
			continue
		}
		k, c, ok := strings.Cut(line, ",")
		key, kerr := strconv.ParseUint(k, 10, 64)
		count, cerr := strconv.ParseUint(c, 10, 64)
		if !ok || kerr != nil || cerr != nil {
			t.Fatalf("%q is no key and count", line)
		}
		if count > lastCount || count == lastCount && key <= lastKey {
			t.Fatalf("%s is out of order", line)
		}
		lastKey, lastCount = key, count
		if i == 1 {
			got.frequent, got.times = key, count
		}
		got.requests += count
		got.distinct++
		got.least, got.most = min(got.least, key), max(got.most, key)
		got.sum += key
		if key >= want.from && key <= want.to {
			got.inRange++
			got.asked += count
		}
		if count == 1 {
			got.once++
		}
	}
	if skipped := regexp.MustCompile(`; (\d+) skipped\n`).FindStringSubmatch(notes); skipped != nil {
		got.skipped, _ = strconv.ParseUint(skipped[1], 10, 64)
	}
	assert.Equal(t, want, got)
}

func series(name string) realTable {
	return realTable{"nab/" + name + ".csv.gz", []string{"--key", "timestamp", "--key-type", "time", "--value", "value",
		"--value-type", "f32"},
		input.Options{Columns: columns("timestamp", keytype.Time, "value", keytype.Float32)}, 0, 0}
}

// realTable is a table of ../shared/data.
type realTable struct {
	path      string
	arguments []string
	options   input.Options // the same, for package input
	pairs     int           // distinct keys; 0: not known beforehand
	sum       uint64        // of the keys; 0: not known
}

// columns are those of the keys and the values.
func columns(key string, kt keytype.Type, value string, vt keytype.Type) []input.Column {
	return []input.Column{{Name: key, Type: kt}, {Name: value, Type: vt}}
}

// load reads a table without the tool.
func load(t *testing.T, path string, o input.Options) (keys, values []uint64) {
	r, err := input.Open(context.Background(), path, o)
	require.NoError(t, err)
	defer r.Close()
	k, v := make([]uint64, 1<<16), make([]uint64, 1<<16)
	for {
		n, err := r.Read(k, v)
		if err == io.EOF {
			return keys, values
		}
		require.NoError(t, err)
		keys, values = append(keys, k[:n]...), append(values, v[:n]...)
	}
}

var tables = []realTable{
	{"geoip-ipv4/GeoIP-ranges.csv.gz", []string{"--value", "3"},
		input.Options{Columns: columns("", keytype.Uint32, "3", keytype.Uint32)}, 207937, 460366577854604},
	{"geoip-ipv4/GeoIP-ranges.csv.gz", []string{"--key", "2", "--value", "1"},
		input.Options{Columns: columns("2", keytype.Uint32, "1", keytype.Uint32)}, 207937, 0},
	{"unicode/UnicodeData.txt.gz", []string{"--delimiter", ";", "--key-type", "hex", "--value", "4"},
		input.Options{Columns: columns("", keytype.Hex, "4", keytype.Uint32), Delimiter: ';'}, 34924, 2384772743},
	{"openflights/airports.dat.gz", []string{"--value", "9", "--value-type", "i32"},
		input.Options{Columns: columns("", keytype.Uint32, "9", keytype.Int32)}, 7698, 0},
	{"openflights/routes.dat.gz", []string{"--key", "4", "--value", "6", "--skip-invalid"},
		input.Options{Columns: columns("4", keytype.Uint32, "6", keytype.Uint32), SkipInvalid: true}, 0, 0},
	series("nyc_taxi"), series("machine_temperature_system_failure"), series("ambient_temperature_system_failure"),
	series("Twitter_volume_AAPL"), series("ec2_network_in_5abac7"), series("occupancy_6005"),
}

// ofEachKind leaves out the time series behind the first, but in long runs.
func ofEachKind(all []realTable) []realTable {
	if stress.Level > 0 {
		return all
	}
	return all[:slices.IndexFunc(all, func(x realTable) bool { return strings.HasPrefix(x.path, "nab/") })+1]
}

func TestTables(t *testing.T) {
	hostSuffices(t)
	data := dataFolder(t)
	for _, want := range ofEachKind(tables) {
		t.Run(want.path, func(t *testing.T) { checkTable(t, filepath.Join(data, want.path), want) })
	}
}

func TestShippedTable(t *testing.T) {
	hostSuffices(t)
	checkTable(t, filepath.Join("..", "..", "testdata", "unicode-case.csv.gz"), realTable{
		"unicode-case.csv.gz", []string{"--key", "code_point", "--value", "lowercase"},
		input.Options{Columns: columns("code_point", keytype.Uint32, "lowercase", keytype.Uint32)}, 34924, 2384772743,
	})
}

// checkTable looks every key up, and as many that aren't there, in the table and
// in the dictionary saved from it, and compares with a Go map.
func checkTable(t *testing.T, path string, want realTable) {
	keys, values := load(t, path, want.options)
	oracle := map[uint64]uint64{}
	for i, k := range keys {
		oracle[k] = values[i] // the last row of a key counts
	}
	sum := uint64(0)
	for k := range oracle {
		sum += uint64(k)
	}
	if want.pairs != 0 {
		assert.Len(t, oracle, want.pairs)
	}
	if want.sum != 0 {
		assert.Equal(t, want.sum, sum)
	}
	var asked strings.Builder
	expect := [][]string{{"key", "value"}}
	ask := func(k uint64) {
		text := want.options.Columns[0].Type.Format(k)
		fmt.Fprintln(&asked, text)
		v, ok := oracle[k]
		value := ""
		if ok {
			value = want.options.Columns[1].Type.Format(v)
		}
		expect = append(expect, []string{text, value})
	}
	for _, k := range keys {
		ask(k)
		ask(k + 1)
	}
	file := write(t, "keys", asked.String())
	dict := filepath.Join(t.TempDir(), "d.vkds")
	_, notes := answer(t, "", append([]string{"build", path, "-o", dict}, want.arguments...)...)
	assert.Contains(t, notes, "saved ")
	for _, arguments := range [][]string{append([]string{path}, want.arguments...), {dict}} {
		out, _ := answer(t, "", append([]string{"get", "--keys", file}, arguments...)...)
		got, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(t, err)
		require.Equal(t, len(expect), len(got))
		for i := range expect {
			if !slices.Equal(expect[i], got[i]) {
				t.Fatalf("row %d is %v, want %v", i, got[i], expect[i])
			}
		}
	}
	out, _ := answer(t, "", "stats", dict, "--json")
	var object struct{ Pairs int }
	require.NoError(t, json.Unmarshal([]byte(out), &object))
	assert.Equal(t, len(oracle), object.Pairs)
}

// The sums and counts of the tables' columns, by tally.
func TestTallyTables(t *testing.T) {
	hostSuffices(t)
	data := dataFolder(t)
	for _, c := range []struct {
		path           string
		arguments      []string
		keys, distinct int
		top            string
	}{
		{"geoip-ipv4/GeoIP-ranges.csv.gz", []string{"--column", "3"}, 207937, 253, "225,26180\n56,13306\n77,13251\n"},
		{"unicode/UnicodeData.txt.gz", []string{"--column", "1", "--delimiter", ";", "--type", "hex"}, 34924, 34924,
			"0x0000,1\n0x0001,1\n0x0002,1\n"},
		{"nab/machine_temperature_system_failure.csv.gz", []string{"--column", "timestamp", "--type", "time"}, 22695,
			22683, ""},
		{"nab/ec2_network_in_5abac7.csv.gz", []string{"--column", "timestamp", "--type", "time"}, 4730, 4719, ""},
		{"openflights/routes.dat.gz", []string{"--column", "4", "--skip-invalid"}, 0, 0, ""},
	} {
		out, notes := answer(t, "", append([]string{"tally", filepath.Join(data, c.path)}, c.arguments...)...)
		assert.True(t, strings.HasPrefix(out, "key,count\n"+c.top), c.path)
		if c.distinct != 0 {
			assert.Equal(t, c.distinct, strings.Count(out, "\n")-1, c.path)
			assert.Contains(t, notes, "; "+grouped(c.distinct)+" distinct")
			assert.Contains(t, notes, "counted "+grouped(c.keys)+" keys")
		}
	}
}

func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
