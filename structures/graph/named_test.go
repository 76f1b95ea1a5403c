package graph_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// A graph of names is what it is of the names themselves, also where numbers of deleted vertices are used again, and
// where texts have one hash.
func TestNamed(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		testNamed(t, NewNamed[int64], func(i int) int64 { return int64(i)*0x123456789abcd - math.MaxInt64/2 })
	})
	text := func(i int) string { return strings.Repeat("Königsberg ", i/4) + strconv.Itoa(i%4) }
	t.Run("texts", func(t *testing.T) { testNamed(t, NewNamedByText, text) })
	t.Run("texts of few hashes", func(t *testing.T) {
		testNamed(t, func(ctx context.Context, d *vk.Device, o Options) (*Named[string], error) {
			n, err := NewNamedByText(ctx, d, o)
			if err == nil {
				HashTextsBy(n, func(text string) uint64 { return uint64(len(text) % 3) })
			}
			return n, err
		}, text)
	})
}

func testNamed[ID cmp.Ordered](t *testing.T,
	create func(ctx context.Context, d *vk.Device, o Options) (*Named[ID], error), name func(i int) ID) {
	d := testdevice.Open(t)
	rapid.Check(t, func(rt *rapid.T) {
		ctx, o := t.Context(), Options{Weighted: true, Directed: rapid.Bool().Draw(rt, "directed")}
		n, err := create(ctx, d, o)
		require.NoError(rt, err)
		defer func() { require.NoError(rt, n.Close()) }()
		want, vertices := map[[2]ID]uint32{}, map[ID]bool{}
		one := rapid.Custom(func(t *rapid.T) ID { return name(rapid.IntRange(0, 40).Draw(t, "name")) })
		some := rapid.SliceOfN(one, 1, 200)
		ends := func(a, b ID) [2]ID {
			if !o.Directed && b < a {
				return [2]ID{b, a}
			}
			return [2]ID{a, b}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			from := some.Draw(rt, "from")
			to := rapid.Permutation(from).Draw(rt, "to")
			e := NamedEdges[ID]{from, to, make([]uint32, len(from))}
			for i := range e.Weights {
				e.Weights[i] = uint32(i)
			}
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				status, err := n.InsertEdges(ctx, e)
				require.NoError(rt, err)
				for i, a := range from {
					vertices[a], vertices[to[i]] = true, true
					if a == to[i] {
						require.Equal(rt, structures.Absent, status[i])
						continue
					}
					_, there := want[ends(a, to[i])]
					require.Equal(rt, there, status[i] == structures.Assigned)
					want[ends(a, to[i])] = e.Weights[i]
				}
			case 2:
				_, err := n.DeleteEdges(ctx, e)
				require.NoError(rt, err)
				for i, a := range from {
					delete(want, ends(a, to[i]))
				}
			case 3:
				few := from[:min(len(from), 8)]
				status, err := n.DeleteVertices(ctx, few)
				require.NoError(rt, err)
				for i, a := range few {
					if status[i] == structures.Deleted {
						require.True(rt, vertices[a])
						delete(vertices, a)
					}
				}
				for pair := range want {
					if !vertices[pair[0]] || !vertices[pair[1]] {
						delete(want, pair)
					}
				}
			}
			count, edges, err := n.Graph().Size(ctx)
			require.NoError(rt, err)
			require.Equal(rt, len(vertices), count)
			numbers, known, err := n.Numbers(ctx, from)
			require.NoError(rt, err)
			for i, a := range from {
				require.Equal(rt, vertices[a], known[i])
				if known[i] {
					its, there, err := n.Name(ctx, numbers[i])
					require.NoError(rt, err)
					require.True(rt, there)
					require.Equal(rt, a, its)
				}
			}
			stats, err := n.Graph().Inspect().Stats(ctx)
			require.NoError(rt, err)
			require.LessOrEqual(rt, stats.Extent, 41, "numbers of deleted vertices are used again")
			require.EqualValues(rt, len(want), edges)
			_, found, err := n.FindEdges(ctx, e)
			require.NoError(rt, err)
			offsets, targets, weights, err := n.Neighbors(ctx, from)
			require.NoError(rt, err)
			for i, a := range from {
				_, there := want[ends(a, to[i])]
				require.Equal(rt, there, found[i])
				for j := offsets[i]; j < offsets[i+1]; j++ {
					weight, there := want[ends(a, targets[j])]
					require.True(rt, there)
					require.Equal(rt, weight, weights[j])
				}
			}
		}
	})
}

