package models

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Slabs that buckets share, and the filters that say which keys have gone on to them (slab_shared.glsl). A bucket has a
// slab of one slot, behind it is another one, and behind that one of two slots, which another bucket inserts into as
// well. Copies of a key are inserted, erased and looked for.
const (
	sharedOwn  = 0 // the slot of the bucket's own slab
	sharedLink = 1 // 1: the key has gone on to the next slab
	sharedNext = 2 // the same of that slab
	sharedPast = 3
	sharedLast = 4 // the two slots of the last one
)

// sharedSlabs are the slabs before the last one: slot and link.
var sharedSlabs = [][2]int{{sharedOwn, sharedLink}, {sharedNext, sharedPast}}

type sharing struct{ broken string }

// insert goes from slab to slab until it finds a free slot.
func (s sharing) insert(t *Thread) int {
	for _, slab := range sharedSlabs {
		words := t.Load(slab[0], slab[1])
		if words[0] == freshKey && t.CAS(slab[0], freshKey, key) == freshKey {
			return inserted
		}
		s.goOn(t, slab, words[1] != 0, true)
	}
	return s.append(t, key)
}

// skip is an insertion that goes to the last slab at once: those before it are known to be full (slab_skip). The links
// are not read, but changed.
func (s sharing) skip(t *Thread) int {
	for _, slab := range sharedSlabs {
		s.goOn(t, slab, false, true)
	}
	return s.append(t, key)
}

// skipLater is an insertion that finds the first slab full when it is about to skip, but not the next one. If others
// are faster there, it skips from that one.
func (s sharing) skipLater(t *Thread) int {
	s.goOn(t, sharedSlabs[0], false, true)
	if t.Load(sharedNext)[0] == freshKey && t.CAS(sharedNext, freshKey, key) == freshKey {
		return inserted
	}
	s.goOn(t, sharedSlabs[1], false, true)
	return s.append(t, key)
}

// goOn goes to the next slab, whose address is made of the link. An insertion then says that it has passed.
func (s sharing) goOn(t *Thread, slab [2]int, passed, inserts bool) {
	passes := inserts && !passed && s.broken != "it does not say so"
	if s.broken == "the link is older" {
		t.After(slab[1])
	}
	if passes {
		t.Or(slab[1], 1)
	}
	switch s.broken {
	case "the link is older":
	case "the address is known before":
		return
	default:
		t.After(slab[1])
	}
	t.Follow(sharedNext, sharedPast, sharedLast, sharedLast+1)
}

// append inserts a key into the last slab.
func (sharing) append(t *Thread, key int) int {
	for slot := sharedLast; slot < sharedLast+2; slot++ {
		if t.Load(slot)[0] == freshKey && t.CAS(slot, freshKey, key) == freshKey {
			return inserted
		}
	}
	return pending
}

// finds is OP_FIND, and with `erases` OP_DELETE.
func (s sharing) finds(t *Thread, erases bool) int {
	slab := 0
	for range 8 {
		slots, link := []int{sharedLast, sharedLast + 1}, -1
		if slab < len(sharedSlabs) {
			slots, link = sharedSlabs[slab][:1], sharedSlabs[slab][1]
		}
		reads := slices.Clone(slots)
		if link >= 0 {
			reads = append(reads, link)
		}
		words := t.Load(reads...)
		held := words[:len(slots)]
		at, free := slices.Index(held, key), slices.Index(held, freshKey)
		switch {
		case at >= 0 && (free < 0 || at < free):
			if !erases {
				return found
			}
			if t.CAS(slots[at], key, tombstone) == key {
				return deleted
			}
		case free >= 0:
			if s.ends(t, slots[free], freshKey) {
				return absent
			}
		case link < 0:
			return absent
		case words[len(slots)] == 0:
			if s.ends(t, link, 0) {
				return absent
			}
		default:
			s.goOn(t, sharedSlabs[slab], true, false)
			slab++
		}
	}
	return pending
}

// ends reads the word again at which the list seemed to end.
func (s sharing) ends(t *Thread, place, end int) bool {
	if s.broken == "one look" {
		return true
	}
	t.Follow(place, sharedLink, sharedNext, sharedPast, sharedLast, sharedLast+1)
	return t.Load(place)[0] == end
}

func TestSharedSlab(t *testing.T) {
	const free = freshKey
	for _, c := range []struct {
		name  string
		slots []int    // of the own slab, the next one, and the last one
		does  []string // of each thread: i, s and l to skip, r, f, and o for an insertion of another bucket's
		finds []string // what is broken, and is seen
	}{
		{"found where it was inserted", []int{filler, free, free, free}, []string{"if", "f"},
			[]string{"it does not say so"}},
		{"found in the last slab", []int{filler, filler, free, free}, []string{"if", "f"},
			[]string{"it does not say so"}},
		{"by two", []int{filler, free, free, free}, []string{"if", "if"}, []string{"it does not say so"}},
		{"seen twice", []int{filler, filler, free, free}, []string{"i", "ff"}, nil},
		{"a copy before it is erased", []int{key, free, free, free}, []string{"ir", "f"},
			[]string{"one look", "the link is older"}},
		{"and its copy in the last slab", []int{key, filler, free, free}, []string{"ir", "f"},
			[]string{"one look", "the link is older"}},
		{"skipped to the last slab", []int{key, filler, free, free}, []string{"sr", "f"},
			[]string{"one look", "the link is older"}},
		{"skipped later", []int{key, free, free, free}, []string{"lr", "i", "f"},
			[]string{"one look", "the link is older"}},
		{"twice", []int{key, free, free, free}, []string{"irir", "f"}, []string{"one look", "the link is older"}},
		{"erased by two", []int{key, filler, free, free}, []string{"ir", "r"},
			[]string{"one look", "the link is older", "the address is known before"}},
		{"beside another bucket", []int{filler, filler, free, free}, []string{"ir", "o", "f"}, nil},
		{"the own slab fills", []int{free, free, free, free}, []string{"if", "if", "f"}, nil},
		{"said late", []int{key, free, free, free}, []string{"ir", "ff"},
			[]string{"one look", "the link is older", "the address is known before"}},
		{"said late by two", []int{key, filler, free, free}, []string{"ir", "i", "f"},
			[]string{"one look", "the link is older", "the address is known before"}},
	} {
		for _, broken := range append([]string{""}, c.finds...) {
			t.Run(fmt.Sprint(c.name, " ", broken), func(t *testing.T) {
				s := sharing{broken}
				m := Model{Places: []int{c.slots[0], 0, c.slots[1], 0, c.slots[2], c.slots[3]}}
				for _, does := range c.does {
					m.Threads = append(m.Threads, func(t *Thread) (all int) {
						for _, o := range does {
							t.After(sharedOwn, sharedNext, sharedLast, sharedLast+1) // by the result of what was done
							result := 0
							switch o {
							case 'i':
								result = s.insert(t)
							case 's':
								result = s.skip(t)
							case 'l':
								result = s.skipLater(t)
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
						does[i] = strings.NewReplacer("o", "", "s", "i", "l", "i").Replace(does[i])
						results[i] = resultsIn(all, len(does[i]))
					}
					after := []int{places[sharedOwn], places[sharedNext], places[sharedLast], places[sharedLast+1]}
					return copiesFault(c.slots, does, results, after)
				}
				check(t, m, broken == "")
			})
		}
	}
}
