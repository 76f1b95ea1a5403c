package btree

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
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
		return &vk.ClosedError{What: "snapshot"}
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
// since must stay open until the iteration has ended. If only the time of since is known, SnapshotAt opens it.
// The iteration is that of Diff. Errors: those of Snapshot, *vk.OptionError, and vk.ErrClosed if since is closed. After
// an error there is no new snapshot.
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

type changedPush struct {
	Tree                Description
	Versions            vk.Arguments[versionArguments]
	Lows, Leaves, Count uint64
	From                uint64
	Slabs, Room, Since  uint32
}

// differences is Differences of version_diff.comp: addresses, except for the key and the capacity.
type differences struct {
	Keys, Old, New, Kinds uint64
	From                  uint64
	Capacity              uint32
	_                     uint32
}

type diffPush struct {
	Tree                   Description
	Later                  uint64
	To                     vk.Arguments[differences]
	Slabs, Counts, Offsets uint64
	Leaves                 recording.Length
}

// diffPlan is the division of the scratch memory for the comparison of so many leaves.
type diffPlan struct {
	room                      int
	lows, leaves, count       uint64
	order                     leafOrder
	counts, offsets, scanning uint64
	bytes                     int
}

func (t *tree) diffPlan(leaves int, scratch uint64) diffPlan {
	p := recording.Parts{Base: scratch}
	d := diffPlan{
		room: leaves, lows: p.Take(t.width.Bytes() * leaves), leaves: p.Take(4 * leaves), count: p.Take(4),
		order: t.leafOrderIn(&p, leaves), counts: p.Take(4 * leaves), offsets: p.Take(4 * leaves),
		scanning: p.Take(t.primitives.Scratch(primitives.ScanArgs{Length: primitives.Length{N: leaves}})),
	}
	d.bytes = int(p.Used)
	return d
}

// changedLeaves returns an upper bound of the leaves that changed between two snapshots.
func (v *view) changedLeaves(later *view) int {
	if !v.of.past() || later.of.at.time == v.of.at.time {
		return 0
	}
	return min(v.of.versions.touched(v.of.at.time), v.of.versions.memory.slabs())
}

// recordDiff records the writing of the keys whose values differ in a later snapshot, and of their number at total.
func (v *view) recordDiff(s *vk.Stream, later *view, to differences, total uint64) error {
	t, leaves := v.of.tree, v.changedLeaves(later)
	if leaves == 0 {
		return t.clear(s, total, 1)
	}
	scratch, err := t.scratch.Take(s, t.diffPlan(leaves, 0).bytes)
	if err != nil {
		return err
	}
	plan := t.diffPlan(leaves, scratch)
	if err := t.clear(s, plan.count, 1); err != nil {
		return err
	}
	if to.Kinds != 0 && to.Capacity != 0 {
		if err := t.clear(s, to.Kinds, recording.Padded(int(to.Capacity))/4); err != nil {
			return err
		}
	}
	list, err := t.changedKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	slabs := t.versions.memory.slabs()
	at := vk.NewArguments(s, t.versions.arguments(later.of.at.time))
	list.Dispatch(s, groups(slabs), changedPush{
		t.description(), at, plan.lows, plan.leaves, plan.count, to.From, uint32(slabs), uint32(plan.room),
		v.of.at.time,
	})
	n := primitives.Length{N: plan.room, At: plan.count}
	l := listing{Lows: plan.lows, Leaves: plan.leaves}
	if err := t.recordLeafOrder(s, l, n, plan.order); err != nil {
		return err
	}
	push := diffPush{
		Tree: v.of.description(s), Later: at.Address(), To: vk.NewArguments(s, to), Slabs: plan.order.leaves,
		Counts: plan.counts, Offsets: plan.offsets, Leaves: recording.Length{At: n.At, N: uint32(n.N)},
	}
	return t.recordDifferences(s, push, plan.scanning, total)
}

// recordDifferences records the comparison of leaves that were listed and sorted.
func (t *tree) recordDifferences(s *vk.Stream, p diffPush, scratch, total uint64) error {
	tile, leaves := t.tiles.walk, int(p.Leaves.N)
	dispatch := func(alone bool) error {
		k, err := t.diffKernel(alone).Kernel(t.Kernels, s)
		if err == nil {
			k.Dispatch(s, groups(leaves*tile), p)
		}
		return err
	}
	if err := dispatch(true); err != nil {
		return err
	}
	err := t.primitives.Scan(s, primitives.ScanArgs{
		In: p.Counts, Out: p.Offsets, Length: primitives.Length{N: leaves, At: p.Leaves.At}, Total: total,
		Scratch: scratch,
	})
	return cmp.Or(err, dispatch(false))
}