// Where an insertion of names is stopped, be it in the midst of the map's part, none of them is there, those before
// are, and the same batch comes in afterwards.
func TestNamedStopped(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		testNamedStopped(t, NewNamed[int64], func(i int) int64 { return int64(i) * 77 })
	})
	for _, hashes := range []int{1 << 30, 900} {
		t.Run("texts of "+strconv.Itoa(hashes)+" hashes", func(t *testing.T) {
			testNamedStopped(t, func(ctx context.Context, d *vk.Device, o Options) (*Named[string], error) {
				n, err := NewNamedByText(ctx, d, o)
				if err == nil {
					HashTextsBy(n, func(text string) uint64 {
						i, _ := strconv.Atoi(text)
						return uint64(i % hashes)
					})
				}
				return n, err
			}, strconv.Itoa)
		})
	}
}

func testNamedStopped[ID cmp.Ordered](t *testing.T,
	create func(ctx context.Context, d *vk.Device, o Options) (*Named[ID], error), name func(i int) ID) {
	d := testdevice.Open(t)
	graphoracle.InChunksOf(t, 300)
	const before, more = 100, 1200
	var old, fresh []ID
	for i := range before + more {
		if i < before {
			old = append(old, name(i))
		} else {
			fresh = append(fresh, name(i))
		}
	}
	stopped := 0
	for questions := 0; ; questions++ {
		n, err := create(t.Context(), d, Options{})
		require.NoError(t, err)
		_, err = n.InsertVertices(t.Context(), old)
		require.NoError(t, err)
		status, err := n.InsertVertices(&graphoracle.StopsAfter{Context: t.Context(), Left: questions}, fresh)
		if err != nil {
			stopped++
			require.ErrorIs(t, err, context.Canceled)
			var pending *structures.PendingError
			require.ErrorAs(t, err, &pending)
			require.Equal(t, more, pending.Operations)
			require.Equal(t, make([]structures.Status, more), status)
			count, _, err := n.Graph().Size(t.Context())
			require.NoError(t, err)
			require.Equal(t, before, count)
			_, there, err := n.Numbers(t.Context(), fresh)
			require.NoError(t, err)
			require.NotContains(t, there, true, "after %d questions", questions)
			_, err = n.InsertVertices(t.Context(), fresh)
			require.NoError(t, err)
		}
		numbers, there, err := n.Numbers(t.Context(), append(old[:before:before], fresh...))
		require.NoError(t, err)
		require.NotContains(t, there, false)
		seen := map[uint32]bool{}
		for i, number := range numbers {
			require.False(t, seen[number], "a number of two names")
			seen[number] = true
			if i%100 == 0 {
				its, _, err := n.Name(t.Context(), number)
				require.NoError(t, err)
				require.Equal(t, name(i), its)
			}
		}
		require.NoError(t, n.Close())
		if status != nil && status[0] == structures.Inserted {
			break
		}
	}
	require.Greater(t, stopped, 4)
}

