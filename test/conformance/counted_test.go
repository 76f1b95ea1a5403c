package conformance

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// counts are what words in device memory say, of buffers that have room for so many, and how many that is.
func counts(room int) map[uint32]int {
	return map[uint32]int{0: 0, 1: 1, 37: 37, uint32(room): room, uint32(room) + 1: room, ^uint32(0): room}
}

// untouched is what stands in results behind the number of what was asked.
const untouched = 0x5a5a5a5a

// counted is a structure with the pairs of the numbers 2i and i, and what is asked of it.
type counted[W structures.Word] struct {
	t *testing.T
	d *vk.Device
	s *vk.Stream
}

// room is a buffer of results that are words.
func (c counted[W]) room(n int) *vk.Buffer[uint32] {
	words := make([]uint32, n)
	for i := range words {
		words[i] = untouched
	}
	return testdevice.Upload(c.t, c.d, words)
}

// roomFor is one of results that are keys or values.
func (c counted[W]) roomFor(n int) *vk.Buffer[uint32] {
	return c.room(numbers.WordsOf[W](n))
}

func (c counted[W]) put(some []W) *vk.Buffer[uint32] {
	return testdevice.Upload(c.t, c.d, numbers.Words(some))
}

func (c counted[W]) get(b *vk.Buffer[uint32], n int) []W {
	return numbers.From[W](testdevice.Download(c.t, b, b.Len()))[:n]
}

// unchanged is the key or value whose words are untouched.
func unchanged[W structures.Word]() W {
	return numbers.From[W]([]uint32{untouched, untouched})[0]
}

func (c counted[W]) bytes(n int) *vk.Buffer[uint8] {
	b := make([]uint8, padded(n))
	for i := range b {
		b[i] = 0x5a
	}
	return testdevice.Upload(c.t, c.d, b)
}

func (c counted[W]) count(said uint32) *vk.Buffer[uint32] {
	return testdevice.Upload(c.t, c.d, []uint32{said})
}

func (c counted[W]) wait() { require.NoError(c.t, c.s.Wait(c.t.Context())) }

// Where the device alone knows how many there are, so many are done and no more, whatever its word says: what is asked
// leaves the results behind them alone, and updates the dictionary.
func TestDeviceCounts(t *testing.T) {
	pass.OneLavapipe(t, "a count on the device changes which operations run, not how they do")
	devices := openDevices(t)
	testDeviceCounts[uint32](t, devices)
	testDeviceCounts[uint64](t, devices)
}

func testDeviceCounts[W structures.Word](t *testing.T, devices []protocol) {
	const room, pairs = 300, 400
	for _, d := range devices {
		if d.d == nil {
			continue
		}
		ctx := t.Context()
		m, err := slabhash.New[W, W](ctx, d.d, slabhash.Options{})
		require.NoError(t, err)
		tree, err := btree.New[W, W](ctx, d.d, btree.Options{})
		require.NoError(t, err)
		l, err := lsm.New[W, W](ctx, d.d, lsm.Options{Batch: 64})
		require.NoError(t, err)
		a, err := sortedarray.New[W, W](ctx, d.d, sortedarray.Options{})
		require.NoError(t, err)
		for _, of := range []Dictionary[W]{m, tree, l, a} {
			t.Cleanup(func() { require.NoError(t, of.Close()) }) // whether or not its subtest is skipped
			t.Run(fmt.Sprintf("%s/%T", d.name, of), func(t *testing.T) {
				c := counted[W]{t, d.d, testdevice.Stream(t, d.d)}
				keys, values := make([]W, pairs), make([]W, pairs)
				for i := range keys {
					keys[i], values[i] = numbers.Key[W](uint32(2*i)), numbers.Key[W](uint32(i))
				}
				for said, n := range counts(room) {
					_, err := of.Insert(ctx, keys, values)
					require.NoError(t, err)
					on := onstream.Of(of).On(c.s)
					c.find(on, said, n, room, keys, values)
					if ordered, ok := on.(structures.OrderedOnStream); ok {
						c.neighbors(ordered, said, n, room, keys, values)
						c.ranges(of, ordered, said, n, room, keys, values)
					}
					c.update(on.Update, of, said, n, room, pairs)
					if concurrent, ok := on.(structures.ConcurrentOnStream); ok {
						apply := func(_ context.Context, kind structures.Kind, b structures.DeviceBatch) error {
							return concurrent.Apply(kind, b)
						}
						c.update(apply, of, said, n, room, pairs)
						c.mixed(of, apply, said, n, room, keys, values)
					}
				}
			})
		}
	}
}

