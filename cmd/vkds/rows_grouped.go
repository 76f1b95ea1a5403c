package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/keytype"
)

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
	some  []uint64      // of functionCount: rows; of functionMean, functionDistinct and functionOnly: values
	has   []bool        // of the others: whether there are some
	sums  []keytype.Sum // of functionSum and functionMean
	words []uint64      // of functionMin, functionMax and functionOnly
	seen  *keyTable     // of functionDistinct: the groups' values
}

// add adds rows from first to end to the groups that they are in. groups is how many there are.
func (a *aggregated) add(r *rows, first, end int, in []uint32, groups int) {
	a.extend(groups)
	if a.function == functionCount {
		for _, n := range in {
			a.some[n]++
		}
		return
	}
	words, t := r.words[a.column][first:end], r.types[a.column]
	rows := func(k int) int { return first + k }
	if nulls := r.nulls[a.column]; nulls != nil {
		var values []uint64
		var of, at []uint32
		for k, n := range in {
			if i := first + k; !nulls[i] {
				values, of, at = append(values, words[k]), append(of, n), append(at, uint32(i))
			}
		}
		words, in, rows = values, of, func(k int) int { return int(at[k]) }
	}
	switch a.function {
	case functionSum:
		t.AddTo(a.sums, in, words)
		for _, n := range in {
			a.has[n] = true
		}
	case functionMean:
		t.AddTo(a.sums, in, words)
		for _, n := range in {
			a.some[n]++
		}
	case functionDistinct:
		for k, n := range in {
			i := rows(k)
			if _, fresh := a.seen.number(r, i, r.mix(r.hashes[i], a.column, i)); fresh {
				a.some[n]++
			}
		}
	case functionOnly:
		for k, n := range in {
			a.words[n] = words[k]
			a.some[n]++
		}
	default:
		greatest := a.function == functionMax
		for k, n := range in {
			// The word of a group without values was perhaps made wider.
			if is, word := a.words[n], words[k]; !a.has[n] || greatest && word > is || !greatest && word < is {
				a.words[n], a.has[n] = word, true
			}
		}
	}
}

// extend makes room for more groups.
func (a *aggregated) extend(groups int) {
	switch a.function {
	case functionCount, functionDistinct:
		a.some = extended(a.some, groups)
	case functionSum:
		a.sums, a.has = extended(a.sums, groups), extended(a.has, groups)
	case functionMean:
		a.sums, a.some = extended(a.sums, groups), extended(a.some, groups)
	case functionOnly:
		a.words, a.some = extended(a.words, groups), extended(a.some, groups)
	default:
		a.words, a.has = extended(a.words, groups), extended(a.has, groups)
	}
}

// part has the groups whose hashes are its own.
type part struct {
	*keyTable
	values []*aggregated
	in     []uint32 // the groups of the rows that are being added

	known [1 << 9]struct { // some of these rows, by the lowest bits of their hashes
		hash   uint64
		row, n uint32 // n: the group, from 1
	}
}

// groupBy has the groups of the rows of a table, and what becomes of their values. Each part is one goroutine's.
type groupBy struct {
	by    []int
	types []keytype.Type // of the table's columns, as far as it was read; nil: nothing was
	parts []*part
	division
}

func newGroupBy(by []int, values []aggregate, d division) *groupBy {
	g := &groupBy{by: by, division: d}
	for range d.among {
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
			all += uint64(8*cap(v.some) + cap(v.has) + int(unsafe.Sizeof(keytype.Sum{}))*cap(v.sums) + 8*cap(v.words))
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
	by, begins := r.divided(g.by, g.division)
	if full {
		r.by = division{} // there moves rows of by
	}
	eachPart(begins, func(k, first, end int) {
		p := g.parts[k]
		if full {
			end = p.there(r, by, first, end)
		}
		p.add(by, first, end)
	})
}

// there sets left for rows whose groups aren't there, and removes them from a copy of the rows.
func (p *part) there(r, by *rows, first, end int) (last int) {
	last = first
	for i := first; i < end; i++ {
		if n, _ := p.find(by, i, by.hashes[i]); n < 0 {
			r.left[by.from[i]] = true
			continue
		}
		by.move(i, last)
		last++
	}
	return last
}

// add adds rows from first to end.
func (p *part) add(r *rows, first, end int) {
	p.in = p.in[:0]
	clear(p.known[:])
	for i := first; i < end; i++ {
		if (i-first)%rowsAhead == 0 {
			p.ahead(r.hashes[i:min(i+rowsAhead, end)])
		}
		hash := r.hashes[i]
		k := &p.known[hash%uint64(len(p.known))]
		if k.n > 0 && k.hash != hash {
			k = &p.known[hash%uint64(len(p.known))^1]
		}
		if k.n > 0 && k.hash == hash && r.equal(p.columns, i, int(k.row)) {
			p.in = append(p.in, k.n-1)
			continue
		}
		n, _ := p.number(r, i, hash)
		if k.n == 0 || k.hash == hash {
			k.hash, k.row, k.n = hash, uint32(i), uint32(n)+1
		}
		p.in = append(p.in, uint32(n))
	}
	for _, v := range p.values {
		v.add(r, first, end, p.in, p.len())
	}
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
		n += p.len()
	}
	return n
}

