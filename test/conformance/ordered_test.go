package conformance

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// orderedKinds are the operations that ordered dictionaries do in mixed batches.
var orderedKinds = []structures.Kind{
	structures.Insert, structures.InsertUnique, structures.Delete, structures.Find, structures.CountAll,
}

// inPlaceKinds are those that update in place.
var inPlaceKinds = []structures.Kind{structures.InsertAdd, structures.InsertMin, structures.InsertMax}

// meetingKinds are the insertions that leave a value behind which depends on the one that they meet.
var meetingKinds = append([]structures.Kind{structures.InsertUnique}, inPlaceKinds...)

// insertBy does a batch of one of these, one after another, on a dictionary.
func insertBy[W structures.Word](ctx context.Context, d Dictionary[W], kind structures.Kind,
	b Batch[W]) ([]structures.Status, error) {
	switch kind {
	case structures.InsertUnique:
		return d.InsertUnique(ctx, b.Keys, b.Values)
	case structures.InsertAdd:
		return d.InsertAdd(ctx, b.Keys, b.Values)
	case structures.InsertMin:
		return d.InsertMin(ctx, b.Keys, b.Values)
	}
	return d.InsertMax(ctx, b.Keys, b.Values)
}

// nearest are the kinds that stand in for others, where a dictionary hasn't them: the same keys, the same sequence.
var nearest = map[structures.Kind]structures.Kind{structures.DeleteAll: structures.Delete}

// restrict replaces the operations of a sequence that are not among some kinds.
func restrict[W structures.Word](acts []act[W], kinds []structures.Kind) []act[W] {
	if kinds == nil {
		return acts
	}
	acts = slices.Clone(acts)
	for i := range acts {
		b := &acts[i].batch
		b.Kinds = slices.Clone(b.Kinds)
		for j, k := range b.Kinds {
			if !slices.Contains(kinds, k) {
				b.Kinds[j] = nearest[k]
			}
		}
	}
	return acts
}

// orderedAct is a step of a sequence on ordered dictionaries. Keys may come many times in one batch.
type orderedAct[W structures.Word] struct {
	what   string
	batch  Batch[W]
	ranges []Range[W]
	choice int
}

// orderedKey gives keys all over 32 bits, few and close together, and at both ends.
func orderedKey(noise uint32) uint32 {
	switch noise >> 29 {
	case 0:
		return noise % 40
	case 1:
		return ^(noise % 40)
	case 2, 3, 4:
		return 1<<31 + noise%700
	}
	return noise % 300 * 0x9e3779b1
}

func orderedSequence[W structures.Word](t *rapid.T) []orderedAct[W] {
	whats := []string{"insert", "insert", "insert", "update", "update", "delete", "delete", "delete", "delete-range",
		"find", "rank", "apply", "apply", "count", "range", "neighbors", "walk", "upkeep", "upkeep", "clear"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) orderedAct[W] {
		a := orderedAct[W]{what: rapid.SampledFrom(whats).Draw(t, "what"),
			choice: rapid.IntRange(0, 1000).Draw(t, "choice")}
		if a.what == "clear" && a.choice%4 != 0 {
			a.what = "upkeep"
		}
		n := rapid.SampledFrom([]int{0, 1, 2, 17, 64, 100, 333, 700}).Draw(t, "n")
		noise := rapid.Uint32().Draw(t, "noise")
		next := func() uint32 {
			noise = noise*1664525 + 1013904223
			return noise ^ noise>>15
		}
		draw := func() uint32 { return orderedKey(next()) }
		// In a leaf or two far more keys than it holds: those that are there, or some of them and many that aren't.
		if width := rapid.SampledFrom([]uint32{0, 0, 0, 80, 1 << 16, 1 << 24}).Draw(t, "width"); width != 0 {
			around := orderedKey(noise)
			draw = func() uint32 { return around + next()%width - width/2 }
		}
		for range n {
			a.batch.Keys = append(a.batch.Keys, numbers.Key[W](draw()))
			a.batch.Kinds = append(a.batch.Kinds, orderedKinds[next()%uint32(len(orderedKinds))])
			noise := next()
			value := numbers.Value[W](noise)
			if noise%8 == 0 {
				value = -W(noise >> 3 & 1) // the least and the greatest
			}
			a.batch.Values = append(a.batch.Values, value)
			lo, hi := orderedKey(next()), orderedKey(next())
			switch next() % 8 {
			case 0:
				lo, hi = 0, ^uint32(0)
			case 1, 2, 3:
				hi = lo + next()%50
			case 4:
				hi = lo
			}
			a.ranges = append(a.ranges, Range[W]{Lo: numbers.Key[W](lo), Hi: numbers.Key[W](hi)})
		}
		return a
	}), 1, 14).Draw(t, "sequence")
}

