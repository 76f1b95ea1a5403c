package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// keyTable numbers the different rows of some columns in the order in which they come.
type keyTable struct {
	columns []int // of the rows
	kept
	hashes []uint64
	slots  []uint32 // numbers, from 1, by their hashes; at most half are used
}

func newKeyTable(columns []int) *keyTable {
	return &keyTable{columns: columns, kept: newKept(len(columns)), slots: make([]uint32, 16)}
}

// find returns the number of row i, whose hash is given, or -1, and its slot.
func (t *keyTable) find(r *rows, i int, hash uint64) (n int, slot *uint32) {
	mask := uint64(len(t.slots) - 1)
	for at := hash; ; at++ {
		slot := &t.slots[at&mask]
		n := int(*slot) - 1
		if n < 0 || t.hashes[n] == hash && t.same(r, i, n) {
			return n, slot
		}
	}
}

// number returns the number of row i, whose hash is given, and whether it is a new one.
func (t *keyTable) number(r *rows, i int, hash uint64) (n int, fresh bool) {
	n, slot := t.find(r, i, hash)
	if n >= 0 {
		return n, false
	}
	n = t.add(r, i, hash)
	*slot = uint32(n + 1)
	if 2*len(t.hashes) > len(t.slots) {
		t.grow()
	}
	return n, true
}

func (t *keyTable) same(r *rows, i, n int) bool {
	for c, column := range t.columns {
		word := r.words[column][i]
		switch null := r.null(column, i); {
		case null != t.nulls[c][n]:
			return false
		case null:
		case r.types[column] == keytype.Text:
			if !bytes.Equal(r.texts[column].At(word), t.texts[c].At(t.words[c][n])) {
				return false
			}
		case word != t.words[c][n]:
			return false
		}
	}
	return true
}

func (t *keyTable) add(r *rows, i int, hash uint64) int {
	for c, column := range t.columns {
		t.kept.add(c, r.types[column], r.cell(column, r.types[column], i))
	}
	t.hashes = append(t.hashes, hash)
	return len(t.hashes) - 1
}

func (t *keyTable) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for n, hash := range t.hashes {
		for t.slots[hash&mask] != 0 {
			hash++
		}
		t.slots[hash&mask] = uint32(n + 1)
	}
}

// widen gives the rows the words of the types that their columns have become.
func (t *keyTable) widen(from, to []keytype.Type) {
	for c, column := range t.columns {
		to[column].Widen(from[column], t.words[c])
	}
}

// compare is the order of two rows of tables of the same columns. Nulls are behind all others.
func (t *keyTable) compare(n int, other *keyTable, m int, types []keytype.Type) int {
	for c, column := range t.columns {
		of := types[column]
		if order := compareCells(of, false, t.cell(c, of, n), other.cell(c, of, m)); order != 0 {
			return order
		}
	}
	return 0
}

// function is what becomes of the values of a group.
type function uint8

const (
	functionCount function = iota // of rows
	functionSum
	functionMin
	functionMax
	functionMean
	functionDistinct
	functionOnly // the value, if there is only one
)

// aggregate is a column of an answer: a function of a column of the table.
type aggregate struct {
	function
	column int
	name   string
}

// aggregated are the values of one aggregate, by group.
type aggregated struct {
	aggregate
	some  []uint64      // values that aren't null
	sums  []keytype.Sum // of functionSum and functionMean
	words []uint64      // of functionMin, functionMax and functionOnly
	seen  *keyTable     // of functionDistinct: the groups' values
}

// add adds row i to group n.
func (a *aggregated) add(r *rows, i, n int, fresh bool) {
	if fresh {
		a.some = append(a.some, 0)
		switch a.function {
		case functionSum, functionMean:
			a.sums = append(a.sums, keytype.Sum{})
		case functionMin, functionMax, functionOnly:
			a.words = append(a.words, 0)
		}
	}
	if a.function == functionCount {
		a.some[n]++
		return
	}
	if r.null(a.column, i) {
		return
	}
	word := r.words[a.column][i]
	switch a.function {
	case functionDistinct:
		if _, fresh := a.seen.number(r, i, r.mix(r.hashes[i], a.column, i)); !fresh {
			return
		}
	case functionSum, functionMean:
		a.sums[n].Add(r.types[a.column], word)
	case functionMin, functionOnly:
		if a.some[n] == 0 || word < a.words[n] {
			a.words[n] = word
		}
	case functionMax:
		if a.some[n] == 0 || word > a.words[n] { // the word of a group without values was perhaps made wider
			a.words[n] = word
		}
	}
	a.some[n]++
}

