package ordered

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Inside returns the reader for a caller that has entered the structure: its calls do not enter again.
func (r *Reader) Inside() *Reader {
	inside := *r
	inside.of = entered{r.of}
	return &inside
}

// entered is a structure that the caller has entered.
type entered struct{ Recorder }

func (entered) Enter(ctx context.Context) error { return context.Cause(ctx) }
func (entered) Leave()                          {}

// Walk is an iteration over the pairs of a range. Between two parts, others may change the structure.
type Walk struct {
	r        *Reader
	down     bool // from the last part to the first
	parts    recording.Walk
	sections []structures.Range[uint64] // not yet opened
	section  pieces
	pages    []group // of the section, not yet read
	limit    int     // the most candidates of a page
}

// Walk begins an iteration. It divides the range by keys, so that an iteration that ends early does not examine all of
// a large structure.
func (r *Reader) Walk(ctx context.Context, keys structures.Range[uint64], down bool) (*Walk, error) {
	w := &Walk{r: r, down: down, limit: min(1<<20, AtOnce(r.h.Device))}
	leave, err := w.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if keys.Lo <= keys.Hi {
		w.sections = partsOf(keys, r.of.Limits().Sections)
	}
	if down {
		slices.Reverse(w.sections)
	}
	return w, nil
}

// Next reads the next pairs, in key order. It returns false if there are none. Further error: structures.ErrChanged.
func (w *Walk) Next(ctx context.Context, to Sink) (more bool, err error) {
	for len(w.pages) != 0 || len(w.sections) != 0 {
		if len(w.pages) == 0 {
			err = w.open(ctx)
		} else {
			more, err = w.page(ctx, to)
		}
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// enter enters the structure for a part of the iteration, and returns the function that ends the part.
func (w *Walk) enter(ctx context.Context) (leave func(), err error) {
	return w.parts.Enter(ctx, w.r.of.Changes(), w.r.of.Enter, w.r.of.Leave)
}

// open divides the next section into pages.
func (w *Walk) open(ctx context.Context) error {
	leave, err := w.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	section, err := w.r.cut(ctx, w.sections[:1], w.limit)
	if err != nil {
		return err
	}
	w.section, w.sections, w.pages = section, w.sections[1:], section.groups(w.limit)
	if w.down {
		slices.Reverse(w.pages)
	}
	return nil
}

// page reads the next page, and reports whether it has pairs. If the device has no memory for the page, it reads none,
// and the next pages are smaller.
func (w *Walk) page(ctx context.Context, to Sink) (bool, error) {
	leave, err := w.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	page := w.section.part(w.pages[0])
	var n [1]uint32
	err = w.r.h.Pipelines.Do(ctx, func(s *vk.Stream) error { return w.r.pairs(ctx, s, page, n[:], to) })
	const least = 64
	var full *vk.OutOfMemoryError
	if w.limit > least && errors.As(err, &full) {
		w.narrow()
		return false, nil
	}
	w.pages = w.pages[1:]
	return err == nil && n[0] != 0, err
}

// narrow makes the pages that are not yet read smaller.
func (w *Walk) narrow() {
	w.limit /= 4
	var again []structures.Range[uint64]
	for _, g := range w.pages {
		ranges := slices.Clone(w.section.part(g).ranges)
		if w.down {
			slices.Reverse(ranges)
		}
		again = append(again, ranges...)
	}
	w.sections, w.pages = append(again, w.sections...), nil
}

// Total returns the number of all pairs of an exact structure. It takes little memory, so that a structure can be saved
// when the device is full.
func (r *Reader) Total(ctx context.Context) (uint64, error) {
	if err := r.of.Enter(ctx); err != nil {
		return 0, err
	}
	defer r.of.Leave()
	all, err := r.cut(ctx, []structures.Range[uint64]{{Hi: LastKey(r.width)}}, math.MaxInt)
	return uint64(all.all()), err
}

// Save writes all pairs to w, and returns the number of bytes that w took (transfer.Save).
func (r *Reader) Save(ctx context.Context, w io.Writer, h saved.Header, of saved.Columns) (int64, error) {
	all := structures.Range[uint64]{Hi: LastKey(r.width)}
	return transfer.Save(ctx, w, h, of, Queries[uint64, uint64]{r}.pages(ctx, all, false))
}
