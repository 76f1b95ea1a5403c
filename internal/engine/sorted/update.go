package sorted

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Update makes a batch of updates of one kind from a user's slices. It returns an error if the structure is not open or
// cannot do the batch.
func Update[K, V structures.Number](c *Core, kind structures.Kind, keys []K, values []V,
	status []structures.Status) (o pipeline.Operations, err error) {
	if err := c.Err(); err != nil {
		return o, err
	}
	if !updates(kind) {
		return o, &structures.KindError{Kind: kind}
	}
	return pipeline.UpdatesOf(kind, keys, values, status, c.Width())
}

// updates reports whether a stack of runs does updates of a kind.
func updates(kind structures.Kind) bool { return inserts(kind) || kind == structures.Delete }

func inserts(kind structures.Kind) bool { return kind == structures.Insert || folds(kind) }

// folds reports whether the values of insertions of a kind depend on those that are there.
func folds(kind structures.Kind) bool {
	return kind == structures.InsertUnique || kind.UpdatesInPlace()
}

// Update does a batch of updates of one kind from Go slices, or a Mixed one of insertions. The caller has entered.
// Without statuses it saves a sort, unless values depend on those that are there.
func (c *Core) Update(ctx context.Context, o pipeline.Operations) error {
	c.Meter.Batch(o.Kind, o.N)
	columns := []pipeline.Column{o.Keys, o.Values, {}, {}}
	if o.Kind == structures.Mixed {
		columns[2] = pipeline.In(o.Kinds)
	}
	if o.Status != nil {
		columns[3] = pipeline.Statuses(o.Status)
	}
	turns := new(pipeline.Turns)
	left, err := c.Pipelines.Run(ctx, o.N, columns, pipeline.Task{
		Record: func(s *vk.Stream, chunk pipeline.Chunk) error {
			turns.Take(s)
			b := Batch{Kind: o.Kind, Keys: chunk.Columns[0], Values: chunk.Columns[1], Kinds: chunk.Columns[2],
				N: chunk.Count, Order: o.Keys.Order(chunk.First, chunk.Count)}
			return c.record(ctx, s, b, chunk.Columns[3])
		},
		Progress: gate.Told(ctx),
		Turns:    turns,
	})
	return pipeline.Stopped(o.Status, left, err)
}

// Record records a batch without statuses. The caller has entered alone.
func (c *Core) Record(ctx context.Context, s *vk.Stream, b Batch) error {
	return c.record(ctx, s, b, 0)
}

