package graphfile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// mostVertices is one less than the numbers that 32 bits have: tables hold a number and one.
const mostVertices = min(math.MaxUint32-1, math.MaxInt)

// Vertices number the ids of a graph's vertices from 0 on, in the order in which they first come, and know the way
// back. The numbers of a Graph are in the order of the ids, but for texts, which have none. It is used from one
// goroutine at a time.
type Vertices struct {
	id       input.Column // of what ids are
	there    keytype.Extent
	declared bool // ids are first, first+1, …, and so many
	first    uint64
	count    int
	words    []uint64          // by number; of texts numbers in the arena, which are those of the vertices
	small    []uint32          // of words that are small: one more than their number, 0: none has come
	numbers  map[uint64]uint32 // of the others, which the table has no place for
	texts    keytype.Arena
	byText   map[string]uint32
}

func newVertices(id input.Column) *Vertices {
	if !(Options{ID: id}).typed() {
		id.Any, id.Type, id.Wider = true, keytype.Uint64, keytype.Uint64.Wider()
	}
	id.Name = ""
	return &Vertices{id: id, numbers: map[uint64]uint32{}, byText: map[string]uint32{}}
}

// declare makes the vertices those of consecutive ids.
func (v *Vertices) declare(first, count uint64) error {
	if count > mostVertices {
		return ErrVertices
	}
	v.declared, v.first, v.count = true, first, int(count)
	v.id.Flag = "" // they are integers
	return nil
}

// Len is how many there are.
func (v *Vertices) Len() int { return v.count }

// Type is what their ids are.
func (v *Vertices) Type() keytype.Type { return v.id.Type }

// Word is the id of a number, as a word of Type.
func (v *Vertices) Word(number uint32) uint64 {
	if v.declared {
		return v.first + uint64(number)
	}
	return v.words[number]
}

// Texts are the ids that are texts, by their words.
func (v *Vertices) Texts() *keytype.Arena { return &v.texts }

// Find returns the number of an id as people write it, and whether there is one. Errors are those of
// keytype.Type.Parse.
func (v *Vertices) Find(id string) (number uint32, found bool, err error) {
	if v.id.Type == keytype.Text {
		number, found = v.byText[id]
		return number, found, nil
	}
	value, err := v.id.Parse(id)
	var code *input.CodeError
	if errors.As(err, &code) { // 007 is not 7
		return 0, false, nil
	}
	if err != nil || value.Type != v.id.Type {
		return 0, false, err
	}
	if v.declared {
		at := value.Word - v.first
		return uint32(at), at < uint64(v.count), nil
	}
	number, found = v.find(value.Word)
	return number, found, nil
}

func (v *Vertices) find(word uint64) (number uint32, found bool) {
	if word < uint64(len(v.small)) {
		number = v.small[word]
		return number - 1, number != 0
	}
	number, found = v.numbers[word]
	return number, found
}

// among returns the number of a declared id.
func (v *Vertices) among(field []byte) (number uint32, err error) {
	id, ok := unsigned(field)
	if !ok {
		if _, err := keytype.Uint64.ParseBytes(field); err != nil {
			return 0, err
		}
	}
	if at := id - v.first; ok && at < uint64(v.count) {
		return uint32(at), nil
	}
	return 0, &IDError{shortened(field), v.first, v.first + uint64(v.count) - 1}
}

// parse returns the number of an id that may be new.
func (v *Vertices) parse(field []byte) (number uint32, err error) {
	if v.id.Type == keytype.Text {
		return v.text(field)
	}
	if n, ok := unsigned(field); ok && v.id.Type == keytype.Uint64 && !(v.id.Any && input.Coded(field)) {
		return v.number(n)
	}
	value, err := v.id.Parse(string(field))
	if err != nil {
		return 0, err
	}
	t, err := v.there.Join(v.id.Type, v.id.Wider, value)
	if err != nil {
		return 0, err
	}
	word := []uint64{value.Word}
	t.Widen(value.Type, word)
	v.become(t)
	return v.number(word[0])
}

// text is parse of a text.
func (v *Vertices) text(id []byte) (number uint32, err error) {
	if len(id) > keytype.Longest {
		return 0, input.ErrLongText
	}
	if number, there := v.byText[string(id)]; there {
		return number, nil
	}
	number, err = v.add(v.texts.Add(id))
	v.byText[string(id)] = number
	return number, err
}

// number is parse of a word of the ids' type.
func (v *Vertices) number(word uint64) (number uint32, err error) {
	number, there := v.find(word)
	if there {
		return number, nil
	}
	if number, err = v.add(word); err != nil {
		return 0, err
	}
	if v.grow(word) {
		v.small[word] = number + 1
	} else {
		v.numbers[word] = number
	}
	return number, nil
}

