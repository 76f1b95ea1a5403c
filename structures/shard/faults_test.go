package shard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// breaking is a tree whose device is lost in the middle of an update, or before a call, once left is below 0.
type breaking struct {
	*host.Tree[uint32, uint32]
	left atomic.Int64 // operations before it is lost
}

func (b *breaking) lost() error {
	if b.left.Load() < 0 {
		return vk.ErrDeviceLost
	}
	return nil
}

func (b *breaking) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
	status []structures.Status) error {
	n := int(min(max(b.left.Load(), 0), int64(len(keys))))
	if b.left.Add(-int64(len(keys))) >= 0 {
		return b.Tree.UpdateInto(ctx, kind, keys, values, status)
	}
	b.left.Store(-1)
	var some []structures.Status
	if status != nil {
		some = status[:n]
		clear(status[n:])
	}
	if err := b.Tree.UpdateInto(ctx, kind, keys[:n], values[:min(n, len(values))], some); err != nil {
		return err
	}
	return &structures.PendingError{Operations: len(keys) - n, Err: vk.ErrDeviceLost}
}

func (b *breaking) FindInto(ctx context.Context, keys, values []uint32, found []bool) error {
	if err := b.lost(); err != nil {
		return err
	}
	return b.Tree.FindInto(ctx, keys, values, found)
}

func (b *breaking) Range(ctx context.Context, r []u32.Range) (u32.Ranges, error) {
	if err := b.lost(); err != nil {
		return u32.Ranges{}, err
	}
	return b.Tree.Range(ctx, r)
}

func (b *breaking) RangeInto(ctx context.Context, r []u32.Range, into *u32.Ranges) error {
	if err := b.lost(); err != nil {
		return err
	}
	return b.Tree.RangeInto(ctx, r, into)
}

func (b *breaking) Len(ctx context.Context) (uint64, error) {
	if err := b.lost(); err != nil {
		return 0, err
	}
	return b.Tree.Len(ctx)
}

func (b *breaking) DeleteRange(ctx context.Context, r []u32.Range) ([]uint32, error) {
	if err := b.lost(); err != nil {
		return nil, err
	}
	return b.Tree.DeleteRange(ctx, r)
}

const (
	healthy = 1 << 40 // operations
	inHost  = "these shards are in the host's memory"
)

// broken are three shards, of which the second one is lost after some operations.
func broken(operations int64) []*breaking {
	all := []*breaking{{Tree: host.NewTree[uint32, uint32]()}, {Tree: host.NewTree[uint32, uint32]()},
		{Tree: host.NewTree[uint32, uint32]()}}
	for _, b := range all {
		b.left.Store(healthy)
	}
	all[1].left.Store(operations)
	return all
}

func ascending(n int) []uint32 {
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i)
	}
	return keys
}

// requireLost requires that a shard, and none else, is named as lost.
func requireLost(t *testing.T, err error, s int) {
	t.Helper()
	require.ErrorIs(t, err, vk.ErrDeviceLost)
	var named *shard.Error
	require.ErrorAs(t, err, &named)
	require.Equal(t, s, named.Shard)
}

// A shard that is lost in the middle of a batch is named; the other shards have done their part, the statuses say what
// is not done, and calls that need only the others go on.
func TestLostShard(t *testing.T) {
	pass.OneWidth(t, inHost)
	for _, block := range []int{0, 50} {
		shard.InBlocksOf(t, block)
		ctx, keys := t.Context(), ascending(3000)
		shards := broken(100)
		m, err := shard.NewMap[uint32, uint32](ctx, shards[0], shards[1], shards[2])
		require.NoError(t, err)
		status, err := m.Insert(ctx, keys, keys)
		requireLost(t, err, 1)
		var pending *structures.PendingError
		require.ErrorAs(t, err, &pending)
		done := 0
		for i, s := range status {
			if m.ShardOf(keys[i]) != 1 {
				require.Equal(t, structures.Inserted, s)
			} else if s != structures.Pending {
				require.Equal(t, structures.Inserted, s)
				done++
			}
		}
		require.Equal(t, 100, done)
		left := 0
		for _, s := range status {
			if s == structures.Pending {
				left++
			}
		}
		require.Equal(t, left, pending.Operations)

		err = m.UpdateInto(ctx, structures.Insert, keys, keys, nil)
		requireLost(t, err, 1)
		require.ErrorAs(t, err, &pending)
		require.Equal(t, left+100, pending.Operations, "of the lost shard, all")

		values, found, err := m.Find(ctx, keys)
		requireLost(t, err, 1)
		var others []uint32
		for i, k := range keys {
			require.Equal(t, m.ShardOf(k) != 1, found[i])
			if found[i] {
				require.Equal(t, k, values[i])
				others = append(others, k)
			}
		}
		_, found, err = m.Find(ctx, others)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		status, err = m.Delete(ctx, others)
		require.NoError(t, err)
		require.NotContains(t, status, structures.Absent)
		_, err = m.Len(ctx)
		requireLost(t, err, 1)
		require.NoError(t, m.Close())
	}
}

// The same of a tree: ranges that do not cross the lost shard are listed, and what can't be evened out stays.
func TestLostShardOfTree(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx, keys := t.Context(), ascending(3000)
	shards := broken(healthy)
	x, err := shard.NewTree[uint32, uint32](ctx, shards[0], shards[1], shards[2])
	require.NoError(t, err)
	_, err = x.Insert(ctx, keys, keys)
	require.NoError(t, err)
	shards[1].left.Store(-1)
	r, err := x.Range(ctx, []u32.Range{{Lo: 3, Hi: 5}, {Lo: 2998, Hi: 2999}, {Lo: 9, Hi: 8}})
	require.NoError(t, err)
	require.Equal(t, []uint32{3, 4, 5, 2998, 2999}, r.Keys)
	_, err = x.Range(ctx, []u32.Range{{Lo: 3, Hi: 2000}})
	requireLost(t, err, 1)
	counts, err := x.DeleteRange(ctx, []u32.Range{{Lo: 0, Hi: 1}, u32.AllKeys, {Lo: 5, Hi: 4}})
	requireLost(t, err, 1)
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	require.Equal(t, 1, pending.Operations)
	require.Len(t, counts, 3)
	require.EqualValues(t, 2, counts[0])
	requireLost(t, x.Rebalance(ctx), 1)
	_, err = x.Rank(ctx, keys)
	requireLost(t, err, 1)
}

