package slabhash_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

func TestEmptyBatches(t *testing.T) {
	d := testdevice.Open(t)
	m := newMap(t, d, Options{})
	for name, call := range map[string]func() (int, error){
		"insert": func() (int, error) { s, err := m.Insert(t.Context(), nil, nil); return len(s), err },
		"duplicate": func() (int, error) {
			s, err := m.InsertDuplicate(t.Context(), []uint32{}, nil)
			return len(s), err
		},
		"delete":    func() (int, error) { s, err := m.Delete(t.Context(), nil); return len(s), err },
		"deleteall": func() (int, error) { s, err := m.DeleteAll(t.Context(), nil); return len(s), err },
		"find":      func() (int, error) { v, f, err := m.Find(t.Context(), nil); return len(v) + len(f), err },
		"findall":   func() (int, error) { o, v, err := m.FindAll(t.Context(), nil); return len(o) - 1 + len(v), err },
		"count":     func() (int, error) { c, err := m.CountAll(t.Context(), nil); return len(c), err },
		"apply": func() (int, error) {
			r, err := m.Apply(t.Context(), u32.Batch{})
			return len(r.Status) + len(r.Values), err
		},
		"export": func() (int, error) { k, v, err := numbers.All(t.Context(), m); return len(k) + len(v), err },
	} {
		n, err := call()
		require.NoError(t, err, name)
		require.Zero(t, n, name)
	}
	requireContents(t, d, m, nil)
	require.NoError(t, m.Flush(t.Context()))
	require.NoError(t, m.Rehash(t.Context(), 0))
	require.NoError(t, m.Clear(t.Context()))
	empty, err := Build[uint32, uint32](t.Context(), d, nil, nil, Options{})
	require.NoError(t, err)
	requireContents(t, d, empty, nil)
	require.NoError(t, empty.Close())
}

func TestOneElement(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		m := newMap(t, d, Options{Buckets: 4})
		one := func(kind structures.Kind, key, value uint32) (structures.Status, uint32) {
			r, err := m.Apply(t.Context(), u32.Batch{Kinds: []structures.Kind{kind}, Keys: []uint32{key},
				Values: []uint32{value}})
			require.NoError(t, err)
			return r.Status[0], r.Values[0]
		}
		status := func(kind structures.Kind, key, value uint32) structures.Status {
			s, _ := one(kind, key, value)
			return s
		}
		for _, key := range awkward(m.InShaders().Description()) {
			for _, value := range []uint32{0, ^uint32(0), 7} {
				s, v := one(structures.Find, key, 99)
				require.Equal(t, structures.Absent, s)
				require.Zero(t, v)
				require.Equal(t, structures.Absent, status(structures.Delete, key, 0))
				require.Equal(t, structures.Inserted, status(structures.Insert, key, value))
				s, v = one(structures.Find, key, 99)
				require.Equal(t, structures.Found, s)
				require.Equal(t, value, v)
				require.Equal(t, structures.Found, status(structures.InsertUnique, key, value+1))
				require.Equal(t, structures.Assigned, status(structures.InsertAdd, key, 5))
				require.Equal(t, structures.Assigned, status(structures.InsertMin, key, value+5))
				require.Equal(t, structures.Assigned, status(structures.InsertMax, key, value+5))
				requireContents(t, d, m, map[uint32]uint32{key: value + 5})
				require.Equal(t, structures.Inserted, status(structures.InsertDuplicate, key, 1))
				_, v = one(structures.CountAll, key, 9)
				require.EqualValues(t, 2, v)
				require.Equal(t, structures.Deleted, status(structures.Delete, key, 0))
				_, v = one(structures.Find, key, 0)
				require.EqualValues(t, 1, v, "the younger one stayed")
				s, v = one(structures.DeleteAll, key, 8)
				require.Equal(t, structures.Deleted, s)
				require.EqualValues(t, 1, v)
				s, v = one(structures.DeleteAll, key, 8)
				require.Equal(t, structures.Absent, s)
				require.Zero(t, v)
				s, v = one(structures.CountAll, key, 3)
				require.Equal(t, structures.Absent, s)
				require.Zero(t, v)
			}
		}
		requireContents(t, d, m, nil)
	})
}

