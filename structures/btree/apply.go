package btree

import (
	"context"
	"errors"
	"slices"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// request is a batch in the caller's slices.
type request struct {
	pipeline.Operations

	// For mixed batches:
	highs   pipeline.Column
	width   int
	moments bool            // OwnMoments
	outKeys pipeline.Column // the neighbors' keys
	pairs   ordered.Sink    // the pairs of ranges
	offsets []uint64        // the ranges in pairs, for the operations done so far; nil: no range lists pairs
}

// part returns the request for the operations from first to end, without end.
func (r *request) part(first, end int) request {
	p := *r
	p.Operations = r.Operations.Part(first, end)
	p.highs, p.outKeys = r.highs.Part(first, end-first), r.outKeys.Part(first, end-first)
	return p
}

// some returns the request for the operations at some indices, with its own memory for statuses and results.
func (r *request) some(places []int) request {
	p := *r
	p.Operations = r.Operations.Pick(places)
	p.highs, p.outKeys = r.highs.Pick(places), r.outKeys.Pick(places)
	return p
}

// checkMixed returns an error if a batch of mixed operations can't be done.
func checkMixed(kinds []structures.Kind, highs bool, width int) error {
	for i, k := range kinds {
		switch {
		case k.Ranges() && !highs:
			return &structures.LengthError{Keys: len(kinds), Other: "highs"}
		case k == structures.FindRange && width < 1:
			return &structures.LengthError{Keys: len(kinds), Other: "pairs a range (Width)", Need: 1, Got: width}
		case k != structures.CountAll && !does(k):
			return &structures.KindError{Index: i, Kind: k}
		}
	}
	return nil
}

// mixed does a batch of mixed operations, as in the concurrent benchmark of section 5.6 of Awad et al. (2019).
// structures.Batch describes the order in which they take effect. A batch with ordered queries waits for the streams
// that use the tree. mixed returns the offsets of the ranges, in the memory of offsets if there is room, or nil if no
// range was listed.
//
// Errors are those of Insert. If ordered queries can't be completed, nothing of the batch is done.
func (t *tree) mixed(ctx context.Context, r request) ([]uint64, error) {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.Enter(ctx); err != nil {
		return nil, pipeline.NotBegun(r.Status, r.N, err)
	}
	defer t.Leave()
	asked, counts := r.Kinds, slices.Contains(r.Kinds, structures.CountAll)
	if counts {
		r.Kinds = lookups(asked)
	}
	ordered := slices.ContainsFunc(r.Kinds, structures.Kind.Ordered)
	if !ordered {
		r.outKeys.To = nil // no operation returns keys
	}
	r.moments = r.moments && t.o.Path != Batched && ordered && slices.ContainsFunc(r.Kinds, updates)
	var err error
	if r.moments {
		err = t.keepsMoving(ctx, nil, r.N, min(r.N, t.Pipelines.Chunk()))
	} else {
		err = t.keeps(ctx, nil, r.N)
	}
	if err == nil && ordered {
		err = t.Changes.Rest(ctx)
	}
	if err != nil {
		return nil, pipeline.NotBegun(r.Status, r.N, err)
	}
	t.Changes.Made()
	t.Meter.Batch(structures.Mixed, r.N)
	if r.Status == nil && (counts || t.o.Path == Batched || ordered) {
		r.Status = make([]structures.Status, r.N)
	}
	if slices.Contains(r.Kinds, structures.FindRange) {
		r.offsets = []uint64{0}
	}
	switch {
	case t.o.Path == Batched:
		err = t.phases(ctx, &r)
	case ordered && !r.moments && slices.ContainsFunc(r.Kinds, updates):
		t.batches.concurrent.Add(1)
		err = t.atOnce(ctx, &r)
	default:
		t.batches.concurrent.Add(1)
		err = t.concurrent(ctx, &r)
	}
	if counts {
		r.counted(asked)
	}
	return r.offsets, err
}

// counted turns the results of lookups into counts, for operations that asked for a count.
func (r *request) counted(asked []structures.Kind) {
	for i, k := range asked {
		if k != structures.CountAll {
			continue
		}
		n := uint64(0)
		if r.Status[i] == structures.Found {
			n = 1
		}
		r.Values.PutCount(i, n)
	}
}

// lookups returns the kinds of a batch with lookups instead of counts, because a key has one pair at most.
func lookups(kinds []structures.Kind) []structures.Kind {
	kinds = slices.Clone(kinds)
	for i, k := range kinds {
		if k == structures.CountAll {
			kinds[i] = structures.Find
		}
	}
	return kinds
}

// atOnce does a batch that has ordered queries and updates as one part on the device, the updates after the queries. If
// it does not fit into one part, atOnce first does all queries, and then the updates, in parts.
func (t *tree) atOnce(ctx context.Context, r *request) error {
	err := t.concurrentWhole(ctx, r, true)
	if err == errNotAtOnce {
		err = t.phases(ctx, r)
	}
	return err
}

// errNotAtOnce says that a batch does not fit into one part. Nothing was done.
var errNotAtOnce = errors.New("btree: the batch takes several parts")

// phases does the queries of a batch, and then its updates.
func (t *tree) phases(ctx context.Context, r *request) error {
	var queries, updates []int
	for i, k := range r.Kinds {
		if k == structures.Find || k.Ordered() {
			queries = append(queries, i)
		} else {
			updates = append(updates, i)
		}
	}
	q := *r
	q.Values.From = nil
	if q = q.some(queries); q.offsets != nil {
		q.offsets = []uint64{0}
	}
	u := request{Operations: r.Operations}
	u.Values = r.Values.Brought()
	u.Operations = u.Pick(updates) // before the results overwrite the operands
	err := t.concurrent(ctx, &q)
	clear(r.Status)
	pipeline.Spread(r.Status, q.Status, queries)
	r.Values.Spread(q.Values, queries)
	clear(r.outKeys.To)
	r.outKeys.Spread(q.outKeys, queries)
	if r.offsets != nil {
		r.offsets = slices.Grow(r.offsets[:0], r.N+1)[:r.N+1]
		clear(r.offsets)
		for j, i := range queries {
			r.offsets[i+1] = q.offsets[j+1]
		}
		for i := range r.N { // operations other than ranges have no pairs
			r.offsets[i+1] = max(r.offsets[i+1], r.offsets[i])
		}
	}
	if err != nil {
		return pipeline.Stopped(r.Status, r.N, err)
	}
	if t.o.Path == Batched {
		err = t.batched(ctx, u)
	} else {
		err = t.concurrent(ctx, &u)
	}
	pipeline.Spread(r.Status, u.Status, updates)
	return err
}

// leastPart is how many operations are done at once even in a small tree.
const leastPart = 1 << 12

// concurrent does a batch of operations concurrently, in parts that are no larger than the tree: in larger parts
// operations would wait for each other. A batch with ordered queries must have statuses.
func (t *tree) concurrent(ctx context.Context, r *request) error {
	return t.concurrentWhole(ctx, r, false)
}

// concurrentWhole is concurrent, but if whole is set and the batch does not fit into one part, it returns errNotAtOnce.
func (t *tree) concurrentWhole(ctx context.Context, r *request, whole bool) error {
	n := r.N
	w := windowsOf(r.Kinds, r.width)
	var err error
	done, left := 0, 0
	for done < n && err == nil {
		part := max(leastPart, int(t.known.about()))
		if r.Inserts() {
			part = min(part, t.mostInserted())
		}
		end := w.fit(done, min(n, done+part), ordered.AtOnce(t.Device))
		if whole && (end < n || n > t.Pipelines.Chunk()) {
			return errNotAtOnce
		}
		p := concurrentPart{request: r.part(done, end), whole: whole, windows: w.part(done, end)}
		left, err = t.runPart(ctx, &p, pipeline.After(gate.Told(ctx), done, n))
		if whole && !p.begun && pipeline.Short(err) {
			return errNotAtOnce
		}
		r.offsets = p.results(r.offsets, t.width.Bytes())
		done = end
	}
	clear(pipeline.Cut(r.Status, done, n))
	clear(r.outKeys.Part(done, n-done).To)
	for r.offsets != nil && len(r.offsets) <= n {
		r.offsets = append(r.offsets, r.offsets[len(r.offsets)-1])
	}
	err = pipeline.Stopped(r.Status, left+n-done, err)
	if pending := (*structures.PendingError)(nil); pipeline.Short(err) && !errors.As(err, &pending) {
		err = nil // all is done; nodes without a parent, because the pool was full, are found by side links
	}
	return err
}

// concurrentPart are operations of a batch that are on the device at the same time.
type concurrentPart struct {
	request
	whole   bool // not divided into chunks
	begun   bool // some of it was recorded
	windows windows
	words   []byte   // the contents of the windows: all keys, then all values; nil if they could not be read
	numbers []uint32 // the number of pairs that each range lists
}

// runPart does a part. left is the number of operations that were not done.
func (t *tree) runPart(ctx context.Context, p *concurrentPart, progress structures.Progress) (left int, err error) {
	inserts := p.Inserts()
	if inserts {
		t.settle(t.Stream)
		err := t.reserve(ctx, p.N, Concurrent)
		t.known.inserted += uint64(p.N)
		if err != nil && !pipeline.Short(err) { // if it is short of memory, operations may be left pending
			return p.N, err
		}
	}
	own := operands{alone: true, ordered: p.windows.any, width: p.windows.width, moments: p.moments,
		plain: !recording.UpdatesInPlace(p.Kind, p.Kinds)}
	var pairs *vk.Buffer[uint32]
	if room := p.windows.count() * p.windows.width; room != 0 {
		room = (room + 3) &^ 3 // pairs are written in groups of 4, so the values must begin at a multiple of 4
		var err error
		if pairs, err = vk.NewBuffer[uint32](t.Device, 2*room*t.words()); err != nil {
			return p.N, err
		}
		defer pairs.Free()
		own.outKeys, own.outValues = pairs.Address(), pairs.AddressOf(room*t.words())
	}
	if p.windows.lists {
		p.numbers = make([]uint32, p.N)
		p.Values = p.Values.Counting(p.numbers)
	}
	columns := []pipeline.Column{p.Keys, p.Values, pipeline.In(p.Kinds), p.highs, pipeline.In(p.windows.numbers),
		pipeline.Statuses(p.Status)}
	defer t.calm(t.visits)
	turns := new(pipeline.Turns)
	ordered := sequential.Matters(p.Kind, p.N, p.Keys)
	task := pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			o := own
			o.keys, o.values, o.kinds = c.Columns[0], c.Columns[1], c.Columns[2]
			o.highs, o.windows, o.statuses = c.Columns[3], c.Columns[4], c.Columns[5]
			o.pending, o.count, o.retry = c.Pending, c.Count, c.Retry
			if ordered {
				return t.applyInOrder(s, p.Kind, o)
			}
			turns.Take(s)
			err := t.apply(s, p.Kind, o)
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
	left, err = t.Pipelines.Run(ctx, p.N, columns, task)
	if pairs != nil {
		words := make([]uint32, pairs.Len())
		failure := pairs.Download(context.WithoutCancel(ctx), 0, words)
		if failure == nil {
			p.words = pipeline.Bytes(words)
		} else if err == nil {
			err = failure
		}
	}
	return left, err
}

// applyInOrder records a batch of insertions in which equal keys count in the batch's order.
func (t *tree) applyInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	c := sequential.Chunk{Kind: kind, Width: t.width, Keys: b.keys, Statuses: b.statuses, Pending: b.pending,
		Count: b.count, Retry: b.retry}
	return t.order.Record(s, c, func(p sequential.Pass) error {
		o := b
		o.statuses, o.retry, o.few, o.groups = p.Statuses, p.Retry, p.Again, p.Groups
		return t.apply(s, p.Kind, o)
	})
}

