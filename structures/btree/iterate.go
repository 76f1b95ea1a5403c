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
	pairs := func(yield func(uint32, uint32) bool) {
		failure = nil
		for _, section := range t.sections(r, down) {
			more, err := t.visit(ctx, section, down, yield)
			if failure = err; err != nil || !more {
				return
			}
		}
	}
	return pairs, func() error { return failure }
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

// visit gives the pairs of a range to yield. False: that was enough.
func (t *Tree) visit(ctx context.Context, r structures.Range, down bool, yield func(uint32, uint32) bool) (bool, error) {
	if err := t.usable(ctx); err != nil {
		return false, err
	}
	limit := min(1<<20, t.pairsAtOnce())
	p, err := t.cut(ctx, []structures.Range{r}, limit)
	if err != nil {
		return false, err
	}
	pages := p.groups(limit)
	for i := range pages {
		if down {
			i = len(pages) - 1 - i
		}
		keys, values := make([]uint32, pages[i].pairs), make([]uint32, pages[i].pairs)
		if err := t.pairs(ctx, p.part(pages[i]), keys, values); err != nil {
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
