package slabhash

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

func (t *table) Prepare(ctx context.Context) error {
	ctx, end := t.progress.Begin(ctx)
	defer end()
	if err := t.gate.EnterShared(ctx); err != nil {
		return err
	}
	forms := t.pool.Forms()
	t.gate.LeaveShared()
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
	err := recording.PrepareForms(ctx, t.d, gate.Told(ctx), forms, small, t.try)
	if err == nil {
		t.prepared.Store(true)
	}
	return err
}

// small makes an empty table with the kernels that this one has while its pool has such constants.
func (t *table) small(ctx context.Context, form recording.Form) (_ *table, end func(), err error) {
	pool, err := alloc.NewSlabPool(ctx, t.d, alloc.PoolOptions{SuperShift: int(form["POOL_SUPER_SHIFT"])})
	if err != nil {
		return nil, nil, err
	}
	x, err := newTable(ctx, t.d, t.columns, Options{Load: t.o.Load, Tile: t.o.Tile, Pool: pool})
	if err != nil {
		_ = pool.Close()
		return nil, nil, err
	}
	x.fences = t.fences
	if form["POOL_LIGHT"] == 0 {
		x.kernels.General()
	}
	return x, func() { // what they had to do was waited for
		_ = x.Close()
		_ = pool.Close()
	}, nil
}

// try does with a small table what can be done with one.
func (t *table) try(ctx context.Context, form recording.Form) error {
	x, end, err := t.small(ctx, form)
	if err != nil {
		return err
	}
	defer end()
	if x.width == structures.Bits64 {
		return tryWords[uint64](ctx, x)
	}
	return tryWords[uint32](ctx, x)
}

func tryWords[W structures.Word](ctx context.Context, t *table) error {
	keys := make([]W, 1000)
	for i := range keys {
		keys[i] = W(i)
	}
	if t.keys {
		return trySet(ctx, &Set[W]{t}, keys)
	}
	return tryMap(ctx, &Map[W, W]{t}, keys)
}

func tryMap[W structures.Word](ctx context.Context, m *Map[W, W], keys []W) error {
	if err := recording.Trial[W](ctx, m.table.d, m, m.table.calls); err != nil {
		return err
	}
	if _, err := m.InsertUnique(ctx, keys, keys); err != nil {
		return err
	}
	if _, _, err := m.FindAll(ctx, keys); err != nil {
		return err
	}
	if err := m.FindInto(ctx, keys, nil, make([]bool, len(keys))); err != nil {
		return err
	}
	return m.table.tryUpkeep(ctx, len(keys))
}

// calls are those on a stream.
func (t *table) calls(s *vk.Stream) structures.OnStream { return t.On(s) }

func trySet[W structures.Word](ctx context.Context, s *Set[W], keys []W) error {
	if err := recording.Trial[W](ctx, s.table.d, s, s.table.calls); err != nil {
		return err
	}
	if _, err := s.Insert(ctx, keys); err != nil {
		return err
	}
	if _, err := s.CountAll(ctx, keys); err != nil {
		return err
	}
	if _, err := s.Contains(ctx, keys); err != nil {
		return err
	}
	return s.table.tryUpkeep(ctx, len(keys))
}

// tryUpkeep does what tables of maps and sets do alike, with one of so many pairs.
func (t *table) tryUpkeep(ctx context.Context, pairs int) error {
	for _, call := range []func() error{
		func() error { _, err := t.Stats(ctx); return err },
		func() error {
			for _, err := range t.Loads(ctx) {
				return err
			}
			return nil
		},
		func() error { return t.Flush(ctx) },
		func() error { return t.Reserve(ctx, 2*pairs) },
		func() error { return t.Rehash(ctx, 3*minBuckets) },
		func() error { return t.Clear(ctx) },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// rehearsals record what batches of all kinds and sizes take. The table is used for nothing else.
func (t *table) rehearsals() (parts []recording.Part) {
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

func (t *table) rehearsal(kind structures.Kind, b operands) recording.Part {
	return func(_ context.Context, s *vk.Stream) error { return t.recordApply(s, kind, b) }
}
