package shader

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/vk"
)

type listPush struct {
	Pool                                     alloc.PoolDescription
	To, Operations, Outcomes, Pairs, Counter uint64
	Count, Room, Visits                      uint32
}

// What shaders/test/slab_list.comp can do.
const (
	listApply = iota
	listFind
	listWalk
	listClear
)

// listOperation is one on a list; of a lookup, kind and value mean nothing.
type listOperation struct {
	kind       structures.Kind
	list       int
	key, value uint64
}

// listOutcome is what an operation or a lookup comes to: its status, or 1 or 0, and a value.
type listOutcome struct {
	status uint32
	value  uint64
}

// lists are some in one pool, all empty at first.
type lists struct {
	*rig
	variant
	pool    *alloc.SlabPool
	words   *vk.Buffer[uint32]
	n       int
	width   int
	kernels map[string]*vk.Kernel[listPush]
}

// eachKindOfLists runs a test for lists of pairs by either protocol, and of keys.
func eachKindOfLists(t *testing.T, test func(t *testing.T, r *rig, v variant)) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		for _, v := range variantsOf(wide) {
			t.Run(v.name, func(t *testing.T) { test(t, &rig{t: t, d: r.d, s: r.s}, v) })
		}
	})
}

// newLists makes n lists over a pool of so many memory blocks, in super blocks of four.
func newLists(t *testing.T, r *rig, v variant, width, n, blocks int) *lists {
	pool, err := alloc.NewSlabPool(t.Context(), r.d, alloc.PoolOptions{Blocks: blocks, SuperShift: 2})
	require.NoError(t, err)
	l := &lists{&rig{t: t, d: r.d, s: r.s}, v, pool, nil, n, width, map[string]*vk.Kernel[listPush]{}}
	l.words = room[uint32](l.rig, 2*n)
	t.Cleanup(func() {
		l.release()
		require.NoError(t, pool.Close())
	})
	return l
}

// run dispatches the kernel for so many invocations.
func (l *lists) run(function uint32, invocations int, p listPush) {
	l.t.Helper()
	name := fmt.Sprint(function, l.pool.Light())
	if l.kernels[name] == nil {
		constants := l.pool.Constants()
		constants["TILE"], constants["FUNCTION"] = uint32(l.width), function
		l.kernels[name] = kernel[listPush](l.t, l.rig, "test/slab_list."+l.name, constants)
	}
	p.Pool, p.To = l.pool.Description(), l.words.Address()
	run(l.rig, l.kernels[name], invocations, p)
}

func (l *lists) put(operations []listOperation) *vk.Buffer[uint32] {
	words := make([]uint32, 0, 8*len(operations))
	for _, o := range operations {
		words = append(words, uint32(o.kind), uint32(o.list), 0, 0)
		words = append(words, numbers.Words([]uint64{o.key, o.value})...)
	}
	return put(l.rig, words)
}

// outcome is what four words say; at 32 bits the last one says nothing.
func (l *lists) outcome(words []uint32) listOutcome {
	return listOutcome{words[0], numbers.From[uint64](words[2:4])[0] & l.empty()}
}

// apply does operations, all at once, and those that stay pending again in a larger pool, until all are done: in so
// many dispatches.
func (l *lists) apply(operations []listOperation) (outcomes []listOutcome, dispatches int) {
	l.t.Helper()
	in, out := l.put(operations), put(l.rig, make([]uint32, 4*len(operations)))
	// Many visits: who has latched a slab may be off its processor for long.
	p := listPush{Operations: in.Address(), Outcomes: out.Address(), Count: uint32(len(operations)), Visits: 1 << 22}
	for {
		dispatches++
		l.run(listApply, len(operations), p)
		outcomes = outcomes[:0]
		left := 0
		for words := range slices.Chunk(get(l.rig, out), 4) {
			outcomes = append(outcomes, l.outcome(words))
			if words[0] == uint32(structures.Pending) {
				left++
			}
		}
		if left == 0 {
			return outcomes, dispatches
		}
		stats, err := l.pool.Stats(l.t.Context())
		require.NoError(l.t, err)
		require.NotZero(l.t, stats.Failures, "%d operations are pending, and the pool is not full", left)
		require.NoError(l.t, l.pool.Grow(l.t.Context(), 1))
	}
}

