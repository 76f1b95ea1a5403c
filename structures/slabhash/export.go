package slabhash

import (
	"cmp"
	"context"
	"iter"
	"unsafe"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/transfer"
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

	Count    uint32
	Capacity uint32
}

const pairsAnExport = 1 << 21 // about so many a dispatch

// walk goes over the buckets of a table part by part. Between two parts others may change the table.
type walk[W structures.Word] struct {
	t       *table[W]
	parts   recording.Walk
	next    uint32             // bucket
	part    uint32             // buckets at a time
	room    *vk.Buffer[uint32] // for what a part has, on the device and here
	host    []uint32
	written *vk.HostBuffer[uint32] // a word: the pairs of a part, read behind recording.Run, which waits
}

// do does a part, on a stream of its own, beside queries.
func (w *walk[W]) do(ctx context.Context, part func(s *vk.Stream) error) error {
	leave, err := w.parts.Enter(ctx, &w.t.changes, w.t.enterShared, w.t.leaveShared)
	if err != nil {
		return err
	}
	defer leave()
	return w.t.pipelines.Do(ctx, part)
}

// make makes the room one of so many words.
func (w *walk[W]) make(words int) (err error) {
	if w.room != nil {
		w.room.Free()
	}
	if w.room, err = vk.NewBuffer[uint32](w.t.d, words); err != nil {
		w.room = nil
		return err
	}
	w.host = make([]uint32, words)
	return nil
}

func (w *walk[W]) free() {
	if w.room != nil {
		w.room.Free()
	}
	if w.written != nil {
		w.written.Free()
	}
}

// chunks are all pairs, part by part; values are nil for a set. The slices are valid until the next ones come. in: by
// who has entered.
func (t *table[W]) chunks(ctx context.Context, in bool) iter.Seq2[structures.Pairs[W, W], error] {
	return transfer.Sequence(func(yield func(structures.Pairs[W, W]) bool) error {
		w := walk[W]{t: t, parts: recording.Walk{In: in}}
		defer w.free()
		for {
			keys, values, err := w.pairs(ctx)
			if err != nil || len(keys) == 0 || !yield(structures.Pairs[W, W]{Keys: keys, Values: values}) {
				return err
			}
		}
	})
}

// export is all pairs at once.
func (t *table[W]) export(ctx context.Context) (keys, values []W, err error) {
	if err := t.enterShared(ctx); err != nil {
		return nil, nil, err
	}
	defer t.leaveShared()
	w := walk[W]{t: t, parts: recording.Walk{In: true}}
	defer w.free()
	for {
		some, theirs, err := w.pairs(ctx)
		if err != nil || len(some) == 0 {
			return keys, values, err
		}
		keys, values = append(keys, some...), append(values, theirs...)
	}
}

// pairs reads the pairs of the next buckets that have any; none: that was all.
func (w *walk[W]) pairs(ctx context.Context) (keys, values []W, err error) {
	part := new(structures.Pairs[W, W])
	err = w.do(ctx, func(s *vk.Stream) (err error) {
		part.Keys, part.Values, err = w.nextPairs(ctx, s)
		return err
	})
	return part.Keys, part.Values, err
}

// nextPairs is pairs by who has entered.
func (w *walk[W]) nextPairs(ctx context.Context, s *vk.Stream) (keys, values []W, err error) {
	if err = w.begin(ctx, s); err != nil {
		return nil, nil, err
	}
	for w.part != 0 && w.next < w.t.base.buckets && len(keys) == 0 && err == nil {
		if err = ctx.Err(); err == nil {
			keys, values, err = w.read(ctx, s, min(w.part, w.t.base.buckets-w.next))
		}
	}
	return keys, values, err
}

// begin sizes the parts, once. They stay 0 where there is nothing.
func (w *walk[W]) begin(ctx context.Context, s *vk.Stream) (err error) {
	if w.written != nil {
		return nil
	}
	if w.written, err = vk.NewHostBuffer[uint32](w.t.d, 1); err != nil {
		w.written = nil
		return err
	}
	v, err := w.t.survey(ctx, s, false)
	if err == nil && v.live != 0 {
		w.part = max(1, uint32(min(uint64(w.t.base.buckets), uint64(w.t.base.buckets)*pairsAnExport/v.live)))
	}
	return err
}

