package conformance

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/vk"
)

// inOrder is what sequences ask of an ordered dictionary, by whichever of its calls.
type inOrder[W structures.Word] interface {
	Dictionary[W]
	Count(ctx context.Context, ranges []Range[W]) ([]uint32, error)
	Range(ctx context.Context, ranges []Range[W]) (Ranges[W], error)
	DeleteRange(ctx context.Context, ranges []Range[W]) ([]uint32, error)
	Rank(ctx context.Context, keys []W) ([]uint32, error)
	Select(ctx context.Context, ranks []uint32) (Neighbors[W], error)
	Neighbor(ctx context.Context, to structures.Direction, keys []W) (Neighbors[W], error)
	Ascend(ctx context.Context, r Range[W]) iter.Seq2[Pair[W], error]
	Descend(ctx context.Context, r Range[W]) iter.Seq2[Pair[W], error]
}

// answers are those of one step, of which a step has some.
type answers[W structures.Word] struct {
	status       []structures.Status
	keys, values []W
	found        []bool
	counts       []uint32
	offsets      []uint64
}

// ask does a step on a dictionary.
func ask[W structures.Word](ctx context.Context, d Dictionary[W], a act[W]) (r answers[W], err error) {
	b := a.batch
	switch a.what {
	case "clear":
		err = d.Clear(ctx)
	case "insert":
		r.status, err = d.Insert(ctx, b.Keys, b.Values)
	case "update":
		switch meetingKinds[a.choice%len(meetingKinds)] {
		case structures.InsertUnique:
			r.status, err = d.InsertUnique(ctx, b.Keys, b.Values)
		case structures.InsertAdd:
			r.status, err = d.InsertAdd(ctx, b.Keys, b.Values)
		case structures.InsertMin:
			r.status, err = d.InsertMin(ctx, b.Keys, b.Values)
		case structures.InsertMax:
			r.status, err = d.InsertMax(ctx, b.Keys, b.Values)
		}
	case "delete":
		r.status, err = d.Delete(ctx, b.Keys)
	case "find":
		r.values, r.found, err = d.Find(ctx, b.Keys)
	case "apply":
		var all Results[W]
		all, err = d.Apply(ctx, b)
		r.status, r.values = all.Status, make([]W, len(b.Kinds))
		for i, kind := range b.Kinds {
			if kind > structures.Delete { // else the value is no answer
				r.values[i] = all.Values[i]
			}
		}
	case "delete-range":
		r.counts, err = d.(inOrder[W]).DeleteRange(ctx, a.ranges)
	case "count":
		r.counts, err = d.(inOrder[W]).Count(ctx, a.ranges)
	case "range":
		var all Ranges[W]
		all, err = d.(inOrder[W]).Range(ctx, a.ranges)
		r.offsets, r.keys, r.values = all.Offsets, all.Keys, all.Values
	case "rank":
		r.counts, err = d.(inOrder[W]).Rank(ctx, append(slices.Clone(b.Keys), 0, ^W(0)))
	case "select":
		var all Neighbors[W]
		all, err = d.(inOrder[W]).Select(ctx, numbers.Each(b.Keys, func(rank W) uint32 { return uint32(rank) }))
		r.keys, r.values, r.found = all.Keys, all.Values, all.Found
	case "neighbor":
		var all Neighbors[W]
		all, err = d.(inOrder[W]).Neighbor(ctx, structures.Direction(a.choice), b.Keys)
		r.keys, r.values, r.found = all.Keys, all.Values, all.Found
	case "ascend", "descend":
		walk := d.(inOrder[W]).Ascend
		if a.what == "descend" {
			walk = d.(inOrder[W]).Descend
		}
		for pair, failure := range walk(ctx, a.ranges[0]) {
			r.keys, r.values, err = append(r.keys, pair.Key), append(r.values, pair.Value), failure
		}
	default:
		err = fmt.Errorf("no step %q", a.what)
	}
	return r, err
}

