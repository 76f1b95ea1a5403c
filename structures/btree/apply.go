package btree

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/sequential"
	"github.com/vkds/vkds/vk"
)

// Apply does a batch of mixed operations: Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find,
// CountAll, and those that ask for order (structures.FindSuccessor to structures.CountRange), as the concurrent
// benchmark of section 5.6 of Awad et al. (2019) has them.
//
// structures.Batch says in which order they take effect. A batch with operations that ask for order waits for the
// streams that work on the tree.
//
// Errors: *structures.KindError and *structures.LengthError before anything is done, and those of Insert. Where one is
// about queries that ask for order, none of the batch is done.
func (t *dictionary[W]) Apply(ctx context.Context, b structures.Batch[W, W]) (structures.Results[W, W], error) {
	r := pipeline.ResultsOf(b)
	err := t.ApplyInto(ctx, b, &r)
	return pipeline.MadeResults(r, err)
}

// ApplyInto is Apply into the caller's slices: Status, Values and Keys, each as long as the batch or nil, which is not
// wanted. Values may be those of the batch. Where the batch lists ranges, those of into are their pairs afterwards, in
// the slices that are there as far as they have room. What the batch doesn't ask for stays as it is.
func (t *dictionary[W]) ApplyInto(ctx context.Context, b structures.Batch[W, W], into *structures.Results[W, W]) error {
	if err := cmp.Or(t.gate.Err(), pipeline.Lengths(b, false), pipeline.FitsResults(b, into)); err != nil {
		return err
	}
	asked, counts := b.Kinds, false
	b.Kinds = slices.Clone(b.Kinds)
	for i, k := range b.Kinds {
		switch {
		case k.Ranges() && b.Highs == nil:
			return &structures.LengthError{Keys: len(b.Keys), Other: "highs"}
		case k == structures.FindRange && b.Width < 1:
			return &structures.LengthError{Keys: len(b.Keys), Other: "pairs a range (Width)", Got: b.Width}
		case k == structures.CountAll:
			b.Kinds[i], counts = structures.Find, true // a key has one pair at most
		case !does(k):
			return &structures.KindError{Index: i, Kind: k}
		}
	}
	if err := t.gate.Enter(ctx); err != nil {
		return pipeline.NotBegun(into.Status, len(b.Keys), err)
	}
	defer t.gate.Leave()
	ordered := slices.ContainsFunc(b.Kinds, structures.Kind.Ordered)
	b.OwnMoments = b.OwnMoments && t.o.Path != Batched && ordered &&
		slices.ContainsFunc(b.Kinds, updates)
	var err error
	if b.OwnMoments {
		err = t.keepsMoving(ctx, nil, len(b.Keys), min(len(b.Keys), t.pipelines.Chunk()))
	} else {
		err = t.keeps(ctx, nil, len(b.Keys))
	}
	if err == nil && ordered {
		err = t.versions.writes.Rest(ctx)
	}
	if err != nil {
		return pipeline.NotBegun(into.Status, len(b.Keys), err)
	}
	t.versions.writes.Made()
	t.meter.Batch(structures.Mixed, len(b.Keys))
	r := *into
	if counts || t.o.Path == Batched || ordered {
		r.Status, r.Values = orMade(r.Status, len(b.Keys)), orMade(r.Values, len(b.Keys))
	}
	switch {
	case t.o.Path == Batched:
		err = t.phases(ctx, b, &r, t.batched)
	case ordered && slices.ContainsFunc(b.Kinds, updates) && !b.OwnMoments:
		err = t.atOnce(ctx, b, &r)
	default:
		err = t.mixed(ctx, b, &r)
	}
	into.Ranges = r.Ranges
	for i, k := range asked {
		if k == structures.CountAll {
			r.Values[i] = 0
			if r.Status[i] == structures.Found {
				r.Values[i] = 1
			}
		}
	}
	return err
}

// orMade is a slice, or, where there is none, a new one.
func orMade[T any](s []T, n int) []T {
	if s == nil {
		return make([]T, n)
	}
	return s
}

