package ordered

import (
	"context"
	"math"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// AtOnce is how many pairs one dispatch is to look at, so that it doesn't take long and its memory is small.
func AtOnce(d *vk.Device) int {
	if d.Info().Type == vk.CPU {
		return 1 << 16
	}
	return 1 << 22
}

// Count counts the keys of ranges. Error also: *structures.StuckError, as Neighbors.
func (r *Reader[W]) Count(ctx context.Context, ranges []structures.Range[W]) ([]uint32, error) {
	counts := make([]uint32, len(ranges))
	return counts, r.CountInto(ctx, ranges, counts)
}

// CountInto is Count into the caller's slice.
func (r *Reader[W]) CountInto(ctx context.Context, ranges []structures.Range[W], counts []uint32) error {
	if len(counts) != len(ranges) {
		return &structures.LengthError{Keys: len(ranges), Other: "counts", Got: len(counts)}
	}
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.of.Meter().Query(len(ranges))
	limit := AtOnce(r.d)
	if r.of.Exact() {
		limit = math.MaxInt // a survey is all that there is to do
	}
	p, err := r.cut(ctx, ranges, limit)
	if err != nil {
		return err
	}
	clear(counts)
	if r.of.Exact() {
		p.sum(counts, p.candidates)
		return nil
	}
	for _, g := range p.groups(limit) {
		part := p.part(g)
		some := make([]uint32, len(part.ranges))
		if err := r.count(ctx, part.ranges, some); err != nil {
			return err
		}
		part.sum(counts, some)
	}
	return nil
}

// count counts the keys of ranges that together have not too many candidates.
func (r *Reader[W]) count(ctx context.Context, ranges []structures.Range[W], counts []uint32) error {
	columns := []pipeline.Column{pipeline.In(ranges), pipeline.Out(counts)}
	_, err := r.pipelines.Run(ctx, len(ranges), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Count(s, Counts{Ranges: c.Columns[0], Out: c.Columns[1], N: c.Count})
		},
	})
	return err
}

// Range returns the pairs of ranges. Errors as Count's.
func (r *Reader[W]) Range(ctx context.Context, ranges []structures.Range[W]) (out structures.Ranges[W, W], err error) {
	if err := r.RangeInto(ctx, ranges, &out); err != nil {
		return structures.Ranges[W, W]{}, err
	}
	return out, nil
}

// RangeInto is Range into the caller's slices, as far as they have room.
func (r *Reader[W]) RangeInto(ctx context.Context, ranges []structures.Range[W], into *structures.Ranges[W, W]) error {
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.of.Meter().Query(len(ranges))
	limit := AtOnce(r.d)
	p, err := r.cut(ctx, ranges, limit)
	if err != nil {
		return err
	}
	pairs := &Pairs[W]{into.Keys[:0], into.Values[:0]}
	if r.of.Exact() {
		all := p.all()
		*pairs = Pairs[W]{slices.Grow(pairs.Keys, all), slices.Grow(pairs.Values, all)}
	}
	counts := make([]uint32, len(ranges))
	err = r.pipelines.Do(ctx, func(s *vk.Stream) error {
		for _, g := range p.groups(limit) {
			if err := r.pairs(ctx, s, p.part(g), counts, pairs); err != nil {
				return err
			}
		}
		return nil
	})
	into.Keys, into.Values = pairs.Keys, pairs.Values
	into.Offsets = append(into.Offsets[:0], 0)
	for i, n := range counts {
		into.Offsets = append(into.Offsets, into.Offsets[i]+uint64(n))
	}
	return err
}

// pairs reads the pairs of pieces, and adds to counts how many the ranges have that these are of.
func (r *Reader[W]) pairs(ctx context.Context, s *vk.Stream, p pieces[W], counts []uint32, to *Pairs[W]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	some, err := r.of.Pairs(ctx, s, p.ranges, p.candidates, to)
	if err == nil {
		p.sum(counts, some)
	}
	return err
}

// pieces are ranges that were cut up: piece i is a part of the range owner[i], in the order of the ranges and of keys.
type pieces[W structures.Word] struct {
	ranges     []structures.Range[W]
	owner      []int
	candidates []uint32 // of each, what Survey has said
}

func (p *pieces[W]) add(r structures.Range[W], owner int, candidates uint32) {
	p.ranges, p.owner, p.candidates = append(p.ranges, r), append(p.owner, owner), append(p.candidates, candidates)
}

// sum adds numbers of the pieces to those of their ranges.
func (p *pieces[W]) sum(of, numbers []uint32) {
	for i, n := range numbers {
		of[p.owner[i]] += n
	}
}

// all is how many candidates there are.
func (p pieces[W]) all() int { return Sum(p.candidates) }

