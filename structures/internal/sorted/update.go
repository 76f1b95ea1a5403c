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

// Check says why a batch of updates from Go slices can't be done.
func Check[W structures.Word](kind structures.Kind, keys, values []W, status []structures.Status) error {
	switch {
	case !updates(kind):
		return &structures.KindError{Kind: kind}
	case kind != structures.Delete && len(values) != len(keys):
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	return pipeline.Fits(len(keys), "statuses", status)
}

// updates says whether a stack of runs does updates of a kind.
func updates(kind structures.Kind) bool { return inserts(kind) || kind == structures.Delete }

func inserts(kind structures.Kind) bool { return kind == structures.Insert || folds(kind) }

// folds says whether the values that insertions of a kind leave behind depend on those that are there.
func folds(kind structures.Kind) bool {
	return kind == structures.InsertUnique || kind.UpdatesInPlace()
}

// Update does a batch of updates of one kind from Go slices, by who has entered. Without statuses that takes a sort
// less, but for those whose values depend on what is there.
func (c *Core[W]) Update(ctx context.Context, kind structures.Kind, keys, values []W,
	status []structures.Status) error {
	return c.update(ctx, kind, nil, keys, values, status)
}

// update is Update; kinds are those of a Mixed batch of insertions.
func (c *Core[W]) update(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []W,
	status []structures.Status) error {
	c.meter.Batch(kind, len(keys))
	columns := []pipeline.Column{pipeline.In(keys), {}, {}, {}}
	if kind != structures.Delete {
		columns[1] = pipeline.In(values)
	}
	if kind == structures.Mixed {
		columns[2] = pipeline.In(kinds)
	}
	if status != nil {
		columns[3] = pipeline.Statuses(status)
	}
	turns := new(pipeline.Turns)
	left, err := c.pipelines.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
			turns.Take(s)
			b := Batch{Kind: kind, Keys: chunk.Columns[0], Values: chunk.Columns[1], Kinds: chunk.Columns[2],
				N: chunk.Count}
			inOrder(&b, keys[chunk.First:][:chunk.Count])
			return c.record(ctx, s, b, chunk.Columns[3])
		},
		Progress: c.Progress,
		Turns:    turns,
	})
	return pipeline.Stopped(status, left, err)
}

// inOrder notes what order the keys of a batch are in.
func inOrder[W structures.Word](b *Batch, keys []W) {
	b.Sorted, b.Ascending = true, len(keys) != 0
	for i := 1; i < len(keys) && b.Sorted; i++ {
		b.Sorted, b.Ascending = keys[i-1] <= keys[i], b.Ascending && keys[i-1] < keys[i]
	}
	if b.Ascending {
		b.First, b.Last = uint64(keys[0]), uint64(keys[len(keys)-1])
	}
}

// Record records a batch without statuses, by who has entered alone.
func (c *Core[W]) Record(ctx context.Context, s *vk.Stream, b Batch) error {
	return c.record(ctx, s, b, 0)
}

// record records a batch, and before it, unless statuses is 0, what it will do.
func (c *Core[W]) record(ctx context.Context, s *vk.Stream, b Batch, statuses uint64) error {
	err := c.of.Reserve(s, b)
	if err != nil {
		return err
	}
	c.Changed()
	switch {
	case b.Kind == structures.Mixed || folds(b.Kind):
		b, err = c.fold(s, b, statuses)
	case statuses != 0:
		err = c.outcomes(s, b, statuses)
	}
	if err != nil {
		return err
	}
	return c.of.Update(ctx, s, b)
}

// outcomes records what a batch of insertions or deletions will do.
func (c *Core[W]) outcomes(s *vk.Stream, b Batch, statuses uint64) error {
	scratch, err := c.Scratch(s, c.Queries.OutcomesScratch(b.N))
	if err != nil {
		return err
	}
	return c.Queries.Outcomes(s, c.of.Stack(), runs.OutcomesArgs{
		Kind: b.Kind, Keys: b.Keys, Statuses: statuses, N: b.N, Scratch: scratch,
	})
}

// fold makes insertions of a batch whose values depend on those that are there.
func (c *Core[W]) fold(s *vk.Stream, b Batch, statuses uint64) (Batch, error) {
	scratch, err := c.Scratch(s, c.Queries.FoldScratch(b.N))
	if err != nil {
		return b, err
	}
	keys, values, err := c.Queries.Fold(s, c.of.Stack(), runs.FoldArgs{
		Type: c.Columns.Values.Type, Kind: b.Kind, Keys: b.Keys, Values: b.Values, Kinds: b.Kinds, Statuses: statuses,
		N: b.N, Scratch: scratch,
	})
	return Batch{Kind: structures.Insert, Keys: keys, Values: values, N: b.N}, err
}