// find looks keys up in a read-only phase: 1 or 0, and the value.
func (l *lists) find(queries []listOperation) (answers []listOutcome) {
	out := room[uint32](l.rig, 4*len(queries))
	l.run(listFind, len(queries), listPush{
		Operations: l.put(queries).Address(), Outcomes: out.Address(), Count: uint32(len(queries)),
	})
	for words := range slices.Chunk(get(l.rig, out), 4) {
		answers = append(answers, l.outcome(words))
	}
	return answers
}

// walk is what walks over all lists come by.
func (l *lists) walk(most int) [][]slabcheck.Pair {
	pairs, counter := room[uint32](l.rig, 8*most), put(l.rig, []uint32{0})
	l.run(listWalk, l.n*l.width, listPush{
		Pairs: pairs.Address(), Counter: counter.Address(), Count: uint32(l.n), Room: uint32(most),
	})
	all := make([][]slabcheck.Pair, l.n)
	got := int(get(l.rig, counter)[0])
	require.LessOrEqual(l.t, got, most, "pairs")
	for words := range slices.Chunk(get(l.rig, pairs)[:8*got], 8) {
		all[words[0]] = append(all[words[0]], slabcheck.Pair{
			Key:   numbers.From[uint64](words[4:6])[0] & l.empty(),
			Value: numbers.From[uint64](words[6:8])[0] & l.empty(),
		})
	}
	return all
}

func (l *lists) clear() { l.run(listClear, l.n*l.width, listPush{Count: uint32(l.n)}) }

// check reads the lists as they lie in memory, whose slabs are all that the pool has allocated.
func (l *lists) check(duplicates bool) [][]slabcheck.Pair {
	return slabcheck.Lists(l.t, l.d, slabcheck.Expect{Duplicates: duplicates}, l.pool, get(l.rig, l.words), l.long,
		l.keys)
}

func (l *lists) allocated() int {
	stats, err := l.pool.Stats(l.t.Context())
	require.NoError(l.t, err)
	return stats.Allocated
}

// hardKeys are the patterns of slots, and what a list makes of them; and of 64 bits keys that have them in one word.
func (f form) hardKeys() []uint64 {
	const mask = 0x9d2c5680
	if f.long {
		return []uint64{0, ^uint64(0), mask<<32 | mask, ^uint64(mask<<32 | mask), mask, mask << 32, 0xffffffff,
			0xffffffff << 32}
	}
	return []uint64{0, 0xffffffff, mask, 0xffffffff ^ mask}
}

// keyOf is the key that stands for a number.
func (f form) keyOf(n uint32) uint64 {
	if f.long {
		return numbers.Key[uint64](n)
	}
	return uint64(n)
}

// oracle is what lists hold: the values of each key, oldest first.
type oracle []map[uint64][]uint64

// apply is what becomes of an operation, and its outcome.
func (o oracle) apply(op listOperation, f form) listOutcome {
	list := o[op.list]
	values := list[op.key]
	switch {
	case op.kind == structures.InsertDuplicate, op.kind.Inserts() && len(values) == 0:
		list[op.key] = append(values, op.value)
		return listOutcome{uint32(structures.Inserted), op.value}
	case op.kind == structures.CountAll && len(values) != 0:
		return listOutcome{uint32(structures.Found), uint64(len(values))}
	case len(values) == 0:
		return listOutcome{uint32(structures.Absent), 0}
	case op.kind == structures.DeleteAll:
		delete(list, op.key)
		return listOutcome{uint32(structures.Deleted), uint64(len(values))}
	case op.kind == structures.Delete:
		if list[op.key] = values[1:]; len(values) == 1 {
			delete(list, op.key)
		}
		return listOutcome{uint32(structures.Deleted), 0}
	case op.kind == structures.Find:
		return listOutcome{uint32(structures.Found), values[0]}
	case op.kind == structures.InsertUnique:
		return listOutcome{uint32(structures.Found), op.value}
	case f.keys: // has no values to change
	case op.kind == structures.Insert:
		values[0] = op.value
	case op.kind == structures.InsertAdd:
		values[0] = (values[0] + op.value) & f.empty()
	case op.kind == structures.InsertMin:
		values[0] = min(values[0], op.value)
	case op.kind == structures.InsertMax:
		values[0] = max(values[0], op.value)
	}
	return listOutcome{uint32(structures.Assigned), op.value}
}

