package ordered

import (
	"context"
	"math"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// AtOnce returns how many pairs one dispatch should examine at most, so that it takes little time and memory.
func AtOnce(d *vk.Device) int {
	if d.Info().Type == vk.CPU {
		return 1 << 16
	}
	return 1 << 22
}

// Count counts the keys of ranges. Further error: *structures.StuckError, as for Neighbors.
func (r *Reader) Count(ctx context.Context, ranges []structures.Range[uint64], counts []uint32) error {
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.h.Meter.Query(len(ranges))
	limit := AtOnce(r.h.Device)
	if r.of.Exact() {
		limit = math.MaxInt // the survey itself is the result
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

// count counts the keys of ranges that together have few enough candidates for one dispatch.
func (r *Reader) count(ctx context.Context, ranges []structures.Range[uint64], counts []uint32) error {
	columns := []pipeline.Column{pipeline.Ranges(ranges, r.width), pipeline.Out(counts)}
	_, err := r.h.Pipelines.Run(ctx, len(ranges), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Count(s, Counts{Ranges: c.Columns[0], Out: c.Columns[1], N: c.Count})
		},
	})
	return err
}

// Range adds the pairs of ranges to a Sink. It sets offsets, from its beginning, to the offsets of the ranges among the
// added pairs, and returns it. If it fails before it adds anything, it returns nil. Errors: those of Count.
func (r *Reader) Range(ctx context.Context, ranges []structures.Range[uint64], to Sink,
	offsets []uint64) ([]uint64, error) {
	if err := r.of.Enter(ctx); err != nil {
		return nil, err
	}
	defer r.of.Leave()
	r.h.Meter.Query(len(ranges))
	limit := AtOnce(r.h.Device)
	p, err := r.cut(ctx, ranges, limit)
	if err != nil {
		return nil, err
	}
	if r.of.Exact() {
		to.Grow(p.all())
	}
	counts := make([]uint32, len(ranges))
	err = r.h.Pipelines.Do(ctx, func(s *vk.Stream) error {
		for _, g := range p.groups(limit) {
			if err := r.pairs(ctx, s, p.part(g), counts, to); err != nil {
				return err
			}
		}
		return nil
	})
	offsets = append(offsets[:0], 0)
	for i, n := range counts {
		offsets = append(offsets, offsets[i]+uint64(n))
	}
	return offsets, err
}

// pairs reads the pairs of pieces, and adds their numbers to the counts of the pieces' ranges.
func (r *Reader) pairs(ctx context.Context, s *vk.Stream, p pieces, counts []uint32, to Sink) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	some, err := r.of.Pairs(ctx, s, p.ranges, p.candidates, to)
	if err == nil {
		p.sum(counts, some)
	}
	return err
}

// pieces are the parts of ranges that were cut up. Piece i is a part of range owner[i]. They are in the order of the
// ranges and of keys.
type pieces struct {
	ranges     []structures.Range[uint64]
	owner      []int
	candidates []uint32 // the result of Survey for each
}

// room returns pieces with room for n.
func room(n int) pieces {
	return pieces{make([]structures.Range[uint64], 0, n), make([]int, 0, n), make([]uint32, 0, n)}
}

func (p *pieces) add(r structures.Range[uint64], owner int, candidates uint32) {
	p.ranges, p.owner, p.candidates = append(p.ranges, r), append(p.owner, owner), append(p.candidates, candidates)
}

// sum adds numbers of the pieces to those of their ranges.
func (p *pieces) sum(of, numbers []uint32) {
	for i, n := range numbers {
		of[p.owner[i]] += n
	}
}

// all returns the number of candidates.
func (p pieces) all() int { return Sum(p.candidates) }

// Sum returns the number of candidates of some ranges together.
func Sum(candidates []uint32) (sum int) {
	for _, n := range candidates {
		sum += int(n)
	}
	return sum
}

// group is a number of pieces that one dispatch does.
type group struct{ first, end int }

