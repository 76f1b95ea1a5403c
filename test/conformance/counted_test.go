package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/u32"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// counts are what words in device memory say, of buffers that have room for so many, and how many that is.
func counts(room int) map[uint32]int {
	return map[uint32]int{0: 0, 1: 1, 37: 37, uint32(room): room, uint32(room) + 1: room, ^uint32(0): room}
}

// untouched is what stands in results behind the number of what was asked.
const untouched = 0x5a5a5a5a

// counted is a structure with the pairs (2i, i) of i below a number, and what is asked of it.
type counted struct {
	t *testing.T
	d *vk.Device
	s *vk.Stream
}

// room is a buffer of results.
func (c counted) room(n int) *vk.Buffer[uint32] {
	words := make([]uint32, n)
	for i := range words {
		words[i] = untouched
	}
	return testdevice.Upload(c.t, c.d, words)
}

func (c counted) bytes(n int) *vk.Buffer[uint8] {
	b := make([]uint8, padded(n))
	for i := range b {
		b[i] = 0x5a
	}
	return testdevice.Upload(c.t, c.d, b)
}

func (c counted) count(said uint32) *vk.Buffer[uint32] {
	return testdevice.Upload(c.t, c.d, []uint32{said})
}

func (c counted) wait() { require.NoError(c.t, c.s.Wait(c.t.Context())) }

// Where the device alone knows how many there are, so many are done and no more, whatever its word says: what is asked
// leaves the results behind them alone, and updates the dictionary.
func TestDeviceCounts(t *testing.T) {
	const room, pairs = 300, 400
	for _, d := range openDevices(t) {
		if d.d == nil {
			continue
		}
		ctx := t.Context()
		m, err := slabhash.New[uint32, uint32](ctx, d.d, slabhash.Options{})
		require.NoError(t, err)
		tree, err := btree.New[uint32, uint32](ctx, d.d, btree.Options{})
		require.NoError(t, err)
		l, err := lsm.New[uint32, uint32](ctx, d.d, lsm.Options{Batch: 64})
		require.NoError(t, err)
		a, err := sortedarray.New[uint32, uint32](ctx, d.d, sortedarray.Options{})
		require.NoError(t, err)
		for _, of := range []interface {
			u32.Dictionary
			structures.OnStream
		}{m, tree, l, a} {
			t.Run(fmt.Sprintf("%s/%T", d.name, of), func(t *testing.T) {
				defer func() { require.NoError(t, of.Close()) }()
				c := counted{t, d.d, testdevice.Stream(t, d.d)}
				keys, values := make([]uint32, pairs), make([]uint32, pairs)
				for i := range keys {
					keys[i], values[i] = uint32(2*i), uint32(i)
				}
				for said, n := range counts(room) {
					_, err := of.Insert(ctx, keys, values)
					require.NoError(t, err)
					c.find(of, said, n, room, keys)
					if ordered, ok := of.(structures.OrderedOnStream); ok {
						c.neighbors(ordered, said, n, room, keys)
						c.ranges(ordered, said, n, room, keys)
					}
					c.update(of.UpdateOn, of, said, n, room, pairs)
					if concurrent, ok := of.(structures.ConcurrentOnStream); ok {
						apply := func(
							_ context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
							return concurrent.ApplyOn(s, kind, b)
						}
						c.update(apply, of, said, n, room, pairs)
						c.mixed(of, apply, said, n, room, keys)
					}
				}
			})
		}
	}
}