// read reads the pairs of so many buckets. Where they have no room, it makes some, and reads none.
func (w *walk[W]) read(ctx context.Context, s *vk.Stream, buckets uint32) (keys, values []W, err error) {
	t := w.t
	columns := 2
	if t.keys {
		columns = 1
	}
	push := exportPush{Hash: t.device(t.base), Written: w.written.Address(), First: w.next, Count: buckets}
	capacity := len(w.host) / (columns * t.words())
	if capacity != 0 {
		push.Capacity, push.Keys = uint32(capacity), w.room.Address()
		push.Values = w.room.AddressOf(capacity * (columns - 1) * t.words())
	}
	written := w.written.Slice()
	written[0] = 0
	err = recording.Run(s, func() error {
		k, err := kernel[exportPush](t, s, t.variant("export"), t.tiles.walk)
		if err != nil {
			return err
		}
		k.Dispatch(s, t.tileGroups(buckets), push)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	got := int(written[0])
	if got > capacity { // and somewhat more, for the other parts
		return nil, nil, w.make(columns * t.words() * (got + got/8 + 1024))
	}
	part := func(first int) ([]W, error) {
		words := w.host[first*t.words():][:got*t.words()]
		return wordsOf[W](words), w.room.Download(ctx, first*t.words(), words)
	}
	if keys, err = part(0); err == nil && !t.keys {
		values, err = part(capacity)
	}
	if err != nil {
		return nil, nil, err
	}
	w.next += buckets
	return keys, values, nil
}

// ExportOn records the writing of all pairs.
func (t *table[W]) ExportOn(s *vk.Stream, e structures.DeviceExport) error {
	if err := t.enterShared(context.Background()); err != nil {
		return err
	}
	defer t.leaveShared()
	if err := cmp.Or(t.d.Accept("stream", s), recording.NeedExport(t.d, e, t.keys)); err != nil {
		return err
	}
	room := e.Keys.Len()
	if !t.keys {
		room = min(room, e.Values.Len())
	}
	room >>= t.width
	return t.on(s, func() error {
		k, err := kernel[exportPush](t, s, t.variant("export"), t.tiles.walk)
		if err != nil {
			return err
		}
		s.Fill(e.Total, 0, 4, 0)
		push := exportPush{
			Hash: t.device(t.base), Keys: e.Keys.Address(), Values: e.Values.Address(), Written: e.Total.Address(),
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

// wordsOf are 32-bit words as a table's.
func wordsOf[W structures.Word](words []uint32) []W {
	n := len(words) * 4 / structures.WidthOf[W]().Bytes()
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// findAll returns all values of each key: those of key i are values[offsets[i]:offsets[i+1]], oldest first.
func (t *table[W]) findAll(ctx context.Context, keys []W) ([]int, []W, error) {
	if err := t.enterShared(ctx); err != nil {
		return nil, nil, err
	}
	defer t.leaveShared()
	counts, err := t.counts(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	offsets := make([]int, len(keys)+1)
	for i, n := range counts {
		offsets[i+1] = offsets[i] + int(n)
	}
	values := make([]W, offsets[len(keys)])
	return offsets, values, t.pipelines.Do(ctx, func(s *vk.Stream) error {
		return t.collectAll(ctx, s, keys, offsets, values)
	})
}

// collectAll fills values with what the keys have, at their offsets.
func (t *table[W]) collectAll(ctx context.Context, s *vk.Stream, keys []W, offsets []int, values []W) error {
	for first := 0; first < len(keys); {
		if err := ctx.Err(); err != nil {
			return err
		}
		// As many queries as have about so many values, but one at least.
		end := first + 1
		for end < len(keys) && end-first < pairsAnExport && offsets[end+1]-offsets[first] <= pairsAnExport {
			end++
		}
		err := t.collect(ctx, s, keys[first:end], offsets[first:end+1], values[offsets[first]:offsets[end]])
		if err != nil {
			return err
		}
		first = end
	}
	return nil
}

// collect is collectAll of some keys, at the offsets less the first of them.
func (t *table[W]) collect(ctx context.Context, s *vk.Stream, keys []W, offsets []int, values []W) error {
	n := len(keys)
	at := n * t.words()
	in := make([]uint32, at+n)
	copy(in, recording.Words(keys))
	for i := range keys {
		in[at+i] = uint32(offsets[i] - offsets[0])
	}
	queries, err := vk.NewBuffer[uint32](t.d, len(in))
	if err != nil {
		return err
	}
	defer queries.Free()
	found, err := vk.NewBuffer[uint32](t.d, len(values)*t.words())
	if err != nil {
		return err
	}
	defer found.Free()
	if err := queries.Upload(ctx, 0, in); err != nil {
		return err
	}
	err = recording.Run(s, func() error {
		k, err := kernel[collectPush](t, s, recording.Sized("collect", t.width), t.tiles.find)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(n), collectPush{
			Hash: t.device(t.base), Keys: queries.Address(), Offsets: queries.AddressOf(at), Values: found.Address(),
			Count: uint32(n), Capacity: uint32(len(values)),
		})
		return nil
	})
	if err != nil {
		return err
	}
	return found.Download(ctx, 0, recording.Words(values))
}