// A shard that fails while pairs move to it: everything is where it was.
func TestLostWhileMoving(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	shards := broken(healthy)
	x, err := shard.NewTree[uint32, uint32](ctx, shards[0], shards[1], shards[2])
	require.NoError(t, err)
	more := ascending(9000)
	_, err = x.Insert(ctx, more, more)
	require.NoError(t, err)
	_, err = x.DeleteRange(ctx, []u32.Range{{Lo: 3000, Hi: 8999}})
	require.NoError(t, err)
	keys := more[:3000] // all in shard 0
	before, err := shard.Lens(x)
	require.NoError(t, err)
	ended, end := context.WithCancel(ctx)
	end()
	require.ErrorIs(t, x.Rebalance(ended), context.Canceled)
	for range 2 {
		shards[1].left.Store(10) // fewer than move
		requireLost(t, x.Rebalance(ctx), 1)
		shards[1].left.Store(healthy)
		after, err := shard.Lens(x)
		require.NoError(t, err)
		if slices.Equal(before, after) {
			continue
		}
		// The lost shard keeps what nothing could delete, and no other has more than before.
		require.Equal(t, before[0], after[0])
		require.Equal(t, before[2], after[2])
	}
	require.NoError(t, x.Rebalance(ctx))
	values, found, err := x.Find(ctx, keys)
	require.NoError(t, err)
	require.NotContains(t, found, false)
	require.Equal(t, keys, values)
}

// forgetting is a tree whose next deletions of ranges fail.
type forgetting struct {
	*host.Tree[uint32, uint32]
	fail atomic.Int64
}

func (f *forgetting) DeleteRange(ctx context.Context, r []u32.Range) ([]uint32, error) {
	if f.fail.Add(-1) >= 0 {
		return nil, vk.ErrDeviceLost
	}
	return f.Tree.DeleteRange(ctx, r)
}

// forgotten returns a tree of two shards with the keys 0, 3, 6, … 2697, of which shard 0 could not delete those that it
// gave to shard 1 in Rebalance. Its next deletions of ranges fail, too.
func forgotten(t *testing.T) (*shard.Tree[uint32, uint32], []*forgetting, u32.Ordered) {
	t.Helper()
	ctx, model := t.Context(), host.NewTree[uint32, uint32]()
	shards := []*forgetting{{Tree: host.NewTree[uint32, uint32]()}, {Tree: host.NewTree[uint32, uint32]()}}
	x, err := shard.NewTree[uint32, uint32](ctx, shards[0], shards[1])
	require.NoError(t, err)
	keys := ascending(1800) // the split point is 2700
	for i := range keys {
		keys[i] *= 3
	}
	for _, d := range []u32.Ordered{x, model} {
		_, err := d.Insert(ctx, keys, keys)
		require.NoError(t, err)
		_, err = d.DeleteRange(ctx, []u32.Range{{Lo: 2700, Hi: 5400}})
		require.NoError(t, err)
	}
	shards[0].fail.Store(healthy)
	requireLost(t, x.Rebalance(ctx), 0)
	return x, shards, model
}

