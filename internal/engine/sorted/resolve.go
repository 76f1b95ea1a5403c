package sorted

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// ValidScratch returns the bytes of scratch that Valid needs for a run of n pairs.
func (c *Core) ValidScratch(n int) int {
	return (n+31)/32*4 + 256 + c.Primitives.Scratch(primitives.CompactArgs{})
}

// Valid records the writing of the valid pairs of a run, if the structure has no other run: the last pair of each key,
// unless it is a tombstone or its key is in the ranges of without. Counted returns their number.
func (c *Core) Valid(s *vk.Stream, run runs.Source, without runs.Ranges, into runs.Row, scratch uint64) error {
	c.counted.Slice()[0] = 0
	return c.resolve(s, run, without, into, scratch)
}

// resolve is Valid without setting the counter to 0.
func (c *Core) resolve(s *vk.Stream, run runs.Source, without runs.Ranges, into runs.Row, scratch uint64) error {
	p := recording.Parts{Base: scratch}
	flags, rest := p.Take((run.N+31)/32*4), p.Take(0)
	if err := c.Queries.Mark(s, run, flags); err != nil {
		return err
	}
	if err := c.Queries.Without(s, run, without, flags); err != nil {
		return err
	}
	return c.Primitives.Compact(s, primitives.CompactArgs{
		Keys: run.Keys, Values: run.Values, Flags: flags, OutKeys: into.Keys, OutValues: into.Values,
		OutCount: c.counted.Address(), Length: primitives.Length{N: run.N}, Widths: c.Widths(), Scratch: rest,
	})
}

// Counted returns how many pairs Valid has written. Wait for its stream first.
func (c *Core) Counted() int { return int(c.counted.Slice()[0]) }

// CountValid counts the valid pairs and the tombstones. The caller has entered; other queries may run at the same time.
func (c *Core) CountValid(ctx context.Context) (valid, tombstones uint64, err error) {
	counters, err := vk.NewHostBuffer[uint32](c.Device, runs.ValidCounters)
	if err != nil {
		return 0, 0, err
	}
	defer counters.Free()
	st, part := c.of.Stack(), c.Queries.AtOnce()
	all := int(st.Pairs())
	sum := new([2]uint64)
	err = c.Pipelines.Do(ctx, func(s *vk.Stream) error {
		for next := 0; next < all; next += part {
			first, n := next, min(part, all-next)
			if err := context.Cause(ctx); err != nil {
				return err
			}
			clear(counters.Slice())
			err := recording.Run(s, func() error {
				return c.Queries.CountValid(s, st, first, n, counters.Address())
			})
			if err != nil {
				return err
			}
			for i, count := range counters.Slice() {
				sum[i%2] += uint64(count)
			}
		}
		return nil
	})
	return sum[0], sum[1], err
}

// buildIn divides the scratch memory to build from n pairs.
func (c *Core) buildIn(p *recording.Parts, n int) (keys, values, sort, valid uint64) {
	bytes := c.Width().Bytes() * n
	pairs := primitives.SortArgs{Length: primitives.Length{N: n}, Values: recording.Align, Widths: c.Widths()}
	return p.Take(bytes), p.Take(bytes), p.Take(c.Primitives.Scratch(pairs)),
		p.Take(c.ValidScratch(n))
}

// Build sorts pairs from Go slices into new memory, and returns it and the number of pairs. If keys are equal, the last
// one counts. The memory has room for all pairs that were given.
func (c *Core) Build(ctx context.Context, pairs pipeline.Operations) (*runs.Memory, int, error) {
	n := pairs.N
	into, err := runs.NewMemory(c.Device, c.Width(), n)
	if err != nil || n == 0 {
		return into, 0, err
	}
	upload := func() error {
		return cmp.Or(pairs.Keys.Upload(ctx, into.Buffer(), 0),
			pairs.Values.Upload(ctx, into.Buffer(), into.ValuesAt()), context.Cause(ctx))
	}
	if pairs.Keys.Order(0, n).Ascending { // the pairs are the result already
		if err := upload(); err != nil {
			into.Free()
			return nil, 0, err
		}
		return into, n, nil
	}
	var size recording.Parts
	c.buildIn(&size, n)
	scratch, err := vk.NewBuffer[byte](c.Device, int(size.Used))
	if err != nil {
		into.Free()
		return nil, 0, err
	}
	defer scratch.Free()
	sortedKeys, sortedValues, sort, valid := c.buildIn(&recording.Parts{Base: scratch.Address()}, n)

	// The input is uploaded to the memory of the result.
	row := into.Row(false)
	err = recording.Run(c.Stream, func() error {
		if err := upload(); err != nil {
			return err
		}
		err := c.Primitives.Sort(c.Stream, primitives.SortArgs{
			Keys: row.Keys, Values: row.Values, OutKeys: sortedKeys, OutValues: sortedValues,
			Length: primitives.Length{N: n}, Widths: c.Widths(), Scratch: sort,
		})
		if err != nil {
			return err
		}
		return c.Valid(c.Stream, runs.Source{Keys: sortedKeys, Values: sortedValues, N: n}, runs.Ranges{}, row, valid)
	})
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		into.Free()
		return nil, 0, err
	}
	return into, c.Counted(), nil
}
