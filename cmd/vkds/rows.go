package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/zeebo/xxh3"
)

// The files rows_*.go are what group, distinct, merge, join and sort are made of: rows that are kept (rows_kept.go),
// numbered by what they have in some columns (rows_numbered.go), grouped, joined, sorted, and put into temporary files
// where the memory has no room for them: sorted runs (rows_runs.go), and rows that wait (rows_spilled.go).

// rowsAtATime is how many rows a batch has. Tests change it.
var rowsAtATime = batchLength

// rows are some rows of a table, column by column.
type rows struct {
	kept
	file   string
	names  []string
	whole  bool // the last column has records as they are printed
	format input.Format
	types  []keytype.Type
	hashes []uint64 // of what the rows are grouped by
	left   []bool   // rows that have no room, or wait for those
	n      int

	// Of divided:
	other  *rows
	by     division // of these rows; the zero value: they are not divided
	begins []int
	from   []uint32 // the rows of which these are a copy
}

// ready has room for n rows of some columns.
func (r *rows) ready(columns, n int) {
	if r.words != nil {
		return
	}
	r.kept, r.hashes, r.other = newKept(columns), make([]uint64, n), &rows{}
	for c := range columns {
		r.words[c] = make([]uint64, n)
	}
}

// read fills the rows with the next ones of a file.
func (r *rows) read(from *input.Reader) (err error) {
	r.names, r.format, r.whole = from.Names(), from.Format(), from.Records()
	from.SetTexts(r.texts...)
	r.by = division{}
	if r.n, err = from.Read(r.words...); r.n == 0 {
		return err
	}
	r.types, r.nulls = from.Types(), make([][]bool, len(r.words))
	for c, at := range from.Nulls() {
		if len(at) > 0 {
			r.nulls[c] = make([]bool, r.n)
		}
		for _, i := range at {
			r.nulls[c][i] = true
		}
	}
	return err
}

// lacks reports whether a row has no value in one of some columns.
func (r *rows) lacks(columns []int, i int) bool {
	return slices.ContainsFunc(columns, func(c int) bool { return r.null(c, i) })
}

// takePart removes the rows that are in other parts.
func (r *rows) takePart(by []int, part partition) {
	if part.n < 2 {
		return
	}
	r.hash(by, 0) // the same in all processes
	r.filter(func(i int) bool { return partOf(r.hashes[i], part.n) == part.i-1 })
}

// filter removes the rows for which keep returns false.
func (r *rows) filter(keep func(i int) bool) {
	taken := 0
	for i := range r.n {
		if keep(i) {
			r.move(i, taken)
			taken++
		}
	}
	r.n, r.by = taken, division{}
}

// move replaces a row.
func (r *rows) move(from, to int) {
	r.hashes[to] = r.hashes[from]
	for c, words := range r.words {
		if words[to] = words[from]; r.nulls[c] != nil {
			r.nulls[c][to] = r.nulls[c][from]
		}
	}
}

// mix adds what a row has in a column to a hash of the row. A number has the same hash in all types that a column may
// become, so that rows from before find those that come later.
func (r *rows) mix(hash uint64, column, i int) uint64 {
	word := r.words[column][i]
	switch t := r.types[column]; {
	case r.null(column, i):
		word = 0x94d049bb133111eb
	case t == keytype.Text:
		word = xxh3.Hash(r.texts[column].At(word))
	case t == keytype.Int32:
		word = uint64(int64(int32(t.Bits(word))))
	case t == keytype.Time:
		word *= uint64(time.Second)
	case t == keytype.Int64, t == keytype.Time64:
		word = t.Bits(word)
	}
	return mixed(hash, word)
}

func mixed(hash, word uint64) uint64 {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], hash)
	binary.LittleEndian.PutUint64(both[8:], word)
	return xxh3.Hash(both[:])
}

// hash hashes what the rows have in some columns.
func (r *rows) hash(columns []int, seed uint64) {
	few := make([][]uint64, len(r.words)) // of columns with few texts: their hashes
	for _, column := range columns {
		if texts := r.texts[column]; r.types[column] == keytype.Text && texts.Len() < r.n/8 {
			for word := range texts.Len() {
				few[column] = append(few[column], xxh3.Hash(texts.At(uint64(word))))
			}
		}
	}
	threads.Each(r.n, 8*r.n, func(first, end int) {
		for i := first; i < end; i++ {
			r.hashes[i] = seed
		}
		for _, column := range columns {
			switch hashes := few[column]; {
			case hashes != nil && r.nulls[column] == nil:
				for i, word := range r.words[column][first:end] {
					r.hashes[first+i] = mixed(r.hashes[first+i], hashes[word])
				}
			case hashes == nil && r.types[column] == keytype.Text:
				r.hashTexts(column, first, end)
			default:
				for i := first; i < end; i++ {
					r.hashes[i] = r.mix(r.hashes[i], column, i)
				}
			}
		}
	})
}

