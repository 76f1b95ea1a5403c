package conformance

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
)

// requests reads the keys of a trace: numbers of 64 bits, the high byte first, or lines of a decimal number or of a
// letter and a hexadecimal one. Of a line that is neither, there is none.
func requests(t *testing.T, path string) (keys []uint64) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	require.NoError(t, err)
	if strings.Contains(path, "corda") {
		all, err := io.ReadAll(r)
		require.NoError(t, err)
		for number := range slices.Chunk(all, 8) {
			keys = append(keys, binary.BigEndian.Uint64(number))
		}
		return keys
	}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 1 {
			fields = fields[1:]
		}
		if key, err := strconv.ParseUint(fields[0], 0, 64); err == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// traces are requests of caches, with what is known of them: how many, how many keys and which is the least, the
// greatest and the most frequent one and how often it comes; how many keys and requests there are in a range; how many
// keys come once; and the sum of all keys.
var traces = []struct {
	path                             string
	requests, keys                   int
	least, greatest, frequent, times uint64
	lo, hi                           uint64
	keysWithin                       uint32
	requestsWithin                   uint64
	once                             int
	sum                              uint64
}{
	{"corda/trace_vaultservice.gz", 135702, 90468, 18216897189925, 18446663871922459580, 750657942571658, 2,
		4607963063522344643, 9236033427148003783, 22618, 33878, 45234, 3524283449915908690},
	{"lirs/2_pools.trace.gz", 100000, 9939, 1, 9999, 79, 541, 2499, 5000, 2486, 12702, 293, 49697014},
	{"lirs/sprite.trace.gz", 133996, 7075, 0, 7074, 5651, 468, 1768, 3537, 1770, 28362, 1437, 25024275},
	{"address/gcc.trace.gz", 515683, 35070, 0, 4294967295, 536870280, 14526, 805686080, 805775392, 8769, 24224, 21334,
		28230529151709},
	{"address/gzip.trace.gz", 481044, 160167, 0, 994739224, 805662336, 61448, 845820848, 886918096, 40043, 80114, 623,
		141989713374357},
	{"lirs/multi3.trace.gz", 30241, 7454, 0, 7453, 303, 168, 1863, 3727, 1865, 5638, 3366, 27777331},
	{"address/swim.trace.gz", 303193, 22605, 0, 4294967295, 536870168, 25755, 990747696, 1005070368, 5652, 6605, 16893,
		21852594413057},
}

// Tallies of real traces by dictionaries of 64 bits, the first one's keys hashes of that width: known answers. What has
// no order is asked for all its pairs.
func TestTraces(t *testing.T) {
	d := testdevice.Open(t)
	all := subjects[uint64]()
	if testing.Short() {
		t.Skip("real data: those of the other runs, which are long")
	}
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			x, err := s.open(t.Context(), d, shape{tile: 1, size: 45, fill: 0.7})
			require.NoError(t, err)
			defer func() { require.NoError(t, x.Close()) }()
			for j, known := range traces {
				// The first one is for all, of the others each takes one. When time counts, it is for every third.
				if j > 0 && (j%len(all) != i || stress.Level == 0) || i%3 != 0 && stress.Level == 0 {
					continue
				}
				t.Run(filepath.Base(known.path), func(t *testing.T) {
					keys := requests(t, find(t, filepath.Join("caffeine-traces", known.path)))
					require.Len(t, keys, known.requests)
					require.NoError(t, x.Clear(t.Context()))
					ones := slices.Repeat([]uint64{1}, len(keys))
					status, err := x.InsertAdd(t.Context(), keys, ones)
					require.NoError(t, err)
					inserted := 0
					for _, s := range status {
						if s == structures.Inserted {
							inserted++
						}
					}
					n, err := x.Len(t.Context())
					require.NoError(t, err)
					require.Equal(t, []int{known.keys, known.keys}, []int{inserted, int(n)})
					pairs, sum, once := map[uint64]uint64{}, uint64(0), 0
					for pair, err := range x.All(t.Context()) {
						require.NoError(t, err)
						pairs[pair.Key] = pair.Value
						if sum += pair.Key; pair.Value == 1 {
							once++
						}
					}
					require.Equal(t, []any{known.sum, known.once, known.times},
						[]any{sum, once, pairs[known.frequent]})
					for _, times := range pairs {
						require.LessOrEqual(t, times, known.times)
					}
					if s.check != nil {
						s.check(t, d, x)
					}
					ordered, ok := x.(inOrder[uint64])
					if !ok {
						return
					}
					least, _, _, err := numbers.Least(t.Context(), ordered)
					require.NoError(t, err)
					greatest, _, _, err := numbers.Greatest(t.Context(), ordered)
					require.NoError(t, err)
					within := []Range[uint64]{{Lo: known.lo, Hi: known.hi}}
					counts, err := ordered.Count(t.Context(), within)
					require.NoError(t, err)
					r, err := ordered.Range(t.Context(), within)
					require.NoError(t, err)
					total := uint64(0)
					for _, times := range r.Values {
						total += times
					}
					require.Equal(t, []any{known.least, known.greatest, known.keysWithin, known.requestsWithin},
						[]any{least, greatest, counts[0], total})
				})
			}
		})
	}
}