func (t *dictionary[W]) mixed(ctx context.Context, b structures.Batch[W, W], r *structures.Results[W, W]) error {
	t.batches.concurrent.Add(1)
	return t.concurrent(ctx, structures.Mixed, b, r)
}

// atOnce does a batch of which operations ask for order and others change the tree: in one part on the device, behind
// whose queries the updates come. Where that has no room, all queries are done first, and then the updates, by parts.
func (t *dictionary[W]) atOnce(ctx context.Context, b structures.Batch[W, W], r *structures.Results[W, W]) error {
	t.batches.concurrent.Add(1)
	err := t.concurrentWhole(ctx, structures.Mixed, b, r, true)
	if err != errNotAtOnce {
		return err
	}
	return t.phases(ctx, b, r, func(ctx context.Context, kind structures.Kind, b structures.Batch[W, W],
		status []structures.Status) error {
		return t.concurrent(ctx, kind, b, &structures.Results[W, W]{Status: status})
	})
}

// errNotAtOnce says that there is no room for a batch in one part. Nothing was done.
var errNotAtOnce = errors.New("btree: the batch takes several parts")

// phases does the queries of a batch, and then its updates as told.
func (t *dictionary[W]) phases(ctx context.Context, b structures.Batch[W, W], r *structures.Results[W, W],
	update func(ctx context.Context, kind structures.Kind, b structures.Batch[W, W],
		status []structures.Status) error) error {
	n := len(b.Keys)
	var queries, updates []int
	for i, k := range b.Kinds {
		if k == structures.Find || k.Ordered() {
			queries = append(queries, i)
		} else {
			updates = append(updates, i)
		}
	}
	u := structures.Batch[W, W]{ // before results take the place of what is brought
		Kinds: pipeline.Pick(b.Kinds, updates), Keys: pipeline.Pick(b.Keys, updates),
		Values: pipeline.Pick(b.Values, updates),
	}
	q := structures.Batch[W, W]{
		Kinds: pipeline.Pick(b.Kinds, queries), Keys: pipeline.Pick(b.Keys, queries), Width: b.Width,
	}
	if b.Highs != nil {
		q.Highs = pipeline.Pick(b.Highs, queries)
	}
	found := pipeline.ResultsOf(q)
	found.Ranges = structures.Ranges[W, W]{Keys: r.Ranges.Keys, Values: r.Ranges.Values}
	err := t.concurrent(ctx, structures.Mixed, q, &found)
	found, err = pipeline.MadeResults(found, err)
	clear(r.Status)
	put(r.Status, queries, found.Status)
	put(r.Values, queries, found.Values)
	if found.Keys != nil {
		clear(r.Keys)
		put(r.Keys, queries, found.Keys)
	}
	if found.Ranges.Offsets != nil {
		r.Ranges.Keys, r.Ranges.Values = found.Ranges.Keys, found.Ranges.Values
		r.Ranges.Offsets = slices.Grow(r.Ranges.Offsets[:0], n+1)[:n+1]
		clear(r.Ranges.Offsets)
		for j, i := range queries {
			r.Ranges.Offsets[i+1] = found.Ranges.Offsets[j+1]
		}
		for i := range n { // operations that are no ranges have none
			r.Ranges.Offsets[i+1] = max(r.Ranges.Offsets[i+1], r.Ranges.Offsets[i])
		}
	}
	if err != nil {
		return pipeline.Stopped(r.Status, n, err)
	}
	some := make([]structures.Status, len(updates))
	err = update(ctx, structures.Mixed, u, some)
	put(r.Status, updates, some)
	return err
}

// put puts elements to their places, if they are wanted.
func put[T any](into []T, places []int, some []T) {
	if into == nil {
		return
	}
	for j, i := range places {
		into[i] = some[j]
	}
}

// leastPart is how many operations a tree takes at once, however small it is.
const leastPart = 1 << 12

