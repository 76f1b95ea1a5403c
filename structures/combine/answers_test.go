package combine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/test/pass"
)

// Goroutines whose keys are their own get the answers that they would get of a dictionary of their own, whatever is
// combined with their calls: in every structure, by every call, and for every kind of types.
func TestAnswers(t *testing.T) {
	t.Run("32 bits", func(t *testing.T) { answers[uint32, uint32](t) })
	t.Run("64 bits", func(t *testing.T) { answers[int64, float64](t) })
}

func answers[K, V structures.Number](t *testing.T) {
	pass.OneWidth(t, "calls are combined on the host")
	for _, o := range []combine.Options{{}, {MaxBatch: 9}} { // with 9, some calls are passed on
		t.Run(fmt.Sprint(o.MaxBatch), func(t *testing.T) {
			each(t, o, func(t *testing.T, d combined[K, V]) {
				const callers = 6
				var all sync.WaitGroup
				for i := range callers {
					c := &caller[K, V]{d: d, alone: host.NewTree[K, V](), first: i * 100, t: t,
						random: rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))}
					all.Go(c.run)
				}
				all.Wait()
				n, err := d.Len(t.Context())
				require.NoError(t, err)
				require.GreaterOrEqual(t, n, uint64(2*callers))
			})
		})
	}
}

// caller makes calls on its keys, which are the span numbers from first on. The outermost two are always there, so that
// no search for a neighbor leaves them.
type caller[K, V structures.Number] struct {
	t      *testing.T
	d      combined[K, V]
	alone  *host.Tree[K, V] // does the same
	first  int
	random *rand.Rand
}

const span = 12

func (c *caller[K, V]) key() K    { return K(c.first + 1 + c.random.IntN(span-2)) }
func (c *caller[K, V]) value() V  { return V(c.random.IntN(5)) }
func (c *caller[K, V]) size() int { return 1 + c.random.IntN(10)*c.random.IntN(2) }
func (c *caller[K, V]) keys() []K { return many(c.size(), c.key) }
func (c *caller[K, V]) within() []structures.Range[K] {
	return many(c.size(), func() structures.Range[K] { return structures.Range[K]{Lo: c.key(), Hi: c.key()} })
}

func many[T any](n int, of func() T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = of()
	}
	return all
}

// same compares the results of a call with those of the dictionary for the caller alone.
func (c *caller[K, V]) same(what string, want, got any, err1, err2 error) {
	assert.NoError(c.t, err1, what)
	assert.NoError(c.t, err2, what)
	assert.Equal(c.t, want, got, what)
}

func (c *caller[K, V]) run() {
	ends := []K{K(c.first), K(c.first + span - 1)}
	want, err1 := c.alone.Insert(c.t.Context(), ends, []V{1, 2})
	got, err2 := c.d.Insert(c.t.Context(), ends, []V{1, 2})
	c.same("Insert", want, got, err1, err2)
	for range 60 {
		if c.t.Failed() {
			return
		}
		switch n := c.random.IntN(12); {
		case n < 3:
			c.query()
		case n < 5 && c.d.ordered != nil:
			c.inOrder()
		case n < 8:
			c.update()
		default:
			c.modify()
		}
	}
}

func (c *caller[K, V]) query() {
	ctx := c.t.Context()
	if c.random.IntN(2) == 0 {
		k := c.key()
		v1, f1, err1 := c.alone.Get(ctx, k)
		v2, f2, err2 := c.d.Get(ctx, k)
		c.same("Get", []any{v1, f1}, []any{v2, f2}, err1, err2)
		return
	}
	keys := c.keys()
	v1, f1, err1 := c.alone.Find(ctx, keys)
	v2, f2, err2 := c.d.Find(ctx, keys)
	c.same("Find", []any{v1, f1}, []any{v2, f2}, err1, err2)
}

func (c *caller[K, V]) update() {
	ctx, kinds := c.t.Context(), []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd,
		structures.InsertMin, structures.InsertMax, structures.Delete}
	kind := kinds[c.random.IntN(len(kinds))]
	keys := c.keys()
	var values []V
	if kind != structures.Delete {
		values = many(len(keys), c.value)
	} else {
		slices.Sort(keys)
		keys = slices.Compact(keys) // of equal ones, any may be Deleted
	}
	want, got := make([]structures.Status, len(keys)), make([]structures.Status, len(keys))
	err1 := c.alone.UpdateInto(ctx, kind, keys, values, want)
	if c.random.IntN(4) == 0 {
		got = want // without statuses
		c.same(kind.String(), nil, nil, err1, c.d.UpdateInto(ctx, kind, keys, values, nil))
		return
	}
	err2 := c.d.UpdateInto(ctx, kind, keys, values, got)
	c.same(fmt.Sprint(kind, keys), want, got, err1, err2)
}