// CheckMixed says why a mixed batch from Go slices can't be done.
func CheckMixed[W structures.Word](b structures.Batch[W, W], into *structures.Results[W, W]) error {
	if err := cmp.Or(pipeline.Lengths(b, false), pipeline.FitsResults(b, into)); err != nil {
		return err
	}
	for i, k := range b.Kinds {
		switch {
		case k == structures.Find, k == structures.CountAll, inserts(k), k == structures.Delete:
		default:
			return &structures.KindError{Index: i, Kind: k}
		}
	}
	return nil
}

// WithStatus are results with statuses, of which there are new ones where the caller wants none: Apply needs them.
func WithStatus[W structures.Word](into *structures.Results[W, W], n int) *structures.Results[W, W] {
	if into.Status != nil {
		return into
	}
	r := *into
	r.Status = make([]structures.Status, n)
	return &r
}

// Apply does a batch of mixed operations, by who has entered: first the lookups and counts, then the insertions, then
// the deletions. There are statuses to write to.
func (c *Core[W]) Apply(ctx context.Context, b structures.Batch[W, W], into *structures.Results[W, W]) error {
	var lookups, insertions, deletions []int
	for i, k := range b.Kinds {
		switch {
		case inserts(k):
			insertions = append(insertions, i)
		case k == structures.Delete:
			deletions = append(deletions, i)
		default:
			lookups = append(lookups, i)
		}
	}
	// Results may overwrite these.
	values, kinds := pipeline.Pick(b.Values, insertions), pipeline.Pick(b.Kinds, insertions)
	clear(into.Status)
	err := c.lookUp(ctx, b, lookups, into)
	if err == nil {
		err = c.updateSome(ctx, common(kinds), kinds, b.Keys, values, insertions, into.Status)
	}
	if err == nil {
		err = c.updateSome(ctx, structures.Delete, nil, b.Keys, nil, deletions, into.Status)
	}
	return pipeline.Stopped(into.Status, 0, err)
}

// lookUp does the lookups and counts of a mixed batch.
func (c *Core[W]) lookUp(ctx context.Context, b structures.Batch[W, W], operations []int,
	into *structures.Results[W, W]) error {
	values, found := make([]W, len(operations)), make([]bool, len(operations))
	if err := c.Lookup(ctx, pipeline.Pick(b.Keys, operations), values, found); err != nil {
		return err
	}
	for j, i := range operations {
		value := W(0)
		into.Status[i] = structures.Absent
		if found[j] {
			into.Status[i], value = structures.Found, values[j]
			if b.Kinds[i] == structures.CountAll {
				value = 1
			}
		}
		if into.Values != nil {
			into.Values[i] = value
		}
	}
	return nil
}

// updateSome does some operations of a batch, and tells of these what has become of them.
func (c *Core[W]) updateSome(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []W,
	operations []int, status []structures.Status) error {
	some := make([]structures.Status, len(operations))
	err := c.update(ctx, kind, kinds, pipeline.Pick(keys, operations), values, some)
	for j, i := range operations {
		status[i] = some[j]
	}
	return err
}

// common is the kind that all insertions have, or Mixed; of none it is Insert.
func common(kinds []structures.Kind) structures.Kind {
	for _, k := range kinds {
		if k != kinds[0] {
			return structures.Mixed
		}
	}
	if len(kinds) == 0 {
		return structures.Insert
	}
	return kinds[0]
}

// UpdateOn records a batch of updates of one kind.
func (c *Core[W]) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if err := c.EnterOn(ctx); err != nil {
		return err
	}
	defer c.Leave()
	err := c.check(s, kind, u)
	if err == nil {
		u, err = known(ctx, s, u)
	}
	if err != nil || u.Count == 0 {
		return err
	}
	c.meter.Batch(kind, u.Count)
	b := Batch{Kind: kind, Keys: u.Keys.AddressOf(u.First << c.Width()), N: u.Count}
	if kind != structures.Delete {
		b.Values = u.Values.AddressOf(u.First << c.Width())
	}
	return c.on(s, true, func() error { return c.record(ctx, s, b, u.Status.Address()) })
}

// known returns a batch whose number the host knows, by which it lays runs out: where the device alone knew it, the
// stream is waited for, and so submits what it has recorded.
func known(ctx context.Context, s *vk.Stream, u structures.DeviceBatch) (structures.DeviceBatch, error) {
	if u.DeviceCount == nil || u.Count == 0 {
		return u, nil
	}
	var word [1]uint32
	err := cmp.Or(s.Wait(context.WithoutCancel(ctx)), ctx.Err())
	if err == nil {
		err = u.DeviceCount.Download(ctx, 0, word[:])
	}
	u.Count, u.DeviceCount = int(min(uint64(word[0]), uint64(u.Count))), nil
	return u, err
}

// Finish waits for the stream of a batch, of which nothing is left pending.
func (c *Core[W]) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
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
func (c *Core[W]) check(s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if !updates(kind) {
		return &structures.KindError{Kind: kind}
	}
	return cmp.Or(c.Device.Accept("stream", s), recording.NeedUpdates(c.Device, kind, u, c.Width()))
}