// Pairs that a shard could not delete after it gave them away are nobody's: no query sees them.
func TestForgottenPairs(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	x, shards, model := forgotten(t)
	deleted := []uint32{1500, 1503, 1800}
	for _, d := range []u32.Ordered{x, model} {
		_, err := d.Delete(ctx, deleted)
		require.NoError(t, err)
		counts, err := d.DeleteRange(ctx, []u32.Range{{Lo: 1400, Hi: 1600}, {Lo: 2100, Hi: 2150}})
		require.NoError(t, err)
		require.Equal(t, []uint32{65, 17}, counts)
	}
	ranges := []u32.Range{u32.AllKeys, {Lo: 100, Hi: 2000}, {Lo: 1400, Hi: 1600}, {Lo: 9, Hi: 8}, {Lo: 2697, Hi: 2697}}
	wantCounts, err := model.Count(ctx, ranges)
	require.NoError(t, err)
	counts, err := x.Count(ctx, ranges)
	require.NoError(t, err)
	require.Equal(t, wantCounts, counts)
	wantRanges, err := model.Range(ctx, ranges)
	require.NoError(t, err)
	listed, err := x.Range(ctx, ranges)
	require.NoError(t, err)
	require.Equal(t, wantRanges, listed)
	for _, r := range ranges {
		require.Equal(t, collected(t, model.Ascend(ctx, r)), collected(t, x.Ascend(ctx, r)))
		require.Equal(t, collected(t, model.Descend(ctx, r)), collected(t, x.Descend(ctx, r)))
	}
	keys := ascending(2800)
	for _, to := range []structures.Direction{structures.Successor, structures.Predecessor, structures.Ceil,
		structures.Floor} {
		want, err := model.Neighbor(ctx, to, keys)
		require.NoError(t, err)
		got, err := x.Neighbor(ctx, to, keys)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, k := range []structures.Kind{structures.FindSuccessor, structures.FindPredecessor, structures.FindCeil,
		structures.FindFloor, structures.CountRange, structures.FindRange} {
		b := u32.Batch{Keys: keys, Values: keys, Width: 50, Highs: make([]uint32, len(keys)),
			Kinds: slices.Repeat([]structures.Kind{k}, len(keys))}
		for i := range keys {
			b.Highs[i] = uint32(i*7) % 2800
		}
		want, err := model.Apply(ctx, b)
		require.NoError(t, err)
		got, err := x.Apply(ctx, b)
		require.NoError(t, err)
		require.Equal(t, want, got, "%v", k)
	}

	// What can't tell them apart fails until they are deleted. Other shards' keys don't need that.
	_, err = x.Len(ctx)
	requireLost(t, err, 0)
	_, err = x.Rank(ctx, keys)
	requireLost(t, err, 0)
	_, err = x.Select(ctx, keys)
	requireLost(t, err, 0)
	_, err = x.Save(ctx, new(bytes.Buffer))
	requireLost(t, err, 0)
	for _, failed := range x.All(ctx) {
		err = failed
	}
	requireLost(t, err, 0)
	requireLost(t, x.Rebalance(ctx), 0)
	require.NoError(t, x.Put(ctx, 2697, 1))
	require.NoError(t, model.Put(ctx, 2697, 1))

	shards[0].fail.Store(0)
	wantN, err := model.Len(ctx)
	require.NoError(t, err)
	n, err := x.Len(ctx)
	require.NoError(t, err)
	require.Equal(t, wantN, n)
	lens, err := shard.Lens(x)
	require.NoError(t, err)
	require.Equal(t, wantN, lens[0]+lens[1])
	require.Equal(t, collected(t, model.All(ctx)), collected(t, x.All(ctx)))
	var file bytes.Buffer
	_, err = x.Save(ctx, &file)
	require.NoError(t, err)
	require.NoError(t, treeOf[uint32, uint32](t, 3).Load(ctx, &file))
}

// They don't come back when their keys do.
func TestForgottenPairsStayAway(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	x, shards, model := forgotten(t)
	shards[0].fail.Store(0)
	for _, d := range []u32.Ordered{x, model} {
		for _, r := range []u32.Range{{Lo: 0, Hi: 600}, {Lo: 1500, Hi: 1800}} { // keys go back to shard 0
			_, err := d.DeleteRange(ctx, []u32.Range{r})
			require.NoError(t, err)
		}
	}
	require.NoError(t, x.Rebalance(ctx))
	require.Equal(t, collected(t, model.All(ctx)), collected(t, x.All(ctx)))
	n, err := x.Len(ctx)
	require.NoError(t, err)
	want, err := model.Len(ctx)
	require.NoError(t, err)
	require.Equal(t, want, n)
}

// A shard that fails for good to delete pairs that it gave away does not cost each change a call that fails. The pairs
// are deleted when a call needs it, or when the tree has grown so much that it looks at its shards.
func TestForgottenPairsCostLittle(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	x, shards, _ := forgotten(t)
	before := shards[0].fail.Load()
	for i := range uint32(300) {
		require.NoError(t, x.Put(ctx, i, i))
		_, err := x.Delete(ctx, []uint32{i})
		require.NoError(t, err)
	}
	require.LessOrEqual(t, before-shards[0].fail.Load(), int64(10))
	_, err := x.Delete(ctx, []uint32{1500}) // of which shard 0 has a forgotten pair
	require.NoError(t, err)
	before = shards[0].fail.Load()
	keys := ascending(30_000)[10_000:] // so many that the ranges of shard 0 would grow
	_, err = x.Insert(ctx, keys, keys)
	require.NoError(t, err)
	require.Less(t, shards[0].fail.Load(), before, "it is tried")
	values, found, err := x.Find(ctx, append(keys, 1500))
	require.NoError(t, err)
	require.NotContains(t, found[:len(keys)], false)
	require.Equal(t, keys, values[:len(keys)])
	require.False(t, found[len(keys)])
	shards[0].fail.Store(0)
	more := ascending(100_000)
	_, err = x.Insert(ctx, more, more)
	require.NoError(t, err)
	lens, err := shard.Lens(x)
	require.NoError(t, err)
	require.EqualValues(t, len(more), lens[0]+lens[1], "no pairs are forgotten any more")
}

// Load into a tree that is empty but for such pairs deletes them first.
func TestLoadAfterForgottenPairs(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	x, shards, model := forgotten(t)
	var file bytes.Buffer
	_, err := model.Save(ctx, &file)
	require.NoError(t, err)
	_, err = x.DeleteRange(ctx, []u32.Range{{Lo: 1350, Hi: math.MaxUint32}}) // shard 1's
	require.NoError(t, err)
	_, err = x.Delete(ctx, ascending(1350))
	require.NoError(t, err)
	requireLost(t, x.Load(ctx, bytes.NewReader(file.Bytes())), 0)
	shards[0].fail.Store(0)
	require.NoError(t, x.Load(ctx, &file))
	require.Equal(t, collected(t, model.All(ctx)), collected(t, x.All(ctx)))
}

// A first batch of a few keys says little about later ones: a larger batch is divided evenly, and the few pairs move
// with its split points. Queries at the same time find them.
func TestFewFirstKeys(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	for _, few := range [][]uint32{{7}, {1, 1, 2, 3}, {5, 2999}, ascending(100)} {
		for _, mixed := range []bool{false, true} {
			shards := broken(healthy)
			x, err := shard.NewTree[uint32, uint32](ctx, shards[0], shards[1], shards[2])
			require.NoError(t, err)
			_, err = x.Insert(ctx, few, few)
			require.NoError(t, err)
			var queries sync.WaitGroup
			var done atomic.Bool
			queries.Go(func() {
				for !done.Load() {
					values, _, err := x.Find(ctx, few)
					assert.NoError(t, err)
					assert.Equal(t, few, values)
				}
			})
			keys := ascending(3000)
			if mixed {
				_, err = x.Apply(ctx, u32.Batch{Keys: keys, Values: keys,
					Kinds: slices.Repeat([]structures.Kind{structures.Insert}, len(keys))})
			} else {
				_, err = x.Insert(ctx, keys, keys)
			}
			done.Store(true)
			queries.Wait()
			require.NoError(t, err)
			lens, err := shard.Lens(x)
			require.NoError(t, err)
			require.EqualValues(t, 3000, lens[0]+lens[1]+lens[2])
			for s, n := range lens {
				require.InDelta(t, 1000, n, 100, "shard %d of %v", s, lens)
			}
			if mixed {
				continue
			}
			updates := func() (n int64) {
				for s, b := range shards {
					require.Less(t, healthy-b.left.Load(), int64(1400), "operations of shard %d", s)
					n += healthy - b.left.Load()
				}
				return n
			}
			before := updates()
			_, err = x.Insert(ctx, keys[:100], keys[:100])
			require.NoError(t, err)
			require.Equal(t, before+100, updates(), "nothing moves for a batch that is not larger")
		}
	}
}

// A shard that is lost while the few pairs move: they stay where they are, and the batch goes on as others do.
func TestLostWithFewKeys(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx, keys := t.Context(), ascending(3000)
	for lost := range 3 {
		shards := broken(healthy)
		x, err := shard.NewTree[uint32, uint32](ctx, shards[0], shards[1], shards[2])
		require.NoError(t, err)
		few := []uint32{0, 10, 20, 30, 40, 50}
		_, err = x.Insert(ctx, few, few)
		require.NoError(t, err)
		before, err := shard.Lens(x)
		require.NoError(t, err)
		require.Equal(t, []uint64{2, 2, 2}, before)
		shards[lost].left.Store(-1)
		status, err := x.Insert(ctx, keys, keys)
		requireLost(t, err, lost)
		shards[lost].left.Store(healthy)
		_, found, err := x.Find(ctx, append(few, keys...))
		require.NoError(t, err)
		require.NotContains(t, found[:len(few)], false)
		n := 0
		for i, f := range found[len(few):] {
			if f {
				n++
			}
			require.True(t, f || status[i] == structures.Pending)
		}
		all, err := x.Len(ctx)
		require.NoError(t, err)
		require.EqualValues(t, n, all)
		_, err = x.Insert(ctx, keys, keys)
		require.NoError(t, err)
		require.NoError(t, x.Rebalance(ctx))
		all, err = x.Len(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 3000, all)
	}
}

// vast is a tree that has 2^24 pairs for each of its keys.
type vast struct{ *host.Tree[uint32, uint32] }

func (v vast) Len(ctx context.Context) (uint64, error) {
	n, err := v.Tree.Len(ctx)
	return n << 24, err
}

func (v vast) Select(ctx context.Context, ranks []uint32) (u32.Neighbors, error) {
	ranks = slices.Clone(ranks)
	for i := range ranks {
		ranks[i] >>= 24
	}
	return v.Tree.Select(ctx, ranks)
}

// More than 2^32 pairs are evened out, too.
func TestManyPairs(t *testing.T) {
	pass.OneWidth(t, inHost)
	for _, c := range []struct {
		keys     int // which are divided evenly at first
		deleted  []u32.Range
		was, are []uint64
	}{
		{900, []u32.Range{{Lo: 200, Hi: 499}, {Lo: 600, Hi: 659}}, []uint64{200, 100, 240}, []uint64{180, 180, 180}},
		{3200, []u32.Range{{Lo: 800, Hi: 3199}}, []uint64{800, 0, 0, 0}, []uint64{200, 200, 200, 200}},
		{3200, []u32.Range{{Lo: 0, Hi: 2399}}, []uint64{0, 0, 0, 800}, []uint64{200, 200, 200, 200}},
	} {
		ctx, keys := t.Context(), ascending(c.keys)
		var shards []u32.Ordered
		for range c.was {
			shards = append(shards, vast{host.NewTree[uint32, uint32]()})
		}
		x, err := shard.NewTree(ctx, shards...)
		require.NoError(t, err)
		_, err = x.Insert(ctx, keys, keys)
		require.NoError(t, err)
		_, err = x.DeleteRange(ctx, c.deleted)
		require.NoError(t, err)
		for i, want := range [][]uint64{c.was, c.are} {
			if i == 1 {
				require.NoError(t, x.Rebalance(ctx))
			}
			for s, n := range want {
				lens, err := shard.Lens(x)
				require.NoError(t, err)
				require.Equal(t, n<<24, lens[s], "%v, shard %d", lens, s)
			}
		}
	}
}

// Calls look at shards before they have entered, while split points change.
func TestSplitPointsChange(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx, keys := t.Context(), ascending(300)
	x := treeOf[uint32, uint32](t, 3)
	_, err := x.Insert(ctx, keys, keys)
	require.NoError(t, err)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		for i := range 100 {
			_, err := x.Delete(ctx, keys[i:i+1])
			assert.NoError(t, err)
			assert.NoError(t, x.Rebalance(ctx))
		}
	})
	for range 100 {
		require.NoError(t, x.Prepare(ctx))
		floor := u32.Batch{Kinds: []structures.Kind{structures.FindFloor}, Keys: keys[:1], Values: keys[:1]}
		_, err := x.Apply(ctx, floor)
		require.NoError(t, err)
	}
}

