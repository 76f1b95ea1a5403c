package primitives

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// pairs is a run of pairs on the host.
type pairs struct{ keys, values []uint32 }

// sortedRun is n pairs ascending by the keys' bits of mask. Values tell pairs of one test apart.
func sortedRun(seed uint64, n int, below, mask uint32) pairs {
	r := pairs{words(seed, n, below), make([]uint32, n)}
	slices.SortStableFunc(r.keys, func(a, b uint32) int { return cmp.Compare(a&mask, b&mask) })
	for i := range r.values {
		r.values[i] = uint32(seed)<<24 + uint32(i)
	}
	return r
}

// merged is what Merge is to bring: a stable sort of one run behind the other.
func merged(a, b pairs, mask uint32) pairs {
	m := pairs{make([]uint32, 0, len(a.keys)+len(b.keys)), make([]uint32, 0, len(a.keys)+len(b.keys))}
	for i, j := 0, 0; i < len(a.keys) || j < len(b.keys); {
		from, at := &a, &i
		if i == len(a.keys) || j < len(b.keys) && b.keys[j]&mask < a.keys[i]&mask {
			from, at = &b, &j
		}
		m.keys, m.values = append(m.keys, from.keys[*at]), append(m.values, from.values[*at])
		*at++
	}
	return m
}

// eachSplit runs a test with workgroups that find their tiles by themselves, and with the dispatch that does it.
func eachSplit(t *testing.T, test func(t *testing.T, r *rig, alone bool)) {
	t.Run("alone", func(t *testing.T) { test(t, newRig(t), true) })
	t.Run("split before", func(t *testing.T) { test(t, newRig(t), false) })
}

// checkMerge merges pairs, and their keys alone, and compares both with the model.
func (r *rig) checkMerge(a, b pairs, aLength, bLength Length, mask uint32, alone bool, name string) {
	r.t.Helper()
	want := merged(a, b, cmp.Or(mask, math.MaxUint32))
	n := len(want.keys)
	upload := func(data []uint32, l Length) uint64 {
		buffer := room(r, l.N)
		require.NoError(r.t, r.s.Wait(r.t.Context()))
		require.NoError(r.t, buffer.Upload(r.t.Context(), 0, data))
		return buffer.Address()
	}
	args := MergeArgs{
		A:    Run{upload(a.keys, aLength), upload(a.values, aLength), aLength},
		B:    Run{upload(b.keys, bLength), upload(b.values, bLength), bLength},
		Mask: mask, Scratch: r.scratch(r.p.MergeScratch(aLength.N + bLength.N)),
	}
	keys, values := room(r, n), room(r, n)
	args.OutKeys, args.OutValues = keys.Address(), values.Address()
	r.run(r.p.merge(r.s, args, alone))
	requireWords(r.t, want.keys, download(r, keys, n), "keys of %s", name)
	requireWords(r.t, want.values, download(r, values, n), "values of %s", name)

	keys = room(r, n)
	args.A.Values, args.B.Values, args.OutValues, args.OutKeys = 0, 0, 0, keys.Address()
	r.run(r.p.merge(r.s, args, alone))
	requireWords(r.t, want.keys, download(r, keys, n), "keys alone of %s", name)
}

func TestMerge(t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		for i, n := range []int{0, 1, 2, 31, 33, 1000, 2815, 2816, 2817, 20011} {
			for j, m := range []int{0, 1, 7, 2816, 2818, 9973} {
				below := []uint32{0, 1, 2, 100, 1 << 16}[(i+j)%5]
				a, b := sortedRun(1, n, below, math.MaxUint32), sortedRun(2, m, below, math.MaxUint32)
				r.checkMerge(a, b, Length{N: n}, Length{N: m}, 0, alone, fmt.Sprintf("%d and %d below %d", n, m, below))
				r.release()
			}
		}
	})
}

// One run's keys are all below the other's, or one run's lie between two of the other's, or both have the last keys.
func TestMergeArrangements(t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		const n = 6000
		run := func(tag uint32, key func(i uint32) uint32) (p pairs) {
			for i := range uint32(n) {
				p.keys, p.values = append(p.keys, key(i)), append(p.values, tag+i)
			}
			return p
		}
		low := run(1<<20, func(i uint32) uint32 { return i })
		high := run(2<<20, func(i uint32) uint32 { return math.MaxUint32 - n + 1 + i })
		hole := run(3<<20, func(i uint32) uint32 { return i/(n/2)*(1<<31) + i })
		even := run(4<<20, func(i uint32) uint32 { return 2 * i })
		odd := run(5<<20, func(i uint32) uint32 { return 2*i + 1 })
		last := run(6<<20, func(i uint32) uint32 { return math.MaxUint32 })
		all := []pairs{low, high, hole, even, odd, last}
		for i, a := range all {
			for j, b := range all {
				r.checkMerge(a, b, Length{N: n}, Length{N: n}, 0, alone, fmt.Sprintf("arrangements %d and %d", i, j))
			}
			r.release()
		}
	})
}

