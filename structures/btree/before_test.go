package btree

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// ordersAndUpdates returns a batch of ordered queries and of updates on the same keys, the model after the updates, and
// which operations are ordered queries.
func ordersAndUpdates[W structures.Word](t testing.TB, round uint64, want modelOf[W],
	n int) (b, queries structures.Batch[W, W], after modelOf[W], which []int) {
	t.Helper()
	rng := random(round)
	keys, _ := want.sorted()
	queries = queryBatch(rng, keys, n, 20, 30)
	b, after = structures.Batch[W, W]{Width: queries.Width}, modelOf[W]{}
	for key, value := range want {
		after[key] = value
	}
	add := func(kind structures.Kind, key, high W) {
		b.Kinds, b.Keys, b.Highs = append(b.Kinds, kind), append(b.Keys, key), append(b.Highs, high)
	}
	touched := modelOf[W]{}
	for i := range n {
		queries.Kinds[i] = orderedKinds[rng.IntN(len(orderedKinds))]
		which = append(which, len(b.Keys))
		add(queries.Kinds[i], queries.Keys[i], queries.Highs[i])
		key := keys[rng.IntN(len(keys))] + W(rng.IntN(2))
		if _, twice := touched[key]; twice {
			continue
		}
		touched[key] = 0
		if _, there := want[key]; there && i%2 == 0 {
			add(structures.Delete, key, 0)
			delete(after, key)
		} else {
			add(structures.Insert, key, 0)
			after[key] = ^key
		}
		add(structures.Find, key, 0)
	}
	b.Values = numbers.Each(b.Keys, func(key W) W { return ^key })
	return b, queries, after, which
}

// pickedOf returns the results of some operations of a batch.
func pickedOf[W structures.Word](r structures.Results[W, W], which []int) structures.Results[W, W] {
	picked := structures.Results[W, W]{Status: pipeline.Pick(r.Status, which), Values: pipeline.Pick(r.Values, which),
		Keys: pipeline.Pick(r.Keys, which)}
	picked.Ranges.Offsets = []uint64{0}
	for _, i := range which {
		from, to := r.Ranges.Offsets[i], r.Ranges.Offsets[i+1]
		picked.Ranges.Keys = append(picked.Ranges.Keys, r.Ranges.Keys[from:to]...)
		picked.Ranges.Values = append(picked.Ranges.Values, r.Ranges.Values[from:to]...)
		picked.Ranges.Offsets = append(picked.Ranges.Offsets, uint64(len(picked.Ranges.Keys)))
	}
	return picked
}

// Ordered queries see what was there before their batch, even if its updates change the same keys: in one part, in
// chunks, if there is too little memory for one part, and if there are too few visits, so that some queries might run
// after the updates.
func TestOrderComesBeforeUpdates(t *testing.T) {
	eachWidth(t, testOrderComesBeforeUpdates[uint32], testOrderComesBeforeUpdates[uint64])
}

func testOrderComesBeforeUpdates[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	rng := random(61)
	keys := widened[W](uniqueKeys(rng, 3000))
	want := modelOf[W]{}.insert(keys, widened[W](randomWords(rng, len(keys))))
	sorted, values := want.sorted()
	tree := buildTree(t, d, sorted, values, Options{Tile: tile, Fill: 0.9, Capacity: 20000})
	enough := tree.visits
	t.Cleanup(func() {
		pipeline.InChunksOf(0)
		recording.FailWith(nil)
	})
	for round, c := range []struct {
		how    string
		chunk  int
		refuse string // a kernel that first fails for lack of memory
		few    bool   // few visits
		stream bool
	}{
		{how: "at once"}, {how: "in chunks", chunk: 300}, {how: "without memory", refuse: "mixed_apply"},
		{how: "few visits", few: true}, {how: "on a stream", stream: true},
		{how: "on a stream, few visits", stream: true, few: true},
	} {
		t.Log(c.how) // on failure, the last one logged failed
		b, queries, after, which := ordersAndUpdates(t, uint64(round), want, 1000)
		tree.visits = enough
		if c.few {
			tree.visits = 4
		}
		visits, retries := tree.visits, tree.Metrics().Retries
		refused := false
		if c.refuse != "" {
			recording.FailWith(func(module string) error {
				if refused || !strings.Contains(module, c.refuse) {
					return nil
				}
				refused = true
				return &vk.OutOfMemoryError{}
			})
		}
		var r structures.Results[W, W]
		if c.stream {
			r = applyCounted(t, d, tree, b)
		} else {
			require.NoError(t, tree.Pipelines.Close())
			pipeline.InChunksOf(c.chunk)
			tree.Pipelines = pipeline.NewPool(d)
			var err error
			r, err = tree.Apply(t.Context(), b)
			require.NoError(t, err)
		}
		require.Equal(t, c.refuse != "", refused)
		require.Equal(t, visits, tree.visits)
		require.True(t, !c.few || tree.Metrics().Retries != retries, "retries")
		requireAnswers(t, queries, pickedOf(r, which), want)
		for i, k := range b.Kinds {
			if k != structures.Find {
				continue
			}
			is, found := r.Values[i], r.Status[i] == structures.Found
			before, was := want[b.Keys[i]]
			then, will := after[b.Keys[i]]
			require.True(t, found == was && is == before || found == will && is == then, "find of %#x: %v, %#x",
				b.Keys[i], found, is)
		}
		want = after
		requireTree(t, tree, want)
	}
}

// applyCounted does a batch on a stream. In its buffers follow operations that don't belong to it by the device's
// count.
func applyCounted[W structures.Word](t testing.TB, d *vk.Device, tree *dictionary[W],
	b structures.Batch[W, W]) structures.Results[W, W] {
	t.Helper()
	n, more := len(b.Keys), 100
	behind := func(kinds ...structures.Kind) []uint8 {
		all := numbers.Each(b.Kinds, func(k structures.Kind) uint8 { return uint8(k) })
		for i := range more {
			all = append(all, uint8(kinds[i%len(kinds)]))
		}
		return all
	}
	kinds := behind(structures.Delete, structures.FindRange, structures.FindFloor)
	keys := append(slices.Clone(b.Keys), slices.Repeat(b.Keys[1:2], more)...)
	on := orderedBatch(t, d, keys, b.Width)
	on.Values = upload(t, d, append(slices.Clone(b.Values), make([]W, more)...))
	on.Highs = upload(t, d, append(slices.Clone(b.Highs), make([]W, more)...))
	on.Kinds = testdevice.Room[uint8](t, d, recording.Padded(len(kinds)))
	require.NoError(t, on.Kinds.Upload(t.Context(), 0, kinds))
	on.DeviceCount = testdevice.Upload(t, d, []uint32{uint32(n)})
	windows := make([]uint32, len(keys))
	for i := range windows {
		if windows[i] = uint32(i); i >= n {
			windows[i] = 1 << 30 // an address without memory
		}
	}
	on.Windows = testdevice.Upload(t, d, windows)
	s := testdevice.Stream(t, d)
	require.NoError(t, tree.On(s).Apply(structures.Mixed, on))
	require.NoError(t, tree.On(s).Finish(t.Context(), structures.Mixed, on))
	on.Count = n
	return resultsOf[W](t, b.Kinds, on)
}