// refusing is a map that fails mixed batches without results, and refuses the first operation of updates, once it is
// told so.
type refusing struct {
	*host.Map[uint32, uint32]
	told atomic.Bool
}

func (r *refusing) Apply(ctx context.Context, b u32.Batch) (u32.Results, error) {
	if r.told.Load() {
		return u32.Results{}, vk.ErrClosed
	}
	return r.Map.Apply(ctx, b)
}

func (r *refusing) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
	status []structures.Status) error {
	if r.told.Load() {
		return &structures.KindError{Kind: kind}
	}
	return r.Map.UpdateInto(ctx, kind, keys, values, status)
}

// A shard that fails without results leaves zeros, not results of earlier batches.
func TestNoResults(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx, keys := t.Context(), ascending(300)
	told := &refusing{Map: host.NewMap[uint32, uint32]()}
	m, err := shard.NewMap[uint32, uint32](ctx, host.NewMap[uint32, uint32](), told)
	require.NoError(t, err)
	values := slices.Repeat([]uint32{77}, len(keys))
	_, err = m.Insert(ctx, keys, values)
	require.NoError(t, err)
	b := u32.Batch{Keys: keys, Values: values, Kinds: slices.Repeat([]structures.Kind{structures.Find}, len(keys))}
	r, err := m.Apply(ctx, b)
	require.NoError(t, err)
	require.Equal(t, values, r.Values)
	told.told.Store(true)
	r, err = m.Apply(ctx, b)
	require.ErrorIs(t, err, vk.ErrClosed)
	for i, k := range keys {
		if m.ShardOf(k) == 1 {
			require.Equal(t, structures.Pending, r.Status[i])
			require.Zero(t, r.Values[i])
		} else {
			require.Equal(t, structures.Found, r.Status[i])
			require.EqualValues(t, 77, r.Values[i])
		}
	}
}