func (c counted) find(of structures.OnStream, said uint32, n, room int, keys []uint32) {
	for _, order := range []structures.LookupOrder{structures.OneByOne, structures.SortedFirst} {
		l := structures.DeviceLookups{
			Count: room, DeviceCount: c.count(said), Keys: testdevice.Upload(c.t, c.d, keys[:room]),
			Values: c.room(room),
			Found:  c.bytes(room), FoundBits: c.room((room + 31) / 32), Order: order,
		}
		require.NoError(c.t, of.FindOn(c.s, l))
		c.wait()
		found, bits := testdevice.Download(c.t, l.Found, room), testdevice.Download(c.t, l.FoundBits, (room+31)/32)
		for i, value := range testdevice.Download(c.t, l.Values, room) {
			bit := bits[i/32] >> (i % 32) & 1
			if i < n {
				require.Equal(c.t, [3]uint32{keys[i] / 2, 1, 1}, [3]uint32{value, uint32(found[i]), bit}, "%d of %d", i,
					n)
				continue
			}
			require.EqualValues(c.t, untouched, value, "%d of %d", i, n)
			if i < padded(n) {
				require.Zero(c.t, found[i], "%d of %d", i, n)
			} else {
				require.EqualValues(c.t, 0x5a, found[i], "%d of %d", i, n)
			}
			if i < (n+31)/32*32 {
				require.Zero(c.t, bit, "%d of %d", i, n)
			} else {
				require.EqualValues(c.t, untouched, bits[i/32], "%d of %d", i, n)
			}
		}
	}
}

func (c counted) neighbors(of structures.OrderedOnStream, said uint32, n, room int, keys []uint32) {
	q := structures.DeviceNeighbors{
		Count: room, DeviceCount: c.count(said), Keys: testdevice.Upload(c.t, c.d, keys[:room]), OutKeys: c.room(room),
		OutValues: c.room(room), Status: c.bytes(room), Left: c.count(0),
	}
	require.NoError(c.t, of.NeighborOn(c.s, structures.Successor, q))
	require.NoError(c.t, of.FinishNeighbors(c.t.Context(), c.s, structures.Successor, q))
	values := testdevice.Download(c.t, q.OutValues, room)
	for i, key := range testdevice.Download(c.t, q.OutKeys, room) {
		want := [2]uint32{untouched, untouched}
		if i < n {
			want = [2]uint32{keys[i] + 2, keys[i]/2 + 1}
		}
		require.Equal(c.t, want, [2]uint32{key, values[i]}, "%d of %d", i, n)
	}
}

// ranges asks for ranges of 3 pairs each.
func (c counted) ranges(of structures.OrderedOnStream, said uint32, n, room int, keys []uint32) {
	words := make([]uint32, 0, 2*room)
	for _, key := range keys[:room] {
		words = append(words, key, key+4)
	}
	ranges := testdevice.Upload(c.t, c.d, words)
	counts := structures.DeviceCounts{Count: room, DeviceCount: c.count(said), Ranges: ranges, Counts: c.room(room),
		Candidates: testdevice.Room[uint64](c.t, c.d, 1)}
	require.NoError(c.t, of.CountOn(c.s, counts))
	pairs := structures.DeviceRanges{
		Count: room, DeviceCount: counts.DeviceCount, Ranges: ranges, Offsets: c.room(room + 1), Keys: c.room(3 * room),
		Values: c.room(3 * room), MaxCandidates: 1 << 16, Candidates: testdevice.Room[uint64](c.t, c.d, 1),
	}
	require.NoError(c.t, of.RangeOn(c.s, pairs))
	c.wait()
	candidates := testdevice.Download(c.t, counts.Candidates, 1)[0]
	require.Equal(c.t, candidates, testdevice.Download(c.t, pairs.Candidates, 1)[0])
	// An LSM counts those that were overwritten or deleted in, too.
	if _, ok := of.(*lsm.LSM[uint32, uint32]); !ok || n == 0 {
		require.EqualValues(c.t, 3*n, candidates)
	}
	for i, count := range testdevice.Download(c.t, counts.Counts, n) {
		require.EqualValues(c.t, 3, count, "%d of %d", i, n)
	}
	for i, offset := range testdevice.Download(c.t, pairs.Offsets, room+1) {
		require.EqualValues(c.t, 3*min(i, n), offset, "%d of %d", i, n)
	}
	values := testdevice.Download(c.t, pairs.Values, 3*room)
	for i, key := range testdevice.Download(c.t, pairs.Keys, 3*room) {
		want := [2]uint32{untouched, untouched}
		if i < 3*n {
			want = [2]uint32{keys[i/3] + 2*uint32(i%3), keys[i/3]/2 + uint32(i%3)}
		}
		require.Equal(c.t, want, [2]uint32{key, values[i]}, "pair %d of %d", i, 3*n)
	}
	tree, ok := of.(*btree.Tree[uint32, uint32])
	if !ok {
		return
	}
	w := structures.DeviceWindow{
		Count: room, DeviceCount: counts.DeviceCount, Ranges: ranges, Width: 3, Keys: c.room(3 * room),
		Values: c.room(3 * room), Counts: c.room(room),
	}
	require.NoError(c.t, tree.WindowOn(c.s, w))
	c.wait()
	require.Equal(c.t, testdevice.Download(c.t, pairs.Keys, 3*room), testdevice.Download(c.t, w.Keys, 3*room))
	for i, count := range testdevice.Download(c.t, w.Counts, room) {
		require.EqualValues(c.t, map[bool]uint32{true: 3, false: untouched}[i < n], count, "%d of %d", i, n)
	}
}