// once are the steps without what has a key for the second time in a batch, so that answers don't depend on the order.
func once[W structures.Word](acts []orderedAct[W]) []orderedAct[W] {
	acts = slices.Clone(acts)
	for i := range acts {
		all := acts[i].batch
		b, seen := Batch[W]{}, map[W]bool{}
		for j, k := range all.Keys {
			if !seen[k] {
				b.Keys, b.Kinds = append(b.Keys, k), append(b.Kinds, all.Kinds[j])
				b.Values = append(b.Values, all.Values[j])
			}
			seen[k] = true
		}
		acts[i].batch = b
	}
	return acts
}

// sorted is an ordered dictionary in Go.
type sorted[W structures.Word] struct{ btree.Map[W, W] }

func (s *sorted[W]) apply(kind structures.Kind, key, value W) structures.Status {
	if kind.Inserts() {
		status := structures.Inserted
		if old, there := s.Get(key); there {
			value, status = ordercheck.After(kind, old, value)
		}
		s.Set(key, value)
		return status
	}
	if _, there := s.Map.Delete(key); there {
		return structures.Deleted
	}
	return structures.Absent
}

// between are the pairs of a range.
func (s *sorted[W]) between(r Range[W]) (keys, values []W) {
	s.Ascend(r.Lo, func(k, v W) bool {
		if k > r.Hi {
			return false
		}
		keys, values = append(keys, k), append(values, v)
		return true
	})
	return keys, values
}

// deleteBetween deletes the pairs of a range, and says how many there were.
func (s *sorted[W]) deleteBetween(r Range[W]) int {
	keys, _ := s.between(r)
	for _, k := range keys {
		s.Map.Delete(k)
	}
	return len(keys)
}

// neighbor is the pair beside a key.
func (s *sorted[W]) neighbor(to structures.Direction, key W) (k, v W, found bool) {
	take := func(a, b W) bool {
		if a == key && (to == structures.Successor || to == structures.Predecessor) {
			return true
		}
		k, v, found = a, b, true
		return false
	}
	if to == structures.Successor || to == structures.Ceil {
		s.Ascend(key, take)
	} else {
		s.Descend(key, take)
	}
	return k, v, found
}

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

