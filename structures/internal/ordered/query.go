package ordered

import (
	"context"
	"iter"
	"unsafe"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/vk"
)

// Find looks keys up.
func (c *Core) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	if err := c.Enter(ctx); err != nil {
		return nil, nil, err
	}
	defer c.Leave()
	return c.Lookup(ctx, keys)
}

// Lookup is Find by who has entered.
func (c *Core) Lookup(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	st := c.of.Stack()
	values, found = make([]uint32, len(keys)), make([]bool, len(keys))
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Out(values), pipeline.Out(found)}
	err = c.pipeline.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
			return c.find(s, st, runs.FindArgs{
				Keys: chunk.Columns[0], Values: chunk.Columns[1], Found: chunk.Columns[2], N: chunk.Count,
			}, runs.Sorted(chunk.Count, st))
		},
		Progress: c.Progress,
	})
	return values, found, err
}

func (c *Core) find(s *vk.Stream, st runs.Stack, a runs.FindArgs, sorted bool) error {
	if !sorted {
		return c.Queries.Find(s, st, a)
	}
	var err error
	if a.Scratch, err = c.Scratch(s, c.Queries.FindSortedScratch(a.N)); err != nil {
		return err
	}
	return c.Queries.FindSorted(s, st, a)
}

// kinds are the neighbors by their directions.
var kinds = map[structures.Direction]runs.Kind{
	structures.Successor: runs.Successor, structures.Predecessor: runs.Predecessor,
	structures.Floor: runs.Floor, structures.Ceil: runs.Ceil,
}

// A search for a neighbor looks at so many keys before it gives up, at first and at most: enough for all but long rows
// of deleted keys, and never long.
const (
	neighborRounds    = 64
	maxNeighborRounds = 4096
)

// Neighbors finds the neighbors of keys in a direction. Error also: *structures.StuckError where keys are out of order,
// which only a stray write can cause.
func (c *Core) Neighbors(ctx context.Context, to structures.Direction, keys []uint32) (structures.Neighbors, error) {
	if err := c.Enter(ctx); err != nil {
		return structures.Neighbors{}, err
	}
	defer c.Leave()
	st := c.of.Stack()
	n := len(keys)
	out := structures.Neighbors{Keys: make([]uint32, n), Values: make([]uint32, n), Found: make([]bool, n)}
	statuses := make([]structures.Status, n)
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Out(out.Keys), pipeline.Out(out.Values), pipeline.Out(statuses)}
	rounds := neighborRounds
	made := uint64(0) // rounds of each search that is pending, since the last one was finished
	err := c.pipeline.Run(ctx, n, columns, pipeline.Task{
		Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
			return c.Queries.Neighbor(s, st, kinds[to], runs.NeighborArgs{
				Keys: chunk.Columns[0], OutKeys: chunk.Columns[1], OutValues: chunk.Columns[2], Status: chunk.Columns[3],
				N: chunk.Count, Left: chunk.Pending, Resume: chunk.Retry, Rounds: rounds,
			})
		},
		Recover: func(_ context.Context, pending int, stuck bool) error {
			if !stuck {
				made = 0
			}
			// Each round passes a key, unless keys out of order lead back to one.
			if made += uint64(rounds); made > st.Pairs() {
				return &structures.StuckError{Operations: pending}
			}
			rounds = min(2*rounds, maxNeighborRounds)
			return nil
		},
		Progress: c.Progress,
	})
	for i, status := range statuses {
		if out.Found[i] = status == structures.Found; !out.Found[i] {
			out.Keys[i] = 0 // of one left pending, where it was to go on
		}
	}
	return out, err
}

// Min returns the pair with the least key.
func (c *Core) Min(ctx context.Context) (key, value uint32, found bool, err error) {
	return c.end(ctx, structures.Ceil, 0)
}

// Max returns the pair with the greatest key.
func (c *Core) Max(ctx context.Context) (key, value uint32, found bool, err error) {
	return c.end(ctx, structures.Floor, ^uint32(0))
}

func (c *Core) end(ctx context.Context, to structures.Direction, from uint32) (key, value uint32, found bool, err error) {
	n, err := c.Neighbors(ctx, to, []uint32{from})
	if err != nil {
		return 0, 0, false, err
	}
	return n.Keys[0], n.Values[0], n.Found[0], nil
}

// candidatesAtOnce is how many pairs one dispatch may look at, so that it doesn't take long and its memory is small.
func (c *Core) candidatesAtOnce() int {
	if c.CPU() {
		return 1 << 16
	}
	return 1 << 22
}

// pieces are ranges that were cut up: piece i is a part of the range owner[i], in the order of the ranges and of keys.
type pieces struct {
	ranges     []structures.Range
	owner      []int
	candidates []uint32 // pairs in each
}