// A batch in which all keys are equal: the operations meet in one slot.
func TestEqualKeys(t *testing.T) {
	const n = 500
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			m := newMap(t, d, Options{Buckets: 8, Tile: width})
			for _, key := range []uint32{0, ^uint32(0), 12345} {
				count := func(statuses []structures.Status, want structures.Status) (n int) {
					for _, s := range statuses {
						if s == want {
							n++
						}
					}
					return n
				}
				keys, values := repeat(n, key), ramp(n, 100, 3)
				s, err := m.InsertUnique(t.Context(), keys, values)
				require.NoError(t, err)
				require.Equal(t, 1, count(s, structures.Inserted))
				require.Equal(t, n-1, count(s, structures.Found))
				for i := range s {
					if s[i] == structures.Inserted {
						requireContents(t, d, m, map[uint32]uint32{key: values[i]})
					}
				}
				require.Equal(t, n, count(insert(t, m, keys, values), structures.Assigned))
				got, found := find(t, m, []uint32{key})
				require.True(t, found[0])
				require.Contains(t, values, got[0])
				s, err = m.Delete(t.Context(), keys)
				require.NoError(t, err)
				require.Equal(t, 1, count(s, structures.Deleted))
				require.Equal(t, n-1, count(s, structures.Absent))

				s, err = m.InsertAdd(t.Context(), keys, values)
				require.NoError(t, err)
				require.Equal(t, 1, count(s, structures.Inserted))
				require.Equal(t, n-1, count(s, structures.Assigned))
				sum := uint32(0)
				for _, v := range values {
					sum += v
				}
				requireContents(t, d, m, map[uint32]uint32{key: sum})
				_, err = m.InsertAdd(t.Context(), keys, repeat(n, math.MaxUint32))
				require.NoError(t, err)
				requireContents(t, d, m, map[uint32]uint32{key: sum - n})
				_, err = m.InsertMin(t.Context(), keys, values)
				require.NoError(t, err)
				requireContents(t, d, m, map[uint32]uint32{key: 100})
				_, err = m.InsertMax(t.Context(), keys, values)
				require.NoError(t, err)
				requireContents(t, d, m, map[uint32]uint32{key: 100 + 3*(n-1)})

				s, err = m.InsertDuplicate(t.Context(), keys, values)
				require.NoError(t, err)
				all(t, structures.Inserted, n, s, "duplicates")
				counts, err := m.CountAll(t.Context(), keys)
				require.NoError(t, err)
				all(t, uint32(n+1), n, counts, "counts")
				offsets, values2, err := m.FindAll(t.Context(), []uint32{key + 1, key, key + 2})
				require.NoError(t, err)
				require.Equal(t, []int{0, 0, n + 1, n + 1}, offsets)
				require.EqualValues(t, 100+3*(n-1), values2[0], "the oldest comes first")
				slabcheck.Check(t, d, slabcheck.Expect{Duplicates: true}, m)

				// Deletions of the least recent, all at once: n of n+1.
				s, err = m.Delete(t.Context(), keys)
				require.NoError(t, err)
				all(t, structures.Deleted, n, s, "deletions")
				got, found = find(t, m, []uint32{key})
				require.True(t, found[0])
				require.Equal(t, values2[n], got[0], "the youngest stays")
				counts, err = m.DeleteAll(t.Context(), []uint32{key, key + 1})
				require.NoError(t, err)
				require.Equal(t, []uint32{1, 0}, counts)
				requireContents(t, d, m, nil)
			}
		})
	})
}

// Thousands of keys in four buckets: long lists, in ascending order of keys and shuffled.
func TestLongLists(t *testing.T) {
	const n = 3000
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			m := newMap(t, d, Options{Buckets: 4, MaxLoad: -1, Tile: width})
			rng := rand.New(rand.NewPCG(uint64(width), 3))
			for _, keys := range [][]uint32{ramp(n, 0xfffffc00, 1), distinct(rng, n, m.InShaders().Description())} {
				values := make([]uint32, n)
				want := map[uint32]uint32{}
				for i := range values {
					values[i] = rng.Uint32N(3) - 1 // 0xffffffff, 0, 1
					want[keys[i]] = values[i]
				}
				all(t, structures.Inserted, n, insert(t, m, keys, values), "insert")
				requireContents(t, d, m, want)
				got, found := find(t, m, keys)
				all(t, true, n, found, "found")
				same(t, values, got, "values")
				stats, err := m.Inspect().Stats(t.Context())
				require.NoError(t, err)
				require.Equal(t, 4, stats.Buckets)
				require.Equal(t, stats.Slabs-4, uint64(slabcheck.Slabs(t, d, m)))
				require.EqualValues(t, 4, stats.Lengths[15], "all are long")

				half := keys[:n/2]
				s, err := m.Delete(t.Context(), half)
				require.NoError(t, err)
				all(t, structures.Deleted, n/2, s, "delete")
				for _, k := range half {
					delete(want, k)
				}
				requireContents(t, d, m, want)
				_, found = find(t, m, half)
				all(t, false, n/2, found, "found after deletion")
				_, found = find(t, m, keys[n/2:])
				all(t, true, n/2, found, "found while others delete")
				require.NoError(t, m.Clear(t.Context()))
				requireContents(t, d, m, nil)
			}
		})
	})
}