// runOrdered does a sequence on an ordered dictionary and compares all answers.
func runOrdered[W structures.Word](t testing.TB, d *vk.Device, s subject[W], dictionary inOrder[W],
	acts []orderedAct[W]) {
	ctx := t.Context()
	want := &sorted[W]{}
	all := structures.AllKeys[W]()
	for step, a := range acts {
		b := a.batch
		at := func(what string, i int) string { return fmt.Sprintf("step %d, %s: element %d", step, what, i) }
		switch a.what {
		case "upkeep":
			if len(s.upkeep) != 0 {
				require.NoError(t, s.upkeep[a.choice%len(s.upkeep)](ctx, bare(dictionary), a.choice))
			}
		case "clear":
			require.NoError(t, dictionary.Clear(ctx))
			want.Clear()
		case "insert":
			status, err := dictionary.Insert(ctx, b.Keys, b.Values)
			require.NoError(t, err)
			for i, k := range b.Keys {
				if w := want.apply(structures.Insert, k, b.Values[i]); w != status[i] {
					t.Fatalf("%s: insert(%#x): %v, want %v", at("insert", i), k, status[i], w)
				}
			}
		case "update":
			kind := meetingKinds[a.choice%len(meetingKinds)]
			status, err := insertBy(ctx, dictionary, kind, b)
			require.NoError(t, err)
			for i, k := range b.Keys {
				if w := want.apply(kind, k, b.Values[i]); w != status[i] {
					t.Fatalf("%s: %v(%#x): %v, want %v", at("update", i), kind, k, status[i], w)
				}
			}
		case "delete":
			status, err := dictionary.Delete(ctx, b.Keys)
			require.NoError(t, err)
			for i, k := range b.Keys {
				if w := want.apply(structures.Delete, k, 0); w != status[i] {
					t.Fatalf("%s: delete(%#x): %v, want %v", at("delete", i), k, status[i], w)
				}
			}
		case "delete-range":
			ranges := a.ranges
			if a.choice%4 != 0 {
				ranges = slices.DeleteFunc(slices.Clone(ranges),
					func(r Range[W]) bool { return r.Lo < r.Hi && r.Hi-r.Lo > numbers.Key[W](50) })
			}
			counts, err := dictionary.DeleteRange(ctx, ranges)
			require.NoError(t, err)
			require.Len(t, counts, len(ranges))
			for i, r := range ranges {
				if n := want.deleteBetween(r); n != int(counts[i]) {
					t.Fatalf("%s: delete-range(%#x): %d, want %d", at("delete-range", i), r, counts[i], n)
				}
			}
		case "find":
			values, found, err := dictionary.Find(ctx, b.Keys)
			require.NoError(t, err)
			for i, k := range b.Keys {
				if v, ok := want.Get(k); v != values[i] || ok != found[i] {
					t.Fatalf("%s: find(%#x): %d, %v, want %d, %v", at("find", i), k, values[i], found[i], v, ok)
				}
			}
		case "apply":
			r, err := dictionary.Apply(ctx, b)
			require.NoError(t, err)
			status, values := make([]structures.Status, len(b.Keys)), make([]W, len(b.Keys))
			turns := [][]structures.Kind{{structures.Find, structures.CountAll},
				{structures.Insert, structures.InsertUnique}, {structures.Delete}}
			if _, kindByKind := dictionary.(*streamed[W]); kindByKind {
				turns = [][]structures.Kind{turns[0], {structures.Insert}, {structures.InsertUnique}, turns[2]}
			} else if s.mixed {
				turns = [][]structures.Kind{turns[0], {structures.Insert, structures.InsertUnique, structures.Delete}}
			}
			for _, turn := range turns {
				for i, k := range b.Keys {
					switch {
					case !slices.Contains(turn, b.Kinds[i]):
					case b.Kinds[i] <= structures.Delete:
						status[i] = want.apply(b.Kinds[i], k, b.Values[i])
					default:
						v, there := want.Get(k)
						status[i] = structures.Absent
						if there {
							status[i], values[i] = structures.Found, v
							if b.Kinds[i] == structures.CountAll {
								values[i] = 1
							}
						}
					}
				}
			}
			for i := range status {
				if status[i] != r.Status[i] || b.Kinds[i] > structures.Delete && values[i] != r.Values[i] {
					t.Fatalf("%s: %v(%#x): %v %d, want %v %d", at("apply", i), b.Kinds[i], b.Keys[i], r.Status[i],
						r.Values[i], status[i], values[i])
				}
			}
		case "count":
			counts, err := dictionary.Count(ctx, a.ranges)
			require.NoError(t, err)
			for i, r := range a.ranges {
				if keys, _ := want.between(r); len(keys) != int(counts[i]) {
					t.Fatalf("%s: count(%#x): %d, want %d", at("count", i), r, counts[i], len(keys))
				}
			}
		case "range":
			got, err := dictionary.Range(ctx, a.ranges)
			require.NoError(t, err)
			require.Equal(t, len(a.ranges)+1, len(got.Offsets))
			for i, r := range a.ranges {
				keys, values := want.between(r)
				from, to := got.Offsets[i], got.Offsets[i+1]
				if !slices.Equal(keys, got.Keys[from:to]) || !slices.Equal(values, got.Values[from:to]) {
					t.Fatalf("%s: range(%#x) gives %d pairs, want %d, or others", at("range", i), r, to-from, len(keys))
				}
			}
		case "rank":
			requireRanks(t, dictionary, want, b.Keys, at)
		case "neighbors":
			for to := structures.Successor; to <= structures.Ceil; to++ {
				got, err := dictionary.Neighbor(ctx, to, b.Keys)
				require.NoError(t, err)
				for i, key := range b.Keys {
					k, v, found := want.neighbor(to, key)
					if k != got.Keys[i] || v != got.Values[i] || found != got.Found[i] {
						t.Fatalf("%s: %v(%#x): %#x %d %v, want %#x %d %v", at("neighbors", i), to, key, got.Keys[i],
							got.Values[i], got.Found[i], k, v, found)
					}
				}
			}
			least, value, found, err := numbers.Least(ctx, dictionary)
			require.NoError(t, err)
			k, v, ok := want.Min()
			require.Equal(t, []any{k, v, ok}, []any{least, value, found})
			largest, value, found, err := numbers.Greatest(ctx, dictionary)
			require.NoError(t, err)
			k, v, ok = want.Max()
			require.Equal(t, []any{k, v, ok}, []any{largest, value, found})
		case "walk":
			if len(a.ranges) > 0 && a.choice%2 == 0 {
				all = a.ranges[0]
			}
			requireWalk(t, dictionary, want, all)
		}
	}
	n, err := dictionary.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, want.Len(), n)
	requireWalk(t, dictionary, want, structures.AllKeys[W]())
	if o, ok := dictionary.(*streamed[W]); ok {
		keys, values := want.between(structures.AllKeys[W]())
		o.requireExport(len(keys), func(k, v []W) bool {
			return slices.Equal(keys[:len(k)], k) && slices.Equal(values[:len(v)], v)
		})
	}
	if s.check != nil {
		s.check(t, d, bare(dictionary))
	}
}

