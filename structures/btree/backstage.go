package btree

import (
	"context"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/typed"
	"github.com/vkds/vkds/structures/internal/versioned"
	"github.com/vkds/vkds/vk"
)

func init() {
	versioned.Of = func(tree any) versioned.Tree {
		return tree.(interface{ versioned() versioned.Tree }).versioned()
	}
}

func (t *Tree[K, V]) versioned() versioned.Tree {
	t.backstage.Prepares()
	return t.backstage
}

// backstage is a tree as package mvbtree sees it: a versioned.Tree, which says what its methods do.
type backstage[K, V structures.Number, W structures.Word] struct{ t *tree[W] }

func (b backstage[K, V, W]) Snapshot(ctx context.Context) (versioned.Snapshot, error) {
	v, err := b.t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return seen[K, V, W]{v}, nil
}

func (b backstage[K, V, W]) SnapshotOn(s *vk.Stream) (versioned.Snapshot, error) {
	v, err := b.t.SnapshotOn(s)
	if err != nil {
		return nil, err
	}
	return seen[K, V, W]{v}, nil
}

func (b backstage[K, V, W]) At(ctx context.Context, time uint64) (versioned.Snapshot, error) {
	v, err := b.t.At(ctx, time)
	if v == nil || err != nil {
		return nil, err
	}
	return seen[K, V, W]{v}, nil
}

func (b backstage[K, V, W]) Versions(ctx context.Context) (versioned.Versions, error) {
	return b.t.Versions(ctx)
}

func (b backstage[K, V, W]) History(ctx context.Context, leaf any) (versioned.History, error) {
	return b.t.History(ctx, leaf.(Node[uint64]))
}

func (b backstage[K, V, W]) Inside() bool { return b.t.gate.Inside() }

func (b backstage[K, V, W]) Prepares() { b.t.versions.asked.Store(true) }

func (b backstage[K, V, W]) Moving(s *vk.Stream, updates, snapshots int, record func(device any) error) error {
	return b.t.moving(s, updates, snapshots, func(d Device) error { return record(d) })
}

func (b backstage[K, V, W]) Forgotten(s versioned.Snapshot) {
	if s.(seen[K, V, W]).view.of.at.ended() { // by the stream that dropped it
		return
	}
	b.t.versions.forgotten.Add(1)
	b.t.d.Log().Warn("a snapshot was not closed", "time", s.Time())
	_ = s.Close() // which has nothing to wait for
}

// seen is a snapshot as package mvbtree sees it.
type seen[K, V structures.Number, W structures.Word] struct{ view *view[W] }

func (s seen[K, V, W]) Queries() any                            { return typed.Queries[K, V, W](s.view) }
func (s seen[K, V, W]) Time() uint64                            { return s.view.Time() }
func (s seen[K, V, W]) Len(ctx context.Context) (uint64, error) { return s.view.Len(ctx) }
func (s seen[K, V, W]) Close() error                            { return s.view.Close() }

func (s seen[K, V, W]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return s.view.Save(ctx, w)
}

func (s seen[K, V, W]) Kernels(on *vk.Stream, record func(device any) error) error {
	return s.view.Kernels(on, func(d Device) error { return record(d) })
}

func (s seen[K, V, W]) Of(t versioned.Tree) bool {
	b, same := t.(backstage[K, V, W])
	return same && s.view.of.tree == b.t
}

func (s seen[K, V, W]) DiffOn(on *vk.Stream, later versioned.Snapshot, d versioned.DeviceDiff) error {
	return s.view.DiffOn(on, later.(seen[K, V, W]).view, d)
}

func (s seen[K, V, W]) Diff(ctx context.Context, later versioned.Snapshot, from uint64,
	room int) (changes any, all int, next uint64, err error) {
	c, all, err := s.view.Diff(ctx, later.(seen[K, V, W]).view, W(from), room)
	if n := len(c.Keys); n != 0 {
		next = uint64(c.Keys[n-1]) + 1
	}
	return versioned.Changes[K, V]{
		Keys: typed.KeysOf[K](c.Keys), Old: typed.ValuesOf[V](c.Old), New: typed.ValuesOf[V](c.New), Kinds: c.Kinds,
	}, all, next, err
}
