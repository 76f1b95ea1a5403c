package runs

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// sorted returns a run of n pairs, some of them tombstones and some with a value of all ones.
func (r *rig) sorted(g *rand.Rand, n int, keys func(*rand.Rand) uint64, tombstones float64) []pair {
	run := make([]pair, n)
	for i := range run {
		run[i] = pair{key: r.number(keys(g)), value: g.Uint64() & r.most()}
		if g.Float64() < tombstones {
			run[i].value, run[i].tombstone = r.most(), true
		} else if g.Uint32N(8) == 0 {
			run[i].value = r.most() >> (32 * g.Uint32N(2) * uint32(r.w)) // or all ones in the low word only
		}
	}
	slices.SortStableFunc(run, byKey)
	return run
}

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// source uploads a run.
func (r *rig) source(run []pair) Source {
	row := r.row(run, true)
	return Of(Row{Keys: row[0], Values: row[1], Tombstones: row[2]}, len(run))
}

// tombs uploads keys to be deleted, and returns their run.
func (r *rig) tombs(run []pair) Source {
	keys := make([]uint64, len(run))
	for i := range run {
		keys[i] = run[i].key
		run[i].value, run[i].tombstone = r.most(), true
	}
	return Source{Keys: r.numbers(keys).Address(), N: len(run)}
}

// at returns number i of words.
func (r *rig) at(words []uint32, i int) uint64 {
	if r.w == structures.Bits64 {
		return uint64(words[2*i+1])<<32 | uint64(words[2*i])
	}
	return uint64(words[i])
}

// requireRun compares a run on the device, and its index, which must be that of BuildIndex.
func (r *rig) requireRun(want []pair, m *Memory, tombstones bool) {
	r.t.Helper()
	all := make([]uint32, m.b.Len())
	require.NoError(r.t, m.b.Download(r.t.Context(), 0, all))
	for i, p := range want {
		bit := tombstones && all[m.tombstones+i/32]>>(i%32)&1 == 1
		if got := (pair{r.at(all, i), r.at(all[m.values:], i), bit}); got != p {
			require.FailNow(r.t, "another pair", "pair %d of %d is %v, want %v", i, len(want), got, p)
		}
	}
	if n := len(want); tombstones && n%32 != 0 {
		require.Zero(r.t, all[m.tombstones+n/32]>>(n%32), "bits behind the last pair")
	}
}

func TestMerge(t *testing.T) { eachWidth(t, testMerge) }

func testMerge(t *testing.T, r *rig) {
	for name, keys := range map[string]func(*rand.Rand) uint64{"any": anyKey, "few": below(100), "ends": edges,
		"halves": halves} {
		for _, size := range [][2]int{{0, 64}, {64, 0}, {1, 31}, {1000, 24}, {3000, 3080}, {9000, 216}, {3, 8189}} {
			for _, alone := range []int{0, 1 << 22} {
				r.q.merging.alone = alone
				g := random(uint64(size[0]))
				older, newer := r.sorted(g, size[0], keys, 0.2), r.sorted(g, size[1], keys, 0.2)
				deletes := size[1]%2 == 1
				b := Source{}
				if deletes {
					b = r.tombs(newer)
				} else {
					b = r.source(newer)
				}
				want := slices.Concat(older, newer)
				slices.SortStableFunc(want, byKey)
				n := len(want)
				a := r.source(older)
				scratch := r.scratch(r.q.MergeScratch(n))
				for _, part := range [][2]int{{0, n}, {0, n / 2 &^ 31}, {n / 3 &^ 31, n / 64 * 32}, {n - 1, 1}} {
					m, err := NewMemory(r.d, r.w, part[1])
					require.NoError(t, err)
					out := m.Row(true)
					indexed := part[1]%32 == 0
					m.FillIndex(r.s)
					if !indexed {
						out.Index = 0
					}
					r.run(r.q.Merge(r.s, MergeArgs{Older: a, Newer: b, Begin: part[0], N: part[1], Out: out,
						Scratch: scratch}))
					r.requireRun(want[part[0]:part[0]+part[1]], m, true)
					if words := r.size(IndexKeys(r.w, part[1])); indexed {
						index := room(r, words)
						r.run(r.q.BuildIndex(r.s, out.Keys, part[1], index.Address()))
						got := make([]uint32, words)
						require.NoError(t, m.b.Download(t.Context(), m.index, got))
						requireWords(t, download(r, index, words), got, "%s keys: index of pairs %v of %v", name, part,
							size)
					}
					m.Free()
				}
				r.release()
			}
		}
	}
}

