package slabhash

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

type exportPush struct {
	Hash     Description
	Keys     uint64
	Values   uint64
	Written  uint64
	First    uint32
	Count    uint32
	Capacity uint32
}

type collectPush struct {
	Hash    Description
	Keys    uint64
	Offsets uint64
	Values  uint64

	Count    uint32
	Capacity uint32
}

const pairsAnExport = 1 << 21 // pairs of one dispatch, about

// walk reads the buckets of a table part by part. Other calls may change the table between two parts.
type walk struct {
	t       *table
	parts   recording.Walk
	next    uint32                 // bucket
	part    uint32                 // buckets of a part
	room    *vk.Buffer[uint32]     // for the results of a part
	written *vk.HostBuffer[uint32] // one word, the number of pairs of a part: read after recording.Run, which waits
}

// do does a part on a stream of its own, concurrently with queries.
func (w *walk) do(ctx context.Context, part func(s *vk.Stream) error) error {
	leave, err := w.parts.Enter(ctx, &w.t.Changes, w.t.EnterShared, w.t.LeaveShared)
	if err != nil {
		return err
	}
	defer leave()
	return w.t.Pipelines.Do(ctx, part)
}

// make replaces the room by one of that many words.
func (w *walk) make(words int) (err error) {
	if w.room != nil {
		w.room.Free()
	}
	if w.room, err = vk.NewBuffer[uint32](w.t.Device, words); err != nil {
		w.room = nil
	}
	return err
}

func (w *walk) free() {
	if w.room != nil {
		w.room.Free()
	}
	if w.written != nil {
		w.written.Free()
	}
}

// sink collects keys or values of the caller's type if their number isn't known in advance.
type sink interface {
	// extend adds n elements, and returns the column that they are read into.
	extend(n int) pipeline.Column
}

type keyList[K structures.Number] struct {
	all   []K
	width structures.Width // on the device
}

func (l *keyList[K]) extend(n int) pipeline.Column {
	at := len(l.all)
	l.all = append(l.all, make([]K, n)...)
	return pipeline.KeyResults(l.all[at:], l.width)
}

type valueList[V structures.Number] struct {
	all   []V
	width structures.Width
}

func (l *valueList[V]) extend(n int) pipeline.Column {
	at := len(l.all)
	l.all = append(l.all, make([]V, n)...)
	return pipeline.ValueResults(l.all[at:], l.width)
}

// chunks returns all pairs, part by part. The values of a set are nil. The slices are valid until the next part. in:
// the caller has entered the table.
func chunks[K, V structures.Number](ctx context.Context, t *table,
	in bool) iter.Seq2[structures.Pairs[K, V], error] {
	return func(yield func(structures.Pairs[K, V], error) bool) {
		w := walk{t: t, parts: recording.Walk{In: in}}
		defer w.free()
		keys, values := &keyList[K]{width: t.width}, &valueList[V]{width: t.width}
		for {
			keys.all, values.all = keys.all[:0], values.all[:0]
			n, err := w.pairs(ctx, keys, values)
			if err != nil {
				yield(structures.Pairs[K, V]{}, err)
				return
			}
			if n == 0 || !yield(structures.Pairs[K, V]{Keys: keys.all, Values: values.all}, nil) {
				return
			}
		}
	}
}

// pairs reads the pairs of the next buckets that have any, and returns their number, 0 at the end. A set has no values.
func (w *walk) pairs(ctx context.Context, keys, values sink) (n int, err error) {
	err = w.do(ctx, func(s *vk.Stream) (err error) {
		n, err = w.nextPairs(ctx, s, keys, values)
		return err
	})
	return n, err
}

// nextPairs is pairs for a caller that has entered the table.
func (w *walk) nextPairs(ctx context.Context, s *vk.Stream, keys, values sink) (n int, err error) {
	if err = w.begin(ctx, s); err != nil {
		return 0, err
	}
	for w.part != 0 && w.next < w.t.base.buckets && n == 0 && err == nil {
		if err = context.Cause(ctx); err == nil {
			n, err = w.read(ctx, s, min(w.part, w.t.base.buckets-w.next), keys, values)
		}
	}
	return n, err
}

// begin determines the size of the parts, once. It stays 0 if the table is empty.
func (w *walk) begin(ctx context.Context, s *vk.Stream) (err error) {
	if w.written != nil {
		return nil
	}
	if w.written, err = vk.NewHostBuffer[uint32](w.t.Device, 1); err != nil {
		w.written = nil
		return err
	}
	v, err := w.t.survey(ctx, s, false)
	if err == nil && v.live != 0 {
		w.part = max(1, uint32(min(uint64(w.t.base.buckets), uint64(w.t.base.buckets)*pairsAnExport/v.live)))
	}
	return err
}

