package btree

import (
	"context"
	"fmt"
	"iter"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Change describes a key whose value differs between two snapshots.
type Change[K, V structures.Number] struct {
	Key      K
	Old, New V    // its value in the older snapshot, and in the newer one; 0 if it is not there
	Had, Has bool // whether it is in the older snapshot, and in the newer one
}

// How many changes an iterator reads at a time: at first, and if there are many.
const (
	changesAtFirst = 1 << 12
	changesAtOnce  = 1 << 20
)

// Diff returns the keys whose values differ between two snapshots of one tree, in key order: keys that were inserted
// between them, keys that were deleted, and keys that got another value. Diff orders the snapshots by their times, not
// by their places in the call: a change always leads from the older snapshot to the newer one. The device compares only
// the leaves that changed between the two snapshots.
//
//	for change, err := range btree.Diff(ctx, older, newer) { … }
//
// Diff reads the changes in parts of up to 2^20, and updates may go on meanwhile. An error ends the iteration:
// *vk.OptionError, *vk.OutOfMemoryError, vk.ErrUnsubmitted if a stream has recorded updates and not submitted them,
// vk.ErrClosed, or the context's error.
func Diff[K, V structures.Number](ctx context.Context, older, newer *Snapshot[K, V]) iter.Seq2[Change[K, V], error] {
	return func(yield func(Change[K, V], error) bool) { yieldChanges(ctx, older, newer, yield) }
}

// related returns an error if two snapshots can't be compared. It does not see that one is closed later.
func related[K, V structures.Number](a, b *Snapshot[K, V]) error {
	switch {
	case !a.made() || !b.made():
		return vk.ErrNotOpen
	case a.view.of.tree != b.view.of.tree:
		return &vk.OptionError{Option: "newer", Reason: "it is a snapshot of another tree than older"}
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

// changed has the keys whose values differ between two snapshots, in ascending order, with the old and the new values,
// 0 if there is none, and for each key the operation that turns the older snapshot into the newer one.
type changed[K, V structures.Number] struct {
	Keys     []K
	Old, New []V
	Kinds    []structures.Kind
}

func (c *changed[K, V]) room(n int, w structures.Width) (keys, old, new pipeline.Column, kinds []structures.Kind) {
	c.Keys, c.Old, c.New, c.Kinds = make([]K, n), make([]V, n), make([]V, n), make([]structures.Kind, n)
	return pipeline.KeyResults(c.Keys, w), pipeline.ValueResults(c.Old, w), pipeline.ValueResults(c.New, w), c.Kinds
}

// each yields the changes. It returns false if no more are wanted.
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

// DeviceDiff says where DiffOn writes the keys whose values differ, in key order. It writes as many as fit into all
// buffers that are not nil. Keys and values are words (structures.KeyCode), two each at 64 bits.
type DeviceDiff struct {
	// From is the least key to look at, as a word. Use it to continue after the buffers were full.
	From uint64
	// Keys are the keys, and Old and New their values in the two snapshots, 0 if there is none. Old and New may be nil.
	Keys     *vk.Buffer[uint32]
	Old, New *vk.Buffer[uint32]
	// Kinds, unless it is nil, gets the operation that turns the older snapshot into the newer one:
	// structures.InsertUnique for a new key, Insert for another value, Delete for a removed key. So Keys, New and Kinds
	// are a mixed batch, with Total as its DeviceCount, that brings a replica up to date. If its length is
	// not a multiple of 4, the rest is not used.
	Kinds *vk.Buffer[uint8]
	// Total gets one word: the number of keys from From on, including those that did not fit.
	Total *vk.Buffer[uint32]
}

// DiffOn records on a stream what Diff returns, and does not wait. The device runs it after the updates that other
// streams have submitted, and before later ones. It takes about 40 bytes of temporary memory for each leaf that may
// have changed: two leaves for each update since the older snapshot, but no more than the pool has slabs. Errors:
// *vk.OptionError, *structures.LengthError if Total has no room for a word, vk.ErrUnsubmitted, vk.ErrClosed,
// *vk.OutOfMemoryError, and what making a kernel may return.
func DiffOn[K, V structures.Number](s *vk.Stream, older, newer *Snapshot[K, V], d DeviceDiff) error {
	if err := related(older, newer); err != nil {
		return err
	}
	if older.Time() > newer.Time() {
		return &vk.OptionError{Option: "older",
			Reason: fmt.Sprintf("its time, %d, is after that of newer, %d", older.Time(), newer.Time())}
	}
	return older.view.DiffOn(s, newer.view, d)
}

// Changes opens a snapshot of the tree's present content, and returns the changes since an older snapshot. If a replica
// has the pairs of since, applying the changes gives it the pairs of now. The next call takes now as its since:
//
//	for {
//		now, changes, err := tree.Changes(ctx, since)
//		… for change, err := range changes { … } …
//		since.Close()
//		since = now
//	}
//
// Updates during the iteration are not among the changes; the next call returns them. The caller closes both snapshots;
// since must stay open until the iteration has ended. If only the time of since is known, At opens it. The iteration is
// that of Diff. Errors: those of Snapshot, *vk.OptionError, and vk.ErrClosed if since is closed. After an error there
// is no new snapshot.
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
