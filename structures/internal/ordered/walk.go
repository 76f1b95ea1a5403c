package ordered

import (
	"context"
	"iter"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// Walk returns the pairs of a range in key order, or down in the opposite order.
func (r *Reader[W]) Walk(ctx context.Context, keys structures.Range[W],
	down bool) iter.Seq2[structures.Pair[W, W], error] {
	return transfer.Pairs(r.pages(ctx, keys, down), down)
}

// Chunks returns all pairs in key order, many at a time.
func (r *Reader[W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[W, W], error] {
	return r.pages(ctx, structures.AllKeys[W](), false)
}

// Inside is the reader for who has entered the structure: its calls take no turns.
func (r *Reader[W]) Inside() *Reader[W] {
	inside := *r
	inside.of = entered[W]{r.of}
	return &inside
}

// entered is a structure that was entered.
type entered[W structures.Word] struct{ Recorder[W] }

func (entered[W]) Enter(ctx context.Context) error { return ctx.Err() }
func (entered[W]) Leave()                          {}

// pages returns the pairs of a range in parts, each of them in key order; down: the last part first.
func (r *Reader[W]) pages(ctx context.Context, keys structures.Range[W],
	down bool) iter.Seq2[structures.Pairs[W, W], error] {
	return transfer.Sequence(func(yield func(structures.Pairs[W, W]) bool) error {
		return r.walk(ctx, keys, down, yield)
	})
}

func (r *Reader[W]) walk(ctx context.Context, keys structures.Range[W], down bool,
	yield func(structures.Pairs[W, W]) bool) error {
	w := &walk[W]{Reader: r}
	sections, err := w.begin(ctx, keys)
	if err != nil {
		return err
	}
	if down {
		slices.Reverse(sections)
	}
	for _, section := range sections {
		if more, err := w.visit(ctx, section, down, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// walk is an iteration.
type walk[W structures.Word] struct {
	*Reader[W]
	parts recording.Walk
}

// enter is the structure's, for a part of the iteration, and returns what ends it.
func (w *walk[W]) enter(ctx context.Context) (leave func(), err error) {
	return w.parts.Enter(ctx, w.of.Changes(), w.of.Enter, w.of.Leave)
}

// begin divides a range by keys, so that an iteration that ends early has not looked at all of a large structure.
func (w *walk[W]) begin(ctx context.Context, keys structures.Range[W]) (sections []structures.Range[W], err error) {
	leave, err := w.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if keys.Lo <= keys.Hi {
		sections = partsOf(keys, w.of.Limits().Sections)
	}
	return sections, nil
}

// visit gives the pairs of a range to yield, page by page. False: that was enough.
func (w *walk[W]) visit(ctx context.Context, r structures.Range[W], down bool,
	yield func(structures.Pairs[W, W]) bool) (bool, error) {
	limit := min(1<<20, AtOnce(w.d))
	p, err := w.pieces(ctx, r, limit)
	if err != nil {
		return false, err
	}
	pages := p.groups(limit)
	for i := range pages {
		if down {
			i = len(pages) - 1 - i
		}
		page, err := w.page(ctx, p.part(pages[i]))
		if err != nil {
			return false, err
		}
		if len(page.Keys) != 0 && !yield(structures.Pairs[W, W](page)) {
			return false, nil
		}
	}
	return true, nil
}

// pieces are a range cut up.
func (w *walk[W]) pieces(ctx context.Context, r structures.Range[W], limit int) (pieces[W], error) {
	leave, err := w.enter(ctx)
	if err != nil {
		return pieces[W]{}, err
	}
	defer leave()
	return w.cut(ctx, []structures.Range[W]{r}, limit)
}

// page reads the pairs of some pieces.
func (w *walk[W]) page(ctx context.Context, p pieces[W]) (Pairs[W], error) {
	leave, err := w.enter(ctx)
	if err != nil {
		return Pairs[W]{}, err
	}
	defer leave()
	page := new(Pairs[W])
	err = w.pipelines.Do(ctx, func(s *vk.Stream) error { return w.pairs(ctx, s, p, make([]uint32, 1), page) })
	return *page, err
}