func (c *caller[K, V]) modify() {
	ctx, k, v := c.t.Context(), c.key(), c.value()
	old, found, err := c.alone.Get(ctx, k)
	assert.NoError(c.t, err)
	then := func(kind structures.Kind) V {
		assert.NoError(c.t, c.alone.UpdateInto(ctx, kind, []K{k}, []V{v}, nil))
		now, _, err := c.alone.Get(ctx, k)
		assert.NoError(c.t, err)
		return now
	}
	switch c.random.IntN(6) {
	case 0:
		got, err := c.d.Add(ctx, k, v)
		c.same("Add", then(structures.InsertAdd), got, nil, err)
	case 1:
		got, err := c.d.Min(ctx, k, v)
		c.same("Min", then(structures.InsertMin), got, nil, err)
	case 2:
		got, err := c.d.Max(ctx, k, v)
		c.same("Max", then(structures.InsertMax), got, nil, err)
	case 3:
		got, was, err := c.d.Swap(ctx, k, v)
		then(structures.Insert)
		c.same("Swap", []any{old, found}, []any{got, was}, nil, err)
	case 4:
		guess := c.value()
		set, err := c.d.CompareAndSet(ctx, k, guess, v)
		if found && old == guess {
			then(structures.Insert)
		}
		c.same("CompareAndSet", found && old == guess, set, nil, err)
	case 5:
		then(structures.Insert)
		c.same("Put", nil, nil, nil, c.d.Put(ctx, k, v))
	}
}

func (c *caller[K, V]) inOrder() {
	ctx, d := c.t.Context(), c.d.ordered
	switch c.random.IntN(5) {
	case 0:
		ranges := c.within()
		want, err1 := c.alone.Count(ctx, ranges)
		got, err2 := d.Count(ctx, ranges)
		c.same("Count", want, got, err1, err2)
	case 1:
		ranges := c.within()
		want, err1 := c.alone.Range(ctx, ranges)
		got, err2 := d.Range(ctx, ranges)
		assert.Equal(c.t, want.Offsets, got.Offsets)
		c.same("Range", append([]K{}, want.Keys...), append([]K{}, got.Keys...), err1, err2)
		assert.Equal(c.t, append([]V{}, want.Values...), append([]V{}, got.Values...))
	case 2:
		to, keys := structures.Direction(c.random.IntN(4)), c.keys()
		want, err1 := c.alone.Neighbor(ctx, to, keys)
		got, err2 := d.Neighbor(ctx, to, keys)
		c.same(to.String(), want, got, err1, err2)
	case 3:
		k := c.key()
		want, err1 := c.alone.Neighbor(ctx, structures.Floor, []K{k})
		got, found, err2 := d.Floor(ctx, k)
		c.same("Floor", []any{want.Keys[0], want.Values[0], true}, []any{got.Key, got.Value, found}, err1, err2)
	case 4:
		ranges := c.within()
		want, err1 := c.alone.DeleteRange(ctx, ranges)
		got, err2 := d.DeleteRange(ctx, ranges)
		c.same("DeleteRange", want, got, err1, err2)
	}
}

// Ranks, which depend on everybody's keys, are those of the dictionary inside.
func TestRanks(t *testing.T) {
	tree := host.NewTree[uint32, uint32]()
	keys := []uint32{1, 5, 9, 12}
	_, err := tree.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	d, err := combine.NewOrdered(slow{tree}, combine.Options{})
	require.NoError(t, err)
	together(8, func(i int) {
		for range 200 {
			k := []uint32{uint32(i), uint32(i + 5)}
			want, _ := tree.Rank(t.Context(), k)
			got, err := d.Rank(t.Context(), k)
			assert.NoError(t, err)
			assert.Equal(t, want, got)
			pairs, _ := tree.Select(t.Context(), k)
			selected, err := d.Select(t.Context(), k)
			assert.NoError(t, err)
			assert.Equal(t, pairs, selected)
		}
	})()
	require.NoError(t, d.Close())
}

// slow delays ranks, so that calls are combined.
type slow struct{ *host.Tree[uint32, uint32] }

func (s slow) Rank(ctx context.Context, keys []uint32) ([]uint32, error) {
	pause()
	return s.Tree.Rank(ctx, keys)
}

func (s slow) Select(ctx context.Context, ranks []uint32) (structures.Neighbors[uint32, uint32], error) {
	pause()
	return s.Tree.Select(ctx, ranks)
}