// checkDiff returns for how many keys there is room, or an error if the difference can't be recorded.
func (v *view) checkDiff(d DeviceDiff) (room int, err error) {
	device, words := v.of.Device, v.of.words()
	room = d.Keys.Len() / words
	for _, values := range []*vk.Buffer[uint32]{d.Old, d.New} {
		if values != nil {
			room = min(room, values.Len()/words)
		}
	}
	if d.Kinds != nil {
		room = min(room, d.Kinds.Len()&^3)
	}
	err = cmp.Or(recording.Need(device, d.Keys, "keys", 0, 0), recording.Need(device, d.Old, "old values", 0, 0),
		recording.Need(device, d.New, "new values", 0, 0), recording.Need(device, d.Kinds, "kinds", 0, 0),
		recording.Need(device, d.Total, "words for the number of keys", 0, 1))
	return min(room, recording.MaxBatch), err
}

// DiffOn records the writing of the keys whose values differ in a later snapshot.
func (v *view) DiffOn(s *vk.Stream, later *view, d DeviceDiff) error {
	if err := v.of.EnterOn(context.Background()); err != nil {
		return err
	}
	defer v.of.Leave()
	if later.of.at.ended() {
		return &vk.ClosedError{What: "snapshot"}
	}
	room, err := v.checkDiff(d)
	if err := cmp.Or(v.of.Device.Accept("stream", s), err); err != nil {
		return err
	}
	v.of.Meter.Query(1)
	return v.of.On(s, func() error {
		return v.recordDiff(s, later, differences{
			Keys: d.Keys.Address(), Old: d.Old.Address(), New: d.New.Address(), Kinds: d.Kinds.Address(), From: d.From,
			Capacity: uint32(room),
		}, d.Total.Address())
	})
}

// diff reads up to room of these keys, starting at from, with their values. It returns the number of all keys from
// there on.
func (v *view) diff(ctx context.Context, later *view, from uint64, room int, to changes) (all int, err error) {
	if err := v.of.Enter(ctx); err != nil {
		return 0, err
	}
	defer v.of.Leave()
	if later.of.at.ended() {
		return 0, &vk.ClosedError{What: "snapshot"}
	}
	if v.changedLeaves(later) == 0 {
		return 0, nil
	}
	err = v.of.Pipelines.Do(ctx, func(s *vk.Stream) error {
		all, err = v.readDiff(ctx, s, later, from, room, to)
		return err
	})
	return all, err
}

// changes receives the keys whose values differ between two snapshots.
type changes interface {
	// room makes room for n of them, in columns whose words have a width.
	room(n int, w structures.Width) (keys, old, new pipeline.Column, kinds []structures.Kind)
}

// differencesIn divides memory for so many differences. It begins with their number.
func (t *tree) differencesIn(p *recording.Parts, from uint64, room int) (to differences, total uint64) {
	total = p.Take(4)
	bytes := t.width.Bytes() * room
	return differences{Kinds: p.Take(room), Keys: p.Take(bytes), Old: p.Take(bytes), New: p.Take(bytes),
		From: from, Capacity: uint32(room)}, total
}

// readDiff is diff within a call, on a stream of its own.
func (v *view) readDiff(ctx context.Context, s *vk.Stream, later *view, from uint64, most int,
	into changes) (all int, err error) {
	t, room := v.of.tree, recording.Padded(most) // kinds are whole words
	var size recording.Parts
	t.differencesIn(&size, from, room)
	memory, err := vk.NewBuffer[uint32](t.Device, int(size.Used/4))
	if err != nil {
		return 0, err
	}
	defer memory.Free()
	base := memory.Address()
	at, total := t.differencesIn(&recording.Parts{Base: base}, from, room)
	if err := recording.Run(s, func() error { return v.recordDiff(s, later, at, total) }); err != nil {
		return 0, err
	}
	var count [1]uint32
	if err := memory.Download(ctx, 0, count[:]); err != nil {
		return 0, err
	}
	n := min(int(count[0]), most)
	words := make([]uint32, (n+3)/4)
	if err := memory.Download(ctx, int(at.Kinds-base)/4, words); err != nil {
		return 0, err
	}
	keys, old, now, kinds := into.room(n, t.width)
	for i := range kinds {
		kinds[i] = structures.Kind(words[i/4] >> (8 * (i % 4)))
	}
	for _, part := range []struct {
		at uint64
		to pipeline.Column
	}{{at.Keys, keys}, {at.Old, old}, {at.New, now}} {
		if err := part.to.Download(ctx, memory, int(part.at-base)/4); err != nil {
			return 0, err
		}
	}
	return int(count[0]), nil
}