// hashTexts is hash for a column of texts, from one row to before another. It gives many rows with equal texts the same
// word, so that their texts need not be compared.
func (r *rows) hashTexts(column, first, end int) {
	var known [1 << 12]struct {
		hash, word uint64
		last       uint64 // another word of the text, which was read a moment ago
		some       bool
	}
	words, texts := r.words[column], r.texts[column]
	for i := first; i < end; i++ {
		if r.null(column, i) {
			r.hashes[i] = r.mix(r.hashes[i], column, i)
			continue
		}
		word := words[i]
		text := texts.At(word)
		hash := xxh3.Hash(text)
		r.hashes[i] = mixed(r.hashes[i], hash)
		k := &known[hash%uint64(len(known))]
		if k.some && k.hash != hash {
			k = &known[hash%uint64(len(known))^1]
		}
		switch {
		case !k.some:
			k.hash, k.word, k.last, k.some = hash, word, word, true
		case k.hash == hash && bytes.Equal(texts.At(k.last), text):
			words[i], k.last = k.word, word
		}
	}
}

// division is how rows are divided among a number of goroutines: by hashes with a seed.
type division struct {
	seed  uint64
	among int
}

func newDivision() division { return division{rand.Uint64(), threads.Shares()} }

// partOf returns which of n parts has rows of a hash.
func partOf(hash uint64, n int) int { return int(hash >> 32 * uint64(n) >> 32) }

// divided returns a copy of the rows in the order of the parts that their hashes are in, and where each part begins and
// the last one ends. Rows of one part stay in their order. The copy is valid until the next one, and is not made again
// while the rows are the same.
func (r *rows) divided(columns []int, d division) (by *rows, begins []int) {
	by = r.other
	if r.by == d {
		return by, r.begins
	}
	r.hash(columns, d.seed)
	if len(by.words) != len(r.words) {
		*by = rows{from: make([]uint32, len(r.hashes))}
		by.ready(len(r.words), len(r.hashes))
	}
	by.file, by.names, by.types, by.texts, by.n = r.file, r.names, r.types, r.texts, r.n
	by.nulls = make([][]bool, len(r.nulls))
	for c, nulls := range r.nulls {
		if nulls != nil {
			by.nulls[c] = make([]bool, r.n)
		}
	}
	r.by = d
	r.begins = threads.Divide(r.n, d.among, func(i int) int { return partOf(r.hashes[i], d.among) }, func(i, to int) {
		by.from[to], by.hashes[to] = uint32(i), r.hashes[i]
		for c, words := range r.words {
			if by.words[c][to] = words[i]; by.nulls[c] != nil {
				by.nulls[c][to] = r.nulls[c][i]
			}
		}
	})
	return by, r.begins
}

// equal reports whether two rows have the same words in some columns.
func (r *rows) equal(columns []int, i, k int) bool {
	for _, c := range columns {
		if r.words[c][i] != r.words[c][k] || r.null(c, i) != r.null(c, k) {
			return false
		}
	}
	return true
}

// eachPart calls do with the begin and the end of each part, on a goroutine of its own.
func eachPart(begins []int, do func(k, first, end int)) {
	var wait sync.WaitGroup
	for k, end := range begins[1:] {
		wait.Go(func() { do(k, begins[k], end) })
	}
	wait.Wait()
}

// numbered returns the rows with a column more: their numbers, the first of which is given.
func (r *rows) numbered(first int64) *rows {
	more := *r
	more.types = append(r.types[:len(r.types):len(r.types)], keytype.Uint64)
	more.kept = kept{
		append(r.words[:len(r.words):len(r.words)], make([]uint64, r.n)),
		append(r.texts[:len(r.texts):len(r.texts)], &keytype.Arena{}),
		append(r.nulls[:len(r.nulls):len(r.nulls)], nil),
	}
	for i := range r.n {
		more.words[len(r.words)][i] = uint64(first) + uint64(i)
	}
	return &more
}