// Queries that are not done because the context ends leave zeros, too.
func TestEndedQueries(t *testing.T) {
	pass.OneWidth(t, inHost)
	shard.InBlocksOf(t, 100)
	m, keys := mapOf[uint32, uint32](t, 3), ascending(1000)
	_, err := m.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	failed := 0
	for calls := range int64(80) {
		c := &stopping{Context: t.Context()}
		c.left.Store(calls)
		values, found := slices.Repeat([]uint32{5000}, len(keys)), slices.Repeat([]bool{true}, len(keys))
		err := m.FindInto(c, keys, values, found)
		if err == nil {
			require.Equal(t, keys, values)
			continue
		}
		if values[0] == 5000 && values[999] == 5000 {
			continue // nothing has begun
		}
		failed++
		for i, k := range keys {
			if !found[i] {
				k = 0
			}
			require.Equal(t, k, values[i])
		}
	}
	require.NotZero(t, failed)
}

// An operation that one shard refuses has its place in the batch, and shards refuse kinds before any does its part.
func TestRefusedKind(t *testing.T) {
	ctx, keys := t.Context(), ascending(300)
	d := testdevice.Open(t)
	several, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	require.NoError(t, err)
	mixed, err := shard.NewMap[uint32, uint32](ctx, several, host.NewTree[uint32, uint32]())
	require.NoError(t, err)
	defer func() { require.NoError(t, mixed.Close()) }()
	for _, k := range []structures.Kind{structures.InsertDuplicate, structures.DeleteAll} {
		_, err := mixed.Insert(ctx, keys[:100], keys[:100])
		require.NoError(t, err)
		var kind *structures.KindError
		require.ErrorAs(t, mixed.UpdateInto(ctx, k, keys, keys, nil), &kind)
		require.Equal(t, structures.KindError{Kind: k}, *kind)
		n, err := mixed.Len(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 100, n, "nothing is done")
	}

	shard.InBlocksOf(t, 20)
	told := &refusing{Map: host.NewMap[uint32, uint32]()}
	m, err := shard.NewMap[uint32, uint32](ctx, host.NewMap[uint32, uint32](), told)
	require.NoError(t, err)
	told.told.Store(true)
	first := 0
	for m.ShardOf(keys[first]) != 1 {
		first++
	}
	err = m.UpdateInto(ctx, structures.Insert, keys, keys, nil)
	var kind *structures.KindError
	require.ErrorAs(t, err, &kind)
	require.Equal(t, first, kind.Index)
}

// A file of ascending keys, of which Load reads 2^20 at a time, is divided evenly. Load takes other files, too.
func TestLoadEvenly(t *testing.T) {
	pass.OneWidth(t, inHost)
	const n = 3 << 19
	ctx, keys := t.Context(), ascending(n)
	one, several := host.NewTree[uint32, uint32](), mapOf[uint32, uint32](t, 2)
	for _, from := range []interface {
		u32.Dictionary
		Save(ctx context.Context, w io.Writer) (int64, error)
	}{one, several} {
		_, err := from.Insert(ctx, keys, keys)
		require.NoError(t, err)
		var file bytes.Buffer
		_, err = from.Save(ctx, &file)
		require.NoError(t, err)
		x := treeOf[uint32, uint32](t, 3)
		require.NoError(t, x.Load(ctx, &file))
		lens, err := shard.Lens(x)
		require.NoError(t, err)
		if from == u32.Dictionary(one) {
			require.Equal(t, []uint64{n / 3, n / 3, n / 3}, lens)
		}
		values, found, err := x.Find(ctx, keys)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		require.Equal(t, keys, values)
		counts, err := x.Count(ctx, []u32.Range{u32.AllKeys})
		require.NoError(t, err)
		require.Equal(t, []uint32{n}, counts)
	}
}

// Insertions alone even out shards whose split points came from a poor sample.
func TestEvenedByInsertions(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx := t.Context()
	x := treeOf[uint32, uint32](t, 4)
	keys := ascending(200_000)
	for len(keys) > 0 {
		n := min(len(keys), 997)
		_, err := x.Insert(ctx, keys[:n], keys[:n])
		require.NoError(t, err)
		keys = keys[n:]
	}
	lens, err := shard.Lens(x)
	require.NoError(t, err)
	require.Less(t, slices.Max(lens), uint64(150_000), "%v", lens)
	require.Greater(t, slices.Min(lens), uint64(10_000), "%v", lens)
	at := uint32(0)
	for p, err := range x.All(ctx) {
		require.NoError(t, err)
		require.Equal(t, u32.Pair{Key: at, Value: at}, p)
		at++
	}
	require.EqualValues(t, 200_000, at)
}