// parts are the steps that a step has: one, or several.
func (a act[W]) parts(n int) (all []act[W]) {
	switch a.what {
	case "delete-range":
		if a.choice%4 != 0 { // or little would be left
			a.ranges = slices.DeleteFunc(slices.Clone(a.ranges),
				func(r Range[W]) bool { return r.Lo < r.Hi && r.Hi-r.Lo > numbers.Key[W](50) })
		}
	case "ranks": // also of keys that aren't there, and ranks that nothing has
		ranks := []W{0, W(n), W(n) - 1, ^W(0)}
		for i := range a.batch.Keys {
			ranks = append(ranks, W(i*(n+3)/len(a.batch.Keys)))
		}
		return []act[W]{{what: "rank", batch: a.batch}, {what: "select", batch: Batch[W]{Keys: ranks}}}
	case "neighbors":
		for to := structures.Successor; to <= structures.Ceil; to++ {
			all = append(all, act[W]{what: "neighbor", batch: a.batch, choice: int(to)})
		}
		ends := Batch[W]{Keys: []W{0, ^W(0)}}
		return append(all, act[W]{what: "neighbor", batch: ends, choice: int(structures.Ceil)},
			act[W]{what: "neighbor", batch: ends, choice: int(structures.Floor)})
	case "walk":
		ranges := []Range[W]{structures.AllKeys[W]()}
		if len(a.ranges) > 0 && a.choice%2 == 0 {
			ranges = a.ranges
		}
		return []act[W]{{what: "ascend", ranges: ranges}, {what: "descend", ranges: ranges}}
	}
	return []act[W]{a}
}

// expect does a step on the dictionary in the host's memory, whose mixed batches are done in their order: kinds that
// the other one does earlier come in an earlier batch.
func expect[W structures.Word](ctx context.Context, d Dictionary[W], a act[W], turns [][]structures.Kind) (answers[W],
	error) {
	if a.what != "apply" {
		return ask(ctx, d, a)
	}
	b := a.batch
	r := answers[W]{status: make([]structures.Status, len(b.Keys)), values: make([]W, len(b.Keys))}
	for _, turn := range turns {
		var which []int
		for i, k := range b.Kinds {
			if slices.Contains(turn, k) {
				which = append(which, i)
			}
		}
		some, err := ask(ctx, d, act[W]{what: "apply",
			batch: Batch[W]{Kinds: pick(b.Kinds, which), Keys: pick(b.Keys, which), Values: pick(b.Values, which)}})
		if err != nil {
			return r, err
		}
		for j, i := range which {
			r.status[i], r.values[i] = some.status[j], some.values[j]
		}
	}
	return r, nil
}

// turns returns which kinds a dictionary does before which in a mixed batch.
func turns[W structures.Word](s subject[W], dictionary Dictionary[W]) (all [][]structures.Kind) {
	insertions := append([]structures.Kind{structures.Insert}, meetingKinds...)
	deletions := []structures.Kind{structures.Delete, structures.DeleteAll}
	all = [][]structures.Kind{{structures.Find, structures.CountAll}}
	if _, kindByKind := dictionary.(*streamed[W]); kindByKind {
		for _, kind := range insertions {
			all = append(all, []structures.Kind{kind})
		}
		return append(all, deletions)
	}
	if s.mixed {
		return append(all, slices.Concat(insertions, deletions))
	}
	return append(all, insertions, deletions)
}

