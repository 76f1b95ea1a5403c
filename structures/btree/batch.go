package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

func (t *tree) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := checkUpdate(kind); err != nil {
		return err
	}
	if u.Count > primitives.MaxLength {
		return &structures.CountError{What: "updates", N: u.Count, Most: primitives.MaxLength}
	}
	err := cmp.Or(t.Device.Accept("stream", s), recording.NeedUpdates(t.Device, kind, u, t.width))
	if err == nil {
		t.Own.Done(s, u)
	}
	if err != nil || u.Count == 0 {
		return err
	}
	t.settle(s)
	claims, err := t.roomOn(ctx, s, kind, u.Count)
	if err == nil {
		err = t.keeps(ctx, s, u.Count)
	}
	if err != nil {
		return t.abandon(err, claims...)
	}
	b := batched{Kind: kind, Folds: kind.UpdatesInPlace(), Keys: t.at(u.Keys, u.First),
		Statuses: u.Status.Address(), N: u.Count, CountAt: u.DeviceCount.Address()}
	if kind != structures.Delete {
		b.Values = t.at(u.Values, u.First)
	}
	if err := t.writing(s, func() error { return t.recordBatches(ctx, s, b, claims) }); err != nil {
		return t.abandon(err, claims...)
	}
	for _, c := range claims {
		t.recorded(s, c)
	}
	t.Meter.Batch(kind, u.Count)
	submitted(s, &t.batches.batched)
	return nil
}

// roomOn makes room in the pool for a batch that will be recorded. If others share the pool, it returns claims for the
// parts of the batch. It waits for the stream if the pool may have to grow.
func (t *tree) roomOn(ctx context.Context, s *vk.Stream, kind structures.Kind, n int) ([]*claim, error) {
	if kind == structures.Delete {
		return nil, nil
	}
	full := t.Shares || t.known.unsure
	if !full {
		lacks, err := t.lacks(ctx, n, Batched)
		if err != nil {
			return nil, err
		}
		full = lacks != 0
	}
	if full {
		if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
	}
	if t.Shares {
		return t.claimsFor(ctx, n, maxBatch)
	}
	err := t.reserve(ctx, n, Batched)
	t.known.inserted += uint64(n)
	return nil, err
}

// ApplyOnes records a batch of any length. The pool must have room for it, or each part a claim.
func (t *tree) recordBatches(ctx context.Context, s *vk.Stream, b batched, claims []*claim) error {
	for first := 0; first < b.N; first += maxBatch {
		part := b
		part.Keys += uint64(t.width.Bytes() * first)
		part.Values += uint64(t.width.Bytes() * first)
		if b.Statuses != 0 {
			part.Statuses += uint64(first)
		}
		part.N = min(maxBatch, b.N-first)
		part.First = first
		if claims != nil {
			part.claim = claims[first/maxBatch]
		}
		if err := t.recordBatched(ctx, s, part); err != nil {
			return err
		}
	}
	return nil
}

// batched is a batch on the device, by addresses. Kinds has a byte for each operation of a Mixed batch. Folds says that
// there are updates in place, whose results depend on the values in the tree. Statuses, if not 0, has a byte for each
// operation, and room for a multiple of 4. If the batch is not done because the pool is full, N is added to the word at
// Pending, unless Pending is 0. CountAt, if not 0, is the address of the number of operations, including First
// operations of earlier parts; N is the most of this part.
type batched struct {
	Kind                          structures.Kind
	Folds                         bool
	Kinds, Keys, Values, Statuses uint64
	Pending                       uint64
	N                             int
	CountAt                       uint64
	First                         int
	claim                         *claim // in a shared pool: slabs for new nodes
}

// maxBatch is how many operations are done at once, a multiple of 4.
var maxBatch = 1 << 22

// share returns how many pairs or children a node gets at least in a split.
func (t *tree) share() int {
	g := t.geometry()
	leaf, _ := g.shares(t.o.Fill)
	return max(g.leastShare(), leaf)
}
