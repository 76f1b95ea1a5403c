// Package models has the protocols of the concurrent structures as small programs, and looks at everything that can
// come of them: every order of their steps, and every value that a read may bring.
//
// Memory is a few places, each with the values that were stored there in turn. A read brings any of them that is not
// older than what its thread is bound to see, as a GPU may do it, and an atomic that reads and writes takes the last
// one. Fences bind: what a thread stored or saw before a Release goes along with what it stores after it; who has
// loaded such a value is bound by it from an Acquire on, or, at the places that it reaches by the value, from a Follow
// on (order by address, shaders/include/memory.glsl). So loads between which there is no fence are made in one step:
// what another order of them would bring is among what these may.
//
// A model is written in steps like the shader it is of. Each test also breaks it, as the shader once was or might be,
// and requires that the fault is found.
package models

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

const mostPlaces = 10

// view says for each place which of its values is the oldest one that may be seen.
type view [mostPlaces]uint8

func (v view) with(other view) view {
	for i := range v {
		v[i] = max(v[i], other[i])
	}
	return v
}

type stored struct {
	value int
	view  view
}

// Model is what is explored.
type Model struct {
	Places  []int // the values at first
	Threads []func(*Thread) int
	// Fault says what is wrong with an end, with the last values of the places and what the threads returned; "":
	// nothing.
	Fault func(places, returned []int) string
}

type kind uint8

const (
	load kind = iota
	old
	store
	cas
	or
	exchange
	sum
	least
	most
	acquire
	release
	follow
	after
	end
)

type op struct {
	kind            kind
	part            part
	places          []int
	value, expected int
}

// part is what of a place an operation is on. A place may hold a pair of words, 1000 times the first one and the second
// one, which a load brings as it was at one moment, and which atomics change one by one.
type part uint8

const (
	whole part = iota
	first
	second
)

func (p part) of(place int) int {
	switch p {
	case first:
		return place / 1000
	case second:
		return place % 1000
	}
	return place
}

func (p part) with(place, value int) int {
	switch p {
	case first:
		return 1000*value + place%1000
	case second:
		return place/1000*1000 + value
	}
	return value
}

// threadState is how far a thread has come: what its operations brought, from which its code finds back to where it is.
type threadState struct {
	brought             []int
	now, loaded, behind view // what it sees, what its loads brought along, and what its stores take along
	last                view // of the last load alone
	next                op
}

type state struct {
	memory  [][]stored
	threads []threadState
	path    *path
}

type path struct {
	before *path
	thread int
	op     op
	got    []int
}

func (p *path) String() string {
	var lines []string
	for ; p != nil; p = p.before {
		name := []string{"load", "old load", "store", "compare and swap", "or", "exchange", "add", "minimum",
			"maximum"}[p.op.kind]
		lines = append(lines, fmt.Sprintf("thread %d: %s %v %d: %v", p.thread, name, p.op.places, p.op.value, p.got))
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// Thread is what a thread's code does its operations by. It has no other state: it is run again from its beginning.
type Thread struct {
	brought []int
	at      int
	next    op
}

type pause struct{}

func (t *Thread) do(o op, results int) []int {
	if t.at == len(t.brought) {
		t.next = o
		panic(pause{})
	}
	t.at += results
	return t.brought[t.at-results : t.at]
}

// Load reads places, in no order.
func (t *Thread) Load(places ...int) []int { return t.do(op{kind: load, places: places}, len(places)) }

// Old reads a place from a cache that is not coherent: any value that it had, even one older than what the thread has
// seen there.
func (t *Thread) Old(place int) int { return t.do(op{kind: old, places: []int{place}}, 1)[0] }

// Store writes a place.
func (t *Thread) Store(place, value int) {
	t.do(op{kind: store, places: []int{place}, value: value}, 1)
}

// CAS writes a place that holds the expected value, and returns what it held.
func (t *Thread) CAS(place, expected, value int) int {
	return t.do(op{kind: cas, places: []int{place}, value: value, expected: expected}, 1)[0]
}

// Or sets bits of a place, and returns what it held.
func (t *Thread) Or(place, bits int) int {
	return t.do(op{kind: or, places: []int{place}, value: bits}, 1)[0]
}

// Exchange writes a place, and returns what it held.
func (t *Thread) Exchange(place, value int) int {
	return t.do(op{kind: exchange, places: []int{place}, value: value}, 1)[0]
}

// Add, Min and Max are the atomics of these names.
func (t *Thread) Add(place, value int) int {
	return t.do(op{kind: sum, places: []int{place}, value: value}, 1)[0]
}
func (t *Thread) Min(place, value int) int {
	return t.do(op{kind: least, places: []int{place}, value: value}, 1)[0]
}
func (t *Thread) Max(place, value int) int {
	return t.do(op{kind: most, places: []int{place}, value: value}, 1)[0]
}

// CASFirst, ExchangeFirst and StoreSecond are on one word of a place that holds two.
func (t *Thread) CASFirst(place, expected, value int) int {
	return t.do(op{kind: cas, part: first, places: []int{place}, value: value, expected: expected}, 1)[0]
}
func (t *Thread) ExchangeFirst(place, value int) int {
	return t.do(op{kind: exchange, part: first, places: []int{place}, value: value}, 1)[0]
}
func (t *Thread) StoreSecond(place, value int) {
	t.do(op{kind: store, part: second, places: []int{place}, value: value}, 1)
}

func (t *Thread) Acquire() { t.do(op{kind: acquire}, 1) }
func (t *Thread) Release() { t.do(op{kind: release}, 1) }

// Follow goes by an address that the last load brought, to places.
func (t *Thread) Follow(places ...int) { t.do(op{kind: follow, places: places}, 1) }

// After says that what comes next is made of what the thread has got from places, or done only because of it: who sees
// what it stores is bound by that (order by address and by result).
func (t *Thread) After(places ...int) { t.do(op{kind: after, places: places}, 1) }

// advance runs a thread on to its next step.
func (m Model) advance(i int, s *threadState) {
	for {
		t := Thread{brought: s.brought}
		value, ended := m.run(i, &t)
		if ended {
			*s = threadState{next: op{kind: end, value: value}}
			return
		}
		switch t.next.kind {
		case acquire:
			s.now = s.now.with(s.loaded)
		case release:
			s.behind = s.now
		case follow:
			for _, p := range t.next.places {
				s.now[p] = max(s.now[p], s.last[p])
				s.behind[p] = max(s.behind[p], s.last[p])
			}
		case after:
			for _, p := range t.next.places {
				s.behind[p] = max(s.behind[p], s.now[p])
			}
		default:
			s.next = t.next
			return
		}
		s.brought = append(slices.Clip(s.brought), 0)
	}
}

func (m Model) run(i int, t *Thread) (value int, done bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(pause); !is {
				panic(r)
			}
		}
	}()
	return m.Threads[i](t), true
}

