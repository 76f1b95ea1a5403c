package main

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// rowOrder says, for each column that rows are ordered by, whether its greatest values come first. Nulls come last.
type rowOrder []bool

// sortRun has rows that are to be sorted: what they have in the first columns, and the text that is printed.
type sortRun struct {
	types []keytype.Type // nil: there are no rows
	words [][]uint64
	nulls [][]bool // nil for a column without nulls
	texts []*keytype.Arena
	lines *keytype.Arena
}

func newSortRun(columns int) *sortRun {
	u := &sortRun{words: make([][]uint64, columns), nulls: make([][]bool, columns), lines: &keytype.Arena{}}
	for range columns {
		u.texts = append(u.texts, &keytype.Arena{})
	}
	return u
}

// bytes returns about how much memory the rows need, and will need when they are sorted.
func (u *sortRun) bytes() uint64 {
	const perRow = 8 + 4*8 // where the line is; the order, and what the sorter needs
	all := u.lines.Bytes() + u.lines.Len()*perRow
	for c := range u.words {
		all += 8*len(u.words[c]) + len(u.nulls[c]) + u.texts[c].Bytes() + 8*u.texts[c].Len()
	}
	return uint64(all)
}

// add adds rows. members are those of an answer in JSON.
func (u *sortRun) add(r *rows, members []string) {
	before := u.lines.Len()
	for c := range u.words {
		if u.types != nil {
			r.types[c].Widen(u.types[c], u.words[c])
		}
		if r.types[c] == keytype.Text {
			for _, word := range r.words[c][:r.n] {
				u.words[c] = append(u.words[c], u.texts[c].Add(r.texts[c].At(word)))
			}
		} else {
			u.words[c] = append(u.words[c], r.words[c][:r.n]...)
		}
		if r.nulls[c] != nil || u.nulls[c] != nil {
			u.nulls[c] = append(u.nulls[c], make([]bool, before+r.n-len(u.nulls[c]))...)
			copy(u.nulls[c][before:], r.nulls[c])
		}
	}
	u.types = r.types[:len(u.words)]
	u.addLines(r, members)
}

