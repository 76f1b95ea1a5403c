package btree

import (
	"context"
	"iter"
	"slices"

	"github.com/vkds/vkds/structures"
)

// Ascend returns the pairs of a range in key order, read page by page. The tree must not change meanwhile. If the device
// fails or ctx ends, so does the sequence, and the function returned tells why.
func (t *Tree) Ascend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return t.iterate(ctx, r, false)
}

// Descend is Ascend from the greatest key down.
func (t *Tree) Descend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return t.iterate(ctx, r, true)
}

// All returns all pairs in key order, as Ascend does.
func (t *Tree) All(ctx context.Context) (iter.Seq2[uint32, uint32], func() error) {
	return t.Ascend(ctx, structures.AllKeys)
}

func (t *Tree) iterate(ctx context.Context, r structures.Range, down bool) (iter.Seq2[uint32, uint32], func() error) {
	var failure error
	pairs := func(yield func(uint32, uint32) bool) { failure = t.walk(ctx, r, down, yield) }
	return pairs, func() error { return failure }
}

func (t *Tree) walk(ctx context.Context, r structures.Range, down bool, yield func(uint32, uint32) bool) error {
	leave, _ := t.gate.Take()
	sections, w := t.sections(r, down), walk{t, t.changes}
	leave()
	for _, section := range sections {
		if more, err := w.visit(ctx, section, down, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// sections divides a range by keys, so that an iteration that ends early has not looked at all of a large tree.
func (t *Tree) sections(r structures.Range, down bool) []structures.Range {
	const nodesEach, most = 1 << 12, 1 << 10
	if r.Lo > r.Hi {
		return nil
	}
	width, n := uint64(r.Hi)-uint64(r.Lo)+1, min(t.nodes/nodesEach+1, most)
	each := (width + n - 1) / n
	var all []structures.Range
	for lo := uint64(r.Lo); lo <= uint64(r.Hi); lo += each {
		all = append(all, structures.Range{Lo: uint32(lo), Hi: uint32(min(uint64(r.Hi), lo+each-1))})
	}
	if down {
		slices.Reverse(all)
	}
	return all
}

// walk is an iteration over a tree. Between two pages others have their turns.
type walk struct {
	t       *Tree
	changes uint64 // to the tree that it has begun with
}

// enter is the gate's. Error also: structures.ErrChanged.
func (w walk) enter(ctx context.Context) error {
	if err := w.t.gate.Enter(ctx); err != nil {
		return err
	}
	if w.t.changes != w.changes {
		w.t.gate.Leave()
		return structures.ErrChanged
	}
	return nil
}

// visit gives the pairs of a range to yield. False: that was enough.
func (w walk) visit(ctx context.Context, r structures.Range, down bool, yield func(uint32, uint32) bool) (bool, error) {
	limit := min(1<<20, w.t.pairsAtOnce())
	p, err := w.cut(ctx, r, limit)
	if err != nil {
		return false, err
	}
	pages := p.groups(limit)
	for i := range pages {
		if down {
			i = len(pages) - 1 - i
		}
		keys, values, err := w.page(ctx, p.part(pages[i]), pages[i].pairs)
		if err != nil {
			return false, err
		}
		for j := range keys {
			if down {
				j = len(keys) - 1 - j
			}
			if !yield(keys[j], values[j]) {
				return false, nil
			}
		}
	}
	return true, nil
}

func (w walk) cut(ctx context.Context, r structures.Range, limit int) (pieces, error) {
	if err := w.enter(ctx); err != nil {
		return pieces{}, err
	}
	defer w.t.gate.Leave()
	return w.t.cut(ctx, []structures.Range{r}, limit)
}

func (w walk) page(ctx context.Context, p pieces, pairs int) (keys, values []uint32, err error) {
	if err := w.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer w.t.gate.Leave()
	keys, values = make([]uint32, pairs), make([]uint32, pairs)
	return keys, values, w.t.pairs(ctx, p, keys, values)
}
