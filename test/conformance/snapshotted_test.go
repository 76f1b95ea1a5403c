package conformance

import (
	"context"
	"fmt"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// snapshotted is a tree two of whose snapshots are open, and what these had when they were taken.
type snapshotted[W structures.Word] struct {
	*btree.Tree[W, W]
	open []*btree.Snapshot[W, W]
	had  [][]structures.Pair[W, W]
}

func openSnapshotted[W structures.Word](ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
	t, err := btree.New[W, W](ctx, d, btree.Options{Tile: s.tile, Fill: s.fill, Pool: s.pool})
	if err != nil {
		return nil, err
	}
	x := &snapshotted[W]{Tree: t}
	return x, x.next(ctx)
}

// next takes a snapshot, and closes the last but one.
func (x *snapshotted[W]) next(ctx context.Context) error {
	if err := x.unchanged(ctx); err != nil {
		return err
	}
	if len(x.open) == 2 {
		if err := x.open[0].Close(); err != nil {
			return err
		}
		x.open, x.had = x.open[1:], x.had[1:]
	}
	var has []structures.Pair[W, W]
	for p, err := range x.All(ctx) {
		if err != nil {
			return err
		}
		has = append(has, p)
	}
	at, err := x.Snapshot(ctx)
	if err == nil {
		x.open, x.had = append(x.open, at), append(x.had, has)
	}
	return err
}

// unchanged answers whether the snapshots have what they had.
func (x *snapshotted[W]) unchanged(ctx context.Context) error {
	for i, at := range x.open {
		var has []structures.Pair[W, W]
		for p, err := range at.All(ctx) {
			if err != nil {
				return err
			}
			has = append(has, p)
		}
		if !slices.Equal(has, x.had[i]) {
			return fmt.Errorf("snapshot %d of %d: %s", at.Time(), len(x.open), differences(has, x.had[i]))
		}
	}
	return nil
}

// differences says in a few words how pairs differ from those that there should be.
func differences[W structures.Word](has, want []structures.Pair[W, W]) string {
	for i := range min(len(has), len(want)) {
		if has[i] != want[i] {
			return fmt.Sprintf("%d pairs instead of %d, and %v instead of %v", len(has), len(want), has[i], want[i])
		}
	}
	return fmt.Sprintf("%d pairs instead of %d", len(has), len(want))
}