// record records a batch. Unless statuses is 0, it first records the computing of the statuses.
func (c *Core) record(ctx context.Context, s *vk.Stream, b Batch, statuses uint64) error {
	err := c.of.Reserve(s, b)
	if err != nil {
		return err
	}
	c.Changes.Made()
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

// outcomes records the computing of the statuses of insertions or deletions.
func (c *Core) outcomes(s *vk.Stream, b Batch, statuses uint64) error {
	scratch, err := c.Scratch(s, c.Queries.OutcomesScratch(b.N))
	if err != nil {
		return err
	}
	return c.Queries.Outcomes(s, c.of.Stack(), runs.OutcomesArgs{
		Kind: b.Kind, Keys: b.Keys, Statuses: statuses, N: b.N, Scratch: scratch,
	})
}

// fold turns a batch whose values depend on those that are there into insertions.
func (c *Core) fold(s *vk.Stream, b Batch, statuses uint64) (Batch, error) {
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

// Mixed makes a mixed batch from a user's slices. It returns an error if the structure is not open or cannot do the
// batch. The batch always has statuses, because Apply needs them.
func Mixed[K, V structures.Number](c *Core, b structures.Batch[K, V],
	into *structures.Results[K, V]) (o pipeline.Operations, err error) {
	if err := cmp.Or(c.Err(), pipeline.Lengths(b, false)); err != nil {
		return o, err
	}
	for i, k := range b.Kinds {
		switch {
		case k == structures.Find, k == structures.CountAll, inserts(k), k == structures.Delete:
		default:
			return o, &structures.KindError{Index: i, Kind: k}
		}
	}
	return pipeline.MixedOf(b, into, c.Width()), nil
}

// Apply does a batch of mixed operations: first the lookups and counts, then the insertions, then the deletions. The
// caller has entered.
func (c *Core) Apply(ctx context.Context, o pipeline.Operations) error {
	var lookups, insertions, deletions []int
	for i, k := range o.Kinds {
		switch {
		case inserts(k):
			insertions = append(insertions, i)
		case k == structures.Delete:
			deletions = append(deletions, i)
		default:
			lookups = append(lookups, i)
		}
	}
	brought := o // copied first, because results may overwrite the values
	brought.Values = o.Values.Brought()
	inserted := brought.Pick(insertions)
	inserted.Kind = common(inserted.Kinds)
	brought.Values, brought.Kind = pipeline.Column{}, structures.Delete
	deleted := brought.Pick(deletions)
	clear(o.Status)
	err := c.lookUp(ctx, o, lookups)
	if err == nil {
		err = c.updateSome(ctx, inserted, insertions, o.Status)
	}
	if err == nil {
		err = c.updateSome(ctx, deleted, deletions, o.Status)
	}
	return pipeline.Stopped(o.Status, 0, err)
}

// lookUp does the lookups and counts of a mixed batch.
func (c *Core) lookUp(ctx context.Context, o pipeline.Operations, places []int) error {
	o.Values.From = nil // only insertions bring values
	some, found := o.Pick(places), make([]bool, len(places))
	if err := c.Lookup(ctx, some.N, some.Keys, some.Values, pipeline.Result(found)); err != nil {
		return err
	}
	for j, i := range places {
		o.Status[i] = structures.Absent
		if !found[j] {
			continue
		}
		o.Status[i] = structures.Found
		if o.Kinds[i] == structures.CountAll {
			some.Values.PutCount(j, 1)
		}
	}
	o.Values.Spread(some.Values, places)
	return nil
}

// updateSome does the operations at some places of a batch, and writes their statuses to these places.
func (c *Core) updateSome(ctx context.Context, some pipeline.Operations, places []int,
	status []structures.Status) error {
	err := c.Update(ctx, some)
	pipeline.Spread(status, some.Status, places)
	return err
}

// common returns the kind of all insertions, or Mixed if they differ. For none it returns Insert.
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

// OnStream has the calls on a structure that are recorded on one stream.
type OnStream struct {
	ordered.OnStream
	core *Core
}

var _ structures.OrderedOnStream = OnStream{}

// On returns the calls that are recorded on a stream.
func (c *Core) On(s *vk.Stream) OnStream {
	return OnStream{c.Reader.On(s), c}
}

// Update records a batch of updates of one kind.
func (o OnStream) Update(ctx context.Context, kind structures.Kind, u structures.DeviceBatch) error {
	c, s := o.core, o.Stream
	if err := c.Enter(ctx); err != nil {
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
	c.Meter.Batch(kind, u.Count)
	b := Batch{Kind: kind, Keys: u.Keys.AddressOf(u.First << c.Width()), N: u.Count}
	if kind != structures.Delete {
		b.Values = u.Values.AddressOf(u.First << c.Width())
	}
	return c.on(s, true, func() error { return c.record(ctx, s, b, u.Status.Address()) })
}

// known returns a batch whose number of operations the host knows, because the host lays out the runs. If only the
// device knew it, known waits for the stream, and so submits what it has recorded.
func known(ctx context.Context, s *vk.Stream, u structures.DeviceBatch) (structures.DeviceBatch, error) {
	if u.DeviceCount == nil || u.Count == 0 {
		return u, nil
	}
	var word [1]uint32
	err := cmp.Or(s.Wait(context.WithoutCancel(ctx)), context.Cause(ctx))
	if err == nil {
		err = u.DeviceCount.Download(ctx, 0, word[:])
	}
	u.Count, u.DeviceCount = int(min(uint64(word[0]), uint64(u.Count))), nil
	return u, err
}

// Finish waits for the stream of a batch. No batch leaves anything pending.
func (o OnStream) Finish(ctx context.Context, kind structures.Kind, u structures.DeviceBatch) error {
	c, s := o.core, o.Stream
	if err := c.Enter(ctx); err != nil {
		return err
	}
	err := c.check(s, kind, u)
	c.Leave()
	if err != nil {
		return err
	}
	return s.Wait(ctx)
}

// check returns an error if a batch can't be recorded.
func (c *Core) check(s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if !updates(kind) {
		return &structures.KindError{Kind: kind}
	}
	return cmp.Or(c.Device.Accept("stream", s), recording.NeedUpdates(c.Device, kind, u, c.Width()))
}
