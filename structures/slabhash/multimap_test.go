package slabhash_test

import (
	"flag"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// multimap is the oracle of a map with duplicates: the values of each key, the oldest first.
type multimap[W structures.Word] map[W][]W

func (m multimap[W]) apply(kind structures.Kind, key, value W) (structures.Status, W) {
	v := m[key]
	if kind == structures.InsertDuplicate || kind.Inserts() && len(v) == 0 {
		m[key] = append(v, value)
		return structures.Inserted, 0
	}
	if len(v) == 0 {
		return structures.Absent, 0
	}
	switch kind {
	case structures.Insert:
		v[0] = value
		return structures.Assigned, 0
	case structures.InsertAdd:
		v[0] += value
		return structures.Assigned, 0
	case structures.Delete:
		if m[key] = v[1:]; len(v) == 1 {
			delete(m, key)
		}
		return structures.Deleted, 0
	case structures.DeleteAll:
		delete(m, key)
		return structures.Deleted, W(len(v))
	case structures.CountAll:
		return structures.Found, W(len(v))
	case structures.Find:
		return structures.Found, v[0]
	}
	return structures.Found, 0
}

const mostKeys = 5 + 40 + 60 // different ones of all batches

// batches draws batches of distinct keys, most of them insertions of duplicates.
func batches[W structures.Word]() *rapid.Generator[[]structures.Batch[W, W]] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) structures.Batch[W, W] {
		kinds := []structures.Kind{
			structures.InsertDuplicate, structures.InsertDuplicate, structures.InsertDuplicate,
			structures.InsertDuplicate, structures.InsertUnique, structures.Insert, structures.InsertAdd,
			structures.Delete, structures.Delete, structures.DeleteAll, structures.Find, structures.CountAll,
		}
		var b structures.Batch[W, W]
		from, noise := rapid.Uint32Range(0, 40).Draw(t, "from"), rapid.Uint32().Draw(t, "noise")
		for i := range rapid.Uint32Range(1, 60).Draw(t, "n") {
			noise = noise*1664525 + 1013904223
			b.Keys = append(b.Keys, numbers.Key[W](from+i-5))
			b.Kinds = append(b.Kinds, kinds[noise>>16%uint32(len(kinds))])
			b.Values = append(b.Values, numbers.Value[W](noise|noise>>13))
		}
		return b
	}), 5, 40)
}

// Random mixed batches with duplicates against a multimap, with flushes, rehashes and clearings between them, on a
// table whose pool is nearly full, so that it grows now and then.
func TestMultimap(t *testing.T) {
	t.Run("32", testMultimap[uint32])
	t.Run("64", testMultimap[uint64])
}

func testMultimap[W structures.Word](t *testing.T) {
	if structures.WidthOf[W]() == structures.Bits64 { // fewer: the host's part is the same
		checks := flag.Lookup("rapid.checks").Value
		all := checks.String()
		n, err := strconv.Atoi(all)
		require.NoError(t, err)
		require.NoError(t, checks.Set(strconv.Itoa(max(n/3, 5))))
		defer func() { require.NoError(t, checks.Set(all)) }()
	}
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			rapid.Check(t, func(rt *rapid.T) {
				pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{SuperShift: 2})
				require.NoError(rt, err)
				defer pool.Close()
				hog, err := NewSet[uint32](t.Context(), d, Options{Buckets: 256, MaxLoad: -1, Pool: pool})
				require.NoError(rt, err)
				defer hog.Close()
				_, err = hog.Insert(t.Context(), ramp(34000, 1, 1)) // some 1000 of 1024 slabs
				require.NoError(rt, err)
				o := Options{Buckets: 4, MaxLoad: -1, Tile: width, Pool: pool, Seed: rapid.Uint32().Draw(rt, "seed")}
				// SwiftShader compiles kernels for long, and its width is one of lavapipe's.
				shared := rapid.Bool().Draw(rt, "shared") && !testing.Short()
				if shared {
					o.Load = 1
				}
				m, err := New[W, W](t.Context(), d, o)
				require.NoError(rt, err)
				defer m.Close()
				near := map[W]W{} // 64 buckets, the fewest that share slabs, are too many for the keys of batches
				if shared {
					for i, k := range nearKeys(m.InShaders().Description(), mostKeys, numbers.Key[W]) {
						near[numbers.Key[W](uint32(i)-5)] = k
					}
				}
				want := multimap[W]{}
				for _, b := range batches[W]().Draw(rt, "batches") {
					for i, k := range b.Keys {
						if shared {
							b.Keys[i] = near[k]
						}
					}
					r, err := m.Apply(t.Context(), b)
					require.NoError(rt, err)
					for i, k := range b.Keys {
						status, value := want.apply(b.Kinds[i], k, b.Values[i])
						if r.Status[i] != status || b.Kinds[i] > structures.Delete && r.Values[i] != value {
							rt.Fatalf("%v(%d, %d): %v %d, want %v %d", b.Kinds[i], k, b.Values[i], r.Status[i],
								r.Values[i], status, value)
						}
					}
					compact := true
					switch rapid.IntRange(0, 9).Draw(rt, "upkeep") {
					case 0:
						require.NoError(rt, m.Flush(t.Context()))
					case 1:
						buckets := rapid.IntRange(4, 9).Draw(rt, "buckets")
						if shared {
							buckets *= 16
						}
						require.NoError(rt, m.Rehash(t.Context(), buckets))
					case 2:
						if compact = len(want) > 50; compact {
							require.NoError(rt, m.Clear(t.Context()))
							clear(want)
						}
					default:
						compact = false
					}
					if !compact && rapid.IntRange(0, 3).Draw(rt, "check") != 0 {
						continue
					}
					pairs := slabcheck.Check(t, d, slabcheck.Expect{Duplicates: true, Compact: compact}, m, hog)[0]
					got := groupsOf[W](pairs)
					if len(got) != len(want) {
						rt.Fatalf("%d keys, want %d", len(got), len(want))
					}
					for k, v := range want {
						if !slices.Equal(v, got[k]) {
							rt.Fatalf("key %d has %v, want %v", k, got[k], v)
						}
					}
				}
				requireAll(rt, m, want)
			})
		})
	})
}

// requireAll compares all values of each key, and what buckets hold.
func requireAll[W structures.Word](rt *rapid.T, m *Map[W, W], want multimap[W]) {
	keys, pairs := slices.Collect(maps.Keys(want)), 0
	offsets, values, err := m.FindAll(rt.Context(), append(keys, numbers.Key[W](1<<20)))
	require.NoError(rt, err)
	for i, k := range keys {
		if got := values[offsets[i]:offsets[i+1]]; !slices.Equal(slices.Sorted(slices.Values(want[k])),
			slices.Sorted(slices.Values(got))) {
			rt.Fatalf("key %#x has %v, want %v", k, got, want[k])
		}
		pairs += len(want[k])
	}
	require.Equal(rt, pairs, offsets[len(keys)+1], "a key that is not there has values")
	for load, err := range m.Inspect().Loads(rt.Context()) {
		require.NoError(rt, err)
		pairs -= load.Pairs
	}
	require.Zero(rt, pairs)
}
