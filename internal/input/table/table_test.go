package table_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/input/delimited"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/input/table"
	"github.com/vkds/vkds/internal/keytype"
)

var ctx = context.Background()

func write(t testing.TB, name string, data []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// read reads in small batches, and checks the reader's promises on the way.
func read(path string, o table.Options, batch int) (keys, values []uint32, skipped int64, err error) {
	r, err := table.Open(ctx, path, o)
	if err != nil {
		return nil, nil, 0, err
	}
	defer r.Close()
	k, v := make([]uint32, batch), make([]uint32, batch)
	for {
		n, err := r.Read(k, v)
		keys, values = append(keys, k[:n]...), append(values, v[:n]...)
		if err != nil {
			if n, again := r.Read(k, v); n != 0 || again != err {
				panic("the error went away")
			}
			if err == io.EOF {
				err = nil
			}
			return keys, values, r.Skipped(), err
		}
	}
}

func gz(t testing.TB, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestCSV(t *testing.T) {
	for name, c := range map[string]struct {
		data    []byte
		options table.Options
	}{
		"a.csv":    {[]byte("id,x,v\n1,,10\n2,,20\n3,,30\n"), table.Options{Key: "id", Value: "v"}},
		"a.csv.gz": {gz(t, "1,10\n2,20\n3,30\n"), table.Options{}},
		"a.tsv":    {[]byte("id\tv\n1\t10\n2\t20\n3\t30\n"), table.Options{Value: "v"}},
		"a.dat":    {[]byte("1;10\n2;20\n3;30\n"), table.Options{Delimiter: ';'}},
		"a":        {[]byte("v,id\n10,1\n20,2\n30,3\n"), table.Options{Key: "2", Value: "1"}},
		"b.csv":    {[]byte("1,10\n,5\n2,20\n3,30\n4,-1\n5\n"), table.Options{SkipInvalid: true}},
		// A table that looks like Parquet, named as what it is.
		"p.csv": {[]byte("PAR1,v\n1,10\n2,20\n3,30\n"), table.Options{}},
	} {
		path := write(t, name, c.data)
		for batch := range 5 {
			keys, values, skipped, err := read(path, c.options, batch+1)
			require.NoError(t, err, name)
			assert.Equal(t, []uint32{1, 2, 3}, keys, name)
			assert.Equal(t, []uint32{10, 20, 30}, values, name)
			assert.Equal(t, name == "b.csv", skipped == 3, name)
		}
		keys, values, _, err := table.Load(ctx, path, c.options)
		require.NoError(t, err, name)
		assert.Equal(t, []uint32{1, 2, 3}, keys, name)
		assert.Equal(t, []uint32{10, 20, 30}, values, name)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := table.Open(ctx, dir, table.Options{})
	assert.ErrorIs(t, err, syscall.EISDIR)

	path := write(t, "a.csv", []byte("1,2\n3,four\n"))
	_, _, _, err = table.Load(ctx, path, table.Options{})
	var line *infile.LineError
	require.ErrorAs(t, err, &line)
	assert.EqualError(t, err, path+`:2: column 2: "four" is not an integer`)
	_, err = table.Open(ctx, path, table.Options{Key: "id"})
	var ce *delimited.ColumnError
	require.ErrorAs(t, err, &ce)

	for _, name := range []string{"a.parquet", "a.arrow"} {
		for _, data := range []string{"", "1,2\n", "PAR1", "ARROW1\x00\x00", "PAR1xxxxxxxxxxxxxxxxPAR1", strings.Repeat("\xff", 100)} {
			path := write(t, name, []byte(data))
			_, _, _, err := table.Load(ctx, path, table.Options{})
			var de *table.DamagedError
			require.ErrorAs(t, err, &de, "%s %q", name, data)
			assert.NotContains(t, err.Error(), "\n")
			assert.Contains(t, err.Error(), path)
		}
	}
	_, err = table.Open(ctx, write(t, "a.parquet.gz", gz(t, "PAR1")), table.Options{})
	assert.ErrorIs(t, err, infile.ErrSeek)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, _, _, err = table.Load(cancelled, path, table.Options{})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestFormats(t *testing.T) {
	for _, name := range table.FormatNames() {
		f, err := table.ParseFormat(name)
		require.NoError(t, err)
		assert.Equal(t, name, f.String())
	}
	_, err := table.ParseFormat("xls")
	var fe *table.FormatError
	require.ErrorAs(t, err, &fe)
}

func TestProgress(t *testing.T) {
	data := []byte(strings.Repeat("1,2\n", 1000))
	var at, size int64
	keys, _, _, err := table.Load(ctx, write(t, "a.csv", data), table.Options{Progress: func(a, s int64) { at, size = a, s }})
	require.NoError(t, err)
	assert.Len(t, keys, 1000)
	assert.EqualValues(t, len(data), at)
	assert.EqualValues(t, len(data), size)
}

// The tables of ../shared/data; the figures are those of its README.
func TestTables(t *testing.T) {
	data := os.Getenv("VKDS_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(data, "nab")); err != nil {
		t.Skipf("no real tables: %v (set VKDS_DATA to their folder)", err)
	}
	series := table.Options{Key: "timestamp", Value: "value", KeyType: keytype.Time, ValueType: keytype.Float32}
	for _, c := range []struct {
		path           string
		options        table.Options
		rows, distinct int
		skipped        int64
		first, last    uint32 // key
		sum            uint64 // of the keys
		least, most    string // value
	}{
		{"geoip-ipv4/GeoIP-ranges.csv.gz", table.Options{Value: "3"}, 207937, 207937, 0, 0, 0xe0000000, 460366577854604, "0", "254"},
		{"unicode/UnicodeData.txt.gz", table.Options{Value: "4", KeyType: keytype.Hex, Delimiter: ';'}, 34924, 34924, 0, 0, 1114109, 2384772743, "0", "240"},
		{"openflights/airports.dat.gz", table.Options{Value: "1"}, 7698, 7698, 0, 1, 14110, 0, "1", "14110"},
		{"openflights/routes.dat.gz", table.Options{Key: "4", Value: "6", SkipInvalid: true}, 67240, 0, 423, 0, 0, 0, "", ""},
		{"nab/nyc_taxi.csv.gz", series, 10320, 10320, 0, 1404172800, 1422747000, 0, "8", "39197"},
		{"nab/machine_temperature_system_failure.csv.gz", series, 22695, 22683, 0, 1386018900, 1392823500, 0, "2.0847212059999998", "108.51054280000001"},
		{"nab/ambient_temperature_system_failure.csv.gz", series, 7267, 7267, 0, 1372896000, 1401289200, 0, "57.45840559", "86.22321261"},
		{"nab/Twitter_volume_AAPL.csv.gz", series, 15902, 15902, 0, 1424986973, 1429757273, 0, "0", "13479"},
		{"nab/ec2_network_in_5abac7.csv.gz", series, 4730, 4719, 0, 1393695360, 1395114060, 0, "42", "8285420"},
		{"nab/occupancy_6005.csv.gz", series, 2380, 2380, 0, 1441115100, 1442507040, 0, "0", "22.28"},
	} {
		t.Run(c.path, func(t *testing.T) {
			keys, values, skipped, err := table.Load(ctx, filepath.Join(data, c.path), c.options)
			require.NoError(t, err)
			assert.Len(t, keys, c.rows)
			assert.Equal(t, c.skipped, skipped)
			distinct := map[uint32]bool{}
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
				for text, got := range map[string]uint32{c.least: least, c.most: most} {
					want, err := c.options.ValueType.Parse(text)
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
