package mvbtree

import (
	"context"
	"iter"
)

// Changes returns what has changed in the tree since one of its snapshots, and a snapshot of now, since which the next
// changes are to be asked for. A replica that holds what since has holds what now has behind them:
//
//	for {
//		now, changes, err := tree.Changes(ctx, since)
//		… for change, err := range changes { … } …
//		since.Close()
//		since = now
//	}
//
// What changes meanwhile is in none of them, but in the next ones. since is open until the iteration has ended, and
// belongs to the caller, as now does. Where only the time of a snapshot is known that is open, At opens it. The changes
// are Diff's, and DiffOn records the same ones on a stream. Errors: those of Snapshot; *ForeignError.
func (t *Tree[K, V]) Changes(ctx context.Context,
	since *Snapshot[K, V]) (now *Snapshot[K, V], changes iter.Seq2[Change[K, V], error], err error) {
	if !since.at.Of(t.of) {
		return nil, nil, &ForeignError{}
	}
	if now, err = t.Snapshot(ctx); err != nil {
		return nil, nil, err
	}
	return now, Diff(ctx, since, now), nil
}
