package models

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// How an operation learns that its key is absent, while copies of it are inserted and erased, on the list of
// slab_delete_all_test.go. The slots of a slab are read in any order: a free one may be read before a copy is put
// there, and one that holds a copy after that one is erased, so that neither is seen although there always was one. So
// behind a read that ended without the key, the word at which it ended is read again, by an address made of what the
// read brought (slab_view.glsl). If that still is the end, the key is absent now: full slots never get it again.

// finds is OP_FIND, and with `erases` OP_DELETE.
func (e emptying) finds(t *Thread, erases bool) int {
	slab := 0
	for range 6 {
		slots, held, next := e.view(t, slab)
		at := slices.Index(held, key)
		free := slices.Index(held, freshKey)
		switch {
		case at >= 0 && (free < 0 || at < free):
			if !erases {
				return found
			}
			if e.erase(t, slots[at]) {
				return deleted
			}
		case free >= 0:
			if e.ends(t, slots[free], freshKey) {
				return absent
			}
		case next == 0 && (slab == 1 || e.ends(t, emptyingNext, 0)):
			return absent
		default:
			slab = 1
			t.Follow(2, 3)
		}
	}
	return pending
}

// ends reads the word again at which a list seemed to end. Where that leads is behind both reads.
func (e emptying) ends(t *Thread, place, end int) bool {
	if e.broken == "one look" {
		return true
	}
	t.Follow(place, 2, 3)
	return t.Load(place)[0] == end
}

func TestAbsenceBesideDuplicates(t *testing.T) {
	const free = freshKey
	inserts, removes, looks, removesAll := 'i', 'r', 'f', 'a'
	for _, c := range []struct {
		name  string
		slots []int
		next  int
		does  []string // of each thread: its operations, of which a deletion of all is the only one
		finds []string // what is broken, and is seen
	}{
		{"into the free slot", []int{key, free, free, free}, 1, []string{"ir", "f"}, []string{"one look"}},
		{"into a new slab", []int{filler, key, free, free}, 0, []string{"ir", "f"}, []string{"one look"}},
		{"into a slab that was there", []int{filler, key, free, free}, 1, []string{"ir", "f"}, nil},
		{"deleted", []int{key, free, free, free}, 1, []string{"ir", "r"}, []string{"one look"}},
		{"twice", []int{filler, key, free, free}, 1, []string{"irir", "f"}, []string{"one look"}},
		{"none at first", []int{free, free, free, free}, 1, []string{"irir", "f"}, nil},
		{"all deleted", []int{key, free, free, free}, 1, []string{"ir", "a"}, []string{"one look"}},
		{"all deleted up to a new slab", []int{filler, key, free, free}, 0, []string{"ir", "a"}, []string{"one look"}},
		{"by two", []int{key, free, free, free}, 1, []string{"ir", "i", "fr"}, []string{"one look"}},
	} {
		for _, broken := range append([]string{""}, c.finds...) {
			t.Run(fmt.Sprint(c.name, " ", broken), func(t *testing.T) {
				e := emptying{broken: broken}
				m := Model{Places: append(slices.Clone(c.slots), c.next, 0)}
				for _, does := range c.does {
					m.Threads = append(m.Threads, func(t *Thread) (all int) {
						for _, o := range does {
							// What it does next depends on what its atomics answered: order by result.
							t.Release()
							result := 0
							switch o {
							case inserts:
								result = e.insert(t, false)
							case removes, looks:
								result = e.finds(t, o == removes)
							case removesAll:
								return e.deleteAll(t, false)
							}
							all = perOutcome*all + result
						}
						return all
					})
				}
				m.Fault = func(places, returned []int) string {
					does, results := slices.Clone(c.does), make([][]int, len(c.does))
					for i, all := range returned {
						if does[i] == "a" { // deletions, and then a moment without any copy
							does[i] = strings.Repeat("r", all/perOutcome)
							results[i] = slices.Repeat([]int{deleted}, all/perOutcome)
							if all%perOutcome == deleted {
								does[i] += "f"
								results[i] = append(results[i], absent)
							}
							continue
						}
						results[i] = resultsIn(all, len(does[i]))
					}
					return copiesFault(c.slots, does, results, places[:len(c.slots)])
				}
				check(t, m, broken == "")
			})
		}
	}
}

// resultsIn returns the results of n operations of a thread, which has returned them as one number.
func resultsIn(all, n int) []int {
	results := make([]int, n)
	for i := range results {
		results[n-1-i] = all % perOutcome
		all /= perOutcome
	}
	return results
}

// copiesFault says what is wrong with results of operations on a key, by the slots before and after them; "": nothing.
func copiesFault(before []int, does []string, results [][]int, after []int) string {
	copies := func(slots []int) (n int) {
		for _, k := range slots {
			if k == key {
				n++
			}
		}
		return n
	}
	if !copiesExplained(copies(before), does, results, copies(after)) {
		return fmt.Sprintf("%d copies, and %v of %v, and %d copies", copies(before), results, does, copies(after))
	}
	return ""
}

// copiesExplained says whether in some order of the threads' operations a key of so many copies gets so many, with
// these results.
func copiesExplained(copies int, does []string, results [][]int, after int) bool {
	over := true
	for i, own := range does {
		if own == "" {
			continue
		}
		over = false
		next := copies
		switch result := results[i][0]; {
		case result == pending:
		case own[0] == 'i' && result == inserted:
			next++
		case own[0] == 'r' && result == deleted && copies > 0:
			next--
		case own[0] == 'f' && result == found && copies > 0:
		case own[0] != 'i' && result == absent && copies == 0:
		default:
			continue
		}
		rest := results[i]
		does[i], results[i] = own[1:], rest[1:]
		is := copiesExplained(next, does, results, after)
		does[i], results[i] = own, rest
		if is {
			return true
		}
	}
	return over && copies == after
}