// groups divides the pieces. Each group has at least one piece. A group of several has at most limit candidates and at
// most limit pieces.
func (p pieces) groups(limit int) (all []group) {
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

// part returns the pieces of a group.
func (p pieces) part(g group) pieces {
	return pieces{p.ranges[g.first:g.end], p.owner[g.first:g.end], p.candidates[g.first:g.end]}
}

// cutter cuts up ranges.
type cutter struct {
	limit, most int    // the most candidates of a piece, and the most pieces of a range that are TooMany
	all         pieces // all pieces; those not surveyed yet are TooMany
	fresh       pieces // the pieces not surveyed yet
	whole       bool   // the fresh pieces are single keys
}

// cut surveys ranges, and cuts up those that have too many candidates for one dispatch or are TooMany. Pieces of a
// range do not overlap. So if more of them are TooMany than the structure can have, there is a cycle of references, and
// cutting would not end: the error is then *structures.StuckError.
func (r *Reader) cut(ctx context.Context, ranges []structures.Range[uint64], limit int) (pieces, error) {
	c := cutter{limit: limit, most: r.of.Limits().Parts}
	n := len(ranges)
	c.all = pieces{ranges, make([]int, n), make([]uint32, n)}
	for i := range ranges {
		c.all.owner[i], c.all.candidates[i] = i, TooMany
	}
	c.fresh = pieces{ranges, c.all.owner, make([]uint32, n)}
	for len(c.fresh.ranges) != 0 {
		if err := r.survey(ctx, c.fresh, c.whole); err != nil {
			return pieces{}, err
		}
		if !c.next() {
			return pieces{}, &structures.StuckError{Operations: len(ranges)}
		}
	}
	return c.all, nil
}

// survey finds how many candidates pieces have.
func (r *Reader) survey(ctx context.Context, p pieces, whole bool) error {
	columns := []pipeline.Column{pipeline.Ranges(p.ranges, r.width), pipeline.Out(p.candidates)}
	_, err := r.h.Pipelines.Run(ctx, len(p.ranges), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Survey(s, Survey{Ranges: c.Columns[0], Out: c.Columns[1], N: c.Count, Whole: whole})
		},
	})
	return err
}

// ask adds a piece to be surveyed.
func (c *cutter) ask(r structures.Range[uint64], owner int) {
	c.all.add(r, owner, TooMany)
	c.fresh.add(r, owner, 0)
}

// next applies the results of a survey, and cuts up pieces that have too many candidates. It returns false if too many
// pieces of a range are TooMany.
func (c *cutter) next() bool {
	before, known := c.all, c.fresh.candidates
	c.all, c.fresh, c.whole = room(len(before.ranges)), pieces{}, true
	owner, long := -1, 0 // a range, and the number of its pieces that are TooMany
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

// take adds a piece with n candidates, or its parts.
func (c *cutter) take(r structures.Range[uint64], owner int, n uint32) {
	switch {
	case n != TooMany && (int(n) <= c.limit || r.Lo >= r.Hi):
		c.all.add(r, owner, n)
	case r.Lo >= r.Hi: // in a tree: a chain of leaves that have no parent yet
		c.ask(r, owner)
	default:
		c.whole = false
		const parts = 16
		for _, part := range partsOf(r, parts) {
			c.ask(part, owner)
		}
	}
}

// partsOf divides a range into parts by its keys.
func partsOf(r structures.Range[uint64], parts int) (all []structures.Range[uint64]) {
	if parts <= 1 {
		return []structures.Range[uint64]{r}
	}
	each := (r.Hi-r.Lo)/uint64(parts) + 1
	lo := r.Lo
	for ; r.Hi-lo >= each; lo += each {
		all = append(all, structures.Range[uint64]{Lo: lo, Hi: lo + each - 1})
	}
	return append(all, structures.Range[uint64]{Lo: lo, Hi: r.Hi})
}
