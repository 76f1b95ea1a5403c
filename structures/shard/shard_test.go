package shard_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"pgregory.net/rapid"
)

// TestMain has few sequences of each property, because there are many types, numbers of shards and blocks.
func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "8",
		Why:    "what the host does is the same on every driver and at every width",
	}.Begin()
	stress.Main(m, 15, 200, 15)
}

// keysOf returns keys of a type: among them the least and the greatest, and those of either sign.
func keysOf[K structures.Number]() []K {
	code := structures.KeyCode[K]()
	all := uint64(math.MaxUint64) >> (64 - structures.WidthOf[K]().Bits())
	var keys []K
	for i := range uint64(200) {
		keys = append(keys, code.Of(i*0x9e3779b97f4a7c15&all))
	}
	for _, word := range []uint64{0, 1, 2, all, all - 1, all / 2, all/2 + 1} {
		keys = append(keys, code.Of(word))
	}
	return keys
}

// collected returns what an iterator returns.
func collected[T any](t require.TestingT, of iter.Seq2[T, error]) (all []T) {
	for x, err := range of {
		require.NoError(t, err)
		all = append(all, x)
	}
	return all
}

// words returns numbers as words, because a NaN is not equal to itself.
func words[K structures.Number](numbers []K) (all []uint64) {
	for _, x := range numbers {
		all = append(all, structures.KeyCode[K]().Word(x))
	}
	return all
}

func pairWords[K, V structures.Number](pairs []structures.Pair[K, V]) (all []uint64) {
	for _, p := range pairs {
		all = append(all, words([]K{p.Key})[0], words([]V{p.Value})[0])
	}
	return all
}

// drawn returns keys for a batch: of few different keys or of many, in any order, and some twice.
func drawn[K structures.Number](t *rapid.T, keys []K) []K {
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 17, 100, 300}).Draw(t, "n")
	few := rapid.SampledFrom([]int{1, 3, len(keys)}).Draw(t, "of")
	from := rapid.IntRange(0, len(keys)-few).Draw(t, "from")
	return rapid.SliceOfN(rapid.SampledFrom(keys[from:from+few]), n, n).Draw(t, "keys")
}

var updates = []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd, structures.InsertMin,
	structures.InsertMax, structures.Delete}

// step does one step of a sequence to a dictionary over shards and to its model, and compares the answers.
func step[K, V structures.Number](t *rapid.T, d, model structures.Dictionary[K, V], keys []K, kinds []structures.Kind) {
	ctx := context.Background()
	some := drawn(t, keys)
	values := make([]V, len(some))
	for i := range values {
		values[i] = V(i*7%31 + 1)
	}
	switch what := rapid.SampledFrom([]string{"update", "update", "find", "apply", "clear"}).Draw(t, "what"); what {
	case "update":
		kind := rapid.SampledFrom(updates).Draw(t, "kind")
		got, want := make([]structures.Status, len(some)), make([]structures.Status, len(some))
		if rapid.IntRange(0, 3).Draw(t, "without statuses") == 0 {
			got, want = nil, nil
		}
		require.NoError(t, d.UpdateInto(ctx, kind, some, values, got))
		require.NoError(t, model.UpdateInto(ctx, kind, some, values, want))
		require.Equal(t, want, got)
	case "find":
		values, found, err := d.Find(ctx, some)
		require.NoError(t, err)
		want, there, err := model.Find(ctx, some)
		require.NoError(t, err)
		require.Equal(t, words(want), words(values))
		require.Equal(t, there, found)
		clear(found)
		require.NoError(t, d.FindInto(ctx, some, nil, found))
		require.Equal(t, there, found)
	case "apply":
		b := structures.Batch[K, V]{Keys: some, Values: values, Width: 3, Highs: make([]K, len(some))}
		for i := range some {
			b.Kinds = append(b.Kinds, rapid.SampledFrom(kinds).Draw(t, "kind"))
			b.Highs[i] = rapid.SampledFrom(keys).Draw(t, "high")
		}
		want, err := model.Apply(ctx, b)
		require.NoError(t, err)
		got, err := d.Apply(ctx, b)
		require.NoError(t, err)
		require.Equal(t, want.Status, got.Status)
		for i, k := range b.Kinds {
			if !k.Inserts() && k != structures.Delete {
				require.Equal(t, words(want.Values[i:i+1]), words(got.Values[i:i+1]), "%v", k)
			}
		}
		require.Equal(t, words(want.Keys), words(got.Keys))
		require.Equal(t, want.Ranges.Offsets, got.Ranges.Offsets)
		require.Equal(t, words(want.Ranges.Keys), words(got.Ranges.Keys))
		require.Equal(t, words(want.Ranges.Values), words(got.Ranges.Values))
	case "clear":
		if rapid.IntRange(0, 5).Draw(t, "really") == 0 {
			require.NoError(t, d.Clear(ctx))
			require.NoError(t, model.Clear(ctx))
		}
	}
	n, err := d.Len(ctx)
	require.NoError(t, err)
	want, err := model.Len(ctx)
	require.NoError(t, err)
	require.Equal(t, want, n)
}

