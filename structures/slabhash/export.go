package slabhash

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

type exportPush struct {
	Hash     Device
	Keys     uint64
	Values   uint64
	Written  uint64
	First    uint32
	Count    uint32
	Capacity uint32
}

type collectPush struct {
	Hash    Device
	Keys    uint64
	Offsets uint64
	Values  uint64

	Count, Capacity uint32
}

const pairsAnExport = 1 << 21 // about so many a dispatch

// walk goes over the buckets of a table part by part. Between two parts others have their turns.
type walk struct {
	t    *table
	base *vk.Buffer[uint32] // that it has begun with; nil: it has not begun
	next uint32             // bucket
	part uint32             // buckets at a time
	room *vk.Buffer[uint32] // for what a part has, on the device and here
	host []uint32
}

// enter is the table's, and sees whether its buckets are still those that the walk has begun with.
func (w *walk) enter(ctx context.Context) error {
	if err := w.t.enter(ctx); err != nil {
		return err
	}
	if w.base == nil {
		w.base = w.t.base.slabs
	}
	if w.base != w.t.base.slabs {
		w.t.leave()
		return structures.ErrChanged
	}
	return nil
}

// make makes the room one of so many words.
func (w *walk) make(words int) (err error) {
	w.free()
	if w.room, err = vk.NewBuffer[uint32](w.t.d, words); err != nil {
		w.room = nil
		return err
	}
	w.host = make([]uint32, words)
	return nil
}

func (w *walk) free() {
	if w.room != nil {
		w.room.Free()
	}
}

// export hands all pairs to yield, part by part, until it says no; values are nil for a set. The slices
// are yield's only until it returns.
func (t *table) export(ctx context.Context, yield func(keys, values []uint32) bool) error {
	w := walk{t: t}
	defer w.free()
	for {
		keys, values, err := w.pairs(ctx)
		if err != nil || len(keys) == 0 || !yield(keys, values) {
			return err
		}
	}
}

// pairs reads the pairs of the next buckets that have any; none: that was all.
func (w *walk) pairs(ctx context.Context) (keys, values []uint32, err error) {
	t := w.t
	if err := w.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer t.leave()
	if w.part == 0 {
		v, err := t.survey(ctx, false)
		if err != nil || v.live == 0 {
			return nil, nil, err
		}
		w.part = max(1, uint32(min(uint64(t.base.buckets), uint64(t.base.buckets)*pairsAnExport/v.live)))
	}
	for w.next < t.base.buckets && len(keys) == 0 && err == nil {
		if err = ctx.Err(); err == nil {
			keys, values, err = w.read(ctx, min(w.part, t.base.buckets-w.next))
		}
	}
	return keys, values, err
}

// read reads the pairs of so many buckets. Where they have no room, it makes some, and reads none.
func (w *walk) read(ctx context.Context, buckets uint32) (keys, values []uint32, err error) {
	t := w.t
	columns := 2
	if t.keys {
		columns = 1
	}
	push := exportPush{Hash: t.device(t.base), Written: t.counter.Address(), First: w.next, Count: buckets}
	capacity := len(w.host) / columns
	if capacity != 0 {
		push.Capacity, push.Keys, push.Values = uint32(capacity), w.room.Address(), w.room.AddressOf(capacity*(columns-1))
	}
	written := t.counter.Slice()[:1]
	written[0] = 0
	err = recording.Run(t.stream, func() error {
		k, err := kernel[exportPush](t, t.stream, t.variant("export"), t.tiles.walk)
		if err != nil {
			return err
		}
		k.Dispatch(t.stream, t.tileGroups(buckets), push)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	got := int(written[0])
	if got > capacity { // and somewhat more, for the other parts
		return nil, nil, w.make(columns * (got + got/8 + 1024))
	}
	keys = w.host[:got]
	if err := w.room.Download(ctx, 0, keys); err != nil {
		return nil, nil, err
	}
	if !t.keys {
		values = w.host[capacity : capacity+got]
		if err := w.room.Download(ctx, capacity, values); err != nil {
			return nil, nil, err
		}
	}
	w.next += buckets
	return keys, values, nil
}

// findAll returns all values of each key: those of key i are values[offsets[i]:offsets[i+1]], oldest first.
func (t *table) findAll(ctx context.Context, keys []uint32) (offsets []int, values []uint32, err error) {
	if err := t.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer t.leave()
	counts := make([]uint32, len(keys))
	if _, err := t.run(ctx, structures.Count, nil, keys, counts); err != nil {
		return nil, nil, pipeline.Cause(err)
	}
	offsets = make([]int, len(keys)+1)
	for i, n := range counts {
		offsets[i+1] = offsets[i] + int(n)
	}
	values = make([]uint32, offsets[len(keys)])
	for first := 0; first < len(keys); {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		// As many queries as have about so many values, but one at least.
		end := first + 1
		for end < len(keys) && end-first < pairsAnExport && offsets[end+1]-offsets[first] <= pairsAnExport {
			end++
		}
		if err := t.collect(ctx, keys[first:end], offsets[first:end+1], values[offsets[first]:offsets[end]]); err != nil {
			return nil, nil, err
		}
		first = end
	}
	return offsets, values, nil
}

// collect fills values with what the keys have, at the offsets less the first of them.
func (t *table) collect(ctx context.Context, keys []uint32, offsets []int, values []uint32) error {
	n := len(keys)
	in := make([]uint32, 2*n)
	copy(in, keys)
	for i := range keys {
		in[n+i] = uint32(offsets[i] - offsets[0])
	}
	queries, err := vk.NewBuffer[uint32](t.d, len(in))
	if err != nil {
		return err
	}
	defer queries.Free()
	found, err := vk.NewBuffer[uint32](t.d, len(values))
	if err != nil {
		return err
	}
	defer found.Free()
	if err := queries.Upload(ctx, 0, in); err != nil {
		return err
	}
	err = recording.Run(t.stream, func() error {
		k, err := kernel[collectPush](t, t.stream, "collect", t.tiles.find)
		if err != nil {
			return err
		}
		k.Dispatch(t.stream, groups(n), collectPush{t.device(t.base), queries.Address(), queries.AddressOf(n), found.Address(), uint32(n), uint32(len(values))})
		return nil
	})
	if err != nil {
		return err
	}
	return found.Download(ctx, 0, values)
}