func TestMismatchedSlices(t *testing.T) {
	d := testdevice.Open(t)
	m, s := newMap(t, d, Options{}), newSet(t, d, Options{})
	three, two := []uint32{1, 2, 3}, []uint32{1, 2}
	kinds := []structures.Kind{structures.Insert, structures.Delete, structures.Find}
	var length *structures.LengthError
	for name, call := range map[string]func() error{
		"insert":    func() error { _, err := m.Insert(t.Context(), three, two); return err },
		"nil":       func() error { _, err := m.Insert(t.Context(), three, nil); return err },
		"unique":    func() error { _, err := m.InsertUnique(t.Context(), two, three); return err },
		"duplicate": func() error { _, err := m.InsertDuplicate(t.Context(), three, two); return err },
		"add":       func() error { _, err := m.InsertAdd(t.Context(), nil, two); return err },
		"min":       func() error { _, err := m.InsertMin(t.Context(), three, two); return err },
		"max":       func() error { _, err := m.InsertMax(t.Context(), three, two); return err },
		"build":     func() error { _, err := Build(t.Context(), d, three, two, Options{}); return err },
		"kinds": func() error {
			_, err := m.Apply(t.Context(), u32.Batch{Kinds: kinds[:2], Keys: three, Values: three})
			return err
		},
		"values": func() error {
			_, err := m.Apply(t.Context(), u32.Batch{Kinds: kinds, Keys: three, Values: two})
			return err
		},
		"set": func() error {
			_, err := s.Apply(t.Context(), u32.Batch{Kinds: kinds[:1], Keys: three})
			return err
		},
	} {
		require.ErrorAs(t, call(), &length, name)
	}
	require.Equal(t, "a batch of 3 needs 3 values and got 2", func() string {
		_, err := m.Insert(t.Context(), three, two)
		return err.Error()
	}())

	var kind *structures.KindError
	for _, k := range []structures.Kind{structures.Mixed, structures.CountAll + 1, 255} {
		_, err := m.Apply(t.Context(), u32.Batch{Kinds: []structures.Kind{structures.Find, k}, Keys: two,
			Values: two})
		require.ErrorAs(t, err, &kind)
		require.Equal(t, structures.KindError{Index: 1, Kind: k}, *kind)
	}
	_, err := m.Apply(t.Context(), u32.Batch{Kinds: kinds, Keys: three})
	require.ErrorAs(t, err, &length, "an insertion without values")
	require.Equal(t, structures.LengthError{Keys: 3, Other: "values"}, *length)
	requireContents(t, d, m, nil)
	require.Empty(t, slabcheck.Check(t, d, slabcheck.Expect{}, s)[0])

	// No operation inserts: no values are needed.
	r, err := m.Apply(t.Context(), u32.Batch{Kinds: kinds[1:], Keys: two})
	require.NoError(t, err)
	require.Equal(t, []structures.Status{structures.Absent, structures.Absent}, r.Status)
}

func TestOptions(t *testing.T) {
	d := testdevice.Open(t)
	for option, bad := range map[string][]Options{
		"Capacity": {{Capacity: -1}},
		"Buckets":  {{Buckets: 3}, {Buckets: -4}, {Buckets: 1 << 32}},
		"Load":     {{Load: -1}, {Load: math.NaN()}},
		"MaxLoad":  {{Load: 2, MaxLoad: 1}},
		"Tile":     {{Tile: 3}, {Tile: -1}, {Tile: 16}, {Tile: 2 * min(8, d.SubgroupSize())}},
	} {
		for _, o := range bad {
			_, err := New[uint32, uint32](t.Context(), d, o)
			var wrong *vk.OptionError
			require.ErrorAs(t, err, &wrong, "%+v", o)
			require.Equal(t, option, wrong.Option)
			_, err = NewSet[uint32](t.Context(), d, o)
			require.ErrorAs(t, err, &wrong)
		}
	}
	m := newMap(t, d, Options{Capacity: 15000, Load: 0.5})
	stats, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 2000, stats.Buckets, 2)
	_, err = New[uint32, uint32](cancelled(t), d, Options{})
	require.Error(t, err)
	for _, buckets := range []int{1, 3, -1, 1<<31 + 1} {
		var wrong *vk.OptionError
		require.ErrorAs(t, m.Rehash(t.Context(), buckets), &wrong, "%d buckets", buckets)
	}
	requireContents(t, d, m, nil)
}