// cut cuts ranges up until none has more candidates than one dispatch may look at, but for a single key's. That is
// some 16 pieces a level of cutting for each so many pairs, whatever memory holds: a search's result rises with its key
// even where keys are out of order, so that the pieces of a range have no more candidates together than there are pairs.
func (c *Core) cut(ctx context.Context, ranges []structures.Range, limit int) (pieces, error) {
	p := pieces{ranges: ranges, owner: make([]int, len(ranges))}
	for i := range ranges {
		p.owner[i] = i
	}
	const parts = 16
	for {
		p.candidates = make([]uint32, len(p.ranges))
		st := c.of.Stack()
		err := c.pipeline.Run(ctx, len(p.ranges), []pipeline.Column{pipeline.In(p.ranges), pipeline.Out(p.candidates)}, pipeline.Task{
			Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
				return c.Queries.Survey(s, st, chunk.Columns[0], chunk.Count, chunk.Columns[1])
			},
		})
		if err != nil {
			return pieces{}, err
		}
		var next pieces
		whole := true
		for i, r := range p.ranges {
			if int(p.candidates[i]) <= limit || r.Lo >= r.Hi {
				next.ranges, next.owner = append(next.ranges, r), append(next.owner, p.owner[i])
				continue
			}
			whole = false
			each := (uint64(r.Hi)-uint64(r.Lo))/parts + 1
			for lo := uint64(r.Lo); lo <= uint64(r.Hi); lo += each {
				part := structures.Range{Lo: uint32(lo), Hi: uint32(min(uint64(r.Hi), lo+each-1))}
				next.ranges, next.owner = append(next.ranges, part), append(next.owner, p.owner[i])
			}
		}
		if whole {
			return p, nil
		}
		p = next
	}
}

// next returns how many pieces from the first on one dispatch may do: one at least.
func (p pieces) next(first, limit, most int) (end int, candidates int) {
	for end = first; end < len(p.ranges) && end-first < most; end++ {
		n := int(p.candidates[end])
		if end > first && candidates+n > limit {
			break
		}
		candidates += n
	}
	return end, candidates
}

// Count counts the keys of ranges.
func (c *Core) Count(ctx context.Context, ranges []structures.Range) ([]uint32, error) {
	if err := c.Enter(ctx); err != nil {
		return nil, err
	}
	defer c.Leave()
	counts := make([]uint32, len(ranges))
	if c.of.Unique() {
		return counts, c.count(ctx, ranges, counts)
	}
	limit := c.candidatesAtOnce()
	p, err := c.cut(ctx, ranges, limit)
	if err != nil {
		return nil, err
	}
	some := make([]uint32, 0, len(p.ranges))
	for first := 0; first < len(p.ranges); {
		end, _ := p.next(first, limit, len(p.ranges))
		some = some[:end-first]
		if err := c.count(ctx, p.ranges[first:end], some); err != nil {
			return nil, err
		}
		for i, n := range some {
			counts[p.owner[first+i]] += n
		}
		first = end
	}
	return counts, nil
}

// count counts the keys of ranges that together have not too many candidates.
func (c *Core) count(ctx context.Context, ranges []structures.Range, counts []uint32) error {
	st, unique := c.of.Stack(), c.of.Unique()
	return c.pipeline.Run(ctx, len(ranges), []pipeline.Column{pipeline.In(ranges), pipeline.Out(counts)}, pipeline.Task{
		Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
			scratch, err := c.Scratch(s, c.Queries.CountScratch(st, chunk.Count))
			if err != nil {
				return err
			}
			return c.Queries.Count(s, st, runs.CountArgs{
				Ranges: chunk.Columns[0], Out: chunk.Columns[1], N: chunk.Count, Unique: unique, Scratch: scratch,
			})
		},
	})
}

// Range returns the pairs of ranges.
func (c *Core) Range(ctx context.Context, ranges []structures.Range) (structures.Ranges, error) {
	if err := c.Enter(ctx); err != nil {
		return structures.Ranges{}, err
	}
	defer c.Leave()
	out := structures.Ranges{Offsets: make([]uint64, len(ranges)+1)}
	limit := c.candidatesAtOnce()
	p, err := c.cut(ctx, ranges, limit)
	if err != nil {
		return structures.Ranges{}, err
	}
	for first := 0; first < len(p.ranges); {
		end, candidates := p.next(first, limit, limit)
		offsets, keys, values, err := c.pairs(ctx, p.ranges[first:end], candidates)
		if err != nil {
			return structures.Ranges{}, err
		}
		out.Keys, out.Values = append(out.Keys, keys...), append(out.Values, values...)
		for i := range end - first {
			out.Offsets[p.owner[first+i]+1] += uint64(offsets[i+1] - offsets[i])
		}
		first = end
	}
	for i := range ranges {
		out.Offsets[i+1] += out.Offsets[i]
	}
	return out, nil
}

