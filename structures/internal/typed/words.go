// Package typed makes dictionaries of users' types of those of words, which kernels know: it encodes what goes in, and
// decodes what comes out (structures.KeyCode, structures.ValueCode). What is a word already is passed on as it is.
package typed

import (
	"unsafe"

	"github.com/vkds/vkds/structures"
)

// Keys are keys as words: the same memory where they are words already.
func Keys[W structures.Word, K structures.Number](keys []K) []W {
	if plainKeys[K, W]() {
		return alias[W](keys)
	}
	return mapped(keys, keyWords[K, W]())
}

// Values are values as words: the same memory where they are words already.
func Values[W structures.Word, V structures.Number](values []V) []W {
	if plainValues[V, W]() {
		return alias[W](values)
	}
	return mapped(values, valueWords[V, W]())
}

// KeysOf are the keys of words, which nobody else keeps.
func KeysOf[K structures.Number, W structures.Word](words []W) []K {
	if plainKeys[K, W]() {
		return alias[K](words)
	}
	return mapped(words, keysOfWords[K, W]())
}

// ValuesOf are the values of words, which nobody else keeps.
func ValuesOf[V structures.Number, W structures.Word](words []W) []V {
	if plainValues[V, W]() {
		return alias[V](words)
	}
	return mapped(words, valuesOfWords[V, W]())
}

// Wide says whether pairs of these types are stored as 64-bit words.
func Wide[K, V structures.Number]() bool {
	return structures.PairWidth[K, V]() == structures.Bits64
}

// results is a slice for words that become a user's numbers.
type results[T structures.Number, W structures.Word] struct {
	words []W
	to    []T // nil: they are the words
	of    func(W) T
}

// keyResults are results that are keys, valueResults that are values, in the user's slice; nil of nil.
func keyResults[W structures.Word, K structures.Number](to []K) results[K, W] {
	return resultsOf(to, plainKeys[K, W](), keysOfWords[K, W])
}

func valueResults[W structures.Word, V structures.Number](to []V) results[V, W] {
	return resultsOf(to, plainValues[V, W](), valuesOfWords[V, W])
}

func resultsOf[T structures.Number, W structures.Word](to []T, plain bool, of func() func(W) T) results[T, W] {
	switch {
	case to == nil:
		return results[T, W]{}
	case plain:
		return results[T, W]{words: alias[W](to)}
	}
	r := results[T, W]{make([]W, len(to)), to, of()}
	return r
}

// from has the slice begin with what the user's has: what a call leaves alone stays.
func (r results[T, W]) from(words []W) results[T, W] {
	if r.to != nil {
		copy(r.words, words)
	}
	return r
}

// decode makes them the user's numbers.
func (r results[T, W]) decode() {
	for i := range r.to {
		r.to[i] = r.of(r.words[i])
	}
}

func plainKeys[K structures.Number, W structures.Word]() bool {
	return plainValues[K, W]() && !structures.Signed[K]()
}

func plainValues[V structures.Number, W structures.Word]() bool {
	return structures.WidthOf[V]() == structures.WidthOf[W]() && !structures.Float[V]()
}

// alias is a slice of numbers as one of others of their size.
func alias[To, From structures.Number](from []From) []To {
	if from == nil {
		return nil
	}
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(from))), cap(from))[:len(from)]
}

func mapped[To, From structures.Number](from []From, of func(From) To) []To {
	if from == nil {
		return nil
	}
	to := make([]To, len(from))
	for i, x := range from {
		to[i] = of(x)
	}
	return to
}

func keyWords[K structures.Number, W structures.Word]() func(K) W {
	code := structures.KeyCode[K]()
	return func(key K) W { return W(code.Word(key)) }
}

func valueWords[V structures.Number, W structures.Word]() func(V) W {
	code := structures.ValueCode[W, V]()
	return func(value V) W { return W(code.Word(value)) }
}

func keysOfWords[K structures.Number, W structures.Word]() func(W) K {
	code := structures.KeyCode[K]()
	return func(word W) K { return code.Of(uint64(word)) }
}

func valuesOfWords[V structures.Number, W structures.Word]() func(W) V {
	code := structures.ValueCode[W, V]()
	return func(word W) V { return code.Of(uint64(word)) }
}
