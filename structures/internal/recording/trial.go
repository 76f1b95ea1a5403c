package recording

import (
	"context"
	"errors"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Trial does with a small structure, empty at first, whatever its interfaces have: from slices, on streams, with device
// counts and without. It is the part of Prepare that keeps no account of what kernels that takes.
func Trial[W structures.Word](ctx context.Context, d *vk.Device, x any) error {
	t, err := newTrial[W](d)
	if err != nil {
		return err
	}
	defer t.free()
	var calls []func(context.Context) error
	if x, ok := x.(structures.Dictionary[W, W]); ok {
		calls = append(calls, t.slices(x)...)
	}
	if x, ok := x.(structures.OnStream); ok {
		calls = append(calls, t.streams(x)...)
	}
	if x, ok := x.(structures.OrderedOnStream); ok {
		calls = append(calls, t.queries(x)...)
	}
	if x, ok := x.(structures.Ordered[W, W]); ok {
		calls = append(calls, t.ordered(x)...)
	}
	for _, call := range calls {
		if err := ctx.Err(); err != nil {
			return err
		}
		var kind *structures.KindError
		if err := call(ctx); err != nil && !errors.As(err, &kind) { // not all do all kinds
			return err
		}
	}
	return nil
}

// then does one thing and, unless that fails, the other.
func then(first, second func() error) error {
	if err := first(); err != nil {
		return err
	}
	return second()
}

const trialKeys = 100

// trial is what a trial is done with.
type trial[W structures.Word] struct {
	stream        *vk.Stream
	keys          []W
	ranges        []structures.Range[W]
	words         [5]*vk.Buffer[uint32] // as many words each as there are keys, and some
	count, left   *vk.Buffer[uint32]
	status, kinds *vk.Buffer[uint8]
	sum           *vk.Buffer[uint64]
	buffers       []func() // to free all of them
}

// room makes a buffer, unless there was no room for one before.
func room[T vk.Element, W structures.Word](d *vk.Device, t *trial[W], b **vk.Buffer[T], n int, err *error) {
	if *err != nil {
		return
	}
	if *b, *err = vk.NewBuffer[T](d, n); *err == nil {
		t.buffers = append(t.buffers, (*b).Free)
	}
}

func newTrial[W structures.Word](d *vk.Device) (t *trial[W], err error) {
	t = &trial[W]{keys: make([]W, trialKeys),
		ranges: []structures.Range[W]{structures.AllKeys[W](), {Lo: 1, Hi: 1 << 30}}}
	for i := range t.keys {
		t.keys[i] = W(i) * 0x9e3779b1
	}
	defer func() {
		if err != nil {
			t.free()
		}
	}()
	if t.stream, err = d.NewStream(); err != nil {
		return nil, err
	}
	for i := range t.words {
		room(d, t, &t.words[i], 2*trialKeys*structures.WidthOf[W]().Bytes()/4, &err)
	}
	room(d, t, &t.count, 1, &err)
	room(d, t, &t.left, 1, &err)
	room(d, t, &t.status, Padded(trialKeys), &err)
	room(d, t, &t.kinds, Padded(trialKeys), &err)
	room(d, t, &t.sum, 1, &err)
	if err != nil {
		return nil, err
	}
	t.stream.Fill(t.count, 0, 4, trialKeys)
	t.stream.Fill(t.left, 0, 4, 0)
	t.stream.Fill(t.kinds, 0, Padded(trialKeys), uint32(structures.Insert)*0x01010101)
	for i, b := range t.words {
		t.stream.Fill(b, 0, int(b.Bytes()), uint32(i))
	}
	if err = t.stream.Wait(context.Background()); err == nil {
		err = t.words[0].Upload(context.Background(), 0, Words(t.keys))
	}
	return t, err
}

func (t *trial[W]) free() {
	if t.stream != nil {
		_ = t.stream.Close() // what it had to do was waited for
	}
	for _, free := range t.buffers {
		free()
	}
}

// updateKinds are those of updates.
func updateKinds(yield func(structures.Kind) bool) {
	for k := structures.Insert; k <= structures.DeleteAll && yield(k); k++ {
	}
}

func (t *trial[W]) slices(x structures.Dictionary[W, W]) (calls []func(context.Context) error) {
	keys := t.keys
	for kind := range updateKinds {
		for _, status := range [][]structures.Status{nil, make([]structures.Status, len(keys))} {
			calls = append(calls, func(ctx context.Context) error {
				return x.UpdateInto(ctx, kind, keys, keys, status)
			})
		}
	}
	for kind := structures.Insert; kind <= structures.CountRange; kind++ {
		b := structures.Batch[W, W]{Keys: keys, Values: keys, Highs: keys, Width: 2,
			Kinds: make([]structures.Kind, len(keys))}
		for i := range b.Kinds {
			if b.Kinds[i] = kind; i%3 == 0 {
				b.Kinds[i] = structures.Insert
			}
		}
		calls = append(calls, func(ctx context.Context) error {
			_, err := x.Apply(ctx, b)
			return err
		})
	}
	return append(calls,
		func(ctx context.Context) error { return x.FindInto(ctx, keys, nil, make([]bool, len(keys))) },
		func(ctx context.Context) error {
			_, err := x.Len(ctx)
			return err
		},
		func(ctx context.Context) error {
			_, err := x.Save(ctx, io.Discard)
			return err
		},
		func(ctx context.Context) error {
			for _, err := range x.Chunks(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		x.Clear)
}

// counts are a device count, and none.
func (t *trial[W]) counts() []*vk.Buffer[uint32] { return []*vk.Buffer[uint32]{nil, t.count} }

func (t *trial[W]) streams(x structures.OnStream) (calls []func(context.Context) error) {
	s := t.stream
	for _, count := range t.counts() {
		b := structures.DeviceBatch{Count: trialKeys, DeviceCount: count, Keys: t.words[0], Values: t.words[1],
			Kinds: t.kinds}
		reports := b
		reports.Status, reports.Left = t.status, t.left
		for _, b := range []structures.DeviceBatch{b, reports} {
			for kind := range updateKinds {
				calls = append(calls, func(ctx context.Context) error {
					return then(
						func() error { return x.UpdateOn(ctx, s, kind, b) },
						func() error { return x.Finish(ctx, s, kind, b) })
				})
			}
			if x, ok := x.(structures.ConcurrentOnStream); ok {
				for kind := structures.Mixed; kind <= structures.CountAll; kind++ {
					calls = append(calls, func(ctx context.Context) error {
						return then(
							func() error { return x.ApplyOn(s, kind, b) },
							func() error { return x.Finish(ctx, s, kind, b) })
					})
				}
			}
		}
		for _, order := range []structures.LookupOrder{structures.AutoOrder, structures.OneByOne,
			structures.SortedFirst} {
			calls = append(calls, t.recorded(func() error {
				return x.FindOn(s, structures.DeviceLookups{
					Count: trialKeys, DeviceCount: count, Keys: t.words[0], Values: t.words[2], FoundBits: t.words[3],
					Order: order,
				})
			}))
		}
	}
	return append(calls, t.recorded(func() error {
		return x.ExportOn(s, structures.DeviceExport{Keys: t.words[2], Values: t.words[3], Total: t.left})
	}))
}

// recorded does what record records, and waits.
func (t *trial[W]) recorded(record func() error) func(context.Context) error {
	return func(ctx context.Context) error { return then(record, func() error { return t.stream.Wait(ctx) }) }
}

func (t *trial[W]) queries(x structures.OrderedOnStream) (calls []func(context.Context) error) {
	s, n := t.stream, trialKeys/2
	add := func(record func() error) { calls = append(calls, t.recorded(record)) }
	for _, count := range t.counts() {
		for _, sum := range []*vk.Buffer[uint64]{nil, t.sum} {
			add(func() error {
				return x.CountOn(s, structures.DeviceCounts{
					Count: n, DeviceCount: count, Ranges: t.words[0], Counts: t.words[2], Candidates: sum,
				})
			})
		}
		add(func() error {
			return x.RangeOn(s, structures.DeviceRanges{
				Count: n, DeviceCount: count, Ranges: t.words[0], Offsets: t.words[2],
				Keys: t.words[3], Values: t.words[4], Candidates: t.sum,
			})
		})
		neighbors := structures.DeviceNeighbors{
			Count: n, DeviceCount: count, Keys: t.words[0], OutKeys: t.words[2], OutValues: t.words[3],
			Status: t.status, Left: t.left,
		}
		for to := structures.Successor; to <= structures.Ceil; to++ {
			calls = append(calls, func(ctx context.Context) error {
				return then(func() error { return x.NeighborOn(s, to, neighbors) },
					func() error { return x.FinishNeighbors(ctx, s, to, neighbors) })
			})
		}
		add(func() error {
			return x.RankOn(s, structures.DeviceRanks{Count: n, DeviceCount: count, Keys: t.words[0],
				Ranks: t.words[2]})
		})
		add(func() error { return x.SelectOn(s, neighbors) })
	}
	return calls
}

func (t *trial[W]) ordered(x structures.Ordered[W, W]) []func(context.Context) error {
	return []func(context.Context) error{
		func(ctx context.Context) error { return x.UpdateInto(ctx, structures.Insert, t.keys, t.keys, nil) },
		func(ctx context.Context) error {
			_, err := x.Count(ctx, t.ranges)
			return err
		},
		func(ctx context.Context) error {
			_, err := x.Range(ctx, t.ranges)
			return err
		},
		func(ctx context.Context) error {
			_, err := x.Successor(ctx, t.keys)
			return err
		},
		func(ctx context.Context) error {
			_, _, _, err := x.Max(ctx)
			return err
		},
		func(ctx context.Context) error {
			_, err := x.Rank(ctx, t.keys)
			return err
		},
		func(ctx context.Context) error {
			_, err := x.Select(ctx, make([]uint32, trialKeys))
			return err
		},
		func(ctx context.Context) error {
			_, err := x.DeleteRange(ctx, t.ranges[1:])
			return err
		},
		func(ctx context.Context) error {
			_, err := x.DeleteRange(ctx, t.ranges)
			return err
		},
	}
}