// results copies the results of a part from its windows, with keys and values of so many bytes, and appends the offsets
// of its ranges.
func (p *concurrentPart) results(offsets []uint64, bytes int) []uint64 {
	if !p.windows.any {
		return offsets
	}
	clear(p.outKeys.To)
	all := 0
	for i, k := range p.Kinds {
		switch {
		case !k.Ordered() || k == structures.CountRange:
		case p.words == nil:
			p.Status[i] = structures.Pending // its result is lost
		case p.lists(i):
			all += int(p.numbers[i])
		case p.outKeys.To != nil && p.Status[i] == structures.Found:
			key, _ := p.window(i, 1, bytes)
			p.outKeys.Put(i, key)
		}
	}
	if !p.windows.lists {
		return offsets
	}
	toKeys, toValues := p.pairs.Extend(all)
	at, before := 0, offsets[len(offsets)-1]
	for i := range p.Kinds {
		if p.lists(i) {
			n := int(p.numbers[i])
			keys, values := p.window(i, n, bytes)
			toKeys.Put(at, keys)
			toValues.Put(at, values)
			at += n
		}
		offsets = append(offsets, before+uint64(at))
	}
	return offsets
}

// lists reports whether an operation has listed pairs.
func (p *concurrentPart) lists(i int) bool {
	return p.Kinds[i] == structures.FindRange && p.Status[i] == structures.Found
}

// window returns the first pairs of an operation's window.
func (p *concurrentPart) window(i, pairs, bytes int) (keys, values []byte) {
	at := int(p.windows.numbers[i]) * p.windows.width * bytes
	half := len(p.words) / 2
	return p.words[at : at+pairs*bytes], p.words[half+at : half+at+pairs*bytes]
}
