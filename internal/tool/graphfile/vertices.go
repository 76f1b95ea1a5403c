package graphfile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/engine/threads"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// mostVertices is less than 2^32, because small has the number of a vertex plus one.
const mostVertices = min(math.MaxUint32-1, math.MaxInt)

// Vertices numbers the ids of a graph's vertices from 0, in the order in which they first come, and has the ids by
// number. The vertices of a Graph are in the order of their ids, unless these are texts. Only one goroutine at a time
// may use it.
type Vertices struct {
	id       input.Column // the type of ids
	there    keytype.Extent
	declared bool // ids are consecutive, from first; count is their number
	first    uint64
	count    int
	words    []uint64          // by number; for texts, numbers in the arena, which are the vertices
	small    []uint32          // by small word: its number plus one; 0: none
	numbers  map[uint64]uint32 // of other words, which small has no room for
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

// declare makes the vertices consecutive ids.
func (v *Vertices) declare(first, count uint64) error {
	if count > mostVertices {
		return ErrVertices
	}
	v.declared, v.first, v.count = true, first, int(count)
	v.id.Flag = "" // the types of ids are fixed
	return nil
}

// Len returns the number of vertices.
func (v *Vertices) Len() int { return v.count }

// Type returns the type of ids.
func (v *Vertices) Type() keytype.Type { return v.id.Type }

// Word returns the id of a vertex, as a word of Type.
func (v *Vertices) Word(number uint32) uint64 {
	if v.declared {
		return v.first + uint64(number)
	}
	return v.words[number]
}

// Texts returns the ids that are texts, by their words.
func (v *Vertices) Texts() *keytype.Arena { return &v.texts }

// Find returns the vertex of an id as users write it, and whether it exists. Errors are those of keytype.Type.Parse.
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

// among returns the vertex of a declared id.
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

// parse returns the vertex of an id, which may be new.
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

// text is parse for a text.
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

// number is parse for a word of the ids' type.
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

// addEdges adds edges by their ids, which are words of the ids' type. The caller has checked that there are enough
// numbers left.
func (v *Vertices) addEdges(edges *Edges, from, to []uint64) {
	begin := len(edges.From)
	edges.From = slices.Grow(edges.From, len(from))[:begin+len(from)]
	edges.To = slices.Grow(edges.To, len(to))[:begin+len(to)]
	ends := [2][]uint32{edges.From[begin:], edges.To[begin:]}
	const fresh = math.MaxUint32 // the number of no vertex
	threads.Each(len(from), 16*len(from), func(first, end int) {
		for side, ids := range [2][]uint64{from, to} {
			for i, id := range ids[first:end] {
				number, found := v.find(id)
				if !found {
					number = fresh
				}
				ends[side][first+i] = number
			}
		}
	})
	for i := range from { // new vertices get numbers in the order of the edges
		if ends[0][i] == fresh {
			ends[0][i], _ = v.number(from[i])
		}
		if ends[1][i] == fresh {
			ends[1][i], _ = v.number(to[i])
		}
	}
}

// add gives a word the next number.
func (v *Vertices) add(word uint64) (number uint32, err error) {
	if v.count == mostVertices {
		return 0, ErrVertices
	}
	v.there.Some, v.there.Greatest = true, max(v.there.Greatest, word)
	v.words = append(v.words, word)
	v.count++
	return uint32(v.count - 1), nil
}

// grow reports whether a word has a place in small. It grows small if that does not make it much longer than the number
// of words.
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

// become gives the ids another type, which Join has found to be possible.
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

// renumber computes small and numbers again.
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

// join gives the ids a type that words of a table's column fit, too, and converts the words to it.
func (v *Vertices) join(t keytype.Type, words []uint64) error {
	if t == v.id.Type || len(words) == 0 {
		return nil
	}
	if v.count == 0 && !slices.Contains(t.Wider(), v.id.Type) { // there are no ids yet
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

// complete adds the missing ids of a range, and reports whether all ids are in the range.
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
		_, _ = v.number(first + at) // there is room for all of them
	}
	return true
}

// sort numbers the vertices in the order of their ids. It returns the new numbers by the old ones; nil: nothing
// changes.
func (v *Vertices) sort() (numbers []uint32) {
	if v.declared || v.id.Type == keytype.Text || slices.IsSorted(v.words) {
		return nil
	}
	numbers, sorted := make([]uint32, len(v.words)), make([]uint64, 0, len(v.words))
	give := func(word uint64, old uint32) {
		numbers[old], sorted = uint32(len(sorted)), append(sorted, word)
	}
	if v.grow(v.there.Greatest) && len(v.numbers) == 0 { // small has the words in order
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
