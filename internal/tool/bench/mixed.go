package bench

import (
	"context"
	"regexp"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// mixture is a batch of mixed operations, all in one dispatch.
type mixture struct {
	name, about string
	mix         Mix
	queries     []structures.Kind // what becomes of the mix's searches, in turn; nil: they are searches
	whole       bool              // as many operations as pairs, else a batch of them
	standard    bool
	moments     bool // queries for order see one each, instead of what was there before
}

var (
	justRanges = []structures.Kind{structures.FindRange}
	successors = []structures.Kind{structures.FindSuccessor}
	allQueries = []structures.Kind{structures.Find, structures.FindRange, structures.FindSuccessor}
)

var shareInName = regexp.MustCompile(`-[0-9.]+`)

// family is the name of a mixture and of those that differ from it by their share of updates, which stands in the name;
// "" where there are none.
func (m mixture) family() string {
	if family := shareInName.ReplaceAllString(m.name, ""); family != m.name {
		return family
	}
	return ""
}

// gammas are the mixes of section VI-C of the slab hash's paper.
var gammas = []mixture{
	{"gamma0", "n operations on n pairs: half insert, half delete", Gamma0, nil, true, true, false},
	{"gamma1", "n operations on n pairs: 20% insert, 20% delete, 30% find, 30% find absent", Gamma1, nil,
		true, true, false},
	{"gamma2", "n operations on n pairs: 10% insert, 10% delete, 40% find, 40% find absent", Gamma2, nil,
		true, true, false},
}

// treeMixes are the concurrent benchmark of section 5.6 of Awad et al. (2019), α updates of which half are insertions
// and half deletions, with searches alone and with all the queries of the paper; and the deletions with searches and
// insertions with ranges of chapter 4 of Awad's dissertation.
var treeMixes = []mixture{
	{"alpha-0.2", "n operations on n pairs: 10% insert, 10% delete, 80% find", Mix{0.1, 0.1, 0.8, 0}, nil, true, true,
		false},
	{"alpha-0.6", "n operations on n pairs: 30% insert, 30% delete, 40% find", Mix{0.3, 0.3, 0.4, 0}, nil, true, true,
		false},
	{"alpha-1.0", "n operations on n pairs: half insert, half delete", Mix{0.5, 0.5, 0, 0}, nil, true, true, false},
	{"alpha-0.2-all", "as alpha-0.2, a third of its queries each find, the first pairs from a key on, and successor",
		Mix{0.1, 0.1, 0.8, 0}, allQueries, true, false, false},
	{"alpha-0.6-all", "as alpha-0.6, its queries likewise", Mix{0.3, 0.3, 0.4, 0}, allQueries, true, false, false},
	{"delete-find-5", "a batch on n pairs: 5% delete, 95% find", Mix{0, 0.05, 0.95, 0}, nil, false, false, false},
	{"delete-find-50", "a batch on n pairs: 50% delete, 50% find", Mix{0, 0.5, 0.5, 0}, nil, false, false, false},
	{"delete-find-90", "a batch on n pairs: 90% delete, 10% find", Mix{0, 0.9, 0.1, 0}, nil, false, false, false},
	{"range-beside", "the first pairs from each of n keys on, by the kernel that may be concurrent with updates",
		Mix{0, 0, 1, 0}, justRanges, true, false, false},
	{"successor-beside", "the next key above each of n keys, likewise", Mix{0, 0, 1, 0}, successors, true, false,
		false},
	{"insert-range-5", "a batch on n pairs: 5% insert, 95% the first pairs from a key on", Mix{0.05, 0, 0.95, 0},
		justRanges, false, false, false},
	{"insert-range-50", "a batch on n pairs: 50% insert, 50% the first pairs from a key on", Mix{0.5, 0, 0.5, 0},
		justRanges, false, false, false},
	{"insert-range-90", "a batch on n pairs: 90% insert, 10% the first pairs from a key on", Mix{0.9, 0, 0.1, 0},
		justRanges, false, false, false},
}

// momentMixes are those of chapter 4 with ranges of which each takes a snapshot of its own, while the insertions go on.
var momentMixes = []mixture{
	{"insert-range-5-moments", "as insert-range-5, each range as of a moment of its own, within the dispatch",
		Mix{0.05, 0, 0.95, 0}, justRanges, false, false, true},
	{"insert-range-50-moments", "as insert-range-50, likewise", Mix{0.5, 0, 0.5, 0}, justRanges, false, false, true},
	{"insert-range-90-moments", "as insert-range-90, likewise", Mix{0.9, 0, 0.1, 0}, justRanges, false, false, true},
}

// mixes are the rows of some mixes of a structure.
func mixes(structure, axes string, all []mixture) (rows []row) {
	for _, m := range all {
		axes := axes
		if !m.whole {
			axes += " batch"
		}
		if slices.Contains(m.queries, structures.FindRange) {
			axes += " length"
		}
		measure := func(s *session, ctx context.Context) error { return s.mix(ctx, m) }
		rows = append(rows, row{"mixed, " + m.name,
			map[string]cell{structure: {Op{m.name, m.about, m.standard, axes}, measure}}})
	}
	return rows
}

// mixedBatch is a mix dealt out for n pairs.
type mixedBatch struct {
	mixture
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

func (s *session) deal(mix mixture) *mixedBatch {
	b := &mixedBatch{mixture: mix, count: s.batch}
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

// mix measures a mixed batch in one dispatch. Its keys are random ones whatever the order asked for.
func (s *session) mix(ctx context.Context, mix mixture) error {
	b := s.deal(mix)
	lengths := []int{0}
	if slices.Contains(mix.queries, structures.FindRange) {
		lengths = s.options.Lengths
	}
	for _, length := range lengths {
		if err := s.mixOf(ctx, b, length); err != nil {
			return err
		}
	}
	return nil
}

// mixOf is mix with ranges of some length, 0 if there are none.
func (s *session) mixOf(ctx context.Context, b *mixedBatch, length int) error {
	random := newSequence(s.space, Random, s.n)
	if err := s.holdOf(ctx, random, s.n); err != nil { // for the utilisation
		return err
	}
	d, err := s.mixedBuffers(ctx, b, length)
	if err != nil {
		return err
	}
	defer d.Kinds.Free()
	var w *windowChecks
	if b.windows != nil {
		if w, err = s.windows(ctx, b, &d); err != nil {
			return err
		}
	}
	m := s.measurement(s.n, b.count)
	m.Order, m.Length, m.Mix, m.Updates = "", length, b.family(), b.mix.Insert+b.mix.Delete
	if !b.whole {
		m.Batch = b.count
	}
	defer func() { s.there = -1 }()
	return s.add(s.measure(ctx, task{
		Measurement: m, pending: true,
		prepare: func(ctx context.Context) error {
			if err := s.holdOf(ctx, random, s.n); err != nil || s.name == "slabhash" {
				return err // a hash table writes the values of what it finds, which are there already
			}
			_, err := s.batchOf(ctx, "mixed values", b.count, func(i int) uint32 { return s.space.value(b.at(i).key) })
			return err
		},
		record: func() error { return s.dictionary.(concurrent).ApplyOn(s.stream, b.kindOfAll(), d) },
		check:  func(ctx context.Context) error { return s.checkMix(ctx, b, d, w) },
	}))
}

// mixedBuffers are those of a mixed batch.
func (s *session) mixedBuffers(ctx context.Context, b *mixedBatch, length int) (d structures.DeviceBatch, err error) {
	d = structures.DeviceBatch{Count: b.count, Status: s.status, Left: s.left, Width: length, OwnMoments: b.moments}
	if d.Keys, err = s.batchOf(ctx, "mixed keys", b.count, func(i int) uint32 { return b.at(i).key }); err != nil {
		return d, err
	}
	if d.Values, err = s.batchOf(ctx, "mixed values", b.count, func(i int) uint32 {
		return s.space.value(b.at(i).key)
	}); err != nil {
		return d, err
	}
	if d.Kinds, err = vk.NewBuffer[uint8](s.d, (b.count+3)&^3); err != nil {
		return d, err
	}
	fill(s.bytes[:b.count], func(i int) uint8 { return uint8(b.kind(i)) })
	if err := d.Kinds.Upload(ctx, 0, s.bytes[:b.count]); err != nil {
		d.Kinds.Free()
		return d, err
	}
	return d, nil
}

// checkMix looks at what came of a mixed batch.
func (s *session) checkMix(ctx context.Context, b *mixedBatch, d structures.DeviceBatch, w *windowChecks) error {
	if err := s.checkStatus(ctx, b.count, func(i int) structures.Status {
		if b.kind(i) == structures.FindSuccessor && w.isLast(b.at(i).key) {
			return structures.Absent
		}
		return b.at(i).status
	}); err != nil {
		return err
	}
	got, err := s.downloadNumbers(ctx, d.Values, b.count)
	if err != nil {
		return err
	}
	err = each(b.count, func(i int) error {
		o, want := b.at(i), uint64(0)
		if b.kind(i) != structures.Find {
			return nil
		}
		if o.status == structures.Found {
			want = s.element(s.space.value(o.key))
		}
		if got.at(i) != want {
			return s.wrong("operation %d: value %d instead of %d", i, got.at(i), want)
		}
		return nil
	})
	if err == nil && w != nil {
		err = w.check(ctx, got)
	}
	if err != nil {
		return err
	}
	return s.sound(ctx, s.n+b.inserts-b.deletes)
}
