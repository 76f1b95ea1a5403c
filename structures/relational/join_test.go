package relational

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// joinedBy joins by a map. Keys are told apart by their words.
func joinedBy[K structures.Number](left, right []K, kind JoinKind) (lefts, rights []int32) {
	matches, code := map[uint64][]int32{}, structures.KeyCode[K]()
	for i, k := range right {
		matches[code.Word(k)] = append(matches[code.Word(k)], int32(i))
	}
	lefts = []int32{}
	if kind.pairs() {
		rights = []int32{}
	}
	for i, k := range left {
		of := matches[code.Word(k)]
		switch {
		case kind.pairs() && len(of) > 0:
			for _, j := range of {
				lefts, rights = append(lefts, int32(i)), append(rights, j)
			}
		case kind == Left:
			lefts, rights = append(lefts, int32(i)), append(rights, None)
		case kind == Semi && len(of) > 0, kind == Anti && len(of) == 0:
			lefts = append(lefts, int32(i))
		}
	}
	return lefts, rights
}

func testJoin[K structures.Number](t *testing.T, r *Relational, left, right []K, name string) {
	t.Helper()
	for kind := Inner; kind <= Anti; kind++ {
		wantLefts, wantRights := joinedBy(left, right, kind)
		lefts, rights, err := Join(t.Context(), r, left, right, kind)
		require.NoError(t, err, name)
		require.Equal(t, wantLefts, lefts, "%s, %v, left rows", name, kind)
		require.Equal(t, wantRights, rights, "%s, %v, right rows", name, kind)
	}
}

func testJoins[K structures.Number](t *testing.T) {
	eachSize(t, func(t *testing.T, r *Relational) {
		for _, n := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {256, 300}, {1000, 10}, {10, 1000}, {1500, 1500}} {
			for _, different := range []int{1, 40, 3000} {
				if different == 1 && n[0]*n[1] > 1<<17 {
					continue
				}
				left, right := keysBelow[K](1, n[0], different), keysBelow[K](2, n[1], different)
				testJoin(t, r, left, right, fmt.Sprint(n, different))
			}
		}
		testJoin(t, r, keysBelow[K](1, 900, 50), []K{structures.Least[K](), structures.Greatest[K]()}, "no match")
	})
}

func TestJoin(t *testing.T) {
	pass.OneDriver(t, "lavapipe has 4 lanes as well")
	t.Run("uint32", testJoins[uint32])
	t.Run("int", testJoins[int])
	t.Run("float32", testJoins[float32])
	t.Run("uint64", testJoins[uint64])
}

// Keys that are not plain numbers, and the least and the greatest keys, for which bounds have no key beyond.
func TestJoinSpecialKeys(t *testing.T) {
	pass.OneWidth(t, "TestJoin has the kernels at each width")
	r := open(t, Options{})
	nan, minus := math.NaN(), math.Copysign(0, -1)
	few := []float64{0, minus, nan, math.Copysign(nan, -1), math.Inf(1), math.Inf(-1), 1}
	testJoin(t, r, few, append([]float64{nan, 0, 0, 1}, few...), "floats")
	testJoin(t, r, []uint64{0, math.MaxUint64, 1 << 32, 1}, []uint64{math.MaxUint64, 1, 0, math.MaxUint64, 0}, "words")
	testJoin(t, r, []int32{math.MinInt32, math.MaxInt32, 0}, []int32{math.MaxInt32, math.MinInt32}, "signed")
}

// One left row has all matches, between rows without any, and so does the last one.
func TestJoinSkewed(t *testing.T) {
	pass.OneWidth(t, "TestJoin has the kernels at each width")
	eachSize(t, func(t *testing.T, r *Relational) {
		left, right := make([]uint32, 2000), make([]uint32, 3000)
		for i := range left {
			left[i] = uint32(i) + 5
		}
		left[777], left[1999] = 1, 1
		for i := range right {
			right[i] = uint32(i % 2)
		}
		testJoin(t, r, left, right, "skewed")
	})
}

