package main

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// joinTable has rows of RIGHT by what they have in the --on columns.
type joinTable struct {
	on    []int // 0, 1, …
	n     int
	types []keytype.Type // of all columns read so far; nil: there is no row
	parts []*joinPart
	division
	next []uint32 // for each row, the next one that is equal, from 1; 0: none

	kept // the columns that are printed
}

// joinPart has the rows of its hashes.
type joinPart struct {
	*keyTable
	rows []equalRows // with each key
	last []uint32    // of these, from 1
}

// equalRows are the first of some rows that are equal, from 1, and how many they are.
type equalRows struct{ first, count uint32 }

func newJoinTable(on, columns int, d division) *joinTable {
	t := &joinTable{division: d, kept: newKept(columns)}
	for c := range on {
		t.on = append(t.on, c)
	}
	for range d.among {
		t.parts = append(t.parts, &joinPart{keyTable: newKeyTable(t.on)})
	}
	return t
}

// size returns how many different keys there are, and about how much memory the rows need.
func (t *joinTable) size() (keys int, bytes uint64) {
	bytes = uint64(4*cap(t.next) + t.kept.bytes())
	for _, p := range t.parts {
		keys += len(p.rows)
		bytes += p.bytes() + uint64(8*cap(p.rows)+4*cap(p.last))
	}
	return keys, bytes
}

// find returns the rows that are equal to each of some rows.
func (t *joinTable) find(r *rows) []equalRows {
	all := make([]equalRows, r.n)
	by, begins := r.divided(t.on, t.division)
	eachPart(begins, func(k, first, end int) {
		p := t.parts[k]
		for i := first; i < end; i++ {
			if (i-first)%rowsAhead == 0 {
				p.ahead(by.hashes[i:min(i+rowsAhead, end)])
			}
			if by.lacks(t.on, i) {
				continue
			}
			if n, _ := p.find(by, i, by.hashes[i]); n >= 0 {
				all[by.from[i]] = p.rows[n]
			}
		}
	})
	return all
}

// add adds rows.
func (t *joinTable) add(r *rows) error {
	if uint64(t.n)+uint64(r.n) > math.MaxUint32-1 {
		return fmt.Errorf("RIGHT has more than %s rows", grouped(uint64(math.MaxUint32-1)))
	}
	t.widen(r.types)
	t.next = extended(t.next, t.n+r.n)
	by, begins := r.divided(t.on, t.division)
	eachPart(begins, func(k, first, end int) {
		p := t.parts[k]
		for i := first; i < end; i++ {
			if by.lacks(t.on, i) {
				continue
			}
			row := uint32(t.n) + by.from[i] + 1
			n, fresh := p.number(by, i, by.hashes[i])
			if fresh {
				p.rows, p.last = append(p.rows, equalRows{row, 1}), append(p.last, row)
				continue
			}
			t.next[p.last[n]-1] = row
			p.last[n] = row
			p.rows[n].count++
		}
	})
	var wait sync.WaitGroup
	for c := range t.words {
		wait.Go(func() { t.keep(c, r, len(t.on)+c) })
	}
	wait.Wait()
	t.n += r.n
	return nil
}

// widen gives the rows the words of the types of other rows: all columns of RIGHT, or the --on columns of LEFT.
func (t *joinTable) widen(types []keytype.Type) {
	if t.types == nil {
		t.types = slices.Clone(types)
		return
	}
	for _, p := range t.parts {
		p.widen(t.types, types)
	}
	for c := range t.words {
		if from := len(t.on) + c; len(types) > from && types[from] != t.types[from] {
			types[from].Widen(t.types[from], t.words[c])
		}
	}
	copy(t.types, types)
}

// matches are rows of LEFT and the rows of RIGHT beside them.
type matches struct {
	*joining
	table  *joinTable
	left   *rows
	lefts  []uint32   // rows of left
	rights []uint32   // rows of table, from 1; 0: none
	words  [][]uint64 // what rights have in the columns that are printed
	waits  bool       // rows of LEFT without a match may match rows of RIGHT that wait
}

// mostMatches is how many pairs of rows are printed at a time, or those of one row of LEFT.
const mostMatches = 1 << 20

// all calls use with all matches, in order, some at a time. It sets left for the rows that wait.
func (m *matches) all(use func() error) error {
	r, t := m.left, m.table
	equal := t.find(r)
	r.left = make([]bool, r.n)
	threads.InShares(threads.Shares(), r.n, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			found := equal[i].first != 0
			r.left[i] = m.waits && !found && !r.lacks(t.on, i)
			if m.semi || m.anti || !found { // one line without a row of RIGHT, or none
				some := m.semi && found || (m.anti || m.joining.left) && !found
				equal[i] = equalRows{0, uint32(asBit(some && !r.left[i]))}
			}
		}
	})
	for begin := 0; begin < r.n; {
		starts := make([]int, 0, r.n-begin) // of the pairs of each row
		n := 0
		for _, rows := range equal[begin:] {
			if n >= mostMatches {
				break
			}
			starts = append(starts, n)
			n += int(rows.count)
		}
		m.lefts, m.rights = make([]uint32, n), make([]uint32, n) // those before may still be in use
		threads.InShares(threads.Shares(), len(starts), func(_, from, to int) {
			for k, start := range starts[from:to] {
				i := begin + from + k
				row := equal[i].first
				for k := range int(equal[i].count) {
					if k > 0 {
						row = t.next[row-1]
					}
					m.lefts[start+k], m.rights[start+k] = uint32(i), row
				}
			}
		})
		m.gather()
		begin += len(starts)
		if err := use(); err != nil {
			return err
		}
	}
	return nil
}

// gather fills words. The rows of RIGHT are all over the memory, and so the processor waits for many at once.
func (m *matches) gather() {
	m.words = make([][]uint64, len(m.table.words))
	for c, words := range m.table.words {
		m.words[c] = make([]uint64, len(m.rights))
		threads.InShares(threads.Shares(), len(m.rights), func(_, begin, end int) {
			for k, row := range m.rights[begin:end] {
				if row != 0 {
					m.words[c][begin+k] = words[row-1]
				}
			}
		})
	}
}

// line writes a match as a line of the answer.
func (m *matches) line(out *row, k int) {
	r, t, i := m.left, m.table, int(m.lefts[k])
	for c := range m.columns[0] {
		out.wordIf(shown{r.types[c], r.texts[c]}, r.words[c][i], !r.null(c, i))
	}
	for c := range t.words {
		if row := int(m.rights[k]) - 1; row < 0 {
			out.wordIf(shown{}, 0, false)
		} else {
			out.wordIf(shown{t.types[len(t.on)+c], t.texts[c]}, m.words[c][k], !t.null(c, row))
		}
	}
}