// What is not a set of shards is refused by name.
func TestRefused(t *testing.T) {
	ctx := t.Context()
	one, other := host.NewMap[uint32, uint32](), host.NewMap[uint32, uint32]()
	require.NoError(t, other.Put(ctx, 1, 2))
	for _, all := range [][]u32.Dictionary{{}, {one, nil}, {one, (*host.Map[uint32, uint32])(nil)}, {one, one},
		{one, other}, make([]u32.Dictionary, 257)} {
		_, err := shard.NewMap(ctx, all...)
		var option *vk.OptionError
		require.ErrorAs(t, err, &option)
		require.Equal(t, "shards", option.Option)
	}
	m, err := shard.NewMap(ctx, one)
	require.NoError(t, err)
	var kind *structures.KindError
	b := u32.Batch{Kinds: []structures.Kind{structures.Insert, structures.FindFloor}, Keys: []uint32{1, 2},
		Values: []uint32{1, 2}}
	_, err = m.Apply(ctx, b)
	require.ErrorAs(t, err, &kind)
	require.Equal(t, 1, kind.Index)
	n, err := m.Len(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "nothing is done of a batch that is refused")
	require.ErrorAs(t, m.UpdateInto(ctx, structures.Find, []uint32{1}, nil, nil), &kind)
	require.ErrorAs(t, m.UpdateInto(ctx, structures.InsertDuplicate, []uint32{1}, []uint32{1}, nil), &kind)
	var length *structures.LengthError
	require.ErrorAs(t, m.FindInto(ctx, []uint32{1}, []uint32{1, 2}, nil), &length)
	_, err = m.Insert(ctx, []uint32{1}, nil)
	require.ErrorAs(t, err, &length)
	x, err := shard.NewTree[uint32, uint32](ctx, host.NewTree[uint32, uint32]())
	require.NoError(t, err)
	var option *vk.OptionError
	_, err = x.Snapshot(ctx)
	require.ErrorAs(t, err, &option)
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	require.NoError(t, x.Close())
	_, _, err = m.Get(ctx, 1)
	require.ErrorIs(t, err, vk.ErrClosed)
	_, err = x.Insert(ctx, []uint32{1}, []uint32{1})
	require.ErrorIs(t, err, vk.ErrClosed)
	_, err = (&shard.Map[uint32, uint32]{}).Len(ctx)
	require.Equal(t, vk.ErrNotOpen, err)
	_, err = (*shard.Tree[uint32, uint32])(nil).Insert(ctx, []uint32{1}, []uint32{1})
	require.Equal(t, vk.ErrNotOpen, err)
	_, err = (&shard.Snapshot[uint32, uint32]{}).Len(ctx)
	require.Equal(t, vk.ErrNotOpen, err)
}

// exploding is a context that panics when a method is called for the last of some times.
type exploding struct {
	context.Context
	left atomic.Int64
}

func (c *exploding) Err() error {
	if c.left.Add(-1) < 0 {
		panic(c)
	}
	return c.Context.Err()
}

// A context that panics in a shard's call does so in the caller, and nothing stays locked.
func TestPanickingContext(t *testing.T) {
	pass.OneWidth(t, inHost)
	for _, block := range []int{0, 50} {
		shard.InBlocksOf(t, block)
		x, keys := treeOf[uint32, uint32](t, 3), ascending(3000)
		for calls := range int64(40) {
			c := &exploding{Context: t.Context()}
			c.left.Store(calls)
			func() {
				defer func() {
					if value := recover(); value != nil {
						require.Same(t, c, value)
					}
				}()
				_, _ = x.Insert(c, keys, keys)
				_, _, _ = x.Find(c, keys)
				_ = x.Rebalance(c)
			}()
		}
		_, err := x.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		n, err := x.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 3000, n)
	}
}

// leaving is a context, and a shard whose updates end the goroutine, once left is below 0.
type leaving struct {
	context.Context
	*host.Map[uint32, uint32]
	left atomic.Int64
}

func (c *leaving) Err() error {
	if c.left.Add(-1) < 0 {
		runtime.Goexit()
	}
	return c.Context.Err()
}

func (c *leaving) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
	status []structures.Status) error {
	if c.left.Add(-1) < 0 {
		runtime.Goexit()
	}
	time.Sleep(time.Millisecond) // the other shard leaves earlier
	return c.Map.UpdateInto(ctx, kind, keys, values, status)
}

// left calls do in a goroutine, which do may end, and requires that it returns in time.
func left(t *testing.T, do func()) (ended bool) {
	t.Helper()
	over := make(chan bool, 1)
	go func() {
		ended := true
		defer func() { over <- ended }()
		do()
		ended = false
	}()
	select {
	case ended := <-over:
		return ended
	case <-time.After(time.Minute):
		require.FailNow(t, "a call hangs")
		return false
	}
}

// A shard that ends its goroutine ends the caller's, after the other shards are done, and nothing stays locked.
func TestEndedGoroutine(t *testing.T) {
	pass.OneWidth(t, inHost)
	for _, block := range []int{0, 50} {
		for gone := range 2 {
			shard.InBlocksOf(t, block)
			shards := []*leaving{{Map: host.NewMap[uint32, uint32]()}, {Map: host.NewMap[uint32, uint32]()}}
			shards[1-gone].left.Store(healthy)
			m, err := shard.NewMap[uint32, uint32](t.Context(), shards[0], shards[1])
			require.NoError(t, err)
			keys := ascending(3000)
			status := make([]structures.Status, len(keys))
			require.True(t, left(t, func() { _ = m.UpdateInto(t.Context(), structures.Insert, keys, keys, status) }))
			clear(status) // a race, if a shard is still at work
			shards[gone].left.Store(healthy)
			require.False(t, left(t, func() { err = m.UpdateInto(t.Context(), structures.Insert, keys, keys, status) }))
			require.NoError(t, err)
			require.NotContains(t, status, structures.Pending)
		}
	}
}