// pairs are all pairs of each list.
func (o oracle) pairs() [][]slabcheck.Pair {
	all := make([][]slabcheck.Pair, len(o))
	for i, list := range o {
		for key, values := range list {
			for _, v := range values {
				all[i] = append(all[i], slabcheck.Pair{Key: key, Value: v})
			}
		}
	}
	return all
}

// requirePairs compares what lists hold, in no order.
func requirePairs(t *testing.T, want, got [][]slabcheck.Pair) {
	t.Helper()
	order := func(a, b slabcheck.Pair) int {
		return slices.Compare([]uint64{a.Key, a.Value}, []uint64{b.Key, b.Value})
	}
	for i := range want {
		slices.SortFunc(want[i], order)
		slices.SortFunc(got[i], order)
		require.Equal(t, want[i], got[i], "list %d", i)
	}
}

// Batches of operations of all kinds, one on a key of a list at a time, do what the oracle does: their outcomes, what
// is found, what walks come by, and what lies in memory, in lists of no slab and of many, in a pool that grows.
func TestSlabLists(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	pass.NotWidest(t, "tiles are whole subgroups at 4 lanes, and parts of them at 8")
	eachKindOfLists(t, func(t *testing.T, r *rig, v variant) {
		r.eachWidth(func(t *testing.T, width int) {
			few, many := newLists(t, r, v, width, 40, 1), newLists(t, r, v, width, 40, 1)
			many.kernels = few.kernels
			checkLists(t, few, random(3), 3, 5)
			checkLists(t, many, random(1200), 1200, 4)
		})
	})
}

// checkLists does so many batches, with up to `most` keys in a list.
func checkLists(t *testing.T, l *lists, rnd *rand.Rand, most, batches int) {
	want := make(oracle, l.n)
	for i := range want {
		want[i] = map[uint64][]uint64{}
	}
	grew := false
	for round := range batches {
		var operations []listOperation
		for list := range l.n / 2 { // the rest stay empty
			keys := map[uint64]bool{}
			for range rnd.IntN(most) + 1 {
				key := l.keyOf(rnd.Uint32N(uint32(most)) * 7)
				if rnd.IntN(10) == 0 {
					key = l.hardKeys()[rnd.IntN(len(l.hardKeys()))]
				}
				keys[key] = true
			}
			for key := range keys {
				kind := structures.Insert + structures.Kind(rnd.IntN(int(structures.CountAll-structures.Insert)+1))
				o := listOperation{kind: kind, list: list, key: key}
				if !l.keys && kind.Inserts() {
					o.value = l.interesting(rnd)
				}
				operations = append(operations, o)
			}
		}
		rnd.Shuffle(len(operations), func(i, j int) { operations[i], operations[j] = operations[j], operations[i] })
		outcomes, dispatches := l.apply(operations)
		grew = grew || dispatches > 1
		for i, o := range operations {
			expect, got := want.apply(o, l.form), outcomes[i]
			if o.kind != structures.Find && o.kind != structures.CountAll && o.kind != structures.DeleteAll {
				got.value = expect.value // means nothing
			} else if got.status == uint32(structures.Absent) {
				got.value = 0
			}
			require.Equal(t, expect, got, "round %d: %+v", round, o)
		}
		if round%2 == 0 { // reading all of a pool takes its time
			requirePairs(t, want.pairs(), l.check(true))
		}
	}
	requirePairs(t, want.pairs(), l.walk(1<<16))
	var queries []listOperation
	for list := range l.n {
		for _, key := range append(slices.Collect(maps.Keys(want[list])), l.hardKeys()...) {
			queries = append(queries, listOperation{list: list, key: key},
				listOperation{list: list, key: (key + 1) & l.empty()})
		}
	}
	for i, got := range l.find(queries) {
		q := queries[i]
		expect := listOutcome{}
		if values := want[q.list][q.key]; len(values) != 0 {
			expect = listOutcome{1, values[0]}
		}
		require.Equal(t, expect, got, "%+v", q)
	}
	require.True(t, grew || most < 1200 || l.keys, "the pool had to grow")
	l.clear()
	require.Zero(t, l.allocated())
	requirePairs(t, make([][]slabcheck.Pair, l.n), l.check(false))
	l.release()
}