func TestMark(t *testing.T) { eachWidth(t, testMark) }

func testMark(t *testing.T, r *rig) {
	for _, n := range []int{1, 31, 32, 4095, 4096, 4097, 20000} {
		g := random(uint64(n))
		run := r.sorted(g, n, below(uint64(n)), 0.3)
		want := make([]uint32, groups(n, 32))
		for i, p := range run {
			if (i+1 == n || run[i+1].key != p.key) && !p.tombstone {
				want[i/32] |= 1 << (i % 32)
			}
		}
		flags := room(r, len(want))
		require.NoError(t, r.s.Wait(t.Context()))
		r.run(r.q.Mark(r.s, r.source(run), flags.Address()))
		requireWords(t, want, download(r, flags, len(want)), "%d pairs", n)
		r.release()
	}
}

func TestOutcomes(t *testing.T) { eachWidth(t, testOutcomes) }

func testOutcomes(t *testing.T, r *rig) {
	m := r.stack(5, shape{unit: 64, full: 0x5, front: 33, keys: below(400), tombstones: 0.2})
	for _, n := range []int{0, 1, 2, 5, 129, 3001} {
		g := random(uint64(n))
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = r.number(g.Uint64N(500))
		}
		k := r.numbers(keys).Address()
		for _, kind := range []structures.Kind{structures.Insert, structures.Delete} {
			want, seen := make([]uint8, n), map[uint64]bool{}
			for i, key := range keys {
				_, there := m.live[key]
				status := structures.Absent
				switch {
				case kind == structures.Insert && (there || seen[key]):
					status = structures.Assigned
				case kind == structures.Insert:
					status = structures.Inserted
				case there && !seen[key]:
					status = structures.Deleted
				}
				want[i], seen[key] = uint8(status), true
			}
			out := room(r, (n+3)/4)
			r.run(r.q.Outcomes(r.s, m.Stack, OutcomesArgs{
				Kind: kind, Keys: k, Statuses: out.Address(), N: n, Scratch: r.scratch(r.q.OutcomesScratch(n)),
			}))
			require.True(t, slices.Equal(want, downloadBytes(r, out, n)), "%v of %d", kind, n)
		}
	}
}

func TestCountValid(t *testing.T) { eachWidth(t, testCountValid) }

func testCountValid(t *testing.T, r *rig) {
	eachShape(r, func(t *testing.T, m *model) {
		counters, err := vk.NewHostBuffer[uint32](r.d, ValidCounters)
		require.NoError(t, err)
		defer counters.Free()
		all := int(m.Pairs())
		for _, part := range []int{max(1, all), all/3 + 1} {
			clear(counters.Slice())
			for first := 0; first < all; first += part {
				r.run(r.q.CountValid(r.s, m.Stack, first, min(part, all-first), counters.Address()))
			}
			valid, tombstones, want := 0, 0, 0
			for i := 0; i < ValidCounters; i += 2 {
				valid += int(counters.Slice()[i])
				tombstones += int(counters.Slice()[i+1])
			}
			for _, row := range m.rows {
				for _, p := range row {
					if p.tombstone {
						want++
					}
				}
			}
			require.Equal(t, len(m.live), valid)
			require.Equal(t, want, tombstones)
		}
	})
}

func TestSetRow(t *testing.T) { eachWidth(t, testSetRow) }

func testSetRow(t *testing.T, r *rig) {
	rows, err := vk.NewBuffer[uint64](r.d, 4*StackRows)
	require.NoError(t, err)
	defer rows.Free()
	want := make([]uint64, 4*StackRows)
	for row := range StackRows {
		v := uint64(row+1) << 33
		copy(want[4*row:], []uint64{v, v + 1, v + 2, v + 3})
		require.NoError(t, r.q.SetRow(r.s, rows.Address(), row, Row{v, v + 1, v + 2, v + 3}))
	}
	require.NoError(t, r.s.Wait(t.Context()))
	got := make([]uint64, len(want))
	require.NoError(t, rows.Download(t.Context(), 0, got))
	require.True(t, slices.Equal(want, got))
}
