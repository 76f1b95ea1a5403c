package primitives

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// pairs is a run of pairs on the host.
type pairs[K, V number] struct {
	keys   []K
	values []V
}

// sortedRun returns n pairs that ascend by the bits of mask. Values tell the pairs of one test apart.
func sortedRun[K, V number](seed uint64, n int, below, mask K) pairs[K, V] {
	r := pairs[K, V]{numbers(seed, n, below), make([]V, n)}
	slices.SortStableFunc(r.keys, func(a, b K) int { return cmp.Compare(a&mask, b&mask) })
	for i := range r.values {
		r.values[i] = tagged[V](seed, i)
	}
	return r
}

// tagged returns the value of pair i of a run. A 64-bit value uses both words.
func tagged[V number](run uint64, i int) V {
	value := run<<24 + uint64(i)
	return V(value<<32 | value)
}

// merged returns the expected result of Merge: a stable sort of the two runs, one after the other.
func merged[K, V number](a, b pairs[K, V], mask K) pairs[K, V] {
	m := pairs[K, V]{make([]K, 0, len(a.keys)+len(b.keys)), make([]V, 0, len(a.keys)+len(b.keys))}
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

// eachSplit runs a test with workgroups that find their own tiles, and with a dispatch that finds them.
func eachSplit(t *testing.T, test func(t *testing.T, r *rig, alone bool)) {
	t.Run("alone", func(t *testing.T) { test(t, newRig(t), true) })
	t.Run("split before", func(t *testing.T) { test(t, newRig(t), false) })
}

// checkMerge merges pairs, and their keys alone, and compares both with the model.
func checkMerge[K, V number](r *rig, a, b pairs[K, V], aLength, bLength Length, mask K, alone bool, name string) {
	r.t.Helper()
	want := merged(a, b, cmp.Or(mask, ^K(0)))
	n := len(want.keys)
	args := MergeArgs{
		A:      Run{within(r, a.keys, aLength).Address(), within(r, a.values, aLength).Address(), aLength},
		B:      Run{within(r, b.keys, bLength).Address(), within(r, b.values, bLength).Address(), bLength},
		Widths: Widths{widthOf[K](), widthOf[V]()}, Mask: uint64(mask),
	}
	args.Scratch = r.scratch(r.p.mergeScratch(aLength.N+bLength.N, args.Widths))
	keys, values := roomOf[K](r, n), roomOf[V](r, n)
	args.OutKeys, args.OutValues = keys.Address(), values.Address()
	r.run(r.p.merge(r.s, args, alone))
	requireWords(r.t, want.keys, download(r, keys, n), "keys of %s", name)
	requireWords(r.t, want.values, download(r, values, n), "values of %s", name)

	keys = roomOf[K](r, n)
	args.A.Values, args.B.Values, args.OutValues, args.OutKeys = 0, 0, 0, keys.Address()
	r.run(r.p.merge(r.s, args, alone))
	requireWords(r.t, want.keys, download(r, keys, n), "keys alone of %s", name)
}

// within returns data in a buffer with room for the given number of elements.
func within[T number](r *rig, data []T, l Length) *vk.Buffer[T] {
	b := roomOf[T](r, l.N)
	require.NoError(r.t, r.s.Wait(r.t.Context()))
	require.NoError(r.t, b.Upload(r.t.Context(), 0, data))
	return b
}

func TestMerge(t *testing.T) {
	t.Run("k32v32", testMerge[uint32, uint32])
	t.Run("k64v64", testMerge[uint64, uint64])
	t.Run("k64v32", testMerge[uint64, uint32])
}

func testMerge[K, V number](t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		tile := r.p.mergeShape(widthOf[K](), false).tile()
		for i, n := range []int{0, 1, 2, 31, 33, 1000, tile - 1, tile, tile + 1, 20011} {
			for j, m := range []int{0, 1, 7, tile, tile + 2, 9973} {
				below := []K{0, 1, 2, 100, 1 << 16}[(i+j)%5]
				a, b := sortedRun[K, V](1, n, below, ^K(0)), sortedRun[K, V](2, m, below, ^K(0))
				checkMerge(r, a, b, Length{N: n}, Length{N: m}, 0, alone,
					fmt.Sprintf("%d and %d below %d", n, m, below))
				r.release()
			}
		}
	})
}

// All keys of one run are less than those of the other, or lie between two of them, or both runs have the greatest
// keys, or keys at the limits of either word.
func TestMergeArrangements(t *testing.T) {
	t.Run("k32v32", testMergeArrangements[uint32, uint32])
	t.Run("k64v64", testMergeArrangements[uint64, uint64])
}

