package recording

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Trial makes every call that the interfaces of a small structure have: from slices, on streams, with device counts and
// without. The structure must be empty. It is a part of Prepare that needs no list of kernels.
//
// x is a structures.Dictionary, or any structure for its calls on streams alone, which on returns.
func Trial[W structures.Word](ctx context.Context, d *vk.Device, x any,
	on func(*vk.Stream) structures.OnStream) error {
	t, err := newTrial[W](d)
	if err != nil {
		return err
	}
	defer t.free()
	calls := on(t.stream)
	for _, part := range []func(){
		func() { t.slices(ctx, x) }, func() { t.streams(ctx, calls) }, func() { t.queries(ctx, calls) },
		func() { t.ordered(ctx, x) },
	} {
		part()
		if err := cmp.Or(t.err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// did reports whether a call succeeded. It keeps the first error, except *structures.KindError, because structures do
// not do all kinds.
func (t *trial[W]) did(err error) bool {
	var kind *structures.KindError
	if err != nil && !errors.As(err, &kind) {
		t.err = cmp.Or(t.err, err)
	}
	return err == nil
}

// recorded waits for the work that a call has recorded.
func (t *trial[W]) recorded(ctx context.Context, err error) {
	if t.did(err) {
		t.did(t.stream.Wait(ctx))
	}
}

const trialKeys = 100

// trial has the buffers and slices of a trial.
type trial[W structures.Word] struct {
	stream        *vk.Stream
	keys          []W
	ranges        []structures.Range[W]
	words         [5]*vk.Buffer[uint32] // room for more than the keys in each
	count, left   *vk.Buffer[uint32]
	status, kinds *vk.Buffer[uint8]
	sum           *vk.Buffer[uint64]
	buffers       []func() // to free all of them
	err           error    // the first
}

// room makes a buffer, unless an earlier one failed.
func room[T vk.Element, W structures.Word](d *vk.Device, t *trial[W], b **vk.Buffer[T], n int) {
	if t.err != nil {
		return
	}
	if *b, t.err = vk.NewBuffer[T](d, n); t.err == nil {
		t.buffers = append(t.buffers, (*b).Free)
	}
}

func newTrial[W structures.Word](d *vk.Device) (*trial[W], error) {
	t := &trial[W]{keys: make([]W, trialKeys),
		ranges: []structures.Range[W]{structures.AllKeys[W](), {Lo: 1, Hi: 1 << 30}}}
	for i := range t.keys {
		t.keys[i] = W(i) * 0x9e3779b1
	}
	if err := t.fill(d); err != nil {
		t.free()
		return nil, err
	}
	return t, nil
}

// fill makes the stream and the buffers, and writes the arguments of calls to them.
func (t *trial[W]) fill(d *vk.Device) (err error) {
	if t.stream, err = d.NewStream(); err != nil {
		return err
	}
	for i := range t.words {
		room(d, t, &t.words[i], 2*trialKeys*structures.WidthOf[W]().Bytes()/4)
	}
	room(d, t, &t.count, 1)
	room(d, t, &t.left, 1)
	room(d, t, &t.status, Padded(trialKeys))
	room(d, t, &t.kinds, Padded(trialKeys))
	room(d, t, &t.sum, 1)
	if t.err != nil {
		return t.err
	}
	t.stream.Fill(t.count, 0, 4, trialKeys)
	t.stream.Fill(t.left, 0, 4, 0)
	t.stream.Fill(t.kinds, 0, Padded(trialKeys), uint32(structures.Insert)*0x01010101)
	for i, b := range t.words {
		t.stream.Fill(b, 0, int(b.Bytes()), uint32(i))
	}
	if err := t.stream.Wait(context.Background()); err != nil {
		return err
	}
	return t.words[0].Upload(context.Background(), 0, Words(t.keys))
}

func (t *trial[W]) free() {
	if t.stream != nil {
		_ = t.stream.Close() // its work has ended
	}
	for _, free := range t.buffers {
		free()
	}
}

func (t *trial[W]) slices(ctx context.Context, structure any) {
	x, ok := structure.(structures.Dictionary[W, W])
	if !ok {
		return
	}
	keys := t.keys
	for kind := structures.Insert; kind <= structures.DeleteAll; kind++ {
		t.did(x.UpdateInto(ctx, kind, keys, keys, nil))
		t.did(x.UpdateInto(ctx, kind, keys, keys, make([]structures.Status, len(keys))))
	}
	for kind := structures.Insert; kind <= structures.CountRange; kind++ {
		b := structures.Batch[W, W]{Keys: keys, Values: keys, Highs: keys, Width: 2,
			Kinds: make([]structures.Kind, len(keys))}
		for i := range b.Kinds {
			if b.Kinds[i] = kind; i%3 == 0 {
				b.Kinds[i] = structures.Insert
			}
		}
		_, err := x.Apply(ctx, b)
		t.did(err)
	}
	t.did(x.FindInto(ctx, keys, nil, make([]bool, len(keys))))
	_, err := x.Len(ctx)
	t.did(err)
	_, err = x.Save(ctx, io.Discard)
	t.did(err)
	for _, err := range x.Chunks(ctx) {
		t.did(err)
	}
	t.did(x.Clear(ctx))
}

// counts returns no device count, and one.
func (t *trial[W]) counts() []*vk.Buffer[uint32] { return []*vk.Buffer[uint32]{nil, t.count} }

func (t *trial[W]) streams(ctx context.Context, x structures.OnStream) {
	for _, count := range t.counts() {
		b := structures.DeviceBatch{Count: trialKeys, DeviceCount: count, Keys: t.words[0], Values: t.words[1],
			Kinds: t.kinds}
		reports := b
		reports.Status, reports.Left = t.status, t.left
		for _, b := range []structures.DeviceBatch{b, reports} {
			for kind := structures.Insert; kind <= structures.DeleteAll; kind++ {
				if t.did(x.Update(ctx, kind, b)) {
					t.did(x.Finish(ctx, kind, b))
				}
			}
			if x, ok := x.(structures.ConcurrentOnStream); ok {
				for kind := structures.Mixed; kind <= structures.CountAll; kind++ {
					if t.did(x.Apply(kind, b)) {
						t.did(x.Finish(ctx, kind, b))
					}
				}
			}
		}
		for _, order := range []structures.LookupOrder{structures.AutoOrder, structures.OneByOne,
			structures.SortedFirst} {
			t.recorded(ctx, x.Find(structures.DeviceLookups{
				Count: trialKeys, DeviceCount: count, Keys: t.words[0], Values: t.words[2], FoundBits: t.words[3],
				Order: order,
			}))
		}
	}
	t.recorded(ctx, x.Export(structures.DeviceExport{Keys: t.words[2], Values: t.words[3], Total: t.left}))
}

func (t *trial[W]) queries(ctx context.Context, calls structures.OnStream) {
	x, ok := calls.(structures.OrderedOnStream)
	if !ok {
		return
	}
	n := trialKeys / 2
	for _, count := range t.counts() {
		for _, sum := range []*vk.Buffer[uint64]{nil, t.sum} {
			t.recorded(ctx, x.Count(structures.DeviceCounts{
				Count: n, DeviceCount: count, Ranges: t.words[0], Counts: t.words[2], Candidates: sum,
			}))
		}
		t.recorded(ctx, x.Range(structures.DeviceRanges{
			Count: n, DeviceCount: count, Ranges: t.words[0], Offsets: t.words[2],
			Keys: t.words[3], Values: t.words[4], Candidates: t.sum,
		}))
		neighbors := structures.DeviceNeighbors{
			Count: n, DeviceCount: count, Keys: t.words[0], OutKeys: t.words[2], OutValues: t.words[3],
			Status: t.status, Left: t.left,
		}
		for to := structures.Successor; to <= structures.Ceil; to++ {
			if t.did(x.Neighbor(to, neighbors)) {
				t.did(x.FinishNeighbors(ctx, to, neighbors))
			}
		}
		t.recorded(ctx, x.Rank(structures.DeviceRanks{Count: n, DeviceCount: count, Keys: t.words[0],
			Ranks: t.words[2]}))
		t.recorded(ctx, x.Select(neighbors))
	}
}

func (t *trial[W]) ordered(ctx context.Context, structure any) {
	x, ok := structure.(structures.Ordered[W, W])
	if !ok {
		return
	}
	t.did(x.UpdateInto(ctx, structures.Insert, t.keys, t.keys, nil))
	_, err := x.Count(ctx, t.ranges)
	t.did(err)
	_, err = x.Range(ctx, t.ranges)
	t.did(err)
	_, err = x.Neighbor(ctx, structures.Successor, t.keys)
	t.did(err)
	for _, err := range x.Descend(ctx, structures.AllKeys[W]()) {
		t.did(err)
		break
	}
	_, err = x.Rank(ctx, t.keys)
	t.did(err)
	_, err = x.Select(ctx, make([]uint32, trialKeys))
	t.did(err)
	_, err = x.DeleteRange(ctx, t.ranges[1:])
	t.did(err)
	_, err = x.DeleteRange(ctx, t.ranges)
	t.did(err)
}
