package bench

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
)

// windowChecks checks what ranges and successors found while others update: pairs that were there before or came
// meanwhile, in order, without leaving out one that was there throughout. Which of the pairs that come or go they find
// is left to chance.
type windowChecks struct {
	s      *session
	batch  *mixedBatch
	device *structures.DeviceBatch
	stays  []uint32 // keys that are there throughout, in order
	ever   []uint32 // and all that are there at any time
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
	w.ever = make([]uint32, s.n+b.inserts)
	fill(w.ever, s.space.key)
	gone := make([]uint32, 0, b.deletes)
	for j := range b.deletes {
		gone = append(gone, s.space.key(b.pick.at(j)))
	}
	gone = ascending(gone)
	w.stays = make([]uint32, 0, s.n-b.deletes)
	for _, key := range w.ever[:s.n] {
		if _, goes := slices.BinarySearch(gone, key); !goes {
			w.stays = append(w.stays, key)
		}
	}
	w.stays, w.ever = ascending(w.stays), ascending(w.ever)
	return w, nil
}

// isLast says whether no key above one is there throughout.
func (w *windowChecks) isLast(key uint32) bool {
	return len(w.stays) == 0 || key >= w.stays[len(w.stays)-1]
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
	stay, _ := slices.BinarySearch(w.stays, from)
	ever, _ := slices.BinarySearch(w.ever, from)
	least, most := min(most, len(w.stays)-stay), min(most, len(w.ever)-ever)
	if keys.len() < least || keys.len() > most {
		return w.s.wrong("operation %d: %d pairs instead of %d to %d", i, keys.len(), least, most)
	}
	for j := range keys.len() {
		key := keys.upper(j) // which the element was made of
		for ever < len(w.ever) && w.ever[ever] < key {
			ever++
		}
		switch {
		case ever == len(w.ever) || keys.at(j) != w.s.element(w.ever[ever]) ||
			values.at(j) != w.s.element(w.s.space.value(key)):
			return w.s.wrong("operation %d, pair %d: %d, %d, which never was there or comes too late", i, j,
				keys.at(j), values.at(j))
		case stay < len(w.stays) && w.stays[stay] < key:
			return w.s.wrong("operation %d, pair %d: %d comes after %d was left out", i, j, key, w.stays[stay])
		case stay < len(w.stays) && w.stays[stay] == key:
			stay++
		}
		ever++
	}
	return nil
}
