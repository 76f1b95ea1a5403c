package main

import (
	"bytes"
	"cmp"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// kept has what rows have in some columns.
type kept struct {
	words [][]uint64
	texts []*keytype.Arena // in which the words of text are numbers
	nulls [][]bool         // nil for a column without nulls
}

func newKept(columns int) kept {
	k := kept{words: make([][]uint64, columns), nulls: make([][]bool, columns)}
	for range columns {
		k.texts = append(k.texts, &keytype.Arena{})
	}
	return k
}

func (k *kept) null(column, i int) bool { return k.nulls[column] != nil && k.nulls[column][i] }

// bytes returns about how much memory the columns need.
func (k *kept) bytes() (all int) {
	for c := range k.words {
		all += 8*cap(k.words[c]) + cap(k.nulls[c]) + k.texts[c].Bytes() + 8*k.texts[c].Len()
	}
	return all
}

// cell is what a row has in a column.
type cell struct {
	null bool
	word uint64
	text []byte
}

// cell returns what row i has in a column of a type.
func (k *kept) cell(column int, t keytype.Type, i int) cell {
	x := cell{null: k.null(column, i), word: k.words[column][i]}
	if t == keytype.Text {
		x.text = k.texts[column].At(x.word)
	}
	return x
}

// add adds what a row has in one of its columns.
func (k *kept) add(column int, r *rows, from, i int) {
	word, null := r.words[from][i], r.null(from, i)
	if r.types[from] == keytype.Text {
		word = k.texts[column].Add(r.texts[from].At(word))
	}
	if null && k.nulls[column] == nil {
		k.nulls[column] = make([]bool, len(k.words[column]))
	}
	if k.words[column] = append(threads.Grown(k.words[column], 1), word); k.nulls[column] != nil {
		k.nulls[column] = append(k.nulls[column], null)
	}
}

// keep adds what rows have in one of their columns.
func (k *kept) keep(column int, r *rows, from int) {
	before := len(k.words[column])
	k.words[column] = threads.Grown(k.words[column], r.n)
	if r.types[from] != keytype.Text {
		k.words[column] = append(k.words[column], r.words[from][:r.n]...)
	} else {
		for _, word := range r.words[from][:r.n] {
			k.words[column] = append(k.words[column], k.texts[column].Add(r.texts[from].At(word)))
		}
	}
	if r.nulls[from] == nil && k.nulls[column] == nil {
		return
	}
	k.nulls[column] = append(k.nulls[column], make([]bool, before+r.n-len(k.nulls[column]))...)
	copy(k.nulls[column][before:], r.nulls[from])
}

// extended returns a slice of n elements. The new ones are zero if the slice has never been longer.
func extended[T any](s []T, n int) []T { return threads.Grown(s, n-len(s))[:n] }

// compareCells is the order of two cells of a type. Nulls come last, also if the order is descending.
func compareCells(t keytype.Type, descending bool, a, b cell) (order int) {
	switch {
	case a.null || b.null:
		return cmp.Compare(asBit(a.null), asBit(b.null))
	case t == keytype.Text:
		order = bytes.Compare(a.text, b.text)
	default:
		order = cmp.Compare(a.word, b.word)
	}
	if descending {
		return -order
	}
	return order
}

func asBit(b bool) int {
	if b {
		return 1
	}
	return 0
}
