package sorted

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/vk"
)

// update does a batch of insertions or deletions from Go slices.
func (c *Core) update(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	statuses := make([]structures.Status, len(keys))
	columns := []pipeline.Column{pipeline.In(keys), pipeline.In(values), pipeline.Out(statuses)}
	var turns pipeline.Turns
	err := c.pipeline.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
			if err := turns.Take(s); err != nil {
				return err
			}
			b := Batch{kind, chunk.Columns[0], chunk.Columns[1], chunk.Count}
			return c.record(ctx, s, b, chunk.Columns[2])
		},
		Progress: c.Progress,
	})
	return statuses, pipeline.Stopped(statuses, err)
}

// record records a batch, and before it, unless statuses is 0, what it will do.
func (c *Core) record(ctx context.Context, s *vk.Stream, b Batch, statuses uint64) error {
	if err := c.of.Reserve(s, b); err != nil {
		return err
	}
	c.Changed()
	if statuses != 0 {
		scratch, err := c.Scratch(s, c.Queries.OutcomesScratch(b.N))
		if err != nil {
			return err
		}
		err = c.Queries.Outcomes(s, c.of.Stack(), runs.OutcomesArgs{
			Kind: b.Kind, Keys: b.Keys, Statuses: statuses, N: b.N, Scratch: scratch,
		})
		if err != nil {
			return err
		}
	}
	return c.of.Update(ctx, s, b)
}

// Insert inserts pairs from Go slices, by who has entered; so do the calls that follow.
func (c *Core) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	if len(keys) != len(values) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	return c.update(ctx, structures.Insert, keys, values)
}

// Delete deletes keys from a Go slice.
func (c *Core) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	return c.update(ctx, structures.Delete, keys, nil)
}

// Apply does a batch of mixed operations: first the lookups and counts, then the insertions, then the deletions.
func (c *Core) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	n := len(b.Keys)
	if err := pipeline.Lengths(b); err != nil {
		return structures.Results{}, err
	}
	var lookups, insertions, deletions []int
	for i, k := range b.Kinds {
		switch {
		case k == structures.Find || k == structures.Count:
			lookups = append(lookups, i)
		case k == structures.Insert && b.Values != nil:
			insertions = append(insertions, i)
		case k == structures.Delete:
			deletions = append(deletions, i)
		default:
			return structures.Results{}, &structures.KindError{Index: i, Kind: k}
		}
	}
	r := structures.Results{Status: make([]structures.Status, n), Values: make([]uint32, n)}
	values, found, err := c.Lookup(ctx, pipeline.Pick(b.Keys, lookups))
	if err != nil {
		return r, pipeline.Stopped(r.Status, err)
	}
	for j, i := range lookups {
		r.Status[i] = structures.Absent
		if found[j] {
			r.Status[i], r.Values[i] = structures.Found, values[j]
			if b.Kinds[i] == structures.Count {
				r.Values[i] = 1
			}
		}
	}
	done := func(operations []int, statuses []structures.Status) {
		for j, status := range statuses {
			r.Status[operations[j]] = status
		}
	}
	statuses, err := c.Insert(ctx, pipeline.Pick(b.Keys, insertions), pipeline.Pick(b.Values, insertions))
	if done(insertions, statuses); err != nil {
		return r, pipeline.Stopped(r.Status, err)
	}
	statuses, err = c.Delete(ctx, pipeline.Pick(b.Keys, deletions))
	done(deletions, statuses)
	return r, pipeline.Stopped(r.Status, err)
}

// UpdateOn records a batch of insertions or deletions.
func (c *Core) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if err := c.EnterOn(ctx); err != nil {
		return err
	}
	defer c.Leave()
	err := c.check(s, kind, u)
	if err != nil || u.Count == 0 {
		return err
	}
	b := Batch{Kind: kind, Keys: u.Keys.AddressOf(u.First), N: u.Count}
	if kind == structures.Insert {
		b.Values = u.Values.AddressOf(u.First)
	}
	return c.on(s, true, func() error { return c.record(ctx, s, b, u.Status.Address()) })
}

// Finish waits for the stream of a batch, of which nothing is left pending.
func (c *Core) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if err := c.EnterOn(ctx); err != nil {
		return err
	}
	err := c.check(s, kind, u)
	c.Leave()
	if err != nil {
		return err
	}
	return s.Wait(ctx)
}

// check answers why a batch can't be recorded.
func (c *Core) check(s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if kind != structures.Insert && kind != structures.Delete {
		return &structures.KindError{Kind: kind}
	}
	return cmp.Or(c.Device.Accept("stream", s), recording.NeedUpdates(c.Device, kind, u))
}
