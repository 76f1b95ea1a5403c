package btree

import (
	"context"
	"fmt"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// Change describes a key whose value differs between two snapshots.
type Change[K, V structures.Number] struct {
	Key      K
	Old, New V    // its value in the older snapshot, and in the newer one; 0 if it is not there
	Had, Has bool // whether it is in the older snapshot, and in the newer one
}

// ForeignError says that two snapshots are not of one tree.
type ForeignError struct{}

func (e *ForeignError) Error() string { return "snapshots of different trees can't be compared" }

// OrderError says that the snapshot that DiffOn takes for the older one is the newer one.
type OrderError struct{ Older, Newer uint64 } // their times

func (e *OrderError) Error() string {
	return fmt.Sprintf("a snapshot of time %d isn't older than one of time %d, and comes first", e.Older, e.Newer)
}

// How many changes an iterator reads at a time: at first, and if there are many.
const (
	changesAtFirst = 1 << 12
	changesAtOnce  = 1 << 20
)

// Diff returns the keys whose values differ between two snapshots of one tree, in key order: those that were inserted
// between them, those that were deleted, and those that got another value. Diff goes by the times of the snapshots, not
// by their places: a change always leads from the older snapshot to the newer one, even if the newer one comes first.
// The device compares only the leaves that were changed between the two snapshots.
//
//	for change, err := range btree.Diff(ctx, older, newer) { … }
//
// Diff reads the changes in parts of up to 2^20, and updates may go on meanwhile. An error ends the iteration:
// *ForeignError, *vk.OutOfMemoryError, vk.ErrUnsubmitted if a stream has recorded updates and not submitted them,
// vk.ErrClosed, or the context's error.
func Diff[K, V structures.Number](ctx context.Context, older, newer *Snapshot[K, V]) iter.Seq2[Change[K, V], error] {
	return func(yield func(Change[K, V], error) bool) { yieldChanges(ctx, older, newer, yield) }
}

// related returns why two snapshots can't be compared, as long as none is closed meanwhile.
func related[K, V structures.Number](a, b *Snapshot[K, V]) error {
	switch {
	case !a.made() || !b.made():
		return vk.ErrNotOpen
	case a.view.of.tree != b.view.of.tree:
		return &ForeignError{}
	case a.view.of.at.ended() || b.view.of.at.ended():
		return vk.ErrClosed
	}
	return nil
}

func yieldChanges[K, V structures.Number](ctx context.Context, older, newer *Snapshot[K, V],
	yield func(Change[K, V], error) bool) {
	if err := related(older, newer); err != nil {
		yield(Change[K, V]{}, err)
		return
	}
	if older.Time() > newer.Time() {
		older, newer = newer, older
	}
	from, room := uint64(0), changesAtFirst
	for {
		part := new(changed[K, V])
		all, err := older.view.diff(ctx, newer.view, from, room, part)
		if err != nil {
			yield(Change[K, V]{}, err)
			return
		}
		if !part.each(yield) || len(part.Keys) == all {
			return
		}
		from = structures.KeyCode[K]().Word(part.Keys[len(part.Keys)-1]) + 1
		room = min(all-len(part.Keys), changesAtOnce)
	}
}

// changed are keys of which two snapshots have different pairs: ascending, with the values that they had and have, 0 if
// there is none, and the operation that makes the newer snapshot of the older one.
type changed[K, V structures.Number] struct {
	Keys     []K
	Old, New []V
	Kinds    []structures.Kind
}

func (c *changed[K, V]) room(n int, w structures.Width) (keys, old, new pipeline.Column, kinds []structures.Kind) {
	c.Keys, c.Old, c.New, c.Kinds = make([]K, n), make([]V, n), make([]V, n), make([]structures.Kind, n)
	return pipeline.KeyResults(c.Keys, w), pipeline.ValueResults(c.Old, w), pipeline.ValueResults(c.New, w), c.Kinds
}

// each yields the changes, and reports whether more are wanted.
func (c *changed[K, V]) each(yield func(Change[K, V], error) bool) bool {
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

// DeviceDiff says where DiffOn writes the keys whose values differ, in key order. It writes as many as all buffers that
// are there have room for. Keys and values are words (structures.KeyCode), two each at 64 bits.
type DeviceDiff struct {
	// From is the least key, as a word, that is looked at: to go on after a part that filled the buffers.
	From uint64
	// Keys, and the values that they had and have, 0 if there is none. Old and New may be nil.
	Keys     *vk.Buffer[uint32]
	Old, New *vk.Buffer[uint32]
	// Kinds, unless it is nil, gets the operation that makes the newer snapshot of the older one:
	// structures.InsertUnique for a new key, Insert for another value, Delete for a key that is gone. So Keys, New and
	// Kinds are a mixed batch, with Total as its DeviceCount, that brings a replica up to date. There is room for a
	// multiple of 4.
	Kinds *vk.Buffer[uint8]
	// Total gets one word: the number of keys from From on, including those that there was no room for.
	Total *vk.Buffer[uint32]
}

// DiffOn records on a stream what Diff returns, and does not wait. The device runs it after the updates that other
// streams have submitted, and before later ones. It takes about 40 bytes of temporary memory for each leaf that may
// have changed: two leaves for each update since the older snapshot, but no more than the pool has slabs. Errors:
// *ForeignError, *OrderError, *structures.LengthError if Total has no room for a word, vk.ErrUnsubmitted, vk.ErrClosed,
// *vk.OutOfMemoryError, and what making a kernel may return.
func DiffOn[K, V structures.Number](s *vk.Stream, older, newer *Snapshot[K, V], d DeviceDiff) error {
	if err := related(older, newer); err != nil {
		return err
	}
	if older.Time() > newer.Time() {
		return &OrderError{older.Time(), newer.Time()}
	}
	return older.view.DiffOn(s, newer.view, d)
}

// Changes opens a snapshot of now, and returns what has changed in the tree since an older one. A replica that holds
// the pairs of since holds those of now after it has applied the changes. The next call takes now as its since:
//
//	for {
//		now, changes, err := tree.Changes(ctx, since)
//		… for change, err := range changes { … } …
//		since.Close()
//		since = now
//	}
//
// Updates that run meanwhile are not among the changes, but among those of the next call. Both snapshots belong to the
// caller; since must stay open until the iteration has ended. At opens since by its time, if only that is known. The
// iteration is Diff's. Errors: those of Snapshot, *ForeignError, and vk.ErrClosed if since is closed. Then there is no
// new snapshot.
func (t *Tree[K, V]) Changes(ctx context.Context,
	since *Snapshot[K, V]) (now *Snapshot[K, V], changes iter.Seq2[Change[K, V], error], err error) {
	if now, err = t.Snapshot(ctx); err != nil {
		return nil, nil, err
	}
	if err := related(since, now); err != nil {
		return nil, nil, joint.Error(err, now.Close())
	}
	return now, Diff(ctx, since, now), nil
}