// key is equal for states from which the same can come.
func (s *state) key() string {
	var b []byte
	for _, place := range s.memory {
		b = append(b, byte(len(place)))
		for _, v := range place {
			b = append(binary.AppendVarint(b, int64(v.value)), v.view[:]...)
		}
	}
	for _, t := range s.threads {
		b = append(b, byte(len(t.brought)), byte(t.next.kind))
		for _, v := range t.brought {
			b = binary.AppendVarint(b, int64(v))
		}
		for _, v := range []view{t.now, t.loaded, t.behind, t.last} {
			b = append(b, v[:]...)
		}
		b = binary.AppendVarint(b, int64(t.next.value))
	}
	return string(b)
}

// Explore looks at all that can come of a model: how many states there are, and the first fault with the way to it.
func Explore(m Model) (states int, fault string) {
	first := &state{threads: make([]threadState, len(m.Threads))}
	for _, v := range m.Places {
		first.memory = append(first.memory, []stored{{value: v}})
	}
	for i := range first.threads {
		m.advance(i, &first.threads[i])
	}
	seen := map[string]bool{}
	for open := []*state{first}; len(open) != 0; {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		key := s.key()
		if seen[key] {
			continue
		}
		seen[key] = true
		over := true
		for i := range s.threads {
			if s.threads[i].next.kind != end {
				over = false
				m.step(s, i, func(next *state) { open = append(open, next) })
			}
		}
		if !over {
			continue
		}
		var places, returned []int
		for _, place := range s.memory {
			places = append(places, place[len(place)-1].value)
		}
		for _, t := range s.threads {
			returned = append(returned, t.next.value)
		}
		if what := m.Fault(places, returned); what != "" {
			return len(seen), what + "\n" + s.path.String()
		}
	}
	return len(seen), ""
}

// step has a thread do its next operation, in each way in which it may go.
func (m Model) step(s *state, i int, found func(*state)) {
	o := s.threads[i].next
	if o.kind == load || o.kind == old {
		m.loads(s, i, o, make([]int, 0, len(o.places)), found)
		return
	}
	p := o.places[0]
	values := s.memory[p]
	last := values[len(values)-1]
	next := s.fork()
	t := &next.threads[i]
	held, written, writes := o.part.of(last.value), o.value, true
	switch o.kind {
	case cas:
		writes = held == o.expected
	case or:
		written |= held
	case sum:
		written += held
	case least:
		written = min(written, held)
	case most:
		written = max(written, held)
	}
	if o.kind != store {
		t.last = last.view
		t.loaded = t.loaded.with(last.view)
		t.now[p] = uint8(len(values) - 1)
	}
	if writes {
		v := t.behind
		if o.kind != store || o.part != whole {
			v = v.with(last.view) // who reads this has read what it was made of
		}
		v[p] = uint8(len(values))
		next.memory[p] = append(slices.Clip(values), stored{o.part.with(last.value, written), v})
		t.now[p] = uint8(len(values))
	}
	m.finish(next, i, o, []int{held}, found)
}

// loads goes through all values that the places may bring.
func (m Model) loads(s *state, i int, o op, chosen []int, found func(*state)) {
	if len(chosen) < len(o.places) {
		p := o.places[len(chosen)]
		first := int(s.threads[i].now[p])
		if o.kind == old {
			first = 0
		}
		for at := first; at < len(s.memory[p]); at++ {
			m.loads(s, i, o, append(chosen, at), found)
		}
		return
	}
	next := s.fork()
	t := &next.threads[i]
	t.last = view{}
	got := make([]int, len(chosen))
	for n, at := range chosen {
		p := o.places[n]
		v := s.memory[p][at]
		got[n] = v.value
		t.last = t.last.with(v.view)
		t.now[p] = max(t.now[p], uint8(at))
	}
	t.loaded = t.loaded.with(t.last)
	m.finish(next, i, o, got, found)
}

func (s *state) fork() *state {
	return &state{memory: slices.Clone(s.memory), threads: slices.Clone(s.threads), path: s.path}
}

func (m Model) finish(next *state, i int, o op, got []int, found func(*state)) {
	t := &next.threads[i]
	t.brought = append(slices.Clip(t.brought), got...)
	next.path = &path{next.path, i, o, got}
	m.advance(i, t)
	found(next)
}