// same compares the pairs of a dictionary with those of its model, one by one.
func same[K, V structures.Number](t *rapid.T, d, model structures.Dictionary[K, V]) {
	ctx := context.Background()
	all := collected(t, d.All(ctx))
	for _, p := range all {
		value, found, err := model.Get(ctx, p.Key)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, words([]V{value}), words([]V{p.Value}))
		again, found, err := d.Get(ctx, p.Key)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, words([]V{value}), words([]V{again}))
	}
	n, err := model.Len(ctx)
	require.NoError(t, err)
	require.Len(t, all, int(n))
}

func eachType(t *testing.T, narrow, wide, signed, floats, mixed func(t *testing.T)) {
	t.Run("uint32", narrow)
	t.Run("uint64", wide)
	t.Run("int32", signed)
	t.Run("float64", floats)
	t.Run("float32 and int64", mixed)
}

// Random sequences on maps of shards in the host's memory have the answers of one map.
func TestMap(t *testing.T) {
	pass.OneWidth(t, inHost)
	eachType(t, testMap[uint32, uint32], testMap[uint64, uint64], testMap[int32, int32], testMap[float64, float64],
		testMap[float32, int64])
}

func testMap[K, V structures.Number](t *testing.T) {
	kinds := append(updates[:len(updates):len(updates)], structures.Find, structures.CountAll, structures.DeleteAll)
	keys := keysOf[K]()
	for _, shards := range []int{1, 2, 3, 9} {
		for _, block := range []int{0, 7} {
			t.Run(fmt.Sprintf("%d shards, blocks of %d", shards, block), func(t *testing.T) {
				shard.InBlocksOf(t, block)
				rapid.Check(t, func(t *rapid.T) {
					d, model := mapOf[K, V](t, shards), host.NewMap[K, V]()
					for range rapid.IntRange(1, 10).Draw(t, "steps") {
						step[K, V](t, d, model, keys, kinds)
					}
					same[K, V](t, d, model)
					saved(t, d, mapOf[K, V](t, shards%3+1), model)
					require.NoError(t, d.Close())
				})
			})
		}
	}
}

func mapOf[K, V structures.Number](t require.TestingT, shards int) *shard.Map[K, V] {
	var all []structures.Dictionary[K, V]
	for range shards {
		all = append(all, host.NewMap[K, V]())
	}
	m, err := shard.NewMap(context.Background(), all...)
	require.NoError(t, err)
	return m
}

func treeOf[K, V structures.Number](t require.TestingT, shards int) *shard.Tree[K, V] {
	var all []structures.Ordered[K, V]
	for range shards {
		all = append(all, host.NewTree[K, V]())
	}
	x, err := shard.NewTree(context.Background(), all...)
	require.NoError(t, err)
	return x
}

// loading is a dictionary that loads what was saved.
type loading[K, V structures.Number] interface {
	structures.Dictionary[K, V]
	Load(ctx context.Context, r io.Reader) error
}