func TestClosed(t *testing.T) {
	d := testdevice.Open(t)
	m, err := New[uint32, uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	insert(t, m, []uint32{1}, []uint32{2})
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	one := []uint32{1}
	for name, call := range map[string]func() error{
		"insert":    func() error { _, err := m.Insert(t.Context(), one, one); return err },
		"duplicate": func() error { _, err := m.InsertDuplicate(t.Context(), one, one); return err },
		"delete":    func() error { _, err := m.Delete(t.Context(), one); return err },
		"deleteall": func() error { _, err := m.DeleteAll(t.Context(), one); return err },
		"find":      func() error { _, _, err := m.Find(t.Context(), one); return err },
		"findall":   func() error { _, _, err := m.FindAll(t.Context(), one); return err },
		"count":     func() error { _, err := m.CountAll(t.Context(), one); return err },
		"apply": func() error {
			_, err := m.Apply(t.Context(), u32.Batch{Kinds: []structures.Kind{structures.Find}, Keys: one})
			return err
		},
		"len":    func() error { _, err := m.Len(t.Context()); return err },
		"stats":  func() error { _, err := m.Inspect().Stats(t.Context()); return err },
		"clear":  func() error { return m.Clear(t.Context()) },
		"flush":  func() error { return m.Flush(t.Context()) },
		"rehash": func() error { return m.Rehash(t.Context(), 8) },
		"export": func() error { _, _, err := numbers.All(t.Context(), m); return err },
		"all": func() error {
			for pair, err := range m.All(t.Context()) {
				require.Zero(t, pair)
				return err
			}
			return nil
		},
		"applyon": func() error { return m.On(nil).Apply(structures.Find, structures.DeviceBatch{}) },
		"findon":  func() error { return m.On(nil).Find(structures.DeviceLookups{}) },
	} {
		require.ErrorIs(t, call(), vk.ErrClosed, name)
	}
}

func TestBuild(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		rng := rand.New(rand.NewPCG(1, 4))
		keys := distinct(rng, 20000, Description{Mask: 1})
		values := make([]uint32, len(keys))
		want := map[uint32]uint32{}
		for i := range values {
			values[i] = rng.Uint32()
			want[keys[i]] = values[i]
		}
		m, err := Build(t.Context(), d, keys, values, Options{})
		require.NoError(t, err)
		requireContents(t, d, m, want)
		stats, err := m.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.InDelta(t, 0.7, stats.Load, 0.01)
		require.NoError(t, m.Close())

		s, err := BuildSet(t.Context(), d, keys, Options{Load: 0.3})
		require.NoError(t, err)
		pairs := slabcheck.Check(t, d, slabcheck.Expect{}, s)[0]
		require.Equal(t, len(keys), len(pairs))
		for _, p := range pairs {
			if _, ok := want[uint32(p.Key)]; !ok {
				t.Fatalf("the set has the key %#x", p.Key)
			}
		}
		require.NoError(t, s.Close())
	})
}

// What the original got wrong: an insertion after deletions took a freed slot in front of the key's own, and a
// deletion could hit a key that had come to the slot meanwhile.
func TestInsertAfterDeleteNeverDuplicates(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			const n, rounds = 256, 40
			m := newMap(t, d, Options{Buckets: 4, MaxLoad: -1, Tile: width})
			rng := rand.New(rand.NewPCG(7, uint64(width)))
			keys := distinct(rng, n, m.InShaders().Description())
			kept := ramp(60, 0x70000000, 1) // nobody deletes these
			insert(t, m, kept, kept)
			want := map[uint32]uint32{}
			for _, k := range kept {
				want[k] = k
			}
			for round := range rounds {
				// Each key twice or so: insertions and deletions of one key in one batch.
				var b u32.Batch
				for range 2 * n {
					kind := [...]structures.Kind{structures.InsertUnique, structures.Delete,
						structures.Insert}[rng.IntN(3)]
					b.Kinds = append(b.Kinds, kind)
					b.Keys = append(b.Keys, keys[rng.IntN(n)])
					b.Values = append(b.Values, uint32(round))
				}
				r, err := m.Apply(t.Context(), b)
				require.NoError(t, err)
				held := map[uint32]int{}
				for i, s := range r.Status {
					switch {
					case s == structures.Inserted:
						held[b.Keys[i]]++
					case s == structures.Deleted:
						held[b.Keys[i]]--
					}
				}
				for _, k := range keys {
					before := 0
					if _, ok := want[k]; ok {
						before = 1
					}
					switch before + held[k] {
					case 0:
						delete(want, k)
					case 1:
						want[k] = 0 // some value
					default:
						t.Fatalf("round %d: key %#x was there %d times, and %d more came", round, k, before, held[k])
					}
				}
				if round%8 == 7 {
					require.NoError(t, m.Flush(t.Context()))
				}
				pairs := slabcheck.Check(t, d, slabcheck.Expect{Compact: round%8 == 7}, m)[0]
				require.Equal(t, len(want), len(pairs))
				for _, p := range pairs {
					if _, ok := want[uint32(p.Key)]; !ok {
						t.Fatalf("round %d: key %#x is there", round, p.Key)
					}
				}
			}
			values, found := find(t, m, kept)
			all(t, true, len(kept), found, "the keys nobody deleted")
			same(t, kept, values, "the values nobody changed")
		})
	})
}