// pairs returns the pairs of ranges that together have so many candidates.
func (c *Core) pairs(ctx context.Context, ranges []structures.Range, candidates int) (offsets, keys, values []uint32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	n, st := len(ranges), c.of.Stack()
	offsets = make([]uint32, n+1)
	if candidates == 0 {
		return offsets, nil, nil, nil
	}
	// Ranges, their offsets, the number of candidates, then the pairs.
	align := func(words int) int { return (words + 63) &^ 63 } // to 256 bytes
	total := align(2 * n)
	at := total + align(2)
	pairsAt := at + align(n+1)
	valuesAt := pairsAt + align(candidates)
	err = recording.Run(c.Stream, func() error {
		address, err := c.Scratch(c.Stream, 4*(valuesAt+align(candidates))+c.Queries.RangeScratch(st, n, candidates))
		if err != nil {
			return err
		}
		b := c.scratch.Of(c.Stream)
		if err := b.Upload(ctx, 0, unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(ranges))), 2*n)); err != nil {
			return err
		}
		return c.Queries.Range(c.Stream, st, runs.RangeArgs{
			Ranges: address, N: n, Unique: c.of.Unique(), Offsets: b.AddressOf(at), OutKeys: b.AddressOf(pairsAt), OutValues: b.AddressOf(valuesAt),
			Capacity: candidates, Candidates: candidates, Total: b.AddressOf(total), Scratch: b.AddressOf(valuesAt + align(candidates)),
		})
	})
	if err != nil {
		return nil, nil, nil, err
	}
	b := c.scratch.Of(c.Stream)
	if err := b.Download(ctx, at, offsets); err != nil {
		return nil, nil, nil, err
	}
	keys, values = make([]uint32, offsets[n]), make([]uint32, offsets[n])
	if err := b.Download(ctx, pairsAt, keys); err != nil {
		return nil, nil, nil, err
	}
	return offsets, keys, values, b.Download(ctx, valuesAt, values)
}

// pageOf is about how many pairs an iterator reads at a time.
func (c *Core) pageOf() int { return min(1<<20, c.candidatesAtOnce()) }

// Walk returns the pairs of a range in key order, or down in the opposite order.
func (c *Core) Walk(ctx context.Context, r structures.Range, down bool) (iter.Seq2[uint32, uint32], func() error) {
	var failure error
	pairs := func(yield func(uint32, uint32) bool) {
		failure = c.walk(ctx, r, down, yield)
	}
	return pairs, func() error { return failure }
}

func (c *Core) walk(ctx context.Context, r structures.Range, down bool, yield func(uint32, uint32) bool) error {
	w, err := c.pages(ctx, r)
	if err != nil {
		return err
	}
	for i := range w.all {
		if down {
			i = len(w.all) - 1 - i
		}
		keys, values, err := w.read(ctx, w.all[i])
		if err != nil {
			return err
		}
		for j := range keys {
			if down {
				j = len(keys) - 1 - j
			}
			if !yield(keys[j], values[j]) {
				return nil
			}
		}
	}
	return nil
}

// pages are a range cut up as an iterator reads it. Between two pages others have their turns.
type pages struct {
	c       *Core
	of      pieces
	all     []page
	changes uint64 // to what was cut up
}

// page is some pieces, with so many candidates.
type page struct{ first, end, candidates int }

func (c *Core) pages(ctx context.Context, r structures.Range) (pages, error) {
	if err := c.Enter(ctx); err != nil {
		return pages{}, err
	}
	defer c.Leave()
	p, err := c.cut(ctx, []structures.Range{r}, c.pageOf())
	w := pages{c: c, of: p, changes: c.changes}
	for first := 0; first < len(p.ranges); {
		end, candidates := p.next(first, c.pageOf(), len(p.ranges))
		w.all = append(w.all, page{first, end, candidates})
		first = end
	}
	return w, err
}

// read reads the pairs of a page. Error: structures.ErrChanged, as there is no telling how many these would be.
func (w pages) read(ctx context.Context, p page) (keys, values []uint32, err error) {
	if err := w.c.Enter(ctx); err != nil {
		return nil, nil, err
	}
	defer w.c.Leave()
	if w.c.changes != w.changes {
		return nil, nil, structures.ErrChanged
	}
	_, keys, values, err = w.c.pairs(ctx, w.of.ranges[p.first:p.end], p.candidates)
	return keys, values, err
}