// concurrent does a batch of operations concurrently, in parts that are no larger than the tree: more would stand
// in each other's way. Kinds are those of a mixed batch. Where they ask for order, there are statuses and values in r.
func (t *dictionary[W]) concurrent(ctx context.Context, kind structures.Kind, b structures.Batch[W, W],
	r *structures.Results[W, W]) error {
	return t.concurrentWhole(ctx, kind, b, r, false)
}

// concurrentWhole is concurrent, or, where a batch is to be a whole and is none, errNotAtOnce.
func (t *dictionary[W]) concurrentWhole(ctx context.Context, kind structures.Kind, b structures.Batch[W, W],
	r *structures.Results[W, W], whole bool) error {
	n := len(b.Keys)
	w := windowsOf(b)
	if w.lists {
		r.Ranges = structures.Ranges[W, W]{Offsets: append(r.Ranges.Offsets[:0], 0), Keys: r.Ranges.Keys[:0],
			Values: r.Ranges.Values[:0]}
	}
	var err error
	done, left := 0, 0
	for done < n && err == nil {
		part := max(leastPart, int(t.known.about()))
		if kind.Inserts() || slices.ContainsFunc(b.Kinds, structures.Kind.Inserts) {
			part = min(part, t.mostInserted())
		}
		end := w.fit(done, min(n, done+part), ordered.AtOnce(t.d))
		if whole && (end < n || n > t.pipelines.Chunk()) {
			return errNotAtOnce
		}
		p := concurrentPart[W]{
			kind: kind, whole: whole, windows: w.part(done, end), status: pipeline.Cut(r.Status, done, end),
			values: pipeline.Cut(r.Values, done, end),
			batch: structures.Batch[W, W]{
				Kinds: pipeline.Cut(b.Kinds, done, end), Keys: b.Keys[done:end],
				Values: pipeline.Cut(b.Values, done, end), Highs: pipeline.Cut(b.Highs, done, end),
				OwnMoments: b.OwnMoments,
			},
		}
		left, err = t.runPart(ctx, &p, pipeline.After(t.o.Progress, done, n))
		if whole && !p.begun && pipeline.Short(err) {
			return errNotAtOnce
		}
		p.results(done, r)
		done = end
	}
	clear(pipeline.Cut(r.Status, done, n))
	if w.any {
		clear(pipeline.Cut(r.Keys, done, n))
	}
	for w.lists && len(r.Ranges.Offsets) <= n {
		r.Ranges.Offsets = append(r.Ranges.Offsets, uint64(len(r.Ranges.Keys)))
	}
	err = pipeline.Stopped(r.Status, left+n-done, err)
	if pending := (*structures.PendingError)(nil); pipeline.Short(err) && !errors.As(err, &pending) {
		err = nil // all is done; nodes that the full pool has left without a parent are found by side links
	}
	return err
}

// concurrentPart are operations of a batch that are on the device at the same time.
type concurrentPart[W structures.Word] struct {
	kind    structures.Kind
	batch   structures.Batch[W, W]
	whole   bool // not to be cut into chunks
	begun   bool // something of it was recorded
	windows windows
	status  []structures.Status
	values  []W // out
	pairs   []W // what the windows hold: all keys, then all values; nil if that could not be read
}