type update func(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error

// update inserts keys that the dictionary doesn't have, in every way, and deletes them again, with statuses and
// without. Their number is what the step of the stream before has written.
func (c counted) update(do update, of interface {
	u32.Dictionary
	structures.OnStream
}, said uint32, n, room, pairs int) {
	ctx, says, odd := c.t.Context(), c.count(said), make([]uint32, room)
	for i := range odd {
		odd[i] = uint32(2*i + 1)
	}
	b := structures.DeviceBatch{
		Count: room, DeviceCount: c.count(0), Keys: testdevice.Upload(c.t, c.d, odd),
		Values: testdevice.Upload(c.t, c.d, odd),
		Status: c.bytes(room), Left: c.count(0),
	}
	blind := b
	blind.Status, blind.Left = nil, nil
	for _, step := range []struct {
		kind  structures.Kind
		b     structures.DeviceBatch
		want  structures.Status
		after int
	}{
		{structures.Insert, b, structures.Inserted, n}, {structures.Insert, blind, 0, n},
		{structures.InsertUnique, b, structures.Found, n}, {structures.InsertAdd, b, structures.Assigned, n},
		{structures.InsertMin, b, structures.Assigned, n}, {structures.InsertMax, blind, 0, n},
		{structures.Delete, b, structures.Deleted, 0}, {structures.Delete, blind, 0, 0},
		{structures.Insert, blind, 0, n}, {structures.Delete, blind, 0, 0},
	} {
		require.NoError(c.t, b.DeviceCount.Upload(ctx, 0, []uint32{^said}))
		c.s.Copy(b.DeviceCount, 0, says, 0, 4)
		require.NoError(c.t, do(ctx, c.s, step.kind, step.b))
		require.NoError(c.t, of.Finish(ctx, c.s, step.kind, step.b))
		if step.b.Status != nil {
			for i, status := range testdevice.Download(c.t, b.Status, n) {
				require.Equal(c.t, step.want, structures.Status(status), "%v %d of %d", step.kind, i, n)
			}
		}
		length, err := of.Len(ctx)
		require.NoError(c.t, err)
		require.EqualValues(c.t, pairs+step.after, length, "%v of %d", step.kind, n)
	}
}

// mixed deletes all of a key, or one, and looks others up, in one batch, and puts back what it has deleted.
func (c counted) mixed(of structures.OnStream, do update, said uint32, n, room int, keys []uint32) {
	ctx := c.t.Context()
	_, hashed := of.(*slabhash.Map[uint32, uint32])
	first, none := structures.Delete, uint32(untouched)
	if hashed {
		first, none = structures.DeleteAll, 1
	}
	kinds := make([]uint8, room)
	for i := range kinds {
		kinds[i] = uint8([]structures.Kind{first, structures.Find}[i%2])
	}
	b := structures.DeviceBatch{
		Count: room, DeviceCount: c.count(said), Keys: testdevice.Upload(c.t, c.d, keys[:room]), Values: c.room(room),
		Kinds: testdevice.Upload(c.t, c.d, kinds), Status: c.bytes(room), Left: c.count(0),
	}
	if !hashed { // by the kernels that know of order, too
		b.Width, b.Highs, b.OutKeys, b.OutValues = 1, b.Keys, c.room(room), c.room(room)
	}
	require.NoError(c.t, do(ctx, c.s, structures.Mixed, b))
	require.NoError(c.t, of.Finish(ctx, c.s, structures.Mixed, b))
	statuses := testdevice.Download(c.t, b.Status, room)
	for i, value := range testdevice.Download(c.t, b.Values, room) {
		switch {
		case i >= n && !(hashed && i%2 == 0):
			require.EqualValues(c.t, untouched, value, "%d of %d", i, n)
		case i%2 == 1:
			require.Equal(c.t, [2]uint32{keys[i] / 2, uint32(structures.Found)}, [2]uint32{value, uint32(statuses[i])},
				"%d of %d", i, n)
		case i < n:
			require.Equal(c.t, [2]uint32{none, uint32(structures.Deleted)}, [2]uint32{value, uint32(statuses[i])},
				"%d of %d", i, n)
		}
	}
	there, err := of.(u32.Dictionary).Len(ctx)
	require.NoError(c.t, err)
	require.EqualValues(c.t, len(keys)-(n+1)/2, there, "of %d", n)
	_, err = of.(u32.Dictionary).Insert(ctx, keys, halves(keys))
	require.NoError(c.t, err)
}

func halves(keys []uint32) []uint32 {
	out := make([]uint32, len(keys))
	for i, k := range keys {
		out[i] = k / 2
	}
	return out
}

// A batch without Status and Left is finished by memory of the dictionary's own, in a pool that is too small at first,
// but not any more once its stream has had another one.
func TestFinishWithoutOutcomes(t *testing.T) {
	d, ctx := testdevice.Open(t), t.Context()
	const n = 20000
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i) * 2654435761
	}
	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Buckets: 100, MaxLoad: -1})
	require.NoError(t, err)
	tree, err := btree.New[uint32, uint32](ctx, d, btree.Options{})
	require.NoError(t, err)
	for _, of := range []interface {
		u32.Dictionary
		structures.ConcurrentOnStream
	}{m, tree} {
		t.Run(fmt.Sprintf("%T", of), func(t *testing.T) {
			defer func() { require.NoError(t, of.Close()) }()
			s, other := testdevice.Stream(t, d), testdevice.Stream(t, d)
			b := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, keys),
				Values: testdevice.Upload(t, d, keys)}
			require.NoError(t, of.ApplyOn(s, structures.Insert, b))
			require.ErrorIs(t, of.Finish(ctx, other, structures.Insert, b), structures.ErrSuperseded)
			require.NoError(t, of.Finish(ctx, s, structures.Insert, b))
			length, err := of.Len(ctx)
			require.NoError(t, err)
			require.EqualValues(t, n, length)

			half := b
			half.Count = n / 2
			require.NoError(t, of.ApplyOn(s, structures.Delete, half))
			require.NoError(t, of.ApplyOn(s, structures.Delete, b))
			require.ErrorIs(t, of.Finish(ctx, s, structures.Delete, half), structures.ErrSuperseded)
			require.NoError(t, of.Finish(ctx, s, structures.Delete, b))
			length, err = of.Len(ctx)
			require.NoError(t, err)
			require.Zero(t, length)
		})
	}
}
