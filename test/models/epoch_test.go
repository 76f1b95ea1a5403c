package models

import (
	"fmt"
	"testing"
)

// Slabs that are taken out of a structure inside a dispatch go back to the pool by epochs (shaders/include/epoch.glsl).
// Who works on the structure announces the epoch that it sees, by counting itself among those in epochs of that parity,
// and looks again; if the epoch has moved on meanwhile, it announces the new one as well. Counts are in stripes. Who
// moves the epoch on has found, by atomics, that nobody is counted in the epoch before. What was retired in an epoch is
// freed by who is in the third one after it.
type epochs struct {
	broken string
}

const (
	epochNumber = iota
	evenActive  // of one stripe: those in even epochs, and oddOne times those in odd ones
	oddActive   // of another stripe
	epochLink   // of the structure: where its slab is, or 0
	epochSlab   // epochValue, or another structure's
	bagCount    // of the class that is retired to
	bagWord
	bagBit // the pool's, of the slab

	oddOne             = 8
	epochValue, noSlab = 3, 9
)

func one(number int) int {
	if number%2 == 1 {
		return oddOne
	}
	return 1
}

// enters is epoch_enter: the epoch, and what is to be taken back.
func (e epochs) enters(t *Thread, stripe int) (number, held int) {
	number = t.Load(epochNumber)[0]
	if e.broken == "not announced" {
		return number, 0
	}
	taken := map[int]bool{}
	for range 5 {
		if !taken[number%2] {
			taken[number%2] = true
			held += one(number)
			t.Add(stripe, one(number))
		}
		if e.broken == "not looked at again" {
			t.Acquire()
			return number, held
		}
		if e.broken != "no fence behind the announcement" {
			t.Acquire()
		}
		again := t.Load(epochNumber)[0]
		if again == number {
			return number, held
		}
		number = again
		if e.broken == "the new epoch is not announced" {
			t.Acquire()
			return number, held
		}
	}
	panic("an epoch that can't be entered") // which the models would show
}

func (e epochs) leaves(t *Thread, stripe, held int) {
	if e.broken == "no fence in front of leaving" {
		t.Add(stripe, -held)
		return
	}
	t.Release()
	t.Add(stripe, -held)
}

// advances is epoch_advance, by who has seen the epoch: whether that was to be moved on.
func (e epochs) advances(t *Thread, number int) bool {
	if e.broken != "no fence in front of the looks" {
		t.Release()
	}
	counts := 0
	for _, stripe := range []int{evenActive, oddActive} {
		switch {
		case e.broken == "a stripe is left out" && stripe == evenActive:
		case e.broken == "looks instead of atomics":
			counts += t.Load(stripe)[0]
		default:
			counts += t.Add(stripe, 0)
		}
	}
	before := counts % oddOne
	if one(number+1) == oddOne {
		before = counts / oddOne
	}
	if before != 0 && e.broken != "nobody is asked" {
		return false
	}
	if e.broken != "no fence behind the looks" {
		t.Acquire()
		t.Release()
	}
	return t.CAS(epochNumber, number, number+1) == number
}

// reads finds the slab and reads it.
func (e epochs) reads(t *Thread) int {
	_, held := e.enters(t, evenActive)
	at := t.Load(epochLink)[0]
	if e.broken == "left before it has read" {
		e.leaves(t, evenActive, held)
	}
	value := noSlab
	if at == epochSlab {
		t.Follow(epochSlab)
		value = t.Load(epochSlab)[0]
	}
	if e.broken != "left before it has read" {
		e.leaves(t, evenActive, held)
	}
	return value
}

// retires takes the slab out.
func (e epochs) retires(t *Thread) int {
	number, held := e.enters(t, oddActive)
	if e.broken == "retired before it is out" {
		t.Store(bagWord, number+1)
		e.leaves(t, oddActive, held)
	}
	t.Exchange(epochLink, 0)
	if e.broken != "retired before it is out" {
		t.Store(bagWord, number+1) // the model's bag says when its word was put there
		e.leaves(t, oddActive, held)
	}
	return done
}

// frees moves the epoch on until it may free the slab.
func (e epochs) frees(t *Thread) int {
	after := 3
	if e.broken == "freed an epoch early" {
		after = 2
	}
	retired := t.Load(bagWord)[0] - 1
	for number := range 3 {
		if !e.advances(t, number) {
			return pending
		}
		if retired < 0 {
			retired = t.Load(bagWord)[0] - 1
		}
		if retired >= 0 && number+1 >= retired+after {
			return e.freesNow(t)
		}
	}
	return pending
}

func (e epochs) freesNow(t *Thread) int {
	t.Acquire()
	t.Release()
	t.Exchange(bagBit, 0)
	if t.Or(bagBit, 1) == 0 {
		t.Store(epochSlab, alienValue)
	}
	return done
}

func TestEpochs(t *testing.T) {
	for _, broken := range []string{
		"", "not announced", "not looked at again", "the new epoch is not announced",
		"no fence behind the announcement", "left before it has read", "no fence in front of leaving",
		"retired before it is out", "looks instead of atomics", "a stripe is left out", "nobody is asked",
		"no fence in front of the looks", "no fence behind the looks", "freed an epoch early",
	} {
		t.Run(broken, func(t *testing.T) {
			e := epochs{broken: broken}
			freed := false
			check(t, Model{
				Places:  []int{0, 0, 0, epochSlab, epochValue, 0, 0, 1},
				Threads: []func(*Thread) int{e.reads, e.retires, e.frees},
				Fault: func(places, returned []int) string {
					freed = freed || returned[2] == done
					switch {
					case returned[0] != epochValue && returned[0] != noSlab:
						return "a reader meets what is another structure's by now"
					case places[evenActive] != 0 || places[oddActive] != 0:
						return fmt.Sprint("somebody is counted who has left: ", places)
					}
					return ""
				},
			}, broken == "")
			if broken == "" && !freed {
				t.Error("nothing is ever freed")
			}
		})
	}
}