// runPart does a part. left: so many operations of it were not done.
func (t *dictionary[W]) runPart(ctx context.Context, p *concurrentPart[W],
	progress structures.Progress) (left int, err error) {
	finds := p.kind == structures.Mixed || p.kind == structures.Find
	inserts := p.kind.Inserts() || slices.ContainsFunc(p.batch.Kinds, structures.Kind.Inserts)
	if inserts {
		t.settle(t.stream)
		err := t.reserve(ctx, len(p.batch.Keys), Concurrent)
		t.known.inserted += uint64(len(p.batch.Keys))
		if err != nil && !pipeline.Short(err) { // operations are left pending, if it must be
			return len(p.batch.Keys), err
		}
	}
	own := operands{alone: true, ordered: p.windows.any, width: p.windows.width, moments: p.batch.OwnMoments,
		plain: !recording.UpdatesInPlace(p.kind, p.batch.Kinds)}
	var pairs *vk.Buffer[uint32]
	if room := p.windows.count() * p.windows.width; room != 0 {
		room = (room + 3) &^ 3 // pairs are written by quads, of which the values have to begin with one, too
		var err error
		if pairs, err = vk.NewBuffer[uint32](t.d, 2*room*t.words()); err != nil {
			return len(p.batch.Keys), err
		}
		defer pairs.Free()
		own.outKeys, own.outValues = pairs.Address(), pairs.AddressOf(room*t.words())
	}
	columns := []pipeline.Column{
		pipeline.In(p.batch.Keys), {}, pipeline.In(p.batch.Kinds), pipeline.Statuses(p.status),
		pipeline.In(p.batch.Highs), pipeline.In(p.windows.numbers),
	}
	if inserts || finds {
		columns[1] = pipeline.Through(p.batch.Values, p.values)
	}
	defer t.calm(t.visits)
	turns := new(pipeline.Turns)
	ordered := sequential.Matters(p.kind, len(p.batch.Keys), pipeline.In(p.batch.Keys))
	task := pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			o := own
			o.keys, o.values, o.kinds = c.Columns[0], c.Columns[1], c.Columns[2]
			o.statuses, o.highs, o.windows = c.Columns[3], c.Columns[4], c.Columns[5]
			o.pending, o.count, o.retry = c.Pending, c.Count, c.Retry
			if ordered {
				return t.applyInOrder(s, p.kind, o)
			}
			turns.Take(s)
			err := t.apply(s, p.kind, o)
			p.begun = p.begun || err == nil
			return err
		},
		Whole:    p.whole,
		Recover:  t.makeRoom,
		Progress: progress,
		Turns:    turns,
	}
	if ordered {
		task = t.order.Begin(task)
	}
	left, err = t.pipelines.Run(ctx, len(p.batch.Keys), columns, task)
	if pairs != nil {
		p.pairs = make([]W, pairs.Len()/t.words())
		if failure := pairs.Download(context.WithoutCancel(ctx), 0, recording.Words(p.pairs)); failure != nil {
			p.pairs = nil
			if err == nil {
				err = failure
			}
		}
	}
	return left, err
}

// applyInOrder records a batch of insertions of which equal keys count in the batch's order.
func (t *tree) applyInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	c := sequential.Chunk{Kind: kind, Width: t.width, Keys: b.keys, Statuses: b.statuses, Pending: b.pending,
		Count: b.count, Retry: b.retry}
	return t.order.Record(s, c, func(p sequential.Pass) error {
		o := b
		o.statuses, o.retry, o.few, o.groups = p.Statuses, p.Retry, p.Few, p.Groups
		return t.apply(s, p.Kind, o)
	})
}

// results adds what a part has found to a batch's results. first is where it begins in the batch.
func (p *concurrentPart[W]) results(first int, r *structures.Results[W, W]) {
	if !p.windows.any {
		return
	}
	for i, k := range p.batch.Kinds {
		key := W(0)
		if has := k.Ordered() && k != structures.CountRange; has && p.pairs == nil {
			p.status[i] = structures.Pending // its answer is lost
		} else if has && p.status[i] == structures.Found {
			at, values := int(p.windows.numbers[i])*p.windows.width, len(p.pairs)/2
			if k == structures.FindRange {
				n := int(p.values[i])
				r.Ranges.Keys = append(r.Ranges.Keys, p.pairs[at:at+n]...)
				r.Ranges.Values = append(r.Ranges.Values, p.pairs[values+at:values+at+n]...)
			} else {
				key = p.pairs[at]
			}
		}
		if r.Keys != nil {
			r.Keys[first+i] = key
		}
		if p.windows.lists {
			r.Ranges.Offsets = append(r.Ranges.Offsets, uint64(len(r.Ranges.Keys)))
		}
	}
}
