package bench

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
)

// windowChecks checks what ranges and successors of a batch found: the pairs that were there before it, in order.
type windowChecks struct {
	s      *session
	batch  *mixedBatch
	device *structures.DeviceBatch
	before []uint32 // all keys that were there, in order
	behind []uint32 // and those that the batch inserts besides; nil where queries don't see them
}

// windows gives the operations of a batch that ask for order what they want.
func (s *session) windows(ctx context.Context, b *mixedBatch, d *structures.DeviceBatch) (*windowChecks, error) {
	d.Width = max(d.Width, 1)
	room := int(b.windows[b.count]) * d.Width
	var err error
	if d.Highs, err = s.batchOf(ctx, "highs", b.count, func(int) uint32 { return ^uint32(0) }); err != nil {
		return nil, err
	}
	if d.Windows, err = s.words(ctx, "windows", b.count, func(i int) uint32 { return b.windows[i] }); err != nil {
		return nil, err
	}
	if d.OutKeys, d.OutValues, err = s.listed(room); err != nil {
		return nil, err
	}
	w := &windowChecks{s: s, batch: b, device: d}
	w.before = make([]uint32, s.n)
	fill(w.before, s.space.key)
	w.before = ascending(w.before)
	if b.moments {
		w.behind = slices.Clone(w.before)
		for i := range b.count {
			if b.kind(i) == structures.Insert {
				w.behind = append(w.behind, b.at(i).key)
			}
		}
		w.behind = ascending(w.behind)
	}
	return w, nil
}

// isLast says whether no key above one was there.
func (w *windowChecks) isLast(key uint32) bool {
	return len(w.before) == 0 || key >= w.before[len(w.before)-1]
}

// check compares what the windows hold. numbers are how many pairs each range found.
func (w *windowChecks) check(ctx context.Context, numbers numbers) error {
	room := int(w.batch.windows[w.batch.count]) * w.device.Width
	keys, err := w.s.downloadNumbers(ctx, w.device.OutKeys, room)
	if err != nil {
		return err
	}
	values, err := w.s.downloadNumbers(ctx, w.device.OutValues, room)
	if err != nil {
		return err
	}
	return each(w.batch.count, func(i int) error {
		from, number := w.batch.at(i).key, int(numbers.at(i))
		most := w.device.Width
		switch w.batch.kind(i) {
		case structures.FindSuccessor:
			if from == ^uint32(0) {
				return nil
			}
			from++
			number, most = 1, 1
			if w.s.bytes[i] == uint8(structures.Absent) {
				number = 0
			}
		case structures.FindRange:
		default:
			return nil
		}
		if number > most {
			return w.s.wrong("operation %d: %d pairs, but %d at most", i, number, most)
		}
		at := int(w.batch.windows[i]) * w.device.Width
		return w.listed(i, from, most, keys.from(at, number), values.from(at, number))
	})
}

// listed checks the pairs that operation i found from a key on, of which it was to find so many at most.
func (w *windowChecks) listed(i int, from uint32, most int, keys, values numbers) error {
	if w.behind != nil {
		return w.moment(i, from, most, keys, values)
	}
	first, _ := slices.BinarySearch(w.before, from)
	want := w.before[first:min(first+most, len(w.before))]
	if keys.len() != len(want) {
		return w.s.wrong("operation %d: %d pairs instead of %d", i, keys.len(), len(want))
	}
	for j, key := range want {
		if keys.at(j) != w.s.element(key) || values.at(j) != w.s.element(w.s.space.value(key)) {
			return w.s.wrong("operation %d, pair %d: %d, %d instead of those of key %d", i, j, keys.at(j), values.at(j),
				key)
		}
	}
	return nil
}

// moment is listed where the batch's insertions may be seen or not: what was there before is there.
func (w *windowChecks) moment(i int, from uint32, most int, keys, values numbers) error {
	was, _ := slices.BinarySearch(w.before, from)
	now, _ := slices.BinarySearch(w.behind, from)
	for j := range keys.len() {
		for now < len(w.behind) && w.s.element(w.behind[now]) != keys.at(j) { // one that was inserted behind the moment
			if was < len(w.before) && w.before[was] == w.behind[now] {
				return w.s.wrong("operation %d, pair %d: key %d was passed over", i, j, w.before[was])
			}
			now++
		}
		if now == len(w.behind) {
			return w.s.wrong("operation %d, pair %d: key %d was never there, or comes out of order", i, j, keys.at(j))
		}
		if key := w.behind[now]; values.at(j) != w.s.element(w.s.space.value(key)) {
			return w.s.wrong("operation %d, pair %d: %d instead of the value of key %d", i, j, values.at(j), key)
		}
		if was < len(w.before) && w.before[was] == w.behind[now] {
			was++
		}
		now++
	}
	if keys.len() < most && was < len(w.before) {
		return w.s.wrong("operation %d: %d pairs, but there are more", i, keys.len())
	}
	return nil
}