// Sum returns how many candidates some ranges have together.
func Sum(candidates []uint32) (sum int) {
	for _, n := range candidates {
		sum += int(n)
	}
	return sum
}

// group is some pieces that one dispatch does.
type group struct{ first, end int }

// groups divides the pieces: one at least in each group, no more than so many candidates and pieces in any of several.
func (p pieces[W]) groups(limit int) (all []group) {
	g, candidates := group{}, 0
	for i, n := range p.candidates {
		if g.end != g.first && (candidates+int(n) > limit || g.end-g.first == limit) {
			all = append(all, g)
			g, candidates = group{first: i, end: i}, 0
		}
		g.end, candidates = i+1, candidates+int(n)
	}
	if g.end != g.first {
		all = append(all, g)
	}
	return all
}

// part are the pieces of a group.
func (p pieces[W]) part(g group) pieces[W] {
	return pieces[W]{p.ranges[g.first:g.end], p.owner[g.first:g.end], p.candidates[g.first:g.end]}
}

// cutter cuts ranges up.
type cutter[W structures.Word] struct {
	limit, most int       // candidates of a piece, and pieces of a range that are TooMany
	all         pieces[W] // those that a survey was made of, and those that it is to be made of, which are TooMany
	fresh       pieces[W] // these alone
	whole       bool      // what is fresh are single keys
}

// cut surveys ranges, and cuts those up that have too many candidates for one dispatch, or are TooMany. Pieces of a
// range don't overlap: more of them that are TooMany than the structure can have are in a circle of references, and
// cutting them up would not end. Error then: *structures.StuckError.
func (r *Reader[W]) cut(ctx context.Context, ranges []structures.Range[W], limit int) (pieces[W], error) {
	c := cutter[W]{limit: limit, most: r.of.Limits().Parts}
	for i, r := range ranges {
		c.ask(r, i)
	}
	for len(c.fresh.ranges) != 0 {
		if err := r.survey(ctx, c.fresh, c.whole); err != nil {
			return pieces[W]{}, err
		}
		if !c.next() {
			return pieces[W]{}, &structures.StuckError{Operations: len(ranges)}
		}
	}
	return c.all, nil
}

// survey asks how many candidates pieces have.
func (r *Reader[W]) survey(ctx context.Context, p pieces[W], whole bool) error {
	columns := []pipeline.Column{pipeline.In(p.ranges), pipeline.Out(p.candidates)}
	_, err := r.pipelines.Run(ctx, len(p.ranges), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Survey(s, Survey{Ranges: c.Columns[0], Out: c.Columns[1], N: c.Count, Whole: whole})
		},
	})
	return err
}

// ask adds a piece that a survey is to be made of.
func (c *cutter[W]) ask(r structures.Range[W], owner int) {
	c.all.add(r, owner, TooMany)
	c.fresh.add(r, owner, 0)
}

// next puts in what a survey has said, and cuts up what has too many candidates. False: there are too many such pieces.
func (c *cutter[W]) next() bool {
	before, known := c.all, c.fresh.candidates
	c.all, c.fresh, c.whole = pieces[W]{}, pieces[W]{}, true
	owner, long := -1, 0 // a range, and how many pieces of it are TooMany
	for i, r := range before.ranges {
		n := before.candidates[i]
		if n == TooMany {
			n, known = known[0], known[1:]
		}
		if before.owner[i] != owner {
			owner, long = before.owner[i], 0
		}
		if n == TooMany {
			if long++; long > c.most {
				return false
			}
		}
		c.take(r, owner, n)
	}
	return true
}

// take takes a piece that has so many candidates, or its parts.
func (c *cutter[W]) take(r structures.Range[W], owner int, n uint32) {
	switch {
	case n != TooMany && (int(n) <= c.limit || r.Lo >= r.Hi):
		c.all.add(r, owner, n)
	case r.Lo >= r.Hi: // of a tree, a way along leaves that are in no parent yet
		c.ask(r, owner)
	default:
		c.whole = false
		const parts = 16
		for _, part := range partsOf(r, parts) {
			c.ask(part, owner)
		}
	}
}

// partsOf divides a range by its keys.
func partsOf[W structures.Word](r structures.Range[W], parts int) (all []structures.Range[W]) {
	if parts <= 1 {
		return []structures.Range[W]{r}
	}
	each := (r.Hi-r.Lo)/W(parts) + 1
	lo := r.Lo
	for ; r.Hi-lo >= each; lo += each {
		all = append(all, structures.Range[W]{Lo: lo, Hi: lo + each - 1})
	}
	return append(all, structures.Range[W]{Lo: lo, Hi: r.Hi})
}
