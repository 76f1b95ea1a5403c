package models

import "testing"

// A state of look_back.glsl, of which two words stand for all: the workgroup that has the part publishes its own sum
// and then that of all parts up to it, another one that has waited for long publishes the part's own sum, too, and a
// third one reads both words, each as old as it may be. Broken, one word alone says which sum it is, or words are
// stored where they are to be raised.
func TestLookBackState(t *testing.T) {
	const (
		low = iota
		high

		own, through = 10, 20 // beside the digits of a sum: 12 and 35
		looks        = 2
	)
	for _, broken := range []string{"", "one word with a state", "stores"} {
		raise := func(t *Thread, place, value int) {
			if broken == "stores" {
				t.Store(place, value)
				return
			}
			for held, next := 0, 0; held < value; held = next {
				if next = t.CAS(place, held, value); next == held {
					return
				}
			}
		}
		has := func(t *Thread) int {
			raise(t, low, own+1)
			raise(t, high, own+2)
			raise(t, low, through+3)
			raise(t, high, through+5)
			return done
		}
		helps := func(t *Thread) int {
			raise(t, low, own+1)
			raise(t, high, own+2)
			return done
		}
		reads := func(t *Thread) int {
			for range looks {
				words := t.Load(low, high)
				state := words[0] / 10
				if state != 0 && (broken == "one word with a state" || words[1]/10 == state) {
					return 100*state + words[0]%10*10 + words[1]%10
				}
			}
			return pending
		}
		check(t, Model{Places: []int{0, 0}, Threads: []func(*Thread) int{has, helps, reads},
			Fault: func(places, returned []int) string {
				if got := returned[2]; got != pending && got != 112 && got != 235 {
					return "a sum of two ages"
				}
				if places[low] != through+3 || places[high] != through+5 {
					return "the sum of all parts is lost"
				}
				return ""
			}}, broken == "")
	}
}
