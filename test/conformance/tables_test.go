package conformance

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/keys"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// rows are those of a table behind its first one.
func rows(t *testing.T, path string) [][]string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	all, err := csv.NewReader(z).ReadAll()
	require.NoError(t, err)
	return all[1:]
}

// eachOrdered runs a test with each ordered structure of such keys and values, empty, and with its number.
func eachOrdered[K, V structures.Number](t *testing.T, test func(t *testing.T, i int, x structures.Ordered[K, V])) {
	if testing.Short() {
		t.Skip("real data: those of the other runs, which are long")
	}
	d := testdevice.Open(t)
	for i, s := range []struct {
		name string
		open func(context.Context, *vk.Device) (structures.Ordered[K, V], error)
	}{
		{"sortedarray", func(ctx context.Context, d *vk.Device) (structures.Ordered[K, V], error) {
			return sortedarray.New[K, V](ctx, d, sortedarray.Options{})
		}},
		{"lsm", func(ctx context.Context, d *vk.Device) (structures.Ordered[K, V], error) {
			return lsm.New[K, V](ctx, d, lsm.Options{Batch: 1 << 10})
		}},
		{"btree", func(ctx context.Context, d *vk.Device) (structures.Ordered[K, V], error) {
			return btree.New[K, V](ctx, d, btree.Options{})
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			x, err := s.open(t.Context(), d)
			require.NoError(t, err)
			defer func() { require.NoError(t, x.Close()) }()
			test(t, i, x)
		})
	}
}

// series are numbers by the time, with what is known of each: rows, times, the first and the last, in seconds, and the
// least and the greatest number.
var series = []struct {
	path            string
	rows, times     int
	first, last     int64
	least, greatest float64
}{
	{"nyc_taxi.csv.gz", 10320, 10320, 1404172800, 1422747000, 8, 39197},
	{"nab/machine_temperature_system_failure.csv.gz", 22695, 22683, 1386018900, 1392823500, 2.0847212059999998,
		108.51054280000001},
	{"nab/ambient_temperature_system_failure.csv.gz", 7267, 7267, 1372896000, 1401289200, 57.45840559, 86.22321261},
	{"nab/Twitter_volume_AAPL.csv.gz", 15902, 15902, 1424986973, 1429757273, 0, 13479},
	{"nab/ec2_network_in_5abac7.csv.gz", 4730, 4719, 1393695360, 1395114060, 42, 8285420},
	{"nab/occupancy_6005.csv.gz", 2380, 2380, 1441115100, 1442507040, 0, 22.28},
}

// Times in nanoseconds as keys, and floats as values.
func TestSeries(t *testing.T) {
	pass.OneWidth(t, "real tables make the calls of drawn ones")
	eachOrdered(t, func(t *testing.T, i int, x structures.Ordered[int64, float64]) {
		for j, known := range series {
			if j > 0 && j%3 != i { // the first one is for all, of the others each takes some
				continue
			}
			t.Run(filepath.Base(known.path), func(t *testing.T) {
				require.NoError(t, x.Clear(t.Context()))
				var times []int64
				var values []float64
				at := func(text string) int64 {
					when, err := time.Parse(time.DateTime, text)
					require.NoError(t, err)
					key, err := keys.OfTime(when)
					require.NoError(t, err)
					return key
				}
				for _, row := range rows(t, find(t, known.path)) {
					value, err := strconv.ParseFloat(row[1], 64)
					require.NoError(t, err)
					times, values = append(times, at(row[0])), append(values, value)
				}
				require.Len(t, times, known.rows)
				_, err := x.Insert(t.Context(), times, values)
				require.NoError(t, err)
				n, err := x.Len(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, known.times, n)
				first, _, _, err := numbers.Least(t.Context(), x)
				require.NoError(t, err)
				last, _, _, err := numbers.Greatest(t.Context(), x)
				require.NoError(t, err)
				require.Equal(t, []int64{known.first, known.last}, []int64{first / 1e9, last / 1e9})
				all, err := x.Range(t.Context(), []structures.Range[int64]{structures.AllKeys[int64]()})
				require.NoError(t, err)
				least, greatest := math.Inf(1), math.Inf(-1)
				for _, value := range all.Values {
					least, greatest = min(least, value), max(greatest, value)
				}
				require.Equal(t, []float64{known.least, known.greatest}, []float64{least, greatest})
				before, err := x.Neighbor(t.Context(), structures.Predecessor, []int64{last, first})
				require.NoError(t, err)
				require.Equal(t, []bool{true, false}, before.Found)
				require.Equal(t, all.Keys[len(all.Keys)-2], before.Keys[0])
				if known.path != "nyc_taxi.csv.gz" {
					return
				}
				peak, _, err := x.Find(t.Context(), []int64{at("2014-11-02 01:00:00")})
				require.NoError(t, err)
				require.Equal(t, []float64{39197}, peak)
				day, err := x.Range(t.Context(), []structures.Range[int64]{
					{Lo: at("2014-11-27 00:00:00"), Hi: at("2014-11-28 00:00:00") - 1}})
				require.NoError(t, err)
				passengers := 0.0
				for _, value := range day.Values {
					passengers += value
				}
				require.Equal(t, []any{48, 523184.0}, []any{len(day.Values), passengers})
			})
		}
	})
}