// addEdges adds edges of ids, words of the ids' type, to others of numbers. There are numbers left for all of them.
func (v *Vertices) addEdges(edges *Edges, from, to []uint64) {
	begin := len(edges.From)
	edges.From = slices.Grow(edges.From, len(from))[:begin+len(from)]
	edges.To = slices.Grow(edges.To, len(to))[:begin+len(to)]
	for i := range from {
		edges.From[begin+i], _ = v.number(from[i])
		edges.To[begin+i], _ = v.number(to[i])
	}
}

// add gives the next number to a word.
func (v *Vertices) add(word uint64) (number uint32, err error) {
	if v.count == mostVertices {
		return 0, ErrVertices
	}
	v.there.Some, v.there.Greatest = true, max(v.there.Greatest, word)
	v.words = append(v.words, word)
	v.count++
	return uint32(v.count - 1), nil
}

// grow tells whether a word has a place in the table of small ones, which it makes larger while that is not much larger
// than the words are many.
func (v *Vertices) grow(word uint64) bool {
	const least, times = 1 << 16, 8
	if word >= uint64(max(least, times*len(v.words))) {
		return word < uint64(len(v.small))
	}
	if word >= uint64(len(v.small)) {
		v.small = append(v.small, make([]uint32, max(int(word)+1-len(v.small), len(v.small)))...)
		for word, number := range v.numbers {
			if word < uint64(len(v.small)) {
				v.small[word] = number + 1
				delete(v.numbers, word)
			}
		}
	}
	return true
}

// become gives the ids another type, to which Join has found that there is a way.
func (v *Vertices) become(t keytype.Type) {
	if t == v.id.Type {
		return
	}
	t.Widen(v.id.Type, v.words)
	v.there.Widen(t, v.id.Type)
	before := v.id.Wider
	v.id.Type = t
	v.id.Wider = slices.DeleteFunc(t.Wider(), func(w keytype.Type) bool { return !slices.Contains(before, w) })
	v.renumber()
}

// renumber finds the numbers of all words anew.
func (v *Vertices) renumber() {
	v.small, v.numbers = nil, map[uint64]uint32{}
	for number, word := range v.words {
		if v.grow(word) {
			v.small[word] = uint32(number) + 1
		} else {
			v.numbers[word] = uint32(number)
		}
	}
}

// join makes the ids of a type that words of a column of a table have, too, and those words words of it.
func (v *Vertices) join(t keytype.Type, words []uint64) error {
	if t == v.id.Type || len(words) == 0 {
		return nil
	}
	if v.count == 0 && !slices.Contains(t.Wider(), v.id.Type) { // nothing has come yet
		v.id.Type, v.id.Wider = t, t.Wider()
		return nil
	}
	last := keytype.Value{Type: t, Word: slices.Max(words)}
	to, err := v.there.Join(v.id.Type, v.id.Type.Wider(), last)
	if err != nil {
		return err
	}
	v.become(to)
	if !to.Widen(t, words) {
		return fmt.Errorf("its ids are of type %s, and those of the other column of type %s", t, to)
	}
	return nil
}

// complete adds the ids of a range that have not come, and tells whether all that have come are in it.
func (v *Vertices) complete(first, count uint64) bool {
	for _, word := range v.words {
		if word-first >= count {
			return false
		}
	}
	if count > mostVertices {
		return false
	}
	for at := uint64(0); at < count && uint64(v.count) < count; at++ {
		_, _ = v.number(first + at) // of which there are no more than that
	}
	return true
}

// sort gives the vertices numbers in the order of their ids, and returns them by the old ones; nil: nothing changes.
func (v *Vertices) sort() (numbers []uint32) {
	if v.declared || v.id.Type == keytype.Text || slices.IsSorted(v.words) {
		return nil
	}
	numbers, sorted := make([]uint32, len(v.words)), make([]uint64, 0, len(v.words))
	give := func(word uint64, old uint32) {
		numbers[old], sorted = uint32(len(sorted)), append(sorted, word)
	}
	if v.grow(v.there.Greatest) && len(v.numbers) == 0 { // the table has the words in order
		for word, number := range v.small {
			if number != 0 {
				give(uint64(word), number-1)
				v.small[word] = uint32(len(sorted))
			}
		}
		v.words = sorted
		return numbers
	}
	order := make([]uint32, len(v.words))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(v.words[a], v.words[b]) })
	for _, old := range order {
		give(v.words[old], old)
	}
	v.words = sorted
	v.renumber()
	return numbers
}
