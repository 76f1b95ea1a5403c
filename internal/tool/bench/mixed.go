package bench

import (
	"fmt"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Mix has the shares of the operations of a batch, Γ = (a, b, c, d) of section VI-C of Ashkiani et al., A Dynamic Hash
// Table for the GPU: insertions of new keys, deletions of present keys, searches for present keys, and searches for
// absent keys.
type Mix struct{ Insert, Delete, Find, FindAbsent float64 }

// mixture is a batch of mixed operations in one dispatch.
type mixture struct {
	name, about string
	mix         Mix
	standard    bool
	queries     []structures.Kind // the kinds that replace the mix's searches, in turn; nil: none
	batch       bool              // as many operations as a batch; false: as many as pairs
}

var (
	justRanges   = []structures.Kind{structures.FindRange}
	successors   = []structures.Kind{structures.FindSuccessor}
	predecessors = []structures.Kind{structures.FindPredecessor}
	allQueries   = []structures.Kind{structures.Find, structures.FindRange, structures.FindSuccessor}
)

// gammas are the mixes of section VI-C of the slab hash's paper.
var gammas = []mixture{
	{name: "gamma0", about: "half insert, half delete", mix: Mix{0.5, 0.5, 0, 0}, standard: true},
	{name: "gamma1", about: "20% insert, 20% delete, 30% find, 30% find absent", mix: Mix{0.2, 0.2, 0.3, 0.3},
		standard: true},
	{name: "gamma2", about: "10% insert, 10% delete, 40% find, 40% find absent", mix: Mix{0.1, 0.1, 0.4, 0.4},
		standard: true},
}

// treeMixes are the concurrent benchmark of section 5.6 of Awad et al. (2019), with a share α of updates, half
// insertions and half deletions, and with searches only or with all queries of the paper. The others are the deletions
// with searches and the insertions with ranges of chapter 4 of Awad's dissertation.
var treeMixes = append([]mixture{
	{name: "alpha-0.2", about: "10% insert, 10% delete, 80% find", mix: Mix{0.1, 0.1, 0.8, 0}, standard: true},
	{name: "alpha-0.6", about: "30% insert, 30% delete, 40% find", mix: Mix{0.3, 0.3, 0.4, 0}, standard: true},
	{name: "alpha-1.0", about: "half insert, half delete", mix: Mix{0.5, 0.5, 0, 0}, standard: true},
	{name: "alpha-0.2-all",
		about: "10% insert, 10% delete, the rest find, short ranges and successors",
		mix:   Mix{0.1, 0.1, 0.8, 0}, queries: allQueries},
	{name: "alpha-0.6-all", about: "30% insert, 30% delete, the rest likewise", mix: Mix{0.3, 0.3, 0.4, 0},
		queries: allQueries},
	{name: "range-beside", about: "short ranges, in a batch as updates are",
		mix: Mix{0, 0, 1, 0}, queries: justRanges},
	{name: "successor-beside", about: "the next key above one, likewise", mix: Mix{0, 0, 1, 0}, queries: successors},
	{name: "predecessor-beside", about: "the next key below one, likewise", mix: Mix{0, 0, 1, 0},
		queries: predecessors},
}, shares(5, 50, 90)...)

// shares are mixes of a batch with so many per cent of updates.
func shares(all ...float64) (mixes []mixture) {
	for _, p := range all {
		update, rest := p/100, 1-p/100
		mixes = append(mixes, mixture{name: fmt.Sprintf("delete-find-%g", p), mix: Mix{0, update, rest, 0},
			about: fmt.Sprintf("%g%% delete, %g%% find", p, 100-p), batch: true},
			mixture{name: fmt.Sprintf("insert-range-%g", p), mix: Mix{update, 0, rest, 0}, queries: justRanges,
				about: fmt.Sprintf("%g%% insert, %g%% short ranges", p, 100-p), batch: true})
	}
	return mixes
}

// mixes returns the rows of mixes of a structure. Their keys are random.
func mixes(of string, all []mixture) (rows []row) {
	for _, m := range all {
		of, axes, about := of, "-order", "n operations on n pairs: "
		if m.standard {
			of += "*"
		}
		if m.batch {
			axes, about = axes+" batch", "a batch on n pairs: "
		}
		if slices.Contains(m.queries, structures.FindRange) {
			axes += " length"
		}
		rows = append(rows, row{of, m.name, axes, about + m.about, func(s *session) { s.mix(m) }})
	}
	return rows
}

// mixer deals out the operations of a mix over a table of the keys 0 … n-1. No key occurs twice, so the result of each
// operation does not depend on the order. A mix without deletions may have more than n searches: they repeat keys.
type mixer struct {
	keys                  keySpace
	n                     int   // keys in the table
	inserts, deletes, hit int   // operations of each sort; the rest are searches for absent keys
	deal                  order // the sort of the operation at each place of the batch
	pick                  order // the keys of the table that deletions and searches use
}

func newMixer(keys keySpace, n, operations int, m Mix) mixer {
	x := mixer{keys: keys, n: n, deal: newOrder(operations, 0x6d69786572), pick: newOrder(n, 0x7069636b)}
	// Rounds so that the sums of shares are exact.
	upTo := func(share float64) int { return min(operations, int(share*float64(operations)+0.5)) }
	x.inserts = upTo(m.Insert)
	x.deletes = upTo(m.Insert+m.Delete) - x.inserts
	x.hit = upTo(m.Insert+m.Delete+m.Find) - x.inserts - x.deletes
	return x
}

// operation is one operation of a batch, with its expected status.
type operation struct {
	kind   structures.Kind
	key    uint32
	status structures.Status
}

func (x mixer) at(i int) operation {
	j := x.deal.at(i)
	switch {
	case j < x.inserts:
		return operation{structures.Insert, x.keys.key(x.n + j), structures.Inserted}
	case j < x.inserts+x.deletes:
		return operation{structures.Delete, x.keys.key(x.pick.at(j - x.inserts)), structures.Deleted}
	case j < x.inserts+x.deletes+x.hit:
		return operation{structures.Find, x.keys.key(x.pick.at((j - x.inserts) % x.n)), structures.Found}
	}
	return operation{structures.Find, x.keys.key(x.n + j), structures.Absent}
}

// mixedBatch is a batch of a mix over n pairs.
type mixedBatch struct {
	mixture
	mixer
	count  int
	device structures.DeviceBatch

	// For batches with ordered queries: the number of each operation's window, or of the next one; and all keys that
	// were there before, sorted, which the queries see.
	windows, before []uint32
}

func (b *mixedBatch) kind(i int) structures.Kind {
	kind := b.at(i).kind
	if kind == structures.Find && b.queries != nil {
		kind = b.queries[i%len(b.queries)]
	}
	return kind
}

// mix measures a mixed batch in one dispatch.
func (s *session) mix(mix mixture) {
	b := &mixedBatch{mixture: mix, count: s.n}
	if mix.batch {
		b.count = s.batch
		if mix.mix.Delete == 0 {
			b.count = s.at.Batch
		}
	}
	b.mixer = newMixer(s.space, s.n, b.count, mix.mix)
	pairs := newSequence(s.space, random, s.n)
	value := func(i int) uint32 { return s.space.value(b.at(i).key) }
	b.device = structures.DeviceBatch{Count: b.count, Status: s.status, Left: s.left, Width: s.own.Length,
		Kinds: must(vk.NewBuffer[uint8](s.d, (b.count+3)&^3))}
	d := &b.device
	defer d.Kinds.Free()
	defer s.ending()
	d.Keys = s.batchOf("mixed keys", b.count, func(i int) uint32 { return b.at(i).key })
	d.Values = s.batchOf("mixed values", b.count, value)
	fill(s.bytes[:b.count], func(i int) uint8 { return uint8(b.kind(i)) })
	ok(d.Kinds.Upload(s.ctx, 0, s.bytes[:b.count]))
	if b.queries != nil {
		s.windows(b)
	}
	kind := structures.Mixed
	if mix.mix.Find == 1 && len(b.queries) == 1 {
		kind = b.queries[0]
	}
	m := s.measurement(s.n, b.count)
	if b.batch {
		m.Batch = b.count
	}
	s.measure(m, task{
		pending: true,
		prepare: func() {
			s.holdOf(pairs, s.n)
			if b.count > s.n { // the tree has room for half as many new pairs as it has
				ok(s.tree().Reserve(s.ctx, s.n+b.inserts))
			}
			if s.Name != "slabhash" { // a hash table only overwrites values that Find returns, with the same ones
				s.batchOf("mixed values", b.count, value)
			}
		},
		record: func() error { return s.apply(kind, *d) },
		check:  func() { s.checkMix(b) },
	})
	s.there = -1
}

// windows sets up the ordered queries of a batch.
func (s *session) windows(b *mixedBatch) {
	b.windows = make([]uint32, b.count+1)
	for i := range b.count {
		b.windows[i+1] = b.windows[i]
		if b.kind(i).Ordered() {
			b.windows[i+1]++
		}
	}
	d := &b.device
	d.Width = max(d.Width, 1)
	d.Highs = s.batchOf("highs", b.count, func(int) uint32 { return ^uint32(0) })
	d.Windows = s.words("windows", b.count, func(i int) uint32 { return b.windows[i] })
	d.OutKeys, d.OutValues = s.listed(int(b.windows[b.count]) * d.Width)
	b.before = make([]uint32, s.n)
	fill(b.before, s.space.key)
	b.before = inAscent(b.before)
}

// checkMix checks the results of a mixed batch.
func (s *session) checkMix(b *mixedBatch) {
	s.checkStatus(b.count, func(i int) structures.Status {
		key, kind := b.at(i).key, b.kind(i)
		if kind == structures.FindSuccessor && key >= b.before[len(b.before)-1] ||
			kind == structures.FindPredecessor && key <= b.before[0] {
			return structures.Absent
		}
		return b.at(i).status
	})
	got := s.downloadNumbers(b.device.Values, b.count)
	var keys, values numbers
	width := b.device.Width
	if b.windows != nil {
		room := int(b.windows[b.count]) * width
		keys, values = s.downloadNumbers(b.device.OutKeys, room), s.downloadNumbers(b.device.OutValues, room)
	}
	each(b.count, func(i int) {
		o, number, most := b.at(i), int(got.at(i)), width
		switch b.kind(i) {
		case structures.Find:
			want := uint64(0)
			if o.status == structures.Found {
				want = s.element(s.space.value(o.key))
			}
			if got.at(i) != want {
				s.fail("operation %d: value %d instead of %d", i, got.at(i), want)
			}
			return
		case structures.FindSuccessor:
			if o.key == ^uint32(0) {
				return
			}
			o.key++
			number, most = 1, 1
			if s.bytes[i] == uint8(structures.Absent) {
				number = 0
			}
		case structures.FindPredecessor:
			at, _ := slices.BinarySearch(b.before, o.key)
			if at == 0 {
				return // its status was checked
			}
			o.key, number, most = b.before[at-1], 1, 1
		case structures.FindRange:
		default:
			return
		}
		if number < 0 || number > most {
			s.fail("operation %d: %d pairs, but %d at most", i, number, most)
		}
		at := int(b.windows[i]) * width
		s.checkWindow(b, i, o.key, most, keys.from(at, number), values.from(at, number))
	})
	s.sound(s.n + b.inserts - b.deletes)
}

// checkWindow checks the pairs that operation i found, at most most from a key on.
func (s *session) checkWindow(b *mixedBatch, i int, from uint32, most int, keys, values numbers) {
	at, _ := slices.BinarySearch(b.before, from)
	want := b.before[at:min(at+most, len(b.before))]
	if keys.len() != len(want) {
		s.fail("operation %d: %d pairs instead of %d", i, keys.len(), len(want))
	}
	for j, key := range want {
		if keys.at(j) != s.element(key) || values.at(j) != s.element(s.space.value(key)) {
			s.fail("operation %d, pair %d: %d, %d instead of key %d", i, j, keys.at(j), values.at(j), key)
		}
	}
}