// oneGroup is a group of a part. It has no pointers, so that the garbage collector need not look at all groups.
type oneGroup struct{ part, n uint32 }

// all returns all groups.
func (g *groupBy) all() []oneGroup {
	all := make([]oneGroup, g.len())
	first := 0
	var wait sync.WaitGroup
	for k, p := range g.parts {
		some := all[first : first+p.len()]
		first += len(some)
		wait.Go(func() {
			for n := range some {
				some[n] = oneGroup{uint32(k), uint32(n)}
			}
		})
	}
	wait.Wait()
	return all
}

// run returns the groups as rows to be sorted by what they are grouped by, whose lines have the results.
// Error: a sum has no room.
func (g *groupBy) run(groups []oneGroup, members []string) (*sortRun, error) {
	u := newSortRun(len(g.by))
	for c, column := range g.by {
		u.types = append(u.types, g.types[column])
		g.column(&u.kept, c, groups)
	}
	var wrong wrongGroup
	u.format(len(groups), members, func(out *row, i int) {
		p, n := g.parts[groups[i].part], int(groups[i].n)
		for c, column := range g.by {
			out.wordIf(shown{g.types[column], p.texts[c]}, p.words[c][n], !p.null(c, n))
		}
		for _, of := range p.values {
			x, err := of.result(n, g.types)
			switch {
			case err != nil:
				wrong.add(err, p, n, g.types)
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

// column sets a column to what groups have there.
func (g *groupBy) column(to *kept, c int, groups []oneGroup) {
	words := make([]uint64, len(groups))
	to.words[c] = words
	if slices.ContainsFunc(g.parts, func(p *part) bool { return p.nulls[c] != nil }) {
		to.nulls[c] = make([]bool, len(groups))
	}
	first := make([]uint64, len(g.parts)) // of the texts of a part
	text := g.types[g.by[c]] == keytype.Text
	few := text && len(groups) < g.len() // these texts are copied, so that all others can be forgotten
	if text && !few {
		var texts []*keytype.Arena
		for _, p := range g.parts {
			texts = append(texts, p.texts[c])
		}
		to.texts[c], first = keytype.Joined(texts)
	}
	threads.Each(len(groups), 8*len(groups), func(begin, end int) {
		for i, one := range groups[begin:end] {
			p := g.parts[one.part]
			words[begin+i] = first[one.part] + p.words[c][one.n]
			if to.nulls[c] != nil {
				to.nulls[c][begin+i] = p.null(c, int(one.n))
			}
		}
	})
	if few {
		for i, one := range groups {
			words[i] = to.texts[c].Add(g.parts[one.part].texts[c].At(words[i]))
		}
	}
}

// wrongGroup is the error about the first group, in order, that has one. Several goroutines may add errors.
type wrongGroup struct {
	lock sync.Mutex
	err  error
	in   *keyTable
	n    int
}

func (w *wrongGroup) add(err error, p *part, n int, types []keytype.Type) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.err == nil || p.compare(n, w.in, w.n, types) < 0 {
		w.err, w.in, w.n = err, p.keyTable, n
	}
}

// result returns the error with what the group's rows have in common.
func (w *wrongGroup) result(types []keytype.Type) error {
	if w.err == nil {
		return nil
	}
	var cells []string
	for c, column := range w.in.columns {
		switch of, x := types[column], w.in.cell(c, types[column], w.n); {
		case x.null:
			cells = append(cells, "without a value")
		case of == keytype.Text:
			cells = append(cells, strconv.Quote(string(x.text)))
		default:
			cells = append(cells, string(shown{Type: of}.appendCSV(nil, x.word)))
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
			if order := b.result.compare(a.result); order != 0 {
				return order
			}
			return g.parts[a.part].compare(int(a.n), g.parts[b.part].keyTable, int(b.n), g.types)
		})
		best = best[:min(most, len(best))]
	}
	var wrong wrongGroup
	for _, one := range all {
		p := g.parts[one.part]
		x, err := p.values[0].result(int(one.n), g.types)
		if err != nil {
			wrong.add(err, p, int(one.n), g.types)
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
		return r.sum.Compare(r.value.Type, other.sum)
	}
	return cmp.Or(cmp.Compare(r.value.Word, other.value.Word), cmp.Compare(r.mean, other.mean),
		cmp.Compare(r.count, other.count))
}

// result returns what group n has. A sum that 64 bits have no room for is an error.
func (a *aggregated) result(n int, types []keytype.Type) (r result, err error) {
	some := uint64(0)
	switch {
	case a.function == functionCount || a.function == functionDistinct:
		r.count = a.some[n]
		return r, nil
	case a.has == nil:
		some = a.some[n]
		r.null = some == 0
	default:
		r.null = !a.has[n]
	}
	if r.null {
		return r, nil
	}
	switch t := types[a.column]; {
	case a.function == functionOnly && some > 1:
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
		r.mean = a.sums[n].Mean(t, some)
	default:
		r.value = keytype.Value{Type: t, Word: a.words[n]}
	}
	return r, err
}