func testMergeArrangements[K, V number](t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		const n = 6000
		run := func(tag uint64, key func(i K) K) (p pairs[K, V]) {
			for i := range n {
				p.keys, p.values = append(p.keys, key(K(i))), append(p.values, tagged[V](tag, i))
			}
			return p
		}
		edges := edges[K]()
		low := run(1, func(i K) K { return i })
		high := run(2, func(i K) K { return ^K(0) - n + 1 + i })
		hole := run(3, func(i K) K { return i/(n/2)*(^K(0)/2+1) + i })
		even := run(4, func(i K) K { return 2 * i })
		odd := run(5, func(i K) K { return 2*i + 1 })
		last := run(6, func(i K) K { return ^K(0) })
		edge := run(7, func(i K) K { return edges[int(i)*len(edges)/n] })
		all := []pairs[K, V]{low, high, hole, even, odd, last, edge}
		for i, a := range all {
			for j, b := range all {
				checkMerge(r, a, b, Length{N: n}, Length{N: n}, 0, alone, fmt.Sprintf("arrangements %d and %d", i, j))
			}
			r.release()
		}
	})
}

func TestMergeByMask(t *testing.T) {
	t.Run("k32", func(t *testing.T) {
		testMergeByMask(t, []uint32{1, 0xff, 0xffffff00, 1 << 31, 0x7fffffff, 0x00ffff00})
	})
	t.Run("k64", func(t *testing.T) {
		testMergeByMask(t, []uint64{1, math.MaxUint32, math.MaxUint32 << 32, 1 << 63, 0x00ffff0000ffff00})
	})
}

func testMergeByMask[K number](t *testing.T, masks []K) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		for _, mask := range masks {
			a, b := sortedRun[K, K](1, 5003, 0, mask), sortedRun[K, K](2, 7001, 0, mask)
			checkMerge(r, a, b, Length{N: 5003}, Length{N: 7001}, mask, alone, fmt.Sprintf("mask %#x", mask))
			r.release()
		}
	})
}

func TestMergeOfLengthsOnTheDevice(t *testing.T) {
	t.Run("k32v32", testMergeOfLengthsOnTheDevice[uint32, uint32])
	t.Run("k64v32", testMergeOfLengthsOnTheDevice[uint64, uint32])
}

func testMergeOfLengthsOnTheDevice[K, V number](t *testing.T) {
	eachSplit(t, func(t *testing.T, r *rig, alone bool) {
		for _, n := range []int{0, 1, 3000, 10007} {
			eachLength(r, n, func(aLength Length, aName string) {
				eachLength(r, 5000, func(bLength Length, bName string) {
					a, b := sortedRun[K, V](1, n, 1000, ^K(0)), sortedRun[K, V](2, 5000, 1000, ^K(0))
					checkMerge(r, a, b, aLength, bLength, 0, alone, aName+" and "+bName)
				})
			})
			r.release()
		}
	})
}

// The output and the inputs begin anywhere, because arrays are aligned to their elements only.
func TestMergeWithinArrays(t *testing.T) {
	t.Run("k32v32", testMergeWithinArrays[uint32, uint32])
	t.Run("k64v32", testMergeWithinArrays[uint64, uint32])
}

func testMergeWithinArrays[K, V number](t *testing.T) {
	r := newRig(t)
	a, b := sortedRun[K, V](1, 4001, 0, ^K(0)), sortedRun[K, V](2, 3001, 0, ^K(0))
	want := merged(a, b, ^K(0))
	n, w := len(want.keys), Widths{widthOf[K](), widthOf[V]()}
	for shift := range 4 {
		keys, values := roomOf[K](r, n+shift), roomOf[V](r, n+shift)
		r.run(r.p.Merge(r.s, MergeArgs{
			A:      Run{from(r, shift, a.keys), from(r, shift, a.values), Length{N: 4001}},
			B:      Run{from(r, shift, b.keys), from(r, shift, b.values), Length{N: 3001}},
			Widths: w, OutKeys: keys.AddressOf(shift), OutValues: values.AddressOf(shift),
			Scratch: r.scratch(r.p.mergeScratch(n, w)),
		}))
		requireWords(t, want.keys, download(r, keys, n+shift)[shift:], "keys from number %d on", shift)
		requireWords(t, want.values, download(r, values, n+shift)[shift:], "values from number %d on", shift)
	}
}

// from returns the address of data that begin at an element of a buffer.
func from[T number](r *rig, first int, data []T) uint64 {
	return upload(r, append(make([]T, first), data...)).AddressOf(first)
}

// Workgroups are adapted to devices with smaller limits.
func TestMergeShapesFit(t *testing.T) {
	for _, w := range []structures.Width{structures.Bits32, structures.Bits64} {
		for _, m := range []mergeShape{mergesOfKeys[w], mergesOfPairs[w]} {
			large := vk.Info{MaxWorkgroup: 1024, SharedBytes: 32 << 10}
			require.Equal(t, m, m.within(large, w), "%v", w)
			small := m.within(vk.Info{MaxWorkgroup: 128, SharedBytes: 16 << 10}, w)
			require.LessOrEqual(t, small.workgroup, 128)
			require.Less(t, small.tile()*(4+w.Bytes()), 16<<10)
		}
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
	args := good
	args.Widths = Widths{Key: structures.Bits32, Value: structures.Bits64}
	var widths *vk.OptionError
	require.ErrorAs(t, r.p.Merge(r.s, args), &widths)
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
		OutKeys: out.Address(), Scratch: r.scratch(r.p.mergeScratch(n, Widths{})),
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