// requireSame compares the answers of a step.
func requireSame[W structures.Word](t testing.TB, step int, a act[W], got, want answers[W]) {
	at := fmt.Sprintf("step %d, %s %d", step, a.what, a.choice)
	of := func(i int) string {
		switch {
		case i < len(a.batch.Kinds) && a.what == "apply":
			return fmt.Sprintf("%v(%#x, %d)", a.batch.Kinds[i], a.batch.Keys[i], a.batch.Values[i])
		case i < len(a.batch.Keys):
			return fmt.Sprintf("key %#x", a.batch.Keys[i])
		case i < len(a.ranges):
			return fmt.Sprintf("range %#x", a.ranges[i])
		}
		return fmt.Sprintf("answer %d", i)
	}
	requireEach(t, at+": status", of, got.status, want.status)
	requireEach(t, at+": offset", of, got.offsets, want.offsets)
	requireEach(t, at+": key", of, got.keys, want.keys)
	requireEach(t, at+": value", of, got.values, want.values)
	requireEach(t, at+": found", of, got.found, want.found)
	requireEach(t, at+": count", of, got.counts, want.counts)
}

func requireEach[T comparable](t testing.TB, at string, of func(int) string, got, want []T) {
	if len(got) != len(want) {
		t.Fatalf("%s: %d answers, want %d", at, len(got), len(want))
	}
	for i, w := range want {
		if got[i] != w {
			t.Fatalf("%s of %s: %v, want %v", at, of(i), got[i], w)
		}
	}
}

// run does a sequence on a dictionary, which is empty, and on one in the host's memory, and compares all answers.
func run[W structures.Word](t testing.TB, d *vk.Device, s subject[W], dictionary Dictionary[W], acts []act[W]) {
	ctx := t.Context()
	var oracle Dictionary[W] = host.NewMap[W, W]()
	if s.ordered {
		oracle = host.NewTree[W, W]()
	}
	turns := turns(s, dictionary)
	step := func(i int, a act[W]) {
		want, err := expect(ctx, oracle, a, turns)
		require.NoError(t, err)
		got, err := ask(ctx, dictionary, a)
		require.NoError(t, err)
		requireSame(t, i, a, got, want)
	}
	for i, a := range acts {
		if a.what == "upkeep" {
			if len(s.upkeep) != 0 {
				require.NoError(t, s.upkeep[a.choice%len(s.upkeep)](ctx, bare(dictionary), a.choice))
			}
			continue
		}
		n, err := oracle.Len(ctx)
		require.NoError(t, err)
		for _, part := range a.parts(int(n)) {
			step(i, part)
		}
	}
	if s.ordered {
		for _, part := range (act[W]{what: "walk"}).parts(0) {
			step(len(acts), part)
		}
	}
	requireContents(t, dictionary, oracle)
	if s.check != nil {
		s.check(t, d, bare(dictionary))
	}
}

// requireContents compares all pairs, by each call that gives them.
func requireContents[W structures.Word](t testing.TB, dictionary, oracle Dictionary[W]) {
	ctx := t.Context()
	want := map[W]W{}
	var order []W // of the keys, if there is one
	for pair, err := range oracle.All(ctx) {
		require.NoError(t, err)
		want[pair.Key], order = pair.Value, append(order, pair.Key)
	}
	n, err := dictionary.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, len(want), n)
	got, inChunks := map[W]W{}, map[W]W{}
	for pair, err := range dictionary.All(ctx) {
		require.NoError(t, err)
		if _, twice := got[pair.Key]; twice {
			t.Fatalf("key %#x comes twice", pair.Key)
		}
		got[pair.Key] = pair.Value
	}
	require.Equal(t, want, got)
	for pairs, err := range dictionary.Chunks(ctx) {
		require.NoError(t, err)
		require.NotEmpty(t, pairs.Keys)
		for i, k := range pairs.Keys {
			inChunks[k] = pairs.Values[i]
		}
	}
	require.Equal(t, want, inChunks)
	o, ok := dictionary.(*streamed[W])
	if !ok {
		return
	}
	_, ordered := oracle.(inOrder[W])
	o.requireExport(len(want), func(keys, values []W) bool {
		for i, k := range keys {
			if v, there := want[k]; !there || v != values[i] || ordered && k != order[i] {
				return false
			}
		}
		return len(slices.Compact(slices.Sorted(slices.Values(keys)))) == len(keys)
	})
}
