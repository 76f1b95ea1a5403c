package mvbtree

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/versioned"
	"github.com/vkds/vkds/vk"
)

// Change is a key that one snapshot has another pair of than a later one.
type Change[K, V structures.Number] struct {
	Key      K
	Old, New V
	Had, Has bool // whether the older one has the key, and the later one
}

// How many changes an iterator reads at a time: at first, and where there are many.
const (
	changesAtFirst = 1 << 12
	changesAtOnce  = 1 << 20
)

// Diff returns the keys of which two snapshots of one tree hold different pairs, in key order: those inserted between
// them, deleted, and changed in value. Snapshots may come in either order; what is New is the later one's. The device
// compares the leaves that were changed between them, which it finds by a bit a slab of the pool.
//
//	for change, err := range mvbtree.Diff(ctx, older, newer) { … }
//
// The changes are read part by part, up to 2^20 at a time, and updates may go on meanwhile. The error comes last, with
// no change: *ForeignError, *vk.OutOfMemoryError, vk.ErrUnsubmitted where a stream has recorded updates and not
// submitted them, vk.ErrClosed, the context's.
func Diff[K, V structures.Number](ctx context.Context, older, newer *Snapshot[K, V]) iter.Seq2[Change[K, V], error] {
	return func(yield func(Change[K, V], error) bool) { diff(ctx, older, newer, yield) }
}

func diff[K, V structures.Number](ctx context.Context, older, newer *Snapshot[K, V],
	yield func(Change[K, V], error) bool) {
	if !newer.at.Of(older.of) {
		yield(Change[K, V]{}, &ForeignError{})
		return
	}
	if older.Time() > newer.Time() {
		older, newer = newer, older
	}
	from, room := uint64(0), changesAtFirst
	for {
		read, all, next, err := older.at.Diff(ctx, newer.at, from, room)
		if err != nil {
			yield(Change[K, V]{}, err)
			return
		}
		part := read.(versioned.Changes[K, V])
		if !each(part, yield) || len(part.Keys) == all {
			return
		}
		from, room = next, min(all-len(part.Keys), changesAtOnce)
	}
}

// each yields changes. False: no more are wanted.
func each[K, V structures.Number](c versioned.Changes[K, V], yield func(Change[K, V], error) bool) bool {
	for i, key := range c.Keys {
		kind := c.Kinds[i]
		change := Change[K, V]{Key: key, Had: kind != structures.InsertUnique, Has: kind != structures.Delete}
		if change.Had {
			change.Old = c.Old[i]
		}
		if change.Has {
			change.New = c.New[i]
		}
		if !yield(change, nil) {
			return false
		}
	}
	return true
}

// DeviceDiff is where the keys go, in key order, of which two snapshots hold different pairs: as many as all buffers
// that are there have room for. Keys and values are words (structures.KeyCode), two each at 64 bits.
type DeviceDiff struct {
	// From is the least key, as a word, that is looked at: to go on where there was no room.
	From uint64
	// Keys, and the values that they had and have, 0 where there is none. Old and New may be nil.
	Keys     *vk.Buffer[uint32]
	Old, New *vk.Buffer[uint32]
	// Kinds, or nil, has what happened to each, as the operation that makes the newer snapshot of the older one:
	// structures.InsertUnique where the key came in, Insert where its value has changed, Delete where it is gone. So
	// Keys, New and Kinds are a mixed batch, with Total as its DeviceCount, that carries a replica on. There is room
	// for a multiple of 4.
	Kinds *vk.Buffer[uint8]
	// Total is one word, out: how many keys there are from From on, those among them that there was no room for.
	Total *vk.Buffer[uint32]
}

// DiffOn records on a stream what Diff returns, and doesn't wait. On the device it comes behind the updates that other
// streams have submitted, as queries at snapshots do, and later updates behind it. It takes some 40 bytes of temporary
// memory for each leaf that may have been changed: two for each update since the older snapshot, and no more than the
// pool has slabs. Errors: *ForeignError, *OrderError, *structures.LengthError for a Total of no word,
// vk.ErrUnsubmitted, vk.ErrClosed, *vk.OutOfMemoryError, and what making a kernel may return.
func DiffOn[K, V structures.Number](s *vk.Stream, older, newer *Snapshot[K, V], d DeviceDiff) error {
	if !newer.at.Of(older.of) {
		return &ForeignError{}
	}
	if older.Time() > newer.Time() {
		return &OrderError{older.Time(), newer.Time()}
	}
	return older.at.DiffOn(s, newer.at, versioned.DeviceDiff(d))
}