// The same of a context.
func TestLeavingContext(t *testing.T) {
	pass.OneWidth(t, inHost)
	for _, block := range []int{0, 50} {
		shard.InBlocksOf(t, block)
		x, keys, ended := treeOf[uint32, uint32](t, 3), ascending(3000), 0
		for calls := range int64(40) {
			c := &leaving{Context: t.Context()}
			c.left.Store(calls)
			if left(t, func() {
				_, _ = x.Insert(c, keys, keys)
				_, _, _ = x.Find(c, keys)
			}) {
				ended++
			}
		}
		require.NotZero(t, ended)
		_, err := x.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
	}
}

// stopping is a context that ends after some questions whether it has.
type stopping struct {
	context.Context
	left atomic.Int64
}

func (c *stopping) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A batch whose context ends in the middle says which operations are not done, and those that are said to be done are.
func TestEndedContext(t *testing.T) {
	pass.OneWidth(t, inHost)
	shard.InBlocksOf(t, 100)
	for calls := range int64(80) {
		m, keys := mapOf[uint32, uint32](t, 3), ascending(1000)
		c := &stopping{Context: t.Context()}
		c.left.Store(calls)
		status, err := m.Insert(c, keys, keys)
		done := 0
		_, found, failed := m.Find(t.Context(), keys)
		require.NoError(t, failed)
		for i, s := range status {
			require.Equal(t, s == structures.Inserted, found[i])
			if found[i] {
				done++
			}
		}
		if err == nil {
			require.Equal(t, 1000, done)
			continue
		}
		require.ErrorIs(t, err, context.Canceled)
		var named *shard.Error
		require.False(t, errors.As(err, &named), "it is no shard's fault")
		var pending *structures.PendingError
		require.ErrorAs(t, err, &pending)
		require.Equal(t, 1000-done, pending.Operations)
		require.NoError(t, structures.Retry[uint32, uint32](t.Context(), m, structures.Insert, keys, keys, status))
	}
}

// An iteration notices a change of another shard than the one that it reads, and none that came before.
func TestIterationNotices(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx, keys := t.Context(), ascending(3000)
	for s := range uint32(3) {
		x := treeOf[uint32, uint32](t, 3)
		_, err := x.Insert(ctx, keys, keys)
		require.NoError(t, err)
		n, failed := 0, error(nil)
		for _, err := range x.All(ctx) {
			if failed = err; err != nil {
				break
			}
			if n++; n == 500 {
				require.NoError(t, x.Put(ctx, s*1000+500, 1))
			}
		}
		require.ErrorIs(t, failed, structures.ErrChanged)
		require.Less(t, n, 1100)
	}
}

// devices opens two devices of the machine, or one twice.
func devices(t *testing.T) []*vk.Device {
	all, err := vk.List()
	require.NoError(t, err)
	if len(all) < 2 {
		t.Log("the machine has one device, which is opened twice")
		return []*vk.Device{testdevice.Open(t), testdevice.Open(t, vk.Options{StagingBytes: 1 << 20})}
	}
	return []*vk.Device{testdevice.Open(t, vk.Options{Device: "0"}), testdevice.Open(t, vk.Options{Device: "1"})}
}

// A device that is closed under a shard: the shard fails by its number, and the other one goes on.
func TestClosedDevice(t *testing.T) {
	ctx, keys := t.Context(), ascending(2000)
	all := devices(t)
	gone, err := vk.Open(vk.Options{CacheDir: "none"})
	require.NoError(t, err)
	here, err := slabhash.New[uint32, uint32](ctx, all[0], slabhash.Options{})
	require.NoError(t, err)
	there, err := slabhash.New[uint32, uint32](ctx, gone, slabhash.Options{})
	require.NoError(t, err)
	m, err := shard.NewMap(ctx, here, there)
	require.NoError(t, err)
	_, err = m.Insert(ctx, keys, keys)
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	status, err := m.Insert(ctx, keys, keys)
	var named *shard.Error
	require.ErrorAs(t, err, &named)
	require.Equal(t, 1, named.Shard)
	require.ErrorIs(t, err, vk.ErrClosed)
	for i, s := range status {
		require.Equal(t, m.ShardOf(keys[i]) == 0, s == structures.Assigned)
		require.Equal(t, m.ShardOf(keys[i]) == 1, s == structures.Pending)
	}
	_ = m.Close()
	require.NoError(t, here.Close())
}