// requireRanks compares the ranks of keys, of such as are there and of others, and the pairs of these ranks and of any.
func requireRanks[W structures.Word](t testing.TB, dictionary inOrder[W], want *sorted[W], keys []W,
	at func(string, int) string) {
	all, values := want.between(structures.AllKeys[W]())
	keys = append(slices.Clone(keys), 0, ^W(0))
	ranks, err := dictionary.Rank(t.Context(), keys)
	require.NoError(t, err)
	for i, k := range keys {
		if w, _ := slices.BinarySearch(all, k); uint32(w) != ranks[i] {
			t.Fatalf("%s: rank(%#x): %d, want %d", at("rank", i), k, ranks[i], w)
		}
	}
	ranks = append(ranks, 0, uint32(len(all)), uint32(len(all))-1, ^uint32(0))
	pairs, err := dictionary.Select(t.Context(), ranks)
	require.NoError(t, err)
	for i, r := range ranks {
		k, v, found := W(0), W(0), int(r) < len(all)
		if found {
			k, v = all[r], values[r]
		}
		if k != pairs.Keys[i] || v != pairs.Values[i] || found != pairs.Found[i] {
			t.Fatalf("%s: select(%d): %#x %d %v, want %#x %d %v", at("select", i), r, pairs.Keys[i], pairs.Values[i],
				pairs.Found[i], k, v, found)
		}
	}
}

// requireWalk compares what the iterators give.
func requireWalk[W structures.Word](t testing.TB, dictionary inOrder[W], want *sorted[W], r Range[W]) {
	wantKeys, wantValues := want.between(r)
	for _, down := range []bool{false, true} {
		walk := dictionary.Ascend
		if down {
			walk = dictionary.Descend
		}
		var keys, values []W
		for pair, err := range walk(t.Context(), r) {
			require.NoError(t, err)
			keys, values = append(keys, pair.Key), append(values, pair.Value)
		}
		if down {
			slices.Reverse(keys)
			slices.Reverse(values)
		}
		if !slices.Equal(wantKeys, keys) || !slices.Equal(wantValues, values) {
			t.Fatalf("walk over %#x (down: %v) gives %d pairs, want %d, or others", r, down, len(keys), len(wantKeys))
		}
	}
}

// One sequence of batches in which keys may come many times, and of what only ordered dictionaries do.
func TestOrderedSequences(t *testing.T) {
	pass.NotWidest(t, "the structures' own tests of ordered queries run at 16 lanes, too")
	devices := openDevices(t)
	testOrderedSequences[uint32](t, devices)
	testOrderedSequences[uint64](t, devices)
}

