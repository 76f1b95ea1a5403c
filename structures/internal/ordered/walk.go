package ordered

import (
	"context"
	"iter"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// Walk returns the pairs of a range in key order, or down in the opposite order.
func (r *Reader) Walk(ctx context.Context, keys structures.Range, down bool) iter.Seq2[structures.Pair, error] {
	return transfer.Pairs(r.pages(ctx, keys, down), down)
}

// Chunks returns all pairs in key order, many at a time.
func (r *Reader) Chunks(ctx context.Context) iter.Seq2[structures.Pairs, error] {
	return r.pages(ctx, structures.AllKeys, false)
}

// Inside is the reader for who has entered the structure: its calls take no turns.
func (r *Reader) Inside() *Reader {
	inside := *r
	inside.of = entered{r.of}
	return &inside
}

// entered is a structure that was entered.
type entered struct{ Recorder }

func (entered) Enter(ctx context.Context) error { return ctx.Err() }
func (entered) Leave()                          {}

// pages returns the pairs of a range in parts, each of them in key order; down: the last part first.
func (r *Reader) pages(ctx context.Context, keys structures.Range, down bool) iter.Seq2[structures.Pairs, error] {
	return transfer.Sequence(func(yield func(structures.Pairs) bool) error { return r.walk(ctx, keys, down, yield) })
}

func (r *Reader) walk(ctx context.Context, keys structures.Range, down bool, yield func(structures.Pairs) bool) error {
	w, sections, err := r.begin(ctx, keys)
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

// walk is an iteration. Between two pages others may change the structure.
type walk struct {
	*Reader
	changes uint64 // to the structure that it has begun with
}

// begin divides a range by keys, so that an iteration that ends early has not looked at all of a large structure.
func (r *Reader) begin(ctx context.Context, keys structures.Range) (walk, []structures.Range, error) {
	if err := r.of.Enter(ctx); err != nil {
		return walk{}, nil, err
	}
	defer r.of.Leave()
	var sections []structures.Range
	if keys.Lo <= keys.Hi {
		eachPart(keys, uint64(r.of.Limits().Sections),
			func(part structures.Range) { sections = append(sections, part) })
	}
	return walk{r, r.of.Changes()}, sections, nil
}

// enter is the structure's. Error also: structures.ErrChanged.
func (w walk) enter(ctx context.Context) error {
	if err := w.of.Enter(ctx); err != nil {
		return err
	}
	if w.of.Changes() != w.changes {
		w.of.Leave()
		return structures.ErrChanged
	}
	return nil
}

// visit gives the pairs of a range to yield, page by page. False: that was enough.
func (w walk) visit(ctx context.Context, r structures.Range, down bool, yield func(structures.Pairs) bool) (bool,
	error) {
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
		if len(page.Keys) != 0 && !yield(structures.Pairs(page)) {
			return false, nil
		}
	}
	return true, nil
}

// pieces are a range cut up.
func (w walk) pieces(ctx context.Context, r structures.Range, limit int) (pieces, error) {
	if err := w.enter(ctx); err != nil {
		return pieces{}, err
	}
	defer w.of.Leave()
	return w.cut(ctx, []structures.Range{r}, limit)
}

// page reads the pairs of some pieces.
func (w walk) page(ctx context.Context, p pieces) (page Pairs, err error) {
	if err := w.enter(ctx); err != nil {
		return Pairs{}, err
	}
	defer w.of.Leave()
	err = w.pipelines.Do(ctx, func(s *vk.Stream) error { return w.pairs(ctx, s, p, make([]uint32, 1), &page) })
	return page, err
}