// While goroutines move amounts between accounts of all shards, each snapshot has the same total, and its iterator
// gives it, too, whatever Rebalance moves meanwhile.
func TestSnapshotsAtOneMoment(t *testing.T) {
	pass.OneLavapipe(t, "snapshots have tests of their own at each width")
	const accounts, amount, rounds = 3000, 1000, 12
	ctx := t.Context()
	var shards []structures.Ordered[int32, uint32]
	all := devices(t)
	for s := range 3 {
		b, err := btree.New[int32, uint32](ctx, all[s%len(all)], btree.Options{})
		require.NoError(t, err)
		shards = append(shards, b)
	}
	x, err := shard.NewTree(ctx, shards...)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	keys, values := make([]int32, accounts), make([]uint32, accounts)
	for i := range keys {
		keys[i], values[i] = int32(i-accounts/2), amount
	}
	more := make([]int32, 3*accounts) // of which the accounts are one shard's at first
	for i := range more {
		more[i] = int32(i - accounts/2)
	}
	_, err = x.Insert(ctx, more, make([]uint32, len(more)))
	require.NoError(t, err)
	_, err = x.DeleteRange(ctx, []structures.Range[int32]{{Lo: accounts / 2, Hi: math.MaxInt32}})
	require.NoError(t, err)
	_, err = x.Insert(ctx, keys, values)
	require.NoError(t, err)
	var work sync.WaitGroup
	done := make(chan struct{})
	for g := range 3 {
		work.Go(func() {
			for round := range rounds {
				// From each account to the one half of all further on, which is in another shard.
				from, to := keys[g*100:g*100+300], keys[g*100+accounts/2:g*100+accounts/2+300]
				var b structures.Batch[int32, uint32]
				for i := range from {
					b.Keys = append(b.Keys, from[i], to[i])
					b.Values = append(b.Values, -uint32(round+1), uint32(round+1))
					b.Kinds = append(b.Kinds, structures.InsertAdd, structures.InsertAdd)
				}
				if _, err := x.InsertAdd(ctx, b.Keys, b.Values); err != nil {
					t.Error(err)
				}
				if g == 0 && round%4 == 1 {
					if err := x.Rebalance(ctx); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	go func() { work.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		at, err := x.Snapshot(ctx)
		require.NoError(t, err)
		total, n := uint32(0), 0
		for p, err := range at.All(ctx) {
			require.NoError(t, err)
			require.Equal(t, keys[n], p.Key)
			total += p.Value
			n++
		}
		require.Equal(t, accounts, n)
		require.EqualValues(t, accounts*amount, total)
		found, there, err := at.Find(ctx, keys)
		require.NoError(t, err)
		require.NotContains(t, there, false)
		total = 0
		for _, v := range found {
			total += v
		}
		require.EqualValues(t, accounts*amount, total)
		require.NoError(t, at.Close())
		require.NoError(t, at.Close())
		_, err = at.Len(ctx)
		require.ErrorIs(t, err, vk.ErrClosed)
	}
}

// A snapshot is opened while a query runs, here a Save.
func TestSnapshotBesideQueries(t *testing.T) {
	pass.OneLavapipe(t, "the host orders the calls")
	ctx, keys := t.Context(), ascending(2000)
	d := testdevice.Open(t)
	a, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	b, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	x, err := shard.NewTree[uint32, uint32](ctx, a, b)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	_, err = x.Insert(ctx, keys, keys)
	require.NoError(t, err)
	var once sync.Once
	_, err = x.Save(ctx, writer(func([]byte) {
		once.Do(func() {
			soon, end := context.WithTimeout(ctx, 10*time.Second)
			defer end()
			at, err := x.Snapshot(soon)
			if assert.NoError(t, err) {
				assert.NoError(t, at.Close())
			}
		})
	}))
	require.NoError(t, err)
}

// writer is an io.Writer that is called with what it is given.
type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// The Progress of a shard may use the map, also for a call that waits for the one that is reported on.
func TestProgressUsesTheMap(t *testing.T) {
	ctx := t.Context()
	var m *shard.Map[uint32, uint32]
	var reports, failed atomic.Int64
	d := testdevice.Open(t)
	var shards []u32.Dictionary
	for range 2 {
		s, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Progress: func(int, int) {
			reports.Add(1)
			if _, err := m.Len(ctx); err != nil {
				failed.Add(1)
			}
		}})
		require.NoError(t, err)
		shards = append(shards, s)
	}
	var err error
	m, err = shard.NewMap(ctx, shards...)
	require.NoError(t, err)
	keys := ascending(300_000)
	_, err = m.Insert(ctx, keys, keys)
	require.NoError(t, err)
	_, _, err = m.Find(ctx, keys)
	require.NoError(t, err)
	require.Positive(t, reports.Load())
	require.Zero(t, failed.Load())
	require.NoError(t, m.Close())
}

// A batch takes effect as a whole over all shards, also in blocks: who looks sees all of it or nothing.
func TestBatchesAreAtomic(t *testing.T) {
	pass.OneWidth(t, inHost)
	shard.InBlocksOf(t, 100)
	ctx, keys := t.Context(), ascending(1000)
	x := treeOf[uint32, uint32](t, 3)
	write := func(round uint32) error {
		return x.UpdateInto(ctx, structures.Insert, keys, slices.Repeat([]uint32{round}, len(keys)), nil)
	}
	require.NoError(t, write(0))
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	for g := range uint32(2) {
		writers.Go(func() {
			for round := range uint32(100) {
				if err := write(2*round + g); err != nil {
					t.Error(err)
				}
			}
		})
		readers.Go(func() {
			for !done.Load() {
				values, _, err := x.Find(ctx, keys)
				if err != nil || slices.ContainsFunc(values, func(v uint32) bool { return v != values[0] }) {
					t.Errorf("%v, %v", err, values)
					return
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
}

// Split points come from the first large batch that was inserted, not from one that failed, and not from one with too
// few different keys.
func TestOtherFirstKeys(t *testing.T) {
	pass.OneWidth(t, inHost)
	ctx, keys := t.Context(), ascending(3000)
	even := func(x *shard.Tree[uint32, uint32], what string) {
		lens, err := shard.Lens(x)
		require.NoError(t, err)
		for _, n := range lens {
			require.InDelta(t, 1000, n, 100, "%s: %v", what, lens)
		}
	}
	shards := broken(healthy)
	x, err := shard.NewTree[uint32, uint32](ctx, shards[0], shards[1], shards[2])
	require.NoError(t, err)
	_, err = x.Insert(ctx, []uint32{3000}, []uint32{0})
	require.NoError(t, err)
	for _, b := range shards {
		b.left.Store(0)
	}
	_, err = x.Insert(ctx, keys, keys)
	require.Error(t, err)
	for _, b := range shards {
		b.left.Store(healthy)
	}
	_, err = x.Insert(ctx, keys, keys)
	require.NoError(t, err)
	even(x, "after a batch that failed")

	hot := slices.Repeat([]uint32{2999}, 3002)
	_, err = x.InsertAdd(ctx, hot, hot)
	require.NoError(t, err)
	even(x, "after many operations on one key")
}
