package main

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// rowOrder says, for each column that rows are ordered by, whether its greatest values come first. Nulls come last.
type rowOrder []bool

// sortRun has rows that are to be sorted: what they have in the first columns, and the text that is printed.
type sortRun struct {
	types []keytype.Type // nil: there are no rows
	kept
	lines lines
}

// lines are texts that are made on all cores, each in blocks of its own.
type lines struct {
	blocks [][]byte
	starts []uint64 // of each line: its block, and in the lower blockBits its place there
	bytes  int      // of all blocks
}

const blockBits = 40

// at returns a line. It is valid as long as lines is.
func (l *lines) at(i uint64) []byte {
	start := l.starts[i]
	block := l.blocks[start>>blockBits]
	end := uint64(len(block))
	if next := i + 1; next < uint64(len(l.starts)) && l.starts[next]>>blockBits == start>>blockBits {
		end = l.starts[next] & (1<<blockBits - 1)
	}
	return block[start&(1<<blockBits-1) : end]
}

// ahead reads a byte of each of some lines, for what keyTable.ahead reads rows.
//
//go:noinline
func (l *lines) ahead(some []uint64) (sum uint64) {
	var starts [rowsAhead]uint64
	for k, i := range some {
		starts[k] = l.starts[i]
	}
	for _, start := range starts[:len(some)] {
		if block := l.blocks[start>>blockBits]; start&(1<<blockBits-1) < uint64(len(block)) {
			sum += uint64(block[start&(1<<blockBits-1)])
		}
	}
	return sum
}

func newSortRun(columns int) *sortRun { return &sortRun{kept: newKept(columns)} }

// bytes returns about how much memory the rows need, and will need when they are sorted.
func (u *sortRun) bytes() uint64 {
	const perRow = 8 + 4*8 // where the line is; the order, and what the sorter needs
	const perBlock = 24
	return uint64(u.lines.bytes + len(u.lines.blocks)*perBlock + len(u.lines.starts)*perRow + u.kept.bytes())
}

// add adds rows. members are those of an answer in JSON.
func (u *sortRun) add(r *rows, members []string) {
	for c := range u.words {
		if u.types != nil {
			r.types[c].Widen(u.types[c], u.words[c])
		}
		u.keep(c, r, c)
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
	if r.whole {
		u.format(r.n, nil, func(out *row, i int) {
			out.text = append(out.text, r.texts[first].At(r.words[first][i])...)
		})
		return
	}
	empty := r.format == input.CSV && members == nil // an empty field is printed as it is read
	u.format(r.n, members, func(out *row, i int) {
		for c := first; c < len(r.words); c++ {
			of, word := shown{r.types[c], r.texts[c]}, r.words[c][i]
			out.wordIf(of, word, !r.null(c, i) && !(empty && len(of.texts.At(word)) == 0))
		}
	})
}

// format adds n lines, which are written on all cores.
func (u *sortRun) format(n int, members []string, write func(out *row, i int)) {
	l, shares := &u.lines, min(threads.Shares(), n)
	before, first := len(l.starts), len(l.blocks)
	l.starts = extended(l.starts, before+n)
	l.blocks = append(l.blocks, make([][]byte, shares)...)
	expected := 64 // bytes a line
	if before > 0 {
		expected = l.bytes/before + 1
	}
	threads.InShares(shares, n, func(share, begin, end int) {
		out := row{members: members, text: make([]byte, 0, expected*(end-begin))}
		for i := begin; i < end; i++ {
			l.starts[before+i] = uint64(first+share)<<blockBits | uint64(len(out.text))
			out.cells = 0
			write(&out, i)
		}
		l.blocks[first+share] = out.text
	})
	for _, block := range l.blocks[first:] {
		l.bytes += cap(block)
	}
}

// sorted returns the numbers of the rows in their order.
func (u *sortRun) sorted(order rowOrder) []uint64 {
	all := make([]uint64, len(u.lines.starts))
	threads.Each(len(all), 8*len(all), func(first, end int) {
		for i := first; i < end; i++ {
			all[i] = uint64(i)
		}
	})
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
	flip := uint64(0)
	if order[c] {
		flip = math.MaxUint64
	}
	prefixes := make([]uint64, len(numbers))
	threads.Each(len(numbers), 8*len(numbers), func(first, end int) {
		u.prefixes(c, bytes, numbers[first:end], prefixes[first:end])
		for k := first; k < end; k++ {
			prefixes[k] ^= flip
		}
	})
	new(sorter).sort(prefixes, numbers)
	if c == len(order)-1 && u.types[c] != keytype.Text {
		return
	}
	threads.Each(len(numbers), 8*len(numbers), func(first, end int) {
		for first > 0 && first < end && prefixes[first] == prefixes[first-1] {
			first++ // these are in the share before
		}
		for first < end {
			last := first + 1
			for last < len(numbers) && prefixes[last] == prefixes[first] {
				last++
			}
			if u.types[c] == keytype.Text && byte(prefixes[first]^flip) > prefixBytes {
				u.sortBy(c, bytes+prefixBytes, numbers[first:last], order)
			} else {
				u.sortBy(c+1, 0, numbers[first:last], order)
			}
			first = last
		}
	})
}

// nullsLast moves rows without a value in a column after the others, and returns the number of these.
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

// prefixBytes is how many bytes of a text a prefix has.
const prefixBytes = 7

// prefixes sets numbers whose order agrees with that of rows in a column.
func (u *sortRun) prefixes(c, bytes int, rows, into []uint64) {
	words, text := u.words[c], u.types[c] == keytype.Text
	for k := range rows {
		into[k] = words[rows[k]]
	}
	if !text {
		return
	}
	for k, word := range into {
		if k%keytype.MostAhead == 0 {
			u.texts[c].Ahead(into[k:min(k+keytype.MostAhead, len(into))])
		}
		into[k] = prefix(u.texts[c].At(word)[bytes:])
	}
}

// prefix returns some bytes of a text, and then how many it has, or one more if it has more. So texts with the same
// prefix are equal, or go on.
func prefix(text []byte) (p uint64) {
	if len(text) > prefixBytes {
		return binary.BigEndian.Uint64(text)&^0xff | (prefixBytes + 1)
	}
	for i, b := range text {
		p |= uint64(b) << (8 * (prefixBytes - i))
	}
	return p | uint64(len(text))
}

// cell returns what row i has in a column.
func (u *sortRun) cell(c int, i uint64) cell { return u.kept.cell(c, u.types[c], int(i)) }

// compare is the order of two cells of column c.
func (o rowOrder) compare(c int, t keytype.Type, a, b cell) int { return compareCells(t, o[c], a, b) }
