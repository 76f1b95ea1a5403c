package main

import (
	"bytes"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// keyTable numbers the different rows of some columns in the order in which they come.
type keyTable struct {
	columns []int // of the rows
	kept
	slots []uint64 // numbers, from 1, and above them the lower halves of the hashes by which they are found
}

func newKeyTable(columns []int) *keyTable {
	return &keyTable{columns: columns, kept: newKept(len(columns)), slots: make([]uint64, 16)}
}

// len returns how many rows have numbers.
func (t *keyTable) len() int { return len(t.words[0]) }

// find returns the number of row i, whose hash is given, or -1, and its slot.
func (t *keyTable) find(r *rows, i int, hash uint64) (n int, slot *uint64) {
	mask := uint64(len(t.slots) - 1)
	for at := hash; ; at++ {
		slot := &t.slots[at&mask]
		n := int(uint32(*slot)) - 1
		if n < 0 || uint32(*slot>>32) == uint32(hash) && t.same(r, i, n) {
			return n, slot
		}
	}
}

// ahead reads what find will need for rows of some hashes, so that the processor waits for many of them at once.
// Nobody uses the sum, and it is not inlined: else the compiler would leave out the reads.
//
//go:noinline
func (t *keyTable) ahead(hashes []uint64) (sum uint64) {
	var numbers [rowsAhead]uint32
	mask := uint64(len(t.slots) - 1)
	for k, hash := range hashes {
		numbers[k] = uint32(t.slots[hash&mask])
	}
	for _, n := range numbers[:len(hashes)] {
		if n > 0 {
			sum += t.words[0][n-1]
		}
	}
	return sum
}

// rowsAhead is for how many rows ahead reads.
const rowsAhead = 64

// number returns the number of row i, whose hash is given, and whether it is a new one.
func (t *keyTable) number(r *rows, i int, hash uint64) (n int, fresh bool) {
	n, slot := t.find(r, i, hash)
	if n >= 0 {
		return n, false
	}
	for c, column := range t.columns {
		t.add(c, r, column, i)
	}
	*slot = hash<<32 | uint64(t.len())
	if 2*t.len() > len(t.slots) {
		t.grow()
	}
	return t.len() - 1, true
}

func (t *keyTable) same(r *rows, i, n int) bool {
	for c, column := range t.columns {
		word := r.words[column][i]
		switch null := r.null(column, i); {
		case null != t.null(c, n):
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

// grow makes twice as many slots. It reads and writes them nearly in their order.
func (t *keyTable) grow() {
	slots := make([]uint64, 2*len(t.slots))
	mask := uint64(len(slots) - 1)
	for _, slot := range t.slots {
		if slot == 0 {
			continue
		}
		at := slot >> 32
		for slots[at&mask] != 0 {
			at++
		}
		slots[at&mask] = slot
	}
	t.slots = slots
}

// widen gives the rows the words of the types that their columns have become.
func (t *keyTable) widen(from, to []keytype.Type) {
	for c, column := range t.columns {
		to[column].Widen(from[column], t.words[c])
	}
}

// compare is the order of two rows of tables of the same columns. Nulls come last.
func (t *keyTable) compare(n int, other *keyTable, m int, types []keytype.Type) int {
	for c, column := range t.columns {
		of := types[column]
		if order := compareCells(of, false, t.cell(c, of, n), other.cell(c, of, m)); order != 0 {
			return order
		}
	}
	return 0
}

// bytes returns about how much memory the table needs.
func (t *keyTable) bytes() uint64 {
	return uint64(8*len(t.slots) + t.kept.bytes())
}
