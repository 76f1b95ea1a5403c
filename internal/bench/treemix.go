package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// treeMix is a batch of mixed operations on a tree, all in one dispatch.
type treeMix struct {
	name, about string
	mix         Mix
	queries     []structures.Kind // what becomes of the mix's searches, in turn; nil: they are searches
	whole       bool              // as many operations as pairs, else a batch of them
	standard    bool
}

var (
	justRanges = []structures.Kind{structures.FindRange}
	successors = []structures.Kind{structures.FindSuccessor}
	allQueries = []structures.Kind{structures.Find, structures.FindRange, structures.FindSuccessor}
)

// treeMixes are the concurrent benchmark of section 5.6 of Awad et al. (2019), α updates of which half are insertions
// and half deletions, with searches alone and with all the queries of the paper; and the deletions beside searches and
// insertions beside ranges of chapter 4 of Awad's dissertation.
var treeMixes = []treeMix{
	{"alpha-0.2", "n operations on n pairs: 10% insert, 10% delete, 80% find", Mix{0.1, 0.1, 0.8, 0}, nil, true, true},
	{"alpha-0.6", "n operations on n pairs: 30% insert, 30% delete, 40% find", Mix{0.3, 0.3, 0.4, 0}, nil, true, true},
	{"alpha-1.0", "n operations on n pairs: half insert, half delete", Mix{0.5, 0.5, 0, 0}, nil, true, true},
	{"alpha-0.2-all", "as alpha-0.2, a third of its queries each find, the first pairs from a key on, and successor", Mix{0.1, 0.1, 0.8, 0}, allQueries, true, false},
	{"alpha-0.6-all", "as alpha-0.6, its queries likewise", Mix{0.3, 0.3, 0.4, 0}, allQueries, true, false},
	{"delete-find-5", "a batch on n pairs: 5% delete, 95% find", Mix{0, 0.05, 0.95, 0}, nil, false, false},
	{"delete-find-50", "a batch on n pairs: 50% delete, 50% find", Mix{0, 0.5, 0.5, 0}, nil, false, false},
	{"delete-find-90", "a batch on n pairs: 90% delete, 10% find", Mix{0, 0.9, 0.1, 0}, nil, false, false},
	{"range-beside", "the first pairs from each of n keys on, by the kernel that may run beside updates", Mix{0, 0, 1, 0}, justRanges, true, false},
	{"successor-beside", "the next key above each of n keys, likewise", Mix{0, 0, 1, 0}, successors, true, false},
	{"insert-range-5", "a batch on n pairs: 5% insert, 95% the first pairs from a key on", Mix{0.05, 0, 0.95, 0}, justRanges, false, false},
	{"insert-range-50", "a batch on n pairs: 50% insert, 50% the first pairs from a key on", Mix{0.5, 0, 0.5, 0}, justRanges, false, false},
	{"insert-range-90", "a batch on n pairs: 90% insert, 10% the first pairs from a key on", Mix{0.9, 0, 0.1, 0}, justRanges, false, false},
}

func treeMixOps() (ops operations[*orderedSession]) {
	for _, m := range treeMixes {
		run := func(s *orderedSession, ctx context.Context) error { return s.mixOnTree(ctx, m) }
		ops = append(ops, measured[*orderedSession]{Op{m.name, m.about, m.standard}, run})
	}
	return ops
}

// mixedBatch is a mix dealt out for a tree of n pairs.
type mixedBatch struct {
	treeMix
	mixer
	count   int
	windows []uint32 // of each operation, its own window's number or the next one's; nil if none asks for order
}

func (b *mixedBatch) kind(i int) structures.Kind {
	kind := b.at(i).kind
	if kind == structures.Find && b.queries != nil {
		kind = b.queries[i%len(b.queries)]
	}
	return kind
}

// kindOfAll is the kind of a batch.
func (b *mixedBatch) kindOfAll() structures.Kind {
	if b.mix.Find == 1 && len(b.queries) == 1 {
		return b.queries[0]
	}
	return structures.Mixed
}

func (s *orderedSession) dealOnTree(mix treeMix) *mixedBatch {
	b := &mixedBatch{treeMix: mix, count: s.batch}
	if mix.whole {
		b.count = s.n
	}
	b.mixer = newMixer(s.space, s.n, b.count, mix.mix)
	if mix.queries == nil {
		return b
	}
	b.windows = make([]uint32, b.count+1)
	for i := range b.count {
		b.windows[i+1] = b.windows[i]
		if b.kind(i).Ordered() {
			b.windows[i+1]++
		}
	}
	return b
}

// mixOnTree measures a mixed batch in one dispatch. Its keys are random ones whatever the order asked for.
func (s *orderedSession) mixOnTree(ctx context.Context, mix treeMix) error {
	b := s.dealOnTree(mix)
	lengths := []int{0}
	if slices.Contains(mix.queries, structures.FindRange) {
		lengths = s.options.Lengths
	}
	for _, length := range lengths {
		if err := s.mixedOnTree(ctx, b, length); err != nil {
			return err
		}
	}
	return nil
}