// bytes returns about how much memory the table needs.
func (t *keyTable) bytes() uint64 {
	return uint64(8*len(t.hashes) + 4*len(t.slots) + t.kept.bytes())
}

// part has the groups whose hashes are its own.
type part struct {
	*keyTable
	values []*aggregated
}

// groupBy has the groups of the rows of a table, and what becomes of their values. Each part is one goroutine's.
type groupBy struct {
	by    []int
	types []keytype.Type // of the table's columns, as far as it was read; nil: nothing was
	parts []*part
	seed  uint64
}

func newGroupBy(by []int, values []aggregate) *groupBy {
	g := &groupBy{by: by, seed: rand.Uint64()}
	for range runtime.GOMAXPROCS(0) {
		p := &part{keyTable: newKeyTable(by)}
		for _, v := range values {
			a := &aggregated{aggregate: v}
			if v.function == functionDistinct {
				a.seen = newKeyTable(append(slices.Clone(by), v.column))
			}
			p.values = append(p.values, a)
		}
		g.parts = append(g.parts, p)
	}
	return g
}

// bytes returns about how much memory the groups need, and how much of it is for the values of functionDistinct.
func (g *groupBy) bytes() (all, seen uint64) {
	for _, p := range g.parts {
		all += p.bytes()
		for _, v := range p.values {
			all += uint64(8*len(v.some) + int(unsafe.Sizeof(keytype.Sum{}))*len(v.sums) + 8*len(v.words))
			if v.seen != nil {
				seen += v.seen.bytes()
			}
		}
	}
	return all + seen, seen
}

// add adds rows. If full is set, it adds only those whose groups are there, and sets left for the others.
func (g *groupBy) add(r *rows, full bool) {
	if g.types != nil && !slices.Equal(g.types, r.types) {
		g.widen(r.types)
	}
	g.types = r.types
	r.hash(g.by, g.seed)
	r.eachPart(len(g.parts), func(k, i int, hash uint64) {
		if full {
			if n, _ := g.parts[k].find(r, i, hash); n < 0 {
				r.left[i] = true
				return
			}
		}
		n, fresh := g.parts[k].number(r, i, hash)
		for _, v := range g.parts[k].values {
			v.add(r, i, n, fresh)
		}
	})
}

func (g *groupBy) widen(types []keytype.Type) {
	for _, p := range g.parts {
		p.widen(g.types, types)
		for _, v := range p.values {
			if v.seen != nil {
				v.seen.widen(g.types, types)
			}
			types[v.column].Widen(g.types[v.column], v.words)
		}
	}
}

// len returns how many groups there are.
func (g *groupBy) len() (n int) {
	for _, p := range g.parts {
		n += len(p.hashes)
	}
	return n
}

// oneGroup is a group of a part.
type oneGroup struct {
	*part
	n int
}

// all returns all groups.
func (g *groupBy) all() []oneGroup {
	all := make([]oneGroup, 0, g.len())
	for _, p := range g.parts {
		for n := range p.hashes {
			all = append(all, oneGroup{p, n})
		}
	}
	return all
}

// run returns the groups as rows to be sorted by what they are grouped by, whose lines have the results.
// Error: a sum has no room.
func (g *groupBy) run(groups []oneGroup, members []string) (*sortRun, error) {
	u := newSortRun(len(g.by))
	for c, column := range g.by {
		of := g.types[column]
		u.types = append(u.types, of)
		u.words[c], u.nulls[c] = make([]uint64, 0, len(groups)), make([]bool, 0, len(groups))
		for _, one := range groups {
			u.kept.add(c, of, one.cell(c, of, one.n))
		}
		if !slices.Contains(u.nulls[c], true) {
			u.nulls[c] = nil
		}
	}
	var wrong wrongGroup
	u.format(len(groups), members, func(out *row, i int) {
		one := groups[i]
		for c, column := range g.by {
			out.wordIf(shown{g.types[column], one.texts[c]}, one.words[c][one.n], !one.nulls[c][one.n])
		}
		for _, of := range one.values {
			x, err := of.result(one.n, g.types)
			switch {
			case err != nil:
				wrong.add(err, one, g.types)
			case of.function == functionCount || of.function == functionDistinct:
				out.number(x.count)
			case of.function == functionMean && !x.null:
				out.fraction(x.mean, 64)
			default:
				out.wordIf(shown{Type: x.value.Type}, x.value.Word, !x.null)
			}
		}
	})
	return u, wrong.result(g.types)
}