// The countries of all IPv4 addresses, by where their ranges begin: keys that differ in the high word alone.
func TestAddresses(t *testing.T) {
	pass.OneWidth(t, "real tables make the calls of drawn ones")
	all := rows(t, find(t, "geoip.csv.gz"))
	starts, countries := make([]uint64, len(all)), make([]uint64, len(all))
	for i, row := range all {
		first, err := strconv.ParseUint(row[0], 10, 32)
		require.NoError(t, err)
		country, err := strconv.ParseUint(row[1], 10, 32)
		require.NoError(t, err)
		starts[i], countries[i] = keys.OfPair(uint32(first), 7), keys.OfPair(uint32(country), uint32(first))
	}
	address := func(text string) uint32 {
		key, err := keys.OfIPv4(netip.MustParseAddr(text))
		require.NoError(t, err)
		return key
	}
	eachOrdered(t, func(t *testing.T, _ int, x structures.Ordered[uint64, uint64]) {
		_, err := x.Insert(t.Context(), starts, countries)
		require.NoError(t, err)
		n, err := x.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 207937, n)
		within := func(first, last string) structures.Range[uint64] {
			return structures.Range[uint64]{Lo: keys.OfPair(address(first), 0),
				Hi: keys.OfPair(address(last), math.MaxUint32)}
		}
		counts, err := x.Count(t.Context(), []structures.Range[uint64]{within("100.0.0.0", "100.255.255.255"),
			within("192.0.0.0", "223.255.255.255"), within("0.0.0.0", "255.255.255.255")})
		require.NoError(t, err)
		require.Equal(t, []uint32{12, 61603, 207937}, counts)
		// Of some addresses, the range that each is in, and its country.
		known := []struct {
			address        string
			start, country uint32
		}{
			{"8.8.8.8", 134739200, 225}, {"1.0.0.1", 16777216, 16}, {"193.0.6.139", 3238002688, 161},
			{"91.189.91.26", 1539136256, 225}, {"200.160.0.8", 3363831808, 31},
		}
		asked := make([]uint64, len(known))
		for i, k := range known {
			asked[i] = keys.OfPair(address(k.address), math.MaxUint32)
		}
		got, err := x.Neighbor(t.Context(), structures.Floor, asked)
		require.NoError(t, err)
		for i, k := range known {
			require.Equal(t, []uint64{keys.OfPair(k.start, 7), keys.OfPair(k.country, k.start)},
				[]uint64{got.Keys[i], got.Values[i]}, k.address)
		}
		sum, times := uint64(0), map[uint32]int{}
		for pair, err := range x.All(t.Context()) {
			require.NoError(t, err)
			start, _ := keys.Pair(pair.Key)
			country, _ := keys.Pair(pair.Value)
			sum += uint64(start)
			times[country]++
		}
		require.Equal(t, []any{uint64(460366577854604), 253, 26180, 13306, 13251},
			[]any{sum, len(times), times[225], times[56], times[77]})
	})
}