// Exactly as many results as MaxResults, and one more.
func TestJoinMaxResults(t *testing.T) {
	pass.OneWidth(t, "TestJoin has the kernels at each width")
	eachSize(t, func(t *testing.T, _ *Relational) {
		r := open(t, Options{MaxResults: 1000})
		left, right := make([]uint32, 100), make([]uint32, 10)
		testJoin(t, r, left, right, "as many as there may be")
		_, _, err := Join(t.Context(), r, append(left, 5), right, Left)
		var many *ResultsError
		require.ErrorAs(t, err, &many)
		require.Equal(t, &ResultsError{Results: 1001, Most: 1000}, many)
	})
}

// More results than 32 bits can count are refused.
func TestJoinTooMany(t *testing.T) {
	pass.OneWidth(t, "TestJoin has the kernels at each width")
	r := open(t, Options{})
	same := make([]uint32, 1<<17)
	_, _, err := Join(t.Context(), r, same, same, Inner)
	var many *ResultsError
	require.ErrorAs(t, err, &many)
	require.Equal(t, &ResultsError{Results: 1 << 34, Most: primitives.MaxLength}, many)
}

func TestJoinRefuses(t *testing.T) {
	pass.OneWidth(t, "TestJoin has the kernels at each width")
	r := open(t, Options{MaxBytes: leastBytes})
	ctx := t.Context()
	var option *vk.OptionError
	_, _, err := Join(ctx, r, []uint32{1}, []uint32{1}, Anti+1)
	require.ErrorAs(t, err, &option)
	_, _, err = Join(ctx, r, []uint32{1}, make([]uint32, 1<<18), Inner)
	require.ErrorIs(t, err, vk.ErrNoRoom)
	testJoin(t, r, keysBelow[uint32](1, 30_000, 30_000), keysBelow[uint32](2, 1000, 30_000), "left rows pass through")

	ended, end := context.WithCancel(ctx)
	end()
	_, _, err = Join(ended, r, []uint32{1}, []uint32{1}, Inner)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Close())
	_, _, err = Join(ctx, r, []uint32{1}, []uint32{1}, Inner)
	require.ErrorIs(t, err, vk.ErrClosed)
	require.ErrorIs(t, r.On(testdevice.Stream(t, r.d)).Join(JoinArgs{}), vk.ErrClosed)
}

