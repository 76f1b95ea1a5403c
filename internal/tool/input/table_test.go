package input_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

func TestCSV(t *testing.T) {
	for name, c := range map[string]struct {
		data    []byte
		options input.Options
	}{
		"a.csv":    {[]byte("id,x,v\n1,,10\n2,,20\n3,,30\n"), input.Options{Columns: columns("id", "v")}},
		"a.csv.gz": {gz(t, "1,10\n2,20\n3,30\n"), input.Options{}},
		"a.tsv":    {[]byte("id\tv\n1\t10\n2\t20\n3\t30\n"), input.Options{Columns: columns("", "v")}},
		"a.dat":    {[]byte("1;10\n2;20\n3;30\n"), input.Options{Delimiter: ';'}},
		"a":        {[]byte("v,id\n10,1\n20,2\n30,3\n"), input.Options{Columns: columns("2", "1")}},
		"b.csv":    {[]byte("1,10\n,5\n2,20\n3,30\n4,-1\n5\n"), input.Options{SkipInvalid: true}},
		// A table that looks like Parquet, named as what it is.
		"p.csv": {[]byte("PAR1,v\n1,10\n2,20\n3,30\n"), input.Options{}},
	} {
		path := write(t, name, c.data)
		for batch := range 5 {
			keys, values, skipped, err := readTable(path, c.options, batch+1)
			require.NoError(t, err, name)
			assert.Equal(t, []uint64{1, 2, 3}, keys, name)
			assert.Equal(t, []uint64{10, 20, 30}, values, name)
			assert.Equal(t, name == "b.csv", skipped == 3, name)
		}
		keys, values, _, err := readTable(path, c.options, 100)
		require.NoError(t, err, name)
		assert.Equal(t, []uint64{1, 2, 3}, keys, name)
		assert.Equal(t, []uint64{10, 20, 30}, values, name)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := input.Open(ctx, dir, input.Options{Columns: columns("", "")})
	assert.ErrorIs(t, err, syscall.EISDIR)

	path := write(t, "a.csv", []byte("1,2\n3,four\n"))
	_, _, _, err = readTable(path, input.Options{}, 100)
	var line *input.LineError
	require.ErrorAs(t, err, &line)
	assert.EqualError(t, err, path+`:2: column 2: "four" is not an integer`)
	_, err = input.Open(ctx, path, input.Options{Columns: columns("id", "")})
	var ce *input.ColumnError
	require.ErrorAs(t, err, &ce)

	for _, name := range []string{"a.parquet", "a.arrow"} {
		for _, data := range []string{"", "1,2\n", "PAR1", "ARROW1\x00\x00", "PAR1xxxxxxxxxxxxxxxxPAR1",
			strings.Repeat("\xff", 100)} {
			path := write(t, name, []byte(data))
			_, _, _, err := readTable(path, input.Options{}, 100)
			var de *input.DamagedError
			require.ErrorAs(t, err, &de, "%s %q", name, data)
			assert.NotContains(t, err.Error(), "\n")
			assert.Contains(t, err.Error(), path)
		}
	}
	_, err = input.Open(ctx, write(t, "a.parquet.gz", gz(t, "PAR1")), input.Options{Columns: columns("", "")})
	assert.ErrorIs(t, err, input.ErrSeek)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = input.Open(cancelled, path, input.Options{Columns: columns("", "")})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestProgress(t *testing.T) {
	data := []byte(strings.Repeat("1,2\n", 1000))
	var at, size int64
	keys, _, _, err := readTable(write(t, "a.csv", data), input.Options{Progress: func(a, s int64) {
		at, size = a, s
	}}, 100)
	require.NoError(t, err)
	assert.Len(t, keys, 1000)
	assert.EqualValues(t, len(data), at)
	assert.EqualValues(t, len(data), size)
}

// The tables of ../shared/data; the figures are those of its README.
func TestTables(t *testing.T) {
	data := os.Getenv("VKDS_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(data, "nab")); err != nil {
		t.Skipf("no real tables: %v (set VKDS_DATA to their folder)", err)
	}
	series := input.Options{Columns: table("timestamp", keytype.Time, "value", keytype.Float32)}
	for _, c := range []struct {
		path           string
		options        input.Options
		rows, distinct int
		skipped        int64
		first, last    uint64 // key
		sum            uint64 // of the keys
		least, most    string // value
	}{
		{"geoip-ipv4/GeoIP-ranges.csv.gz", input.Options{Columns: columns("", "3")}, 207937, 207937, 0, 0, 0xe0000000,
			460366577854604, "0", "254"},
		{"unicode/UnicodeData.txt.gz", input.Options{Columns: table("", keytype.Hex, "4", keytype.Uint32),
			Delimiter: ';'}, 34924, 34924, 0, 0, 1114109, 2384772743, "0", "240"},
		{"unicode/UnicodeData.txt.gz", input.Options{Columns: table("", keytype.Hex, "4", keytype.Uint32)}, 34924,
			34924, 0, 0, 1114109, 2384772743, "0", "240"},
		{"openflights/airports.dat.gz", input.Options{Columns: columns("", "1")}, 7698, 7698, 0, 1, 14110, 0, "1",
			"14110"},
		{"openflights/routes.dat.gz", input.Options{Columns: columns("4", "6"), SkipInvalid: true}, 67240, 0, 423, 0, 0,
			0, "", ""},
		{"nab/nyc_taxi.csv.gz", series, 10320, 10320, 0, 1404172800, 1422747000, 0, "8", "39197"},
		{"nab/machine_temperature_system_failure.csv.gz", series, 22695, 22683, 0, 1386018900, 1392823500, 0,
			"2.0847212059999998", "108.51054280000001"},
		{"nab/ambient_temperature_system_failure.csv.gz", series, 7267, 7267, 0, 1372896000, 1401289200, 0,
			"57.45840559", "86.22321261"},
		{"nab/Twitter_volume_AAPL.csv.gz", series, 15902, 15902, 0, 1424986973, 1429757273, 0, "0", "13479"},
		{"nab/ec2_network_in_5abac7.csv.gz", series, 4730, 4719, 0, 1393695360, 1395114060, 0, "42", "8285420"},
		{"nab/occupancy_6005.csv.gz", series, 2380, 2380, 0, 1441115100, 1442507040, 0, "0", "22.28"},
	} {
		t.Run(c.path, func(t *testing.T) {
			keys, values, skipped, err := readTable(filepath.Join(data, c.path), c.options, 1<<16)
			require.NoError(t, err)
			assert.Len(t, keys, c.rows)
			assert.Equal(t, c.skipped, skipped)
			distinct := map[uint64]bool{}
			var sum uint64
			first, last := keys[0], keys[0]
			least, most := values[0], values[0]
			for i, k := range keys {
				distinct[k] = true
				sum += uint64(k)
				first, last = min(first, k), max(last, k)
				least, most = min(least, values[i]), max(most, values[i])
			}
			if c.distinct != 0 {
				assert.Len(t, distinct, c.distinct)
				assert.Equal(t, c.first, first)
				assert.Equal(t, c.last, last)
				for text, got := range map[string]uint64{c.least: least, c.most: most} {
					want, err := c.options.Columns[1].Type.Parse(text)
					require.NoError(t, err)
					assert.Equal(t, want, got, text)
				}
			}
			if c.sum != 0 {
				assert.Equal(t, c.sum, sum)
			}
		})
	}
}