func TestMergeByMask(t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		for _, mask := range []uint32{1, 0xff, 0xffffff00, 1 << 31, 0x7fffffff, 0x00ffff00} {
			a, b := sortedRun(1, 5003, 0, mask), sortedRun(2, 7001, 0, mask)
			r.checkMerge(a, b, Length{N: 5003}, Length{N: 7001}, mask, alone, fmt.Sprintf("mask %#x", mask))
			r.release()
		}
	})
}

func TestMergeOfLengthsOnTheDevice(t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		for _, n := range []int{0, 1, 3000, 10007} {
			eachLength(r, n, func(aLength Length, aName string) {
				eachLength(r, 5000, func(bLength Length, bName string) {
					a, b := sortedRun(1, n, 1000, math.MaxUint32), sortedRun(2, 5000, 1000, math.MaxUint32)
					r.checkMerge(a, b, aLength, bLength, 0, alone, aName+" and "+bName)
				})
			})
			r.release()
		}
	})
}

// An output and inputs that begin anywhere: arrays are aligned to words, no more.
func TestMergeWithinArrays(t *testing.T) {
	r := newRig(t)
	a, b := sortedRun(1, 4001, 0, math.MaxUint32), sortedRun(2, 3001, 0, math.MaxUint32)
	want := merged(a, b, math.MaxUint32)
	for shift := range 4 {
		skip := make([]uint32, shift)
		at := func(data []uint32) uint64 { return upload(r, append(skip, data...)).AddressOf(shift) }
		keys, values := room(r, len(want.keys)+shift), room(r, len(want.keys)+shift)
		r.run(r.p.Merge(r.s, MergeArgs{
			A:       Run{at(a.keys), at(a.values), Length{N: 4001}},
			B:       Run{at(b.keys), at(b.values), Length{N: 3001}},
			OutKeys: keys.AddressOf(shift), OutValues: values.AddressOf(shift),
			Scratch: r.scratch(r.p.MergeScratch(7002)),
		}))
		requireWords(t, want.keys, download(r, keys, len(want.keys)+shift)[shift:], "keys from word %d on", shift)
		requireWords(t, want.values, download(r, values, len(want.keys)+shift)[shift:], "values from word %d on", shift)
	}
}

func TestMergeRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	pairs := Run{at, at, Length{N: 1}}
	good := MergeArgs{A: pairs, B: pairs, OutKeys: at, OutValues: at, Scratch: at}
	for name, wrong := range map[string]func(a *MergeArgs){
		"no keys":            func(a *MergeArgs) { a.A.Keys = 0 },
		"no values":          func(a *MergeArgs) { a.B.Values = 0 },
		"no output":          func(a *MergeArgs) { a.OutKeys = 0 },
		"values for no room": func(a *MergeArgs) { a.OutValues = 0 },
		"no scratch":         func(a *MergeArgs) { a.Scratch = 0 },
	} {
		args := good
		wrong(&args)
		require.ErrorIs(t, r.p.Merge(r.s, args), ErrNoMemory, name)
	}
	var length *structures.CountError
	good.B.Length.N = MaxLength + 1
	require.ErrorAs(t, r.p.Merge(r.s, good), &length)
	good.B.Length.N = -1
	require.ErrorAs(t, r.p.Merge(r.s, good), &length)
}

// Arrays of more than 2^31 bytes.
func TestMergeOfLongRuns(t *testing.T) {
	long(t)
	r := newRig(t)
	a, b := make([]uint32, 1<<29+5), make([]uint32, 1<<20)
	for i := range a {
		a[i] = uint32(i) * 4
	}
	for i := range b {
		b[i] = uint32(i)*2048 + 1
	}
	n := len(a) + len(b)
	out := room(r, n)
	r.run(r.p.Merge(r.s, MergeArgs{
		A:       Run{Keys: upload(r, a).Address(), Length: Length{N: len(a)}},
		B:       Run{Keys: upload(r, b).Address(), Length: Length{N: len(b)}},
		OutKeys: out.Address(), Scratch: r.scratch(r.p.MergeScratch(n)),
	}))
	for i, j, got := 0, 0, download(r, out, n); i+j < n; {
		want := a[min(i, len(a)-1)]
		if i == len(a) || j < len(b) && b[j] < want {
			want = b[j]
			j++
		} else {
			i++
		}
		if at := i + j - 1; got[at] != want {
			require.Equal(t, want, got[at], "output %d", at)
		}
	}
}