// addLines formats the rows on all cores.
func (u *sortRun) addLines(r *rows, members []string) {
	first := len(u.words) // of the columns that are printed
	if len(r.words) == first {
		first = 0
	}
	empty := r.format == input.CSV && members == nil // an empty field is printed as it is read
	type formatted struct {
		text []byte
		ends []int
	}
	shares := make([]formatted, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range shares {
		wait.Go(func() {
			out := row{members: members}
			for i := k * r.n / len(shares); i < (k+1)*r.n/len(shares); i++ {
				out.cells = 0
				for c := first; c < len(r.words); c++ {
					of, word := shown{r.types[c], r.texts[c]}, r.words[c][i]
					out.wordIf(of, word, !r.null(c, i) && !(empty && len(of.texts.At(word)) == 0))
				}
				shares[k].ends = append(shares[k].ends, len(out.text))
			}
			shares[k].text = out.text
		})
	}
	wait.Wait()
	for _, share := range shares {
		begin := 0
		for _, end := range share.ends {
			u.lines.Add(share.text[begin:end])
			begin = end
		}
	}
}

// sorted returns the numbers of the rows in their order.
func (u *sortRun) sorted(order rowOrder) []uint64 {
	all := make([]uint64, u.lines.Len())
	for i := range all {
		all[i] = uint64(i)
	}
	u.sortBy(0, 0, all, order)
	return all
}

// sortBy sorts rows that are equal in the columns before c, and in the first bytes of their texts in c. It sorts them
// by a prefix of 64 bits of what follows, and then those with the same prefix.
func (u *sortRun) sortBy(c, bytes int, numbers []uint64, order rowOrder) {
	switch {
	case c == len(order) || len(numbers) < 2:
		return
	case len(numbers) < 32:
		u.sortFew(c, numbers, order)
		return
	}
	if bytes == 0 && u.nulls[c] != nil {
		some := u.nullsLast(c, numbers)
		u.sortBy(c+1, 0, numbers[some:], order)
		numbers = numbers[:some]
	}
	prefixes := make([]uint64, len(numbers))
	shareOut(len(numbers), func(first, end int) {
		for k, i := range numbers[first:end] {
			if prefixes[first+k] = u.prefix(c, bytes, i); order[c] {
				prefixes[first+k] ^= math.MaxUint64
			}
		}
	})
	new(sorter).sort(prefixes, numbers)
	if c == len(order)-1 && u.types[c] != keytype.Text {
		return
	}
	shareOut(len(numbers), func(first, end int) {
		for first > 0 && first < end && prefixes[first] == prefixes[first-1] {
			first++ // these are in the share before
		}
		for first < end {
			last := first + 1
			for last < len(numbers) && prefixes[last] == prefixes[first] {
				last++
			}
			if u.types[c] == keytype.Text && byte(u.prefix(c, bytes, numbers[first])) > prefixBytes {
				u.sortBy(c, bytes+prefixBytes, numbers[first:last], order)
			} else {
				u.sortBy(c+1, 0, numbers[first:last], order)
			}
			first = last
		}
	})
}

// nullsLast moves rows without a value in a column behind the others, and returns the number of these.
func (u *sortRun) nullsLast(c int, numbers []uint64) (some int) {
	var nulls []uint64
	for _, i := range numbers {
		if u.nulls[c][i] {
			nulls = append(nulls, i)
			continue
		}
		numbers[some] = i
		some++
	}
	copy(numbers[some:], nulls)
	return some
}

// sortFew is sortBy by comparisons.
func (u *sortRun) sortFew(c int, numbers []uint64, order rowOrder) {
	slices.SortStableFunc(numbers, func(i, j uint64) int {
		for k := c; k < len(order); k++ {
			if by := order.compare(k, u.types[k], u.cell(k, i), u.cell(k, j)); by != 0 {
				return by
			}
		}
		return 0
	})
}

// shareOut calls part for a range of n elements on each core.
func shareOut(n int, part func(first, end int)) {
	shares := runtime.GOMAXPROCS(0)
	if n < aloneBelow || shares == 1 {
		part(0, n)
		return
	}
	var wait sync.WaitGroup
	for k := range shares {
		wait.Go(func() { part(k*n/shares, (k+1)*n/shares) })
	}
	wait.Wait()
}

// prefixBytes is how many bytes of a text a prefix has.
const prefixBytes = 7

// prefix is a number whose order agrees with that of the rows in a column. Of texts it has some bytes from an index on,
// and then how many follow there, or one more if they are more. So texts with the same prefix are equal, or go on.
func (u *sortRun) prefix(c, bytes int, i uint64) uint64 {
	word := u.words[c][i]
	if u.types[c] != keytype.Text {
		return word
	}
	var first [prefixBytes + 1]byte
	rest := u.texts[c].At(word)[bytes:]
	copy(first[:prefixBytes], rest)
	first[prefixBytes] = byte(min(len(rest), prefixBytes+1))
	return binary.BigEndian.Uint64(first[:])
}

// cell is what a row has in a column.
type cell struct {
	null bool
	word uint64
	text []byte
}

func (u *sortRun) cell(c int, i uint64) cell {
	x := cell{null: u.nulls[c] != nil && u.nulls[c][i], word: u.words[c][i]}
	if u.types[c] == keytype.Text {
		x.text = u.texts[c].At(x.word)
	}
	return x
}

// compare is the order of two cells of column c.
func (o rowOrder) compare(c int, t keytype.Type, a, b cell) (order int) {
	switch {
	case a.null || b.null:
		return cmp.Compare(asBit(a.null), asBit(b.null))
	case t == keytype.Text:
		order = bytes.Compare(a.text, b.text)
	default:
		order = cmp.Compare(a.word, b.word)
	}
	if o[c] {
		return -order
	}
	return order
}

// runFile is a temporary file with a sorted run.
type runFile struct {
	*os.File
	types []keytype.Type
	rows  int
}

// A cell in a file begins with one of these bytes. A word of 8 bytes follows, or a length and a text.
const (
	cellNull = iota
	cellWord
	cellText
)

// spill writes the rows to a temporary file, sorted.
func (u *sortRun) spill(ctx context.Context, order rowOrder) (f runFile, err error) {
	f = runFile{types: u.types, rows: u.lines.Len()}
	if f.File, err = os.CreateTemp("", "vkds-sort-"); err != nil {
		return f, err
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	to := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for k, i := range u.sorted(order) {
		if line = line[:0]; k%(1<<16) == 0 && ctx.Err() != nil {
			return f, context.Cause(ctx)
		}
		for c := range order {
			switch x := u.cell(c, i); {
			case x.null:
				line = append(line, cellNull)
			case u.types[c] == keytype.Text:
				line = append(binary.AppendUvarint(append(line, cellText), uint64(len(x.text))), x.text...)
			default:
				line = binary.LittleEndian.AppendUint64(append(line, cellWord), x.word)
			}
		}
		text := u.lines.At(i)
		line = binary.AppendUvarint(line, uint64(len(text)))
		if _, err := to.Write(append(line, text...)); err != nil {
			return f, err
		}
	}
	if err := to.Flush(); err != nil {
		return f, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

func (f runFile) close() {
	f.File.Close()
	os.Remove(f.Name())
}

// runSource has the rows of a sorted run, one after the other.
type runSource struct {
	number int // runs that were read earlier have lesser ones
	cells  []cell
	line   []byte
	next   func() (bool, error) // reports whether there is another row, which cells and line then hold
}

// open returns the rows of a file, with cells of the types that columns have become.
func (f runFile) open(types []keytype.Type) *runSource {
	s := &runSource{cells: make([]cell, len(types))}
	from, left := bufio.NewReaderSize(f, 256<<10), f.rows
	read := func(into []byte) ([]byte, error) {
		n, err := binary.ReadUvarint(from)
		if err != nil {
			return into, err
		}
		into = slices.Grow(into[:0], int(n))[:n]
		_, err = io.ReadFull(from, into)
		return into, err
	}
	s.next = func() (more bool, err error) {
		if left == 0 {
			return false, nil
		}
		left--
		for c := range s.cells {
			x := &s.cells[c]
			kind, err := from.ReadByte()
			if err != nil {
				return false, err
			}
			switch x.null = kind == cellNull; kind {
			case cellText:
				if x.text, err = read(x.text); err != nil {
					return false, err
				}
			case cellWord:
				var word [8]byte
				if _, err := io.ReadFull(from, word[:]); err != nil {
					return false, err
				}
				one := []uint64{binary.LittleEndian.Uint64(word[:])}
				types[c].Widen(f.types[c], one)
				x.word = one[0]
			}
		}
		s.line, err = read(s.line)
		return err == nil, err
	}
	return s
}

// source returns the rows in memory.
func (u *sortRun) source(order rowOrder) *runSource {
	s := &runSource{cells: make([]cell, len(order))}
	numbers := u.sorted(order)
	s.next = func() (bool, error) {
		if len(numbers) == 0 {
			return false, nil
		}
		for c := range s.cells {
			s.cells[c] = u.cell(c, numbers[0])
		}
		s.line, numbers = u.lines.At(numbers[0]), numbers[1:]
		return true, nil
	}
	return s
}

// runHeap has sources that have a row. The first one's comes first.
type runHeap struct {
	all   []*runSource
	order rowOrder
	types []keytype.Type
}

func (h *runHeap) Len() int      { return len(h.all) }
func (h *runHeap) Swap(i, j int) { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *runHeap) Push(x any)    { h.all = append(h.all, x.(*runSource)) }

func (h *runHeap) Pop() any {
	last := len(h.all) - 1
	x := h.all[last]
	h.all = h.all[:last]
	return x
}

func (h *runHeap) Less(i, j int) bool {
	a, b := h.all[i], h.all[j]
	for c := range h.order {
		if order := h.order.compare(c, h.types[c], a.cells[c], b.cells[c]); order != 0 {
			return order < 0
		}
	}
	return a.number < b.number
}

// mergedAtATime is how many bytes of lines merge returns at a time.
const mergedAtATime = 4 << 20

// merge calls use with the lines of all runs in their order, some at a time, until use returns an error. last are rows
// that came after those of the files.
func merge(ctx context.Context, files []runFile, last *sortRun, order rowOrder, use func(lines [][]byte) error) error {
	h := &runHeap{order: order, types: last.types}
	if h.types == nil { // there are no rows
		h.types = files[len(files)-1].types
	}
	var sources []*runSource
	for _, f := range files {
		sources = append(sources, f.open(h.types))
	}
	for i, s := range append(sources, last.source(order)) {
		s.number = i
		more, err := s.next()
		if err != nil {
			return err
		}
		if more {
			h.all = append(h.all, s)
		}
	}
	heap.Init(h)
	var text []byte
	var ends []int
	send := func() error {
		lines, begin := make([][]byte, len(ends)), 0
		for i, end := range ends {
			lines[i], begin = text[begin:end], end
		}
		text, ends = text[:0], ends[:0]
		return cmp.Or(context.Cause(ctx), use(lines))
	}
	for h.Len() > 0 {
		s := h.all[0]
		text = append(text, s.line...)
		if ends = append(ends, len(text)); len(text) >= mergedAtATime {
			if err := send(); err != nil {
				return err
			}
		}
		more, err := s.next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(h, 0)
		default:
			heap.Pop(h)
		}
	}
	return send()
}