// mixedOnTree is mixOnTree with ranges of some length, 0 if there are none.
func (s *orderedSession) mixedOnTree(ctx context.Context, b *mixedBatch, length int) error {
	random := newSequence(s.space, Random, s.n)
	d := btree.DeviceBatch{Count: b.count, Status: s.status, Left: s.left, Width: length}
	var err error
	if d.Keys, err = s.batchOf(ctx, "batch keys", b.count, func(i int) uint32 { return b.at(i).key }); err != nil {
		return err
	}
	if d.Values, err = s.room("batch values", b.count); err != nil {
		return err
	}
	if d.Kinds, err = vk.NewBuffer[uint8](s.d, (b.count+3)&^3); err != nil {
		return err
	}
	defer d.Kinds.Free()
	fill(s.bytes[:b.count], func(i int) uint8 { return uint8(b.kind(i)) })
	if err := d.Kinds.Upload(ctx, 0, s.bytes[:b.count]); err != nil {
		return err
	}
	var w *windowChecks
	if b.windows != nil {
		if w, err = s.windowsOnTree(ctx, b, &d); err != nil {
			return err
		}
	}
	t, err := s.asTree(ctx)
	if err != nil {
		return err
	}
	m := s.measurement(b.name, s.n, b.count)
	m.Order, m.Length = "", length
	if !b.whole {
		m.Batch = b.count
	}
	return s.add(s.measure(ctx, task{
		Measurement: m, pending: true,
		prepare: func(ctx context.Context) error {
			if err := s.holdInTree(ctx, random, s.n); err != nil {
				return err
			}
			_, err := s.batchOf(ctx, "batch values", b.count, func(i int) uint32 { return s.space.value(b.at(i).key) })
			return err
		},
		record: func() error { return t.ApplyOn(s.stream, b.kindOfAll(), d) },
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, b.name, b.count, func(i int) structures.Status {
				if b.kind(i) == structures.FindSuccessor && w.isLast(b.at(i).key) {
					return structures.Status(s.bytes[i]) // whether there is another key behind it is left to chance
				}
				return b.at(i).status
			}); err != nil {
				return err
			}
			got := s.scratch[:b.count]
			if err := d.Values.Download(ctx, 0, got); err != nil {
				return err
			}
			for i, value := range got {
				if o := b.at(i); b.kind(i) == structures.Find && o.status == structures.Found && value != s.space.value(o.key) {
					return &WrongError{b.name, fmt.Sprintf("operation %d: value %d instead of %d", i, value, s.space.value(o.key))}
				}
			}
			if w != nil {
				if err := w.check(ctx, got); err != nil {
					return err
				}
			}
			return s.sound(ctx, b.name, s.n+b.inserts-b.deletes)
		},
	}))
}

// windowChecks checks what ranges and successors found beside updates: pairs that were there before or came meanwhile, in
// order, without leaving out one that was there throughout. Which of the pairs that come or go they find is left to
// chance.
type windowChecks struct {
	s      *orderedSession
	batch  *mixedBatch
	device *btree.DeviceBatch
	stays  []uint32 // keys that are there throughout, in order
	ever   []uint32 // and all that are there at any time
}

// windowsOnTree gives the operations of a batch that ask for order what they want.
func (s *orderedSession) windowsOnTree(ctx context.Context, b *mixedBatch, d *btree.DeviceBatch) (*windowChecks, error) {
	d.Width = max(d.Width, 1)
	room := int(b.windows[b.count]) * d.Width
	var err error
	if d.Highs, err = s.batchOf(ctx, "highs", b.count, func(int) uint32 { return ^uint32(0) }); err != nil {
		return nil, err
	}
	if d.Windows, err = s.batchOf(ctx, "windows", b.count, func(i int) uint32 { return b.windows[i] }); err != nil {
		return nil, err
	}
	if d.OutKeys, err = s.room("listed keys", room); err != nil {
		return nil, err
	}
	if d.OutValues, err = s.room("listed values", room); err != nil {
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
func (w *windowChecks) check(ctx context.Context, numbers []uint32) error {
	room := int(w.batch.windows[w.batch.count]) * w.device.Width
	keys, values := make([]uint32, room), make([]uint32, room)
	if err := w.device.OutKeys.Download(ctx, 0, keys); err != nil {
		return err
	}
	if err := w.device.OutValues.Download(ctx, 0, values); err != nil {
		return err
	}
	return parallel(w.batch.count, func(first, end int) error {
		for i := first; i < end; i++ {
			from, number := w.batch.at(i).key, int(numbers[i])
			most := w.device.Width
			switch w.batch.kind(i) {
			case structures.FindSuccessor:
				if from == ^uint32(0) {
					continue
				}
				from++
				number, most = 1, 1
				if w.s.bytes[i] == uint8(structures.Absent) {
					number = 0
				}
			case structures.FindRange:
			default:
				continue
			}
			at := int(w.batch.windows[i]) * w.device.Width
			if err := w.listed(i, from, most, keys[at:at+number], values[at:at+number]); err != nil {
				return err
			}
		}
		return nil
	})
}

// listed checks the pairs that operation i found from a key on, of which it was to find so many at most.
func (w *windowChecks) listed(i int, from uint32, most int, keys, values []uint32) error {
	stay, _ := slices.BinarySearch(w.stays, from)
	ever, _ := slices.BinarySearch(w.ever, from)
	least, most := min(most, len(w.stays)-stay), min(most, len(w.ever)-ever)
	if len(keys) < least || len(keys) > most {
		return &WrongError{w.batch.name, fmt.Sprintf("operation %d: %d pairs instead of %d to %d", i, len(keys), least, most)}
	}
	for j, key := range keys {
		for ever < len(w.ever) && w.ever[ever] < key {
			ever++
		}
		switch {
		case ever == len(w.ever) || w.ever[ever] != key || values[j] != w.s.space.value(key):
			return &WrongError{w.batch.name, fmt.Sprintf("operation %d, pair %d: %d, %d, which never was there or comes too late", i, j, key, values[j])}
		case stay < len(w.stays) && w.stays[stay] < key:
			return &WrongError{w.batch.name, fmt.Sprintf("operation %d, pair %d: %d comes after %d was left out", i, j, key, w.stays[stay])}
		case stay < len(w.stays) && w.stays[stay] == key:
			stay++
		}
		ever++
	}
	return nil
}
