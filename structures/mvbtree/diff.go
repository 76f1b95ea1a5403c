package mvbtree

import (
	"cmp"
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// Change is a key that one snapshot has another pair of than a later one.
type Change[K, V structures.Number] struct {
	Key      K
	Old, New V
	Had, Has bool // whether the older one has the key, and the later one
}

// changedAtOnce is how many ranges of changed keys are read at a time.
const changedAtOnce = 1 << 14

// Diff returns the keys of which two snapshots of one tree hold different pairs, in key order: those inserted between
// them, deleted, and changed in value. Snapshots may come in either order; what is New is the later one's. It looks at
// the leaves that were changed since the older one. To feed a replica, take a snapshot, send what has changed since the
// one before, and close that.
//
//	for change, err := range mvbtree.Diff(ctx, older, newer) { … }
//
// The error comes last, with no change: *ForeignError, and those of Range.
func Diff[K, V structures.Number](ctx context.Context, older, newer *Snapshot[K, V]) iter.Seq2[Change[K, V], error] {
	return func(yield func(Change[K, V], error) bool) {
		if !newer.at.Of(older.of) {
			yield(Change[K, V]{}, &ForeignError{})
			return
		}
		if older.Time() > newer.Time() {
			older, newer = newer, older
		}
		changed, err := older.at.Changed(ctx)
		if err != nil {
			yield(Change[K, V]{}, err)
			return
		}
		ranges := changed.([]structures.Range[K])
		for len(ranges) != 0 {
			part := ranges[:min(changedAtOnce, len(ranges))]
			ranges = ranges[len(part):]
			was, err := older.Range(ctx, part)
			is, other := newer.Range(ctx, part)
			if err = cmp.Or(err, other); err != nil {
				yield(Change[K, V]{}, err)
				return
			}
			if !compare(was, is, yield) {
				return
			}
		}
	}
}

// compare yields where ascending pairs differ. False: no more are wanted.
func compare[K, V structures.Number](was, is structures.Ranges[K, V], yield func(Change[K, V], error) bool) bool {
	key, value := structures.KeyCode[K](), structures.ValueCode[V]()
	for i, j := 0, 0; i < len(was.Keys) || j < len(is.Keys); {
		var c Change[K, V]
		had, has := i < len(was.Keys), j < len(is.Keys)
		if had && has {
			order := cmp.Compare(key.Word(was.Keys[i]), key.Word(is.Keys[j]))
			had, has = order <= 0, order >= 0
		}
		if had {
			c.Key, c.Old, c.Had = was.Keys[i], was.Values[i], true
			i++
		}
		if has {
			c.Key, c.New, c.Has = is.Keys[j], is.Values[j], true
			j++
		}
		if same := had && has && value.Word(c.Old) == value.Word(c.New); !same && !yield(c, nil) {
			return false
		}
	}
	return true
}