// A graph of names that is saved and loaded is the same, and goes on as it: new names get the numbers that are free.
// Every damaged file, and every part of one, is refused by name.
func TestNamedSaved(t *testing.T) {
	pass.OneWidth(t, "what is saved depends on no width")
	t.Run("numbers", func(t *testing.T) {
		testNamedSaved(t, NewNamed[int64], LoadNamed[int64], func(i int) int64 { return int64(i)*0x123456789ab - 9 })
	})
	t.Run("texts", func(t *testing.T) {
		testNamedSaved(t, NewNamedByText, LoadNamedByText,
			func(i int) string { return strings.Repeat("é", i%5) + strconv.Itoa(i) })
	})
	d, file := testdevice.Open(t), bytes.Buffer{}
	n, err := NewNamed[uint64](t.Context(), d, Options{})
	require.NoError(t, err)
	defer n.Close()
	_, err = n.InsertVertices(t.Context(), []uint64{1 << 40})
	require.NoError(t, err)
	_, err = n.Save(t.Context(), &file)
	require.NoError(t, err)
	var damaged *structures.SavedError
	_, err = LoadNamed[uint32](t.Context(), d, bytes.NewReader(file.Bytes()), Options{})
	require.ErrorAs(t, err, &damaged, "other numbers")
	_, err = LoadNamedByText(t.Context(), d, bytes.NewReader(file.Bytes()), Options{})
	require.ErrorAs(t, err, &damaged, "texts")
	require.ErrorContains(t, err, "names of type uint64")
	_, err = Load(t.Context(), d, bytes.NewReader(file.Bytes()), Options{})
	require.ErrorIs(t, err, structures.ErrNotSaved)
	names := bytes.Clone(file.Bytes())
	file.Reset()
	took, err := n.Graph().Save(t.Context(), &file)
	require.NoError(t, err)
	_, err = LoadNamed[uint64](t.Context(), d, &file, Options{})
	require.ErrorIs(t, err, structures.ErrNotSaved)

	// The names of this graph before another one, whose vertices are more, or others.
	names = names[:len(names)-int(took)]
	for _, vertices := range [][]uint32{{1}, {0, 1}} {
		g := newGraph(t, d, Options{})
		_, err = g.InsertVertices(t.Context(), []uint32{1})
		require.NoError(t, err)
		if len(vertices) == 1 {
			_, err = g.DeleteVertices(t.Context(), []uint32{0})
			require.NoError(t, err)
		}
		file.Reset()
		_, err = g.Save(t.Context(), &file)
		require.NoError(t, err)
		_, err = LoadNamed[uint64](t.Context(), d, bytes.NewReader(slices.Concat(names, file.Bytes())), Options{})
		require.ErrorIs(t, err, structures.ErrCorrupt, "vertices %d", vertices)
	}
}

func testNamedSaved[ID cmp.Ordered](t *testing.T, create func(context.Context, *vk.Device, Options) (*Named[ID], error),
	load func(context.Context, *vk.Device, io.Reader, Options) (*Named[ID], error), name func(i int) ID) {
	ctx, d := t.Context(), testdevice.Open(t)
	n, err := create(ctx, d, Options{Weighted: true})
	require.NoError(t, err)
	defer n.Close()
	var e NamedEdges[ID]
	for i := range 60 {
		e.From, e.To = append(e.From, name(i)), append(e.To, name((i*7+1)%60))
		e.Weights = append(e.Weights, uint32(i))
	}
	_, err = n.InsertEdges(ctx, e)
	require.NoError(t, err)
	gone := []ID{name(3), name(10), name(59)}
	_, err = n.DeleteVertices(ctx, gone)
	require.NoError(t, err)
	var file bytes.Buffer
	took, err := n.Save(ctx, &file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), took)
	whole := bytes.Clone(file.Bytes())

	other, err := load(ctx, d, &file, Options{})
	require.NoError(t, err)
	defer other.Close()
	for _, x := range []*Named[ID]{n, other} { // both go on alike
		_, err = x.InsertVertices(ctx, []ID{name(100), name(101)})
		require.NoError(t, err)
		stats, err := x.Graph().Inspect().Stats(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, stats.Extent, 60)
	}
	require.Equal(t, n.Graph().Inspect().Options().Weighted, other.Graph().Inspect().Options().Weighted)
	weights, found, err := n.FindEdges(ctx, e)
	require.NoError(t, err)
	gotWeights, gotFound, err := other.FindEdges(ctx, e)
	require.NoError(t, err)
	require.Equal(t, weights, gotWeights)
	require.Equal(t, found, gotFound)
	vertices, edges, err := n.Graph().Size(ctx)
	require.NoError(t, err)
	gotVertices, gotEdges, err := other.Graph().Size(ctx)
	require.NoError(t, err)
	require.Equal(t, vertices, gotVertices)
	require.Equal(t, edges, gotEdges)
	numbers, there, err := other.Numbers(ctx, append(gone, name(5)))
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, false, true}, there)
	back, is, err := other.Name(ctx, numbers[3])
	require.NoError(t, err)
	require.True(t, is)
	require.Equal(t, name(5), back)

	var damaged *structures.SavedError
	for at := 0; at < len(whole); at += 13 {
		_, err = load(ctx, d, bytes.NewReader(whole[:at]), Options{})
		require.ErrorAs(t, err, &damaged, "the first %d bytes", at)
		bad := bytes.Clone(whole)
		bad[at] ^= 1 << (at % 8)
		_, err = load(ctx, d, bytes.NewReader(bad), Options{})
		require.ErrorAs(t, err, &damaged, "byte %d", at)
	}
}