func (c counted[W]) find(on structures.OnStream, said uint32, n, room int, keys, values []W) {
	for _, order := range []structures.LookupOrder{structures.OneByOne, structures.SortedFirst} {
		l := structures.DeviceLookups{
			Count: room, DeviceCount: c.count(said), Keys: c.put(keys[:room]), Values: c.roomFor(room),
			Found: c.bytes(room), FoundBits: c.room((room + 31) / 32), Order: order,
		}
		require.NoError(c.t, on.Find(l))
		c.wait()
		found, bits := testdevice.Download(c.t, l.Found, room), testdevice.Download(c.t, l.FoundBits, (room+31)/32)
		for i, value := range c.get(l.Values, room) {
			bit := bits[i/32] >> (i % 32) & 1
			if i < n {
				require.Equal(c.t, [3]W{values[i], 1, 1}, [3]W{value, W(found[i]), W(bit)}, "%d of %d", i, n)
				continue
			}
			require.Equal(c.t, unchanged[W](), value, "%d of %d", i, n)
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

func (c counted[W]) neighbors(on structures.OrderedOnStream, said uint32, n, room int, keys, values []W) {
	q := structures.DeviceNeighbors{
		Count: room, DeviceCount: c.count(said), Keys: c.put(keys[:room]), OutKeys: c.roomFor(room),
		OutValues: c.roomFor(room), Status: c.bytes(room), Left: c.count(0),
	}
	require.NoError(c.t, on.Neighbor(structures.Successor, q))
	require.NoError(c.t, on.FinishNeighbors(c.t.Context(), structures.Successor, q))
	got := c.get(q.OutValues, room)
	for i, key := range c.get(q.OutKeys, room) {
		want := [2]W{unchanged[W](), unchanged[W]()}
		if i < n {
			want = [2]W{keys[i+1], values[i+1]}
		}
		require.Equal(c.t, want, [2]W{key, got[i]}, "%d of %d", i, n)
	}
}

// ranges asks for ranges of 3 pairs each.
func (c counted[W]) ranges(of Dictionary[W], on structures.OrderedOnStream, said uint32, n, room int,
	keys, values []W) {
	bounds := make([]W, 0, 2*room)
	for i, key := range keys[:room] {
		bounds = append(bounds, key, keys[i+2])
	}
	ranges := c.put(bounds)
	counts := structures.DeviceCounts{Count: room, DeviceCount: c.count(said), Ranges: ranges, Counts: c.room(room),
		Candidates: testdevice.Room[uint64](c.t, c.d, 1)}
	require.NoError(c.t, on.Count(counts))
	pairs := structures.DeviceRanges{
		Count: room, DeviceCount: counts.DeviceCount, Ranges: ranges, Offsets: c.room(room + 1),
		Keys: c.roomFor(3 * room), Values: c.roomFor(3 * room),
		MaxCandidates: 1 << 16, Candidates: testdevice.Room[uint64](c.t, c.d, 1),
	}
	require.NoError(c.t, on.Range(pairs))
	c.wait()
	candidates := testdevice.Download(c.t, counts.Candidates, 1)[0]
	require.Equal(c.t, candidates, testdevice.Download(c.t, pairs.Candidates, 1)[0])
	// An LSM counts those that were overwritten or deleted in, too.
	if _, ok := of.(*lsm.LSM[W, W]); !ok || n == 0 {
		require.EqualValues(c.t, 3*n, candidates)
	}
	for i, count := range testdevice.Download(c.t, counts.Counts, n) {
		require.EqualValues(c.t, 3, count, "%d of %d", i, n)
	}
	for i, offset := range testdevice.Download(c.t, pairs.Offsets, room+1) {
		require.EqualValues(c.t, 3*min(i, n), offset, "%d of %d", i, n)
	}
	got := c.get(pairs.Values, 3*room)
	for i, key := range c.get(pairs.Keys, 3*room) {
		want := [2]W{unchanged[W](), unchanged[W]()}
		if i < 3*n {
			want = [2]W{keys[i/3+i%3], values[i/3+i%3]}
		}
		require.Equal(c.t, want, [2]W{key, got[i]}, "pair %d of %d", i, 3*n)
	}
	tree, ok := of.(*btree.Tree[W, W])
	if !ok {
		return
	}
	w := structures.DeviceWindow{
		Count: room, DeviceCount: counts.DeviceCount, Ranges: ranges, Width: 3, Keys: c.roomFor(3 * room),
		Values: c.roomFor(3 * room), Counts: c.room(room),
	}
	require.NoError(c.t, tree.On(c.s).Window(w))
	c.wait()
	require.Equal(c.t, c.get(pairs.Keys, 3*room), c.get(w.Keys, 3*room))
	for i, count := range testdevice.Download(c.t, w.Counts, room) {
		require.EqualValues(c.t, map[bool]uint32{true: 3, false: untouched}[i < n], count, "%d of %d", i, n)
	}
}

type update func(ctx context.Context, kind structures.Kind, b structures.DeviceBatch) error

// update inserts keys that the dictionary doesn't have, in every way, and deletes them again, with statuses and
// without. Their number is what the step of the stream before has written.
func (c counted[W]) update(do update, of Dictionary[W], said uint32, n, room, pairs int) {
	ctx, says, odd := c.t.Context(), c.count(said), make([]W, room)
	for i := range odd {
		odd[i] = numbers.Key[W](uint32(2*i + 1))
	}
	b := structures.DeviceBatch{
		Count: room, DeviceCount: c.count(0), Keys: c.put(odd), Values: c.put(odd),
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
		c.s.Copy(b.DeviceCount, 0, says, 0, 1)
		require.NoError(c.t, do(ctx, step.kind, step.b))
		require.NoError(c.t, onstream.Of(of).On(c.s).Finish(ctx, step.kind, step.b))
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
func (c counted[W]) mixed(of Dictionary[W], do update, said uint32, n, room int, keys, values []W) {
	ctx := c.t.Context()
	_, hashed := of.(*slabhash.Map[W, W])
	first, none := structures.Delete, unchanged[W]()
	if hashed {
		first, none = structures.DeleteAll, 1
	}
	kinds := make([]uint8, room)
	for i := range kinds {
		kinds[i] = uint8([]structures.Kind{first, structures.Find}[i%2])
	}
	b := structures.DeviceBatch{
		Count: room, DeviceCount: c.count(said), Keys: c.put(keys[:room]), Values: c.roomFor(room),
		Kinds: testdevice.Upload(c.t, c.d, kinds), Status: c.bytes(room), Left: c.count(0),
	}
	if !hashed { // by the kernels that know of order, too
		b.Width, b.Highs, b.OutKeys, b.OutValues = 1, b.Keys, c.roomFor(room), c.roomFor(room)
	}
	require.NoError(c.t, do(ctx, structures.Mixed, b))
	require.NoError(c.t, onstream.Of(of).On(c.s).Finish(ctx, structures.Mixed, b))
	statuses := testdevice.Download(c.t, b.Status, room)
	for i, value := range c.get(b.Values, room) {
		switch {
		case i >= n && !(hashed && i%2 == 0):
			require.Equal(c.t, unchanged[W](), value, "%d of %d", i, n)
		case i%2 == 1:
			require.Equal(c.t, [2]W{values[i], W(structures.Found)}, [2]W{value, W(statuses[i])}, "%d of %d", i, n)
		case i < n:
			require.Equal(c.t, [2]W{none, W(structures.Deleted)}, [2]W{value, W(statuses[i])}, "%d of %d", i, n)
		}
	}
	there, err := of.Len(ctx)
	require.NoError(c.t, err)
	require.EqualValues(c.t, len(keys)-(n+1)/2, there, "of %d", n)
	_, err = of.Insert(ctx, keys, values)
	require.NoError(c.t, err)
}

// A batch without Status and Left is finished by memory of the dictionary's own, in a pool that is too small at first,
// but not any more once its stream has had another one.
func TestFinishWithoutOutcomes(t *testing.T) {
	d := testdevice.Open(t)
	testFinishWithoutOutcomes[uint32](t, d)
	testFinishWithoutOutcomes[uint64](t, d)
}

func testFinishWithoutOutcomes[W structures.Word](t *testing.T, d *vk.Device) {
	ctx := t.Context()
	const n = 20000
	keys := make([]W, n)
	for i := range keys {
		keys[i] = numbers.Key[W](uint32(i) * 2654435761)
	}
	m, err := slabhash.New[W, W](ctx, d, slabhash.Options{Buckets: 100, MaxLoad: -1})
	require.NoError(t, err)
	tree, err := btree.New[W, W](ctx, d, btree.Options{})
	require.NoError(t, err)
	for _, of := range []Dictionary[W]{m, tree} {
		t.Cleanup(func() { require.NoError(t, of.Close()) }) // whether or not its subtest is skipped
		t.Run(fmt.Sprintf("%T", of), func(t *testing.T) {
			s, other := testdevice.Stream(t, d), testdevice.Stream(t, d)
			b := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, numbers.Words(keys)),
				Values: testdevice.Upload(t, d, numbers.Words(keys))}
			require.NoError(t, onstream.Of(of).Concurrent(s).Apply(structures.Insert, b))
			require.ErrorIs(t, onstream.Of(of).On(other).Finish(ctx, structures.Insert, b), structures.ErrSuperseded)
			require.NoError(t, onstream.Of(of).On(s).Finish(ctx, structures.Insert, b))
			length, err := of.Len(ctx)
			require.NoError(t, err)
			require.EqualValues(t, n, length)

			half := b
			half.Count = n / 2
			require.NoError(t, onstream.Of(of).Concurrent(s).Apply(structures.Delete, half))
			require.NoError(t, onstream.Of(of).Concurrent(s).Apply(structures.Delete, b))
			require.ErrorIs(t, onstream.Of(of).On(s).Finish(ctx, structures.Delete, half), structures.ErrSuperseded)
			require.NoError(t, onstream.Of(of).On(s).Finish(ctx, structures.Delete, b))
			length, err = of.Len(ctx)
			require.NoError(t, err)
			require.Zero(t, length)
		})
	}
}