// read reads the pairs of the next buckets. If the room is too small for them, it makes a larger one and reads none. If
// the device has no memory for that, the next parts are smaller.
func (w *walk) read(ctx context.Context, s *vk.Stream, buckets uint32, keys, values sink) (n int, err error) {
	t := w.t
	columns := 2
	if t.keys {
		columns = 1
	}
	push := exportPush{Hash: t.description(t.base), Written: w.written.Address(), First: w.next, Count: buckets}
	capacity := w.room.Len() / (columns * t.words())
	if capacity != 0 {
		push.Capacity, push.Keys = uint32(capacity), w.room.Address()
		push.Values = w.room.AddressOf(capacity * (columns - 1) * t.words())
	}
	written := w.written.Slice()
	written[0] = 0
	err = recording.Run(s, func() error {
		k, err := t.exportKernel().Kernel(t.Kernels, s)
		if err != nil {
			return err
		}
		k.Dispatch(s, t.tileGroups(buckets), push)
		return nil
	})
	if err != nil {
		return 0, err
	}
	n = int(written[0])
	if n > capacity { // with some room to spare for later parts
		err = w.make(columns * t.words() * (n + n/8 + 1024))
		if buckets > 1 && errors.Is(err, vk.ErrNoRoom) {
			w.part, err = buckets/2, nil
		}
		return 0, err
	}
	if n != 0 {
		err = keys.extend(n).Download(ctx, w.room, 0)
		if err == nil && !t.keys {
			err = values.extend(n).Download(ctx, w.room, capacity*t.words())
		}
		if err != nil {
			return 0, err
		}
	}
	w.next += buckets
	return n, nil
}

// ExportOn records the writing of all pairs.
func (t *table) ExportOn(s *vk.Stream, e structures.DeviceExport) error {
	if err := t.EnterShared(context.Background()); err != nil {
		return err
	}
	defer t.LeaveShared()
	if err := cmp.Or(t.Device.Accept("stream", s), recording.NeedExport(t.Device, e, t.width, t.keys)); err != nil {
		return err
	}
	room := e.Keys.Len()
	if !t.keys {
		room = min(room, e.Values.Len())
	}
	room >>= t.width
	return t.Using(s, func() error {
		k, err := t.exportKernel().Kernel(t.Kernels, s)
		if err != nil {
			return err
		}
		s.Fill(e.Total, 0, 1, 0)
		push := exportPush{
			Hash: t.description(t.base), Keys: e.Keys.Address(), Values: e.Values.Address(), Written: e.Total.Address(),
			Capacity: uint32(min(room, recording.MaxBatch)),
		}
		const atOnce = 1 << 22 // buckets, so that a dispatch doesn't take long
		for first := uint32(0); first < t.base.buckets; first += atOnce {
			push.First, push.Count = first, min(atOnce, t.base.buckets-first)
			k.Dispatch(s, t.tileGroups(push.Count), push)
		}
		return nil
	})
}

// findAll returns all values of each of n keys: those of key i are values[offsets[i]:offsets[i+1]], oldest first.
func (t *table) findAll(ctx context.Context, n int, keys pipeline.Column, values sink) (offsets []int, err error) {
	if err := t.EnterQuery(ctx); err != nil {
		return nil, err
	}
	defer t.LeaveShared()
	counts := make([]uint32, n)
	if err := t.counts(ctx, n, keys, counts); err != nil {
		return nil, err
	}
	offsets = make([]int, n+1)
	for i, count := range counts {
		offsets[i+1] = offsets[i] + int(count)
	}
	all := values.extend(offsets[n])
	return offsets, t.Pipelines.Do(ctx, func(s *vk.Stream) error {
		return t.collectAll(ctx, s, keys, offsets, all)
	})
}

// collectAll fills values with what the keys have, at their offsets.
func (t *table) collectAll(ctx context.Context, s *vk.Stream, keys pipeline.Column, offsets []int,
	values pipeline.Column) error {
	for first, n := 0, len(offsets)-1; first < n; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		// As many keys as have about pairsAnExport values, but at least one.
		end := first + 1
		for end < n && end-first < pairsAnExport && offsets[end+1]-offsets[first] <= pairsAnExport {
			end++
		}
		err := t.collect(ctx, s, keys.Part(first, end-first), offsets[first:end+1],
			values.Part(offsets[first], offsets[end]-offsets[first]))
		if err != nil {
			return err
		}
		first = end
	}
	return nil
}

// collect is collectAll of a part of the keys. offsets are those of the part, and don't begin at 0.
func (t *table) collect(ctx context.Context, s *vk.Stream, keys pipeline.Column, offsets []int,
	values pipeline.Column) error {
	n := len(offsets) - 1
	count := offsets[n] - offsets[0]
	at := n * t.words()
	in := make([]uint32, at+n)
	keys.Encode(pipeline.Bytes(in[:at]))
	for i := range n {
		in[at+i] = uint32(offsets[i] - offsets[0])
	}
	queries, err := vk.NewBuffer[uint32](t.Device, len(in))
	if err != nil {
		return err
	}
	defer queries.Free()
	found, err := vk.NewBuffer[uint32](t.Device, count*t.words())
	if err != nil {
		return err
	}
	defer found.Free()
	if err := queries.Upload(ctx, 0, in); err != nil {
		return err
	}
	err = recording.Run(s, func() error {
		k, err := t.collectKernel().Kernel(t.Kernels, s)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(n), collectPush{
			Hash: t.description(t.base), Keys: queries.Address(), Offsets: queries.AddressOf(at),
			Values: found.Address(),
			Count:  uint32(n), Capacity: uint32(count),
		})
		return nil
	})
	if err != nil {
		return err
	}
	return values.Download(ctx, found, 0)
}