// Many lists of a key each are a slab each, and empty ones none. They don't fit into the pool that they begin with.
func TestSlabListOfOne(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	eachKindOfLists(t, func(t *testing.T, r *rig, v variant) {
		const n = 5000 // more slabs than a super block has
		l := newLists(t, r, v, 1, 2*n, 1)
		var operations []listOperation
		for i := range n {
			operations = append(operations,
				listOperation{kind: structures.InsertUnique, list: 2 * i, key: v.keyOf(uint32(i))})
			if !v.keys {
				operations[i].value = v.keyOf(uint32(i) * 3)
			}
		}
		for again, status := range []structures.Status{structures.Inserted, structures.Found} {
			outcomes, dispatches := l.apply(operations)
			for i, o := range outcomes {
				require.Equal(t, uint32(status), o.status, "list %d", 2*i)
			}
			require.Equal(t, again == 0, dispatches > 1, "the pool grew")
			require.Equal(t, n, l.allocated())
		}
		want := make([][]slabcheck.Pair, 2*n)
		for _, o := range operations {
			want[o.list] = []slabcheck.Pair{{Key: o.key, Value: o.value}}
		}
		requirePairs(t, want, l.check(false))
		requirePairs(t, want, l.walk(n+1))
		for i := range operations {
			operations[i].kind = structures.Delete
		}
		outcomes, _ := l.apply(operations)
		for i, o := range outcomes {
			require.Equal(t, uint32(structures.Deleted), o.status, "list %d", 2*i)
		}
		requirePairs(t, make([][]slabcheck.Pair, 2*n), l.check(false))
		l.clear()
		require.Zero(t, l.allocated())
	})
}

// Operations on the same keys of the same empty lists, all at once: each key gets in once, and no slab is lost among
// those that were taken for nothing; of insertions that add none is lost, and a key is deleted once.
func TestSlabListTogether(t *testing.T) {
	eachKindOfLists(t, func(t *testing.T, r *rig, v variant) {
		r.eachWidth(func(t *testing.T, width int) {
			kernels := map[string]*vk.Kernel[listPush]{}
			for _, c := range []struct{ lists, keys int }{{1, 1}, {1, 40}, {3, 7}, {200, 2}} {
				const n = 6000
				l := newLists(t, r, v, width, c.lists, 12)
				l.kernels = kernels
				rnd := random(uint64(c.keys))
				operations, times := make([]listOperation, n), make([]map[uint64]uint64, c.lists)
				for i := range operations {
					o := listOperation{structures.InsertAdd, rnd.IntN(c.lists), v.hardKeys()[rnd.IntN(min(c.keys, 4))],
						v.keyOf(1)}
					if c.keys > 4 {
						o.key = v.keyOf(rnd.Uint32N(uint32(c.keys)))
					}
					if times[o.list] == nil {
						times[o.list] = map[uint64]uint64{}
					}
					times[o.list][o.key] += o.value
					operations[i] = o
				}
				want, keys := make([][]slabcheck.Pair, c.lists), 0
				for i, list := range times {
					for key, n := range list {
						if v.keys {
							n = 0
						}
						want[i] = append(want[i], slabcheck.Pair{Key: key, Value: n})
						keys++
					}
				}
				outcomes, _ := l.apply(operations)
				requirePairs(t, want, l.check(false))
				requireStatuses(t, outcomes, structures.Inserted, keys, structures.Assigned)

				for i := range operations {
					operations[i].kind = structures.Delete
				}
				outcomes, _ = l.apply(operations)
				requirePairs(t, make([][]slabcheck.Pair, c.lists), l.check(false))
				requireStatuses(t, outcomes, structures.Deleted, keys, structures.Absent)
				l.release()
			}
		})
	})
}

// requireStatuses wants so many outcomes with one status, and another one for the rest.
func requireStatuses(t *testing.T, outcomes []listOutcome, status structures.Status, times int,
	other structures.Status) {
	t.Helper()
	seen := map[structures.Status]int{}
	for _, o := range outcomes {
		seen[structures.Status(o.status)]++
	}
	require.Equal(t, map[structures.Status]int{status: times, other: len(outcomes) - times}, seen)
}