// wrongGroup is the error about the first group, in order, that has one. Several goroutines may add errors.
type wrongGroup struct {
	lock sync.Mutex
	err  error
	of   oneGroup
}

func (w *wrongGroup) add(err error, one oneGroup, types []keytype.Type) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.err == nil || one.compare(one.n, w.of.keyTable, w.of.n, types) < 0 {
		w.err, w.of = err, one
	}
}

// result returns the error with what the group's rows have in common.
func (w *wrongGroup) result(types []keytype.Type) error {
	if w.err == nil {
		return nil
	}
	var cells []string
	for c, column := range w.of.columns {
		switch of, word := types[column], w.of.words[c][w.of.n]; {
		case w.of.nulls[c][w.of.n]:
			cells = append(cells, "without a value")
		case of == keytype.Text:
			cells = append(cells, strconv.Quote(string(w.of.texts[c].At(word))))
		default:
			cells = append(cells, string(shown{Type: of}.appendCSV(nil, word)))
		}
	}
	return fmt.Errorf("the group %s: %w", strings.Join(cells, ", "), w.err)
}

// greatest returns the groups with the greatest first results, and of equal ones those whose keys come first. They are
// in no order.
func (g *groupBy) greatest(all []oneGroup, most int) ([]oneGroup, error) {
	type rated struct {
		result
		oneGroup
	}
	few := max(2*most, 1024)
	var best []rated
	sorted := func() {
		slices.SortFunc(best, func(a, b rated) int {
			return cmp.Or(b.result.compare(a.result), a.oneGroup.compare(a.n, b.keyTable, b.n, g.types))
		})
		best = best[:min(most, len(best))]
	}
	var wrong wrongGroup
	for _, one := range all {
		x, err := one.values[0].result(one.n, g.types)
		if err != nil {
			wrong.add(err, one, g.types)
			continue
		}
		if best = append(best, rated{x, one}); len(best) >= few {
			sorted()
		}
	}
	if err := wrong.result(g.types); err != nil {
		return nil, err
	}
	sorted()
	all = all[:0]
	for _, one := range best {
		all = append(all, one.oneGroup)
	}
	return all, nil
}

// result is what a group has of an aggregate: nothing, if all values are null, a word, a count or a mean.
type result struct {
	null  bool
	value keytype.Value
	sum   *keytype.Sum // of which value is what answers say
	count uint64
	mean  float64
}

// compare is the order of two results of one aggregate. Nulls are the least.
func (r result) compare(other result) int {
	switch {
	case r.null || other.null:
		return cmp.Compare(asBit(!r.null), asBit(!other.null))
	case r.sum != nil:
		return r.sum.Compare(other.sum)
	}
	return cmp.Or(cmp.Compare(r.value.Word, other.value.Word), cmp.Compare(r.mean, other.mean),
		cmp.Compare(r.count, other.count))
}

// result returns what group n has. A sum that 64 bits have no room for is an error.
func (a *aggregated) result(n int, types []keytype.Type) (r result, err error) {
	r.count = a.some[n]
	if a.function == functionCount || a.function == functionDistinct {
		return r, nil
	}
	if r.null = r.count == 0; r.null {
		return r, nil
	}
	switch t := types[a.column]; {
	case a.function == functionOnly && r.count > 1:
		err = fmt.Errorf("%s: several answers have the same group, and these results can't be merged", a.name)
	case a.function == functionSum:
		if t == keytype.Float32 {
			t = keytype.Float64
		}
		r.sum = &a.sums[n]
		if r.value, err = r.sum.In(t); err != nil {
			err = fmt.Errorf("%s: %w", a.name, err)
		}
	case a.function == functionMean:
		r.mean = a.sums[n].Mean(r.count)
	default:
		r.value = keytype.Value{Type: t, Word: a.words[n]}
	}
	return r, err
}
