package models

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// The deletion of vertices (shaders/graph/vertices.comp and sweep.comp). Vertex 0 has a loop and an arc to 1, vertex 1
// arcs to 0 and 2, and vertex 2 one to 1, each in a slab. A batch first marks vertices, in their states and in a bitmap
// of which several have one word; who sets the mark of a state deletes. Behind a barrier a sweep has a tile for each
// slab: it frees those of marked vertices, and erases arcs to these from the others. Meanwhile another structure that
// shares the pool takes what is free.
type vertexDeletion struct {
	batch  []int // vertices, of which one may come twice
	shared bool  // with somebody who takes slabs
	broken string
}

const (
	verticesGone = iota // the bitmap
	deletedCount        // of the graph's counters
	vertexState         // of vertex v, vertexState + v: 1 if it is deleted
	_                   //
	_                   //
	targetsOf           // of vertex v, targetsOf + v: a bit for each vertex that it has an arc to; freshSlab: free
	_                   //
	_                   //
	slabsTaken          // a bit for each slab that is allocated

	freshSlab = 64
	alien     = 65 // what the other structure writes
)

var targetsAtFirst = []int{1 | 2, 1 | 4, 2}

// mark is vertices.comp for one operation.
func (v vertexDeletion) mark(t *Thread, vertex int) int {
	state := 0
	if v.broken == "a state is read, then written" {
		state = t.Load(vertexState + vertex)[0]
		t.Store(vertexState+vertex, 1)
	} else {
		state = t.Or(vertexState+vertex, 1)
	}
	if state == 1 {
		return absent
	}
	t.Add(deletedCount, 1)
	if v.broken == "the bitmap is no atomic" {
		t.Store(verticesGone, t.Load(verticesGone)[0]|1<<vertex)
	} else {
		t.Or(verticesGone, 1<<vertex)
	}
	return deleted
}

// sweep is that of one vertex's slab.
func (v vertexDeletion) sweep(t *Thread, vertex int) int {
	gone := t.Load(verticesGone)[0]
	targets := t.Load(targetsOf + vertex)[0]
	if gone>>vertex&1 == 0 {
		if targets&gone != 0 {
			t.Store(targetsOf+vertex, targets&^gone)
		}
		return done
	}
	if v.broken != "freed before it is clear" {
		t.Store(targetsOf+vertex, freshSlab)
		if v.broken != "no fence in front of the freeing" {
			t.Release()
		}
	}
	t.Add(slabsTaken, -1<<vertex) // the bit is set: an atomic clears it
	if v.broken == "freed before it is clear" {
		t.Store(targetsOf+vertex, freshSlab)
	}
	return done
}

// take is somebody else who wants a slab, and may get the first vertex's.
func (v vertexDeletion) take(t *Thread) int {
	if t.Or(slabsTaken, 1)&1 != 0 {
		return pending
	}
	t.Follow(targetsOf)
	if t.Load(targetsOf)[0] != freshSlab {
		return absent // it was not clear
	}
	t.Store(targetsOf, alien)
	return done
}

func (v vertexDeletion) first() []int {
	return slices.Concat([]int{0, 0, 0, 0, 0}, targetsAtFirst, []int{7})
}

// left are the targets of a vertex behind the deletion.
func (v vertexDeletion) left(vertex int) int {
	left := targetsAtFirst[vertex]
	for _, gone := range v.batch {
		left &^= 1 << gone
	}
	return left
}

// swept says what is wrong behind the sweep.
func (v vertexDeletion) swept(places, returned []int) string {
	taken := 7
	for vertex := range targetsAtFirst {
		held := places[targetsOf+vertex]
		switch {
		case !slices.Contains(v.batch, vertex):
			if held != v.left(vertex) {
				return fmt.Sprintf("vertex %d has targets %b", vertex, held)
			}
			continue
		case held != freshSlab && !(vertex == 0 && v.shared && returned[3] == done && held == alien):
			return fmt.Sprintf("the slab of vertex %d is not clear", vertex)
		}
		taken &^= 1 << vertex
	}
	if v.shared && returned[3] == absent {
		return "a slab that is free is not clear"
	}
	if v.shared && returned[3] == done {
		taken |= 1
	}
	if places[slabsTaken] != taken {
		return fmt.Sprintf("slabs %b are taken", places[slabsTaken])
	}
	return ""
}

// sweeps is the second dispatch.
func (v vertexDeletion) sweeps(places []int) Model {
	m := Model{Places: places, Fault: v.swept}
	for vertex := range targetsAtFirst {
		m.Threads = append(m.Threads, func(t *Thread) int { return v.sweep(t, vertex) })
	}
	if v.shared {
		m.Threads = append(m.Threads, v.take)
	}
	return m
}

// marked says what is wrong behind the marks.
func (v vertexDeletion) marked(places, returned []int) string {
	names := map[int]int{}
	for i, vertex := range v.batch {
		if returned[i] == deleted {
			names[vertex]++
		}
	}
	for _, vertex := range v.batch {
		if names[vertex] != 1 {
			return fmt.Sprintf("%d operations have deleted vertex %d", names[vertex], vertex)
		}
	}
	if places[deletedCount] != len(names) {
		return fmt.Sprintf("%d deleted vertices are counted", places[deletedCount])
	}
	return ""
}

// model has the dispatches one behind the other, or, broken, without the barrier between them.
func (v vertexDeletion) model() Model {
	m := Model{Places: v.first()}
	for _, vertex := range v.batch {
		m.Threads = append(m.Threads, func(t *Thread) int { return v.mark(t, vertex) })
	}
	if v.broken == "no barrier" {
		all := v.sweeps(m.Places)
		all.Threads = append(all.Threads, m.Threads...)
		return all
	}
	known := map[string]string{}
	m.Fault = func(places, returned []int) string {
		name := fmt.Sprint(places)
		if _, is := known[name]; !is {
			_, known[name] = Explore(v.sweeps(places))
		}
		return cmp.Or(v.marked(places, returned), known[name])
	}
	return m
}

// Vertices of a batch are deleted once each, with all arcs to them and all of theirs, and their slabs are free and
// clear, whoever takes them meanwhile.
func TestDeletionOfVertices(t *testing.T) {
	for _, c := range []struct {
		batch  []int
		shared bool
		broken []string
	}{
		{[]int{0, 0, 1}, false, []string{"a state is read, then written", "the bitmap is no atomic", "no barrier"}},
		{[]int{0, 2}, false, []string{"the bitmap is no atomic", "no barrier"}},
		{[]int{0, 1}, true, []string{"freed before it is clear", "no fence in front of the freeing"}},
	} {
		for _, broken := range append([]string{""}, c.broken...) {
			t.Run(fmt.Sprint(c.batch, c.shared, " ", broken), func(t *testing.T) {
				check(t, vertexDeletion{c.batch, c.shared, broken}.model(), broken == "")
			})
		}
	}
}