// Goroutines join and group with one Relational.
func TestJoinConcurrently(t *testing.T) {
	pass.OneWidth(t, "TestJoin has the kernels at each width")
	inParts(t, 1000)
	r := open(t, Options{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			left, right := keysBelow[uint32](uint64(i), 3000, 400*(i+1)), keysBelow[uint32](uint64(i+50), 2000, 400)
			want, wantRights := joinedBy(left, right, Left)
			for range 3 {
				lefts, rights, err := Join(t.Context(), r, left, right, Left)
				if err != nil || !equal(lefts, want) || !equal(rights, wantRights) {
					t.Errorf("join %d differs, error %v", i, err)
				}
				if _, _, err := Distinct(t.Context(), r, left); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func equal(a, b []int32) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// Joins on a stream, of lengths that only the device knows, with more room than results, exactly as much, one less, and
// none.
func TestJoinOnStream(t *testing.T) {
	pass.OneDriver(t, "lavapipe has 4 lanes as well")
	r := open(t, Options{})
	d, s := r.d, testdevice.Stream(t, r.d)
	left, right := keysBelow[uint32](1, 2000, 300), keysBelow[uint32](2, 1500, 400)
	const lefts, rights, untouched = 1111, 777, -9
	for kind := Inner; kind <= Anti; kind++ {
		wantLefts, wantRights := joinedBy(left[:lefts], right[:rights], kind)
		n := len(wantLefts)
		for _, capacity := range []int{n + 300, n, n - 1, 0} {
			name := fmt.Sprint(kind, capacity)
			outs := make([]int32, n+400)
			for i := range outs {
				outs[i] = untouched
			}
			outLefts, outRights := testdevice.Upload(t, d, outs), testdevice.Upload(t, d, outs)
			count := testdevice.Room[uint64](t, d, 1)
			a := JoinArgs{Lefts: testdevice.Upload(t, d, left).Address(),
				Rights:      testdevice.Upload(t, d, right).Address(),
				LeftLength:  primitives.Length{N: 2000, At: testdevice.Upload(t, d, []uint32{lefts}).Address()},
				RightLength: primitives.Length{N: 1500, At: testdevice.Upload(t, d, []uint32{rights}).Address()},
				Kind:        kind, OutLefts: outLefts.Address(), OutRights: outRights.Address(), Capacity: capacity,
				OutCount: count.Address()}
			a.Scratch = testdevice.Room[byte](t, d, r.Scratch(a)).Address()
			require.NoError(t, r.On(s).Join(a))
			require.NoError(t, s.Wait(t.Context()))
			require.Equal(t, uint64(n), testdevice.Download(t, count, 1)[0], name)
			written := min(n, capacity)
			got, gotRights := testdevice.Download(t, outLefts, len(outs)), testdevice.Download(t, outRights, len(outs))
			require.Equal(t, wantLefts[:written], got[:written], name)
			require.Equal(t, outs[written:], got[written:], "%s: beyond the capacity", name)
			if !kind.pairs() {
				written = 0
			} else {
				require.Equal(t, wantRights[:written], gotRights[:written], name)
			}
			require.Equal(t, outs[written:], gotRights[written:], "%s: beyond the capacity", name)
		}
	}
	elsewhere, _ := testdevice.OpenNew(t)
	require.Error(t, r.On(testdevice.Stream(t, elsewhere)).Join(JoinArgs{}), "the stream is of another device")
}

// After Prepare, a join and a grouping on a stream make no kernel.
func TestPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels there are, and what is refused, is the host's business")
	d, made := testdevice.OpenNew(t)
	r, err := New(d, Options{})
	require.NoError(t, err)
	at := testdevice.Room[uint32](t, d, 1<<12).Address()
	out := testdevice.Room[uint32](t, d, 1<<12).Address()
	l := primitives.Length{N: 100}
	group := GroupArgs{Keys: at, Values: at, OutKeys: out, OutCounts: out + 1024, OutMaxs: out + 2048, Length: l}
	join := JoinArgs{Lefts: at, Rights: at, LeftLength: l, RightLength: l, OutLefts: out, OutRights: out + 1024,
		Capacity: 100, OutCount: out + 2048}
	require.NoError(t, r.Prepare(t.Context(), group, join))
	require.NotEmpty(t, made.Take())
	group.Scratch = testdevice.Room[byte](t, d, r.Scratch(group)).Address()
	join.Scratch = testdevice.Room[byte](t, d, r.Scratch(join)).Address()
	s := testdevice.Stream(t, d)
	require.NoError(t, r.On(s).Group(group))
	require.NoError(t, r.On(s).Join(join))
	require.NoError(t, s.Wait(t.Context()))
	require.Empty(t, made.Take())
	require.NoError(t, r.Close())
}

func TestJoinOnStreamRefuses(t *testing.T) {
	pass.OneWidth(t, "which kernels there are, and what is refused, is the host's business")
	r := open(t, Options{})
	s := testdevice.Stream(t, r.d)
	at := testdevice.Room[uint32](t, r.d, 64).Address()
	l := primitives.Length{N: 8}
	good := JoinArgs{Lefts: at, Rights: at, LeftLength: l, RightLength: l, OutLefts: at, OutRights: at, Capacity: 8,
		OutCount: at, Scratch: at}
	for name, spoil := range map[string]func(a *JoinArgs){
		"lefts": func(a *JoinArgs) { a.Lefts = 0 }, "rights": func(a *JoinArgs) { a.Rights = 0 },
		"out lefts": func(a *JoinArgs) { a.OutLefts = 0 }, "out rights": func(a *JoinArgs) { a.OutRights = 0 },
		"count": func(a *JoinArgs) { a.OutCount = 0 }, "scratch": func(a *JoinArgs) { a.Scratch = 0 },
	} {
		a := good
		spoil(&a)
		require.ErrorIs(t, r.On(s).Join(a), primitives.ErrNoMemory, name)
	}
	var count *structures.CountError
	var option *vk.OptionError
	a := good
	a.Capacity = -1
	require.ErrorAs(t, r.On(s).Join(a), &count)
	a = good
	a.LeftLength.N = primitives.MaxLength + 1
	require.ErrorAs(t, r.On(s).Join(a), &count)
	a = good
	a.Kind = Anti + 1
	require.ErrorAs(t, r.On(s).Join(a), &option)
	a = good
	a.Width = 2
	require.ErrorAs(t, r.On(s).Join(a), &option)
}