// saved saves a dictionary, and loads it with another number of shards and without shards.
func saved[K, V structures.Number](t *rapid.T, d structures.Dictionary[K, V], other loading[K, V],
	model structures.Dictionary[K, V]) {
	ctx := context.Background()
	var file bytes.Buffer
	n, err := d.Save(ctx, &file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	one, err := host.LoadTree[K, V](ctx, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	same[K, V](t, one, model)
	require.NoError(t, other.Load(ctx, &file))
	same[K, V](t, other, model)
}

// Random sequences on trees of shards in the host's memory have the answers of one tree.
func TestTree(t *testing.T) {
	pass.OneWidth(t, inHost)
	eachType(t, testTree[uint32, uint32], testTree[uint64, uint64], testTree[int32, int32], testTree[float64, float64],
		testTree[float32, int64])
}

func testTree[K, V structures.Number](t *testing.T) {
	kinds := updates[:len(updates):len(updates)]
	for k := structures.Find; k <= structures.CountRange; k++ {
		kinds = append(kinds, k)
	}
	keys := keysOf[K]()
	for _, shards := range []int{1, 2, 3, 9} {
		for _, block := range []int{0, 7} {
			t.Run(fmt.Sprintf("%d shards, blocks of %d", shards, block), func(t *testing.T) {
				shard.InBlocksOf(t, block)
				rapid.Check(t, func(t *rapid.T) {
					d, model := treeOf[K, V](t, shards), host.NewTree[K, V]()
					for range rapid.IntRange(1, 10).Draw(t, "steps") {
						switch rapid.IntRange(0, 3).Draw(t, "step") {
						case 0:
							ask[K, V](t, d, model, keys)
						case 1:
							even(t, d, model, keys)
						default:
							step[K, V](t, d, model, keys, kinds)
						}
					}
					ask[K, V](t, d, model, keys)
					sameOrder[K, V](t, d, model)
					saved(t, d, treeOf[K, V](t, shards%3+1), model)
					require.NoError(t, d.Close())
				})
			})
		}
	}
}

// sameOrder compares the pairs of a tree with those of its model.
func sameOrder[K, V structures.Number](t *rapid.T, d, model structures.Ordered[K, V]) {
	ctx := context.Background()
	require.Equal(t, pairWords(collected(t, model.All(ctx))), pairWords(collected(t, d.All(ctx))))
}

// even deletes ranges, and evens out the shards.
func even[K, V structures.Number](t *rapid.T, d *shard.Tree[K, V], model structures.Ordered[K, V], keys []K) {
	ctx := context.Background()
	ranges := rangesOf(t, keys, 2)
	want, err := model.DeleteRange(ctx, ranges)
	require.NoError(t, err)
	got, err := d.DeleteRange(ctx, ranges)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, d.Rebalance(ctx))
	lens, err := shard.Lens(d)
	require.NoError(t, err)
	if least, most := slices.Min(lens), slices.Max(lens); most > least+uint64(len(lens)) {
		require.Fail(t, "uneven", "%v", lens)
	}
	sameOrder[K, V](t, d, model)
}

func rangesOf[K structures.Number](t *rapid.T, keys []K, most int) []structures.Range[K] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) structures.Range[K] {
		one := rapid.SampledFrom(keys)
		return structures.Range[K]{Lo: one.Draw(t, "low"), Hi: one.Draw(t, "high")}
	}), 0, most).Draw(t, "ranges")
}

// ask compares the answers to ordered queries.
func ask[K, V structures.Number](t *rapid.T, d, model structures.Queries[K, V], keys []K) {
	ctx := context.Background()
	some := drawn(t, keys)
	ranges := append(rangesOf(t, keys, 20), structures.AllKeys[K]())
	wantRanges, err := model.Range(ctx, ranges)
	require.NoError(t, err)
	gotRanges, err := d.Range(ctx, ranges)
	require.NoError(t, err)
	require.Equal(t, wantRanges.Offsets, gotRanges.Offsets)
	require.Equal(t, words(wantRanges.Keys), words(gotRanges.Keys))
	require.Equal(t, words(wantRanges.Values), words(gotRanges.Values))
	want, err := model.Count(ctx, ranges)
	require.NoError(t, err)
	got, err := d.Count(ctx, ranges)
	require.NoError(t, err)
	require.Equal(t, want, got)
	want, err = model.Rank(ctx, some)
	require.NoError(t, err)
	got, err = d.Rank(ctx, some)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for to := structures.Successor; to <= structures.Ceil; to++ {
		want, err := model.Neighbor(ctx, to, some)
		require.NoError(t, err)
		got, err := d.Neighbor(ctx, to, some)
		require.NoError(t, err)
		sameNeighbors(t, want, got)
	}
	ranks := rapid.SliceOf(rapid.Uint32Range(0, uint32(len(keys))+2)).Draw(t, "ranks")
	wantPairs, err := model.Select(ctx, ranks)
	require.NoError(t, err)
	gotPairs, err := d.Select(ctx, ranks)
	require.NoError(t, err)
	sameNeighbors(t, wantPairs, gotPairs)
	for _, r := range ranges {
		require.Equal(t, pairWords(collected(t, model.Ascend(ctx, r))), pairWords(collected(t, d.Ascend(ctx, r))))
		require.Equal(t, pairWords(collected(t, model.Descend(ctx, r))), pairWords(collected(t, d.Descend(ctx, r))))
	}
}

func sameNeighbors[K, V structures.Number](t *rapid.T, want, got structures.Neighbors[K, V]) {
	require.Equal(t, want.Found, got.Found)
	require.Equal(t, words(want.Keys), words(got.Keys))
	require.Equal(t, words(want.Values), words(got.Values))
}
