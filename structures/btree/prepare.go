package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Prepare makes all kernels that calls on the tree may need (structures.Dictionary).
func (t *tree) Prepare(ctx context.Context) error {
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
		x.known = counted{width: t.width, nodes: 1 << 40} // so that all that is done for large trees is prepared
		parts := x.rehearsals()
		y, endToo, err := t.small(ctx, form)
		if err != nil {
			end()
			return nil, nil, err
		}
		y.known, y.versions.rehears = x.known, true
		both := func() { end(); endToo() }
		return append(append(parts, y.rehearsals()...), y.rehearseVersions), both, nil
	}
	err := recording.PrepareForms(ctx, t.d, gate.Told(ctx), forms, small, t.try)
	if err == nil {
		t.prepared.Store(true)
	}
	return err
}

// small makes an empty tree that needs the same kernels as t does while its pool has these constants.
func (t *tree) small(ctx context.Context, form recording.Form) (_ *tree, end func(), err error) {
	o := Options{Fill: t.o.Fill, Path: t.o.Path, Tile: t.o.Tile}
	if t.shared {
		o.Pool, err = alloc.NewSlabPool(ctx, t.d, alloc.PoolOptions{SuperShift: int(form["POOL_SUPER_SHIFT"])})
		if err != nil {
			return nil, nil, err
		}
	}
	x, err := makeTree(ctx, t.d, t.columns, o)
	end = func() {
		_ = x.Close() // its work was waited for
		if o.Pool != nil {
			_ = o.Pool.Close()
		}
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	if form["POOL_LIGHT"] == 0 {
		x.kernels.General()
	}
	return x, end, nil
}

// try makes the calls that a small tree can make.
func (t *tree) try(ctx context.Context, form recording.Form) error {
	x, end, err := t.small(ctx, form)
	if err != nil {
		return err
	}
	defer end()
	if t.width == structures.Bits64 {
		return try[uint64](ctx, x)
	}
	return try[uint32](ctx, x)
}

func try[W structures.Word](ctx context.Context, t *tree) error {
	x, _ := of[W, W](t, nil)
	if err := recording.Trial[W](ctx, t.d, x, t.calls); err != nil {
		return err
	}
	keys := make([]W, 1000)
	for i := range keys {
		keys[i] = W(i)
	}
	if _, err := x.Insert(ctx, keys, keys); err != nil {
		return err
	}
	if _, err := x.Inspect().Stats(ctx); err != nil {
		return err
	}
	if _, err := x.Inspect().Nodes(ctx); err != nil {
		return err
	}
	if err := trySnapshot(ctx, x, keys); err != nil {
		return err
	}
	for _, call := range []func() error{
		func() error { return x.InShaders().Grow(ctx, 1) },
		func() error { return x.Reserve(ctx, 2*len(keys)) },
		func() error { return x.Inspect().Check(ctx) },
		func() error { return x.Compact(ctx, 0) },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// calls are those on a stream.
func (t *tree) calls(s *vk.Stream) structures.OnStream { return t.On(s) }

// trySnapshot makes the calls that use snapshots.
func trySnapshot[W structures.Word](ctx context.Context, t *Tree[W, W], keys []W) error {
	v, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	if _, err := t.Insert(ctx, keys, keys); err != nil {
		return err
	}
	if _, err := v.Len(ctx); err != nil {
		return err
	}
	later, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer later.Close()
	for _, err := range Diff(ctx, v, later) {
		if err != nil {
			return err
		}
	}
	if _, err := v.Rank(ctx, keys); err != nil {
		return err
	}
	if _, err := v.Select(ctx, []uint32{0}); err != nil {
		return err
	}
	for _, err := range v.All(ctx) {
		if err != nil {
			return err
		}
	}
	return t.Inspect().Check(ctx)
}

// rehearseVersions records what frees versions, and makes room for more.
func (t *tree) rehearseVersions(_ context.Context, s *vk.Stream) error {
	return cmp.Or(t.recordPrune(s, openSnapshots{}), t.recordMore(s, versionArguments{}, nil, 0))
}

// seen returns the reader that rehearsals use: at a snapshot, if one is to be open.
func (t *tree) seen() recorder {
	r := t.newest()
	if t.versions.rehears {
		r.at = &snapshot{}
	}
	return r
}

// rehearsals records the kernels that batches of all sizes need. The tree is not used for anything else.
func (t *tree) rehearsals() []recording.Part {
	parts := []recording.Part{t.rehearsePoints, t.rehearseRanges, t.rehearseLeaves, t.rehearseBulk, t.rehearseInOrder}
	for kind := range structures.CountRange + 1 { // Mixed is the first
		if kind == structures.Mixed || does(kind) {
			parts = append(parts, func(_ context.Context, s *vk.Stream) error { return t.rehearseConcurrent(s, kind) })
		}
		if kind == structures.Mixed || updates(kind) {
			parts = append(parts, func(_ context.Context, s *vk.Stream) error { return t.rehearseBatched(s, kind) })
		}
	}
	return parts
}

// somewhere is an address that no kernel reads or writes.
const somewhere = recording.Align

func (t *tree) rehearsePoints(_ context.Context, s *vk.Stream) error {
	for _, n := range recording.Sizes(primitives.MaxLength) {
		for _, order := range []structures.LookupOrder{structures.AutoOrder, structures.OneByOne,
			structures.SortedFirst} {
			if err := t.seen().recordFind(s, ordered.Lookups{N: n, Keys: somewhere, Order: order}); err != nil {
				return err
			}
		}
		for to := structures.Successor; to <= structures.Ceil; to++ {
			if err := t.seen().recordNeighbors(s, to, ordered.Neighbors{N: n, Keys: somewhere}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tree) rehearseRanges(_ context.Context, s *vk.Stream) error {
	r := t.seen()
	for _, n := range recording.Sizes(primitives.MaxLength >> t.queries.partsOfFew) {
		err := cmp.Or(
			r.Survey(s, ordered.Survey{N: n, Ranges: somewhere}),
			r.Count(s, ordered.Counts{N: n, Ranges: somewhere}),
			r.Count(s, ordered.Counts{N: n, Ranges: somewhere, Total: somewhere}),
			r.Count(s, ordered.Counts{N: n, Ranges: somewhere, CountAt: somewhere}),
			r.Range(s, ordered.Ranges{N: n, Ranges: somewhere}))
		if err != nil {
			return err
		}
		for _, width := range []int{1, longWindow} {
			for _, inOrder := range []bool{false, t.windowsInOrder(n, width)} {
				plan, err := t.scratchForSeeks(s, n, inOrder)
				if err != nil {
					return err
				}
				if err := r.recordWindow(s, rangeQueries{ranges: somewhere, n: n, width: width}, plan); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rehearseLeaves records what reads all leaves, for all numbers of leaves.
func (t *tree) rehearseLeaves(_ context.Context, s *vk.Stream) error {
	order := leafOrder{somewhere, somewhere, somewhere}
	for _, n := range recording.Sizes(primitives.MaxLength) {
		push := exportPush{Counts: somewhere, Offsets: somewhere, Leaves: recording.Length{N: uint32(n)}}
		err := cmp.Or(
			t.recordLeafOrder(s, listing{Lows: somewhere, Leaves: somewhere}, primitives.Length{N: n}, order),
			t.seen().export(s, push, somewhere, 0, true))
		if err != nil {
			return err
		}
	}
	_, err := t.repairKernels(s)
	return err
}

func (t *tree) rehearseBulk(_ context.Context, s *vk.Stream) error {
	for _, n := range recording.Sizes(primitives.MaxLength) {
		b := bulk{Keys: somewhere, Values: somewhere, N: n, Fill: t.o.Fill}
		if err := cmp.Or(t.bulk(s, b, somewhere), t.bulkSorted(s, b)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) rehearseConcurrent(s *vk.Stream, kind structures.Kind) error {
	for _, n := range recording.Sizes(primitives.MaxLength) {
		b := operands{count: n, ordered: kind.Ordered()}
		alone, few, mixed := b, b, b
		alone.alone, few.few, mixed.ordered = true, true, true
		all := []operands{b, alone, few}
		if kind == structures.Mixed {
			all = append(all, mixed)
			if t.versions.rehears {
				mixed.moments = true
				all = append(all, mixed)
			}
			for _, b := range all {
				b.plain = true
				all = append(all, b)
			}
		}
		for _, b := range all {
			if err := t.apply(s, kind, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// rehearseInOrder is one part, because chunks in order run one after the other.
func (t *tree) rehearseInOrder(_ context.Context, s *vk.Stream) error {
	for kind := structures.Insert; kind <= structures.InsertMax; kind++ {
		if kind == structures.InsertDuplicate {
			continue
		}
		for _, n := range recording.Sizes(primitives.MaxLength) {
			b := operands{keys: somewhere, count: n, alone: true}
			if err := t.applyInOrder(s, kind, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tree) rehearseBatched(s *vk.Stream, kind structures.Kind) error {
	for _, n := range recording.Sizes(maxBatch) {
		for _, statuses := range []uint64{0, somewhere} {
			for _, folds := range []bool{kind.UpdatesInPlace(), kind.UpdatesInPlace() || kind == structures.Mixed} {
				b := batched{
					Kind: kind, Folds: folds, Keys: somewhere, Values: somewhere, Kinds: somewhere, Statuses: statuses,
					N: n, CountAt: somewhere,
				}
				if err := t.recordBatched(context.Background(), s, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
