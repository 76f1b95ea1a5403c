package models

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Slabs that buckets share, and the filter that says which keys have gone on to them (slab_shared.glsl). A bucket has a
// slab of one slot, and behind it is one of two, which another bucket inserts into as well. Copies of a key are
// inserted, erased and looked for.
const (
	sharedOwn  = 0 // the slot of the bucket's own slab
	sharedLink = 1 // 1: the key has gone on to the next slab
	sharedSlot = 2 // the two slots there
)

type sharing struct{ broken string }

// view reads the bucket's own slab, its words in any order.
func (sharing) view(t *Thread) (held int, passed bool) {
	words := t.Load(sharedOwn, sharedLink)
	return words[0], words[1] != 0
}

func (s sharing) insert(t *Thread) int {
	held, passed := s.view(t)
	if held == freshKey && t.CAS(sharedOwn, freshKey, key) == freshKey {
		return inserted
	}
	pass := func() {
		if !passed && s.broken != "it does not say so" {
			t.Or(sharedLink, 1)
		}
	}
	if s.broken != "it says so behind" {
		pass()
	}
	s.goOn(t)
	result := s.append(t, key)
	if s.broken == "it says so behind" {
		t.Release()
		pass()
	}
	return result
}

// goOn goes to the next slab, whose address is made of the link.
func (s sharing) goOn(t *Thread) {
	if s.broken != "the address is known before" {
		t.Follow(sharedSlot, sharedSlot+1)
	}
}

// append inserts a key into the slab that is shared.
func (sharing) append(t *Thread, key int) int {
	for slot := range 2 {
		if t.Load(sharedSlot + slot)[0] == freshKey && t.CAS(sharedSlot+slot, freshKey, key) == freshKey {
			return inserted
		}
	}
	return pending
}

// finds is OP_FIND, and with `erases` OP_DELETE.
func (s sharing) finds(t *Thread, erases bool) int {
	for range 6 {
		held, passed := s.view(t)
		switch {
		case held == key:
			if !erases {
				return found
			}
			if t.CAS(sharedOwn, key, tombstone) == key {
				return deleted
			}
			continue
		case held == freshKey:
			if s.ends(t, sharedOwn, freshKey) {
				return absent
			}
			continue
		case !passed:
			if s.ends(t, sharedLink, 0) {
				return absent
			}
			continue
		}
		s.goOn(t)
		slots := t.Load(sharedSlot, sharedSlot+1)
		at, free := slices.Index(slots, key), slices.Index(slots, freshKey)
		switch {
		case at >= 0 && (free < 0 || at < free):
			if !erases {
				return found
			}
			if t.CAS(sharedSlot+at, key, tombstone) == key {
				return deleted
			}
		case free < 0 || s.ends(t, sharedSlot+free, freshKey):
			return absent
		}
	}
	return pending
}

// ends reads the word again at which the list seemed to end.
func (s sharing) ends(t *Thread, place, end int) bool {
	if s.broken == "one look" {
		return true
	}
	t.Follow(place, sharedLink, sharedSlot, sharedSlot+1)
	return t.Load(place)[0] == end
}

func TestSharedSlab(t *testing.T) {
	const free = freshKey
	for _, c := range []struct {
		name  string
		slots []int    // the own one, and two that are shared
		does  []string // of each thread: i, r, f, and o for an insertion of another bucket's
		finds []string // what is broken, and is seen
	}{
		{"found where it was inserted", []int{filler, free, free}, []string{"if", "f"},
			[]string{"it does not say so"}},
		{"by two", []int{filler, free, free}, []string{"if", "if"}, []string{"it does not say so"}},
		{"seen twice", []int{filler, free, free}, []string{"i", "ff"}, nil},
		{"a copy before it is erased", []int{key, free, free}, []string{"ir", "f"}, []string{"one look"}},
		{"twice", []int{key, free, free}, []string{"irir", "f"}, []string{"one look"}},
		{"erased by two", []int{key, free, free}, []string{"ir", "r"},
			[]string{"one look", "the address is known before"}},
		{"beside another bucket", []int{filler, free, free}, []string{"ir", "o", "f"}, nil},
		{"the own slab fills", []int{free, free, free}, []string{"if", "if", "f"}, nil},
		{"said late", []int{key, free, free}, []string{"ir", "ff"},
			[]string{"one look", "the address is known before"}},
	} {
		for _, broken := range append([]string{""}, c.finds...) {
			t.Run(fmt.Sprint(c.name, " ", broken), func(t *testing.T) {
				s := sharing{broken}
				m := Model{Places: append([]int{c.slots[0], 0}, c.slots[1:]...)}
				for _, does := range c.does {
					m.Threads = append(m.Threads, func(t *Thread) (all int) {
						for _, o := range does {
							t.Release() // order by result
							result := 0
							switch o {
							case 'i':
								result = s.insert(t)
							case 'o':
								s.append(t, filler)
								continue
							default:
								result = s.finds(t, o == 'r')
							}
							all = perOutcome*all + result
						}
						return all
					})
				}
				m.Fault = func(places, returned []int) string {
					does, results := slices.Clone(c.does), make([][]int, len(c.does))
					for i, all := range returned {
						does[i] = strings.ReplaceAll(does[i], "o", "")
						results[i] = resultsIn(all, len(does[i]))
					}
					after := []int{places[sharedOwn], places[sharedSlot], places[sharedSlot+1]}
					return copiesFault(c.slots, does, results, after)
				}
				check(t, m, broken == "")
			})
		}
	}
}