func testOrderedSequences[W structures.Word](t *testing.T, devices []protocol) {
	for _, s := range orderedSubjects[W]() {
		t.Run(s.name, func(t *testing.T) {
			check(openVariants(t, s, devices, true),
				func(rt *rapid.T) []orderedAct[W] {
					if s.free {
						return once(orderedSequence[W](rt))
					}
					return orderedSequence[W](rt)
				},
				func(t testing.TB, v *variant[W], s subject[W], dictionary Dictionary[W], acts []orderedAct[W]) {
					runOrdered(t, v.d, s, dictionary.(inOrder[W]), acts)
				})
		})
	}
}

// A direction that there is not is refused by name, and nothing is written.
func TestNoSuchDirection(t *testing.T) {
	d := testdevice.Open(t)
	testNoSuchDirection[uint32](t, d)
	testNoSuchDirection[uint64](t, d)
}

func testNoSuchDirection[W structures.Word](t *testing.T, d *vk.Device) {
	for _, s := range orderedSubjects[W]() {
		t.Run(s.name, func(t *testing.T) {
			dictionary, err := s.open(t.Context(), d, shape{tile: 1, size: 4})
			require.NoError(t, err)
			defer func() { require.NoError(t, dictionary.Close()) }()
			ordered := dictionary.(Ordered[W])
			o := &streamed[W]{Dictionary: dictionary, t: t, d: d}
			stream := o.stream()
			defer func() { require.NoError(t, stream.Close()) }()
			defer o.release()
			none := structures.Ceil + 1
			keys, values := []W{7}, []W{8}
			on := structures.DeviceNeighbors{
				Keys: o.put(keys), OutKeys: o.put(keys), OutValues: o.put(values),
				Status: upload(o, make([]uint8, 4)), Left: upload(o, []uint32{7}), Count: 1,
			}
			_, refused := ordered.Neighbor(t.Context(), none, keys)
			for what, err := range map[string]error{
				"of slices":   refused,
				"on a stream": onstream.Of(ordered).Ordered(stream).Neighbor(none, on),
				"finished":    onstream.Of(ordered).Ordered(stream).FinishNeighbors(t.Context(), none, on),
			} {
				var direction *vk.OptionError
				require.ErrorAs(t, err, &direction, what)
				require.Equal(t, "direction", direction.Option, what)
			}
		})
	}
}

// Batches of deletions that all fall into one leaf, three times what it holds, most of keys that aren't there: all over
// a dictionary whose leaves hold few pairs, many, and as many as they can.
func TestDeletionsInOneLeaf(t *testing.T) {
	devices := openDevices(t)
	testDeletionsInOneLeaf[uint32](t, devices)
	testDeletionsInOneLeaf[uint64](t, devices)
}

func testDeletionsInOneLeaf[W structures.Word](t *testing.T, devices []protocol) {
	const apart = 1 << 20
	pairs := 120
	if structures.WidthOf[W]() == structures.Bits64 {
		pairs = 56 // leaves hold less than half as many
	}
	var acts []orderedAct[W]
	for _, step := range []int{1, 4, 2, 3} { // into leaves that there are
		var b Batch[W]
		for i := step - 1; i < pairs; i += 4 {
			b.Keys, b.Values = append(b.Keys, numbers.Key[W](uint32(i*apart))), append(b.Values, W(i))
		}
		acts = append(acts, orderedAct[W]{what: "insert", batch: b})
		for i := 7 * step; i < pairs; i += 28 { // other leaves at each step
			var b Batch[W]
			for j := range 42 {
				// Of every fourth batch the first key may be there.
				b.Keys = append(b.Keys, numbers.Key[W](uint32(i*apart+j*apart/50+i%4)))
			}
			acts = append(acts, orderedAct[W]{what: "delete", batch: b})
		}
		acts = append(acts, orderedAct[W]{what: "walk"})
	}
	for _, s := range orderedSubjects[W]() {
		if !s.fills {
			continue // it has no leaves
		}
		t.Run(s.name, func(t *testing.T) {
			for _, v := range openVariants(t, s, devices, true).all {
				for turn, dictionary := range v.both(t, s, 1) {
					subject := s
					subject.mixed = turn == 0
					require.NoError(t, v.dictionary.Clear(t.Context()))
					runOrdered(t, v.d, subject, dictionary.(inOrder[W]), acts)
				}
				v.ran = true
			}
		})
	}
}
