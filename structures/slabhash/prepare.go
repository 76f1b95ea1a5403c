package slabhash

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/pools"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

func (t *table[W]) Prepare(ctx context.Context) error {
	if err := t.enterShared(ctx); err != nil {
		return err
	}
	forms := pools.Of(t.pool).Forms()
	t.leaveShared()
	if t.prepared.Load() {
		return nil
	}
	small := func(ctx context.Context, form recording.Form) ([]recording.Part, func(), error) {
		x, end, err := t.small(ctx, form)
		if err != nil {
			return nil, nil, err
		}
		return x.rehearsals(), end, nil
	}
	err := recording.PrepareForms(ctx, t.d, t.o.Progress, forms, small, t.try)
	if err == nil {
		t.prepared.Store(true)
	}
	return err
}

// small makes an empty table with the kernels that this one has while its pool has such constants.
func (t *table[W]) small(ctx context.Context, form recording.Form) (_ *table[W], end func(), err error) {
	pool, err := alloc.NewSlabPool(ctx, t.d, alloc.PoolOptions{SuperShift: int(form["POOL_SUPER_SHIFT"])})
	if err != nil {
		return nil, nil, err
	}
	x, err := newTable[W](ctx, t.d, Options{Load: t.o.Load, Tile: t.o.Tile, Pool: pool}, t.keys)
	if err != nil {
		_ = pool.Close()
		return nil, nil, err
	}
	x.fences, x.columns = t.fences, t.columns
	if form["POOL_LIGHT"] == 0 {
		x.kernels.General()
	}
	return x, func() { // what they had to do was waited for
		_ = x.Close()
		_ = pool.Close()
	}, nil
}

// try does with a small table what can be done with one.
func (t *table[W]) try(ctx context.Context, form recording.Form) error {
	x, end, err := t.small(ctx, form)
	if err != nil {
		return err
	}
	defer end()
	if t.keys {
		err = recording.Trial[W](ctx, x.d, x)
	} else {
		err = recording.Trial[W](ctx, x.d, dictionaryOf(x))
	}
	if err != nil {
		return err
	}
	keys := make([]W, 1000)
	for i := range keys {
		keys[i] = W(i)
	}
	for _, call := range []func() error{
		func() error { _, err := x.update(ctx, structures.InsertUnique, keys, keys); return err },
		func() error { _, _, err := x.findAll(ctx, keys); return err },
		func() error { _, _, err := x.export(ctx); return err },
		func() error { _, err := x.Stats(ctx); return err },
		func() error {
			for _, err := range x.Loads(ctx) {
				return err
			}
			return nil
		},
		func() error { return x.findInto(ctx, keys, nil, make([]bool, len(keys))) },
		func() error { return x.Flush(ctx) },
		func() error { return x.Reserve(ctx, 2*len(keys)) },
		func() error { return x.Rehash(ctx, 3*minBuckets) },
		func() error { return x.Clear(ctx) },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// rehearsals record what batches of all kinds and sizes take. The table is used for nothing else.
func (t *table[W]) rehearsals() (parts []recording.Part) {
	for kind := range structures.CountAll + 1 { // Mixed is the first
		parts = append(parts, t.rehearsal(kind, operands{count: 1}))
	}
	for _, b := range []operands{{tails: true}, {plain: true}, {plain: true, tails: true}} {
		b.count = 1
		parts = append(parts, t.rehearsal(structures.Mixed, b))
	}
	return append(parts, func(_ context.Context, s *vk.Stream) error {
		for kind := structures.Insert; kind <= structures.InsertMax; kind++ { // which take turns
			if err := t.recordInOrder(s, kind, operands{keys: recording.Align, count: 1}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *table[W]) rehearsal(kind structures.Kind, b operands) recording.Part {
	return func(_ context.Context, s *vk.Stream) error { return t.recordApply(s, kind, b) }
}
