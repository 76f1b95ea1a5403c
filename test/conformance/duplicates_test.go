package conformance

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
)

// Keys that come many times in a batch, on dictionaries whose operations are concurrent: one of the insertions
// finds the key absent, and one of the values stays; one of the deletions removes it. From Go slices, and with the keys
// on two streams at once.
func TestConcurrentDuplicates(t *testing.T) {
	devices := openDevices(t)
	testConcurrentDuplicates[uint32](t, devices)
	testConcurrentDuplicates[uint64](t, devices)
}

func testConcurrentDuplicates[W structures.Word](t *testing.T, devices []protocol) {
	const distinct, times = 60, 9
	for _, s := range subjects[W]() {
		if !s.free {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			all := openVariants(t, s, devices, true)
			for turn, v := range all.all {
				for _, dictionary := range v.both(t, s, 4*turn) {
					rng := rand.New(rand.NewPCG(uint64(turn), 12))
					require.NoError(t, v.dictionary.Clear(t.Context()))
					var keys, values []W
					for i := range distinct * times {
						keys = append(keys, numbers.Key[W](uint32(i%distinct-distinct/2))) // around 0, so both ends
						values = append(values, numbers.Value[W](uint32(i)))
					}
					rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
					for round := range 3 {
						status, err := dictionary.Insert(t.Context(), keys, values)
						require.NoError(t, err)
						inserted := 1
						if round == 1 {
							inserted = 0
						}
						requireOnce(t, keys, status, inserted, structures.Inserted, structures.Assigned)
						got, found, err := dictionary.Find(t.Context(), keys)
						require.NoError(t, err)
						for i, k := range keys {
							if at := slices.Index(values, got[i]); !found[i] || at < 0 || keys[at] != k {
								t.Fatalf("find(%#x): %d, %v, which was not inserted", k, got[i], found[i])
							}
						}
						if round == 0 {
							continue // once more, over what is there
						}
						status, err = dictionary.Delete(t.Context(), keys)
						require.NoError(t, err)
						requireOnce(t, keys, status, 1, structures.Deleted, structures.Absent)
						n, err := dictionary.Len(t.Context())
						require.NoError(t, err)
						require.Zero(t, n)
					}
				}
				if s.check != nil {
					s.check(t, v.d, v.dictionary)
				}
				v.ran = true
			}
		})
	}
}

// requireOnce requires one status so many times a key, and another one for the rest.
func requireOnce[W structures.Word](t testing.TB, keys []W, statuses []structures.Status, times int,
	one, rest structures.Status) {
	t.Helper()
	require.Equal(t, len(keys), len(statuses))
	got := map[W]int{}
	for i, s := range statuses {
		require.Contains(t, []structures.Status{one, rest}, s)
		if got[keys[i]] += 0; s == one {
			got[keys[i]]++
		}
	}
	for _, k := range slices.Sorted(slices.Values(keys)) {
		require.Equal(t, times, got[k], "key %#x: %v", k, one)
	}
}
