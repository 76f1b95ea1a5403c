package models

import (
	"cmp"
	"fmt"
	"testing"
)

// Operations on one arc of a graph (graph_apply of graph.glsl): its vertex has one slab of one slot, in which another
// arc stands, and the pool two more. An insertion that is out of visits is pending and counts itself in the vertex's
// state, and those that come behind leave the vertex alone. Between dispatches the host, which looks at states only,
// gives such a vertex more buckets; here that moves the arc into one of its own, so that the second dispatch has
// visits enough. The vertex was deleted once, and comes back by the first insertion.
type arcModel struct {
	ops    [][]operation
	visits []int // of each thread in the first dispatch
	broken string
}

const (
	arcState   = iota // one for each insertion that waits, and vertexThere
	arcDegree         // one more than the arc itself, for the other arc
	arcsGone          // deleted vertices: a counter of the graph
	arcNext           // the slab behind the first one; 0: none
	arcSlot           // of slab n, arcSlot + n - 1
	_                 //
	arcSlabBit        // of slab n, arcSlabBit + n - 1: it is allocated
	_                 //
	arcOwn            // the slab that is the arc's own bucket since the host has made it one; 0: none

	vertexThere = 64 // the other way round than GRAPH_DELETED
	mostVisits  = 4
	emptySlot   = 77 // none is a key
)

// walk brings an operation to the arc's slot or the first free one. slab 0: it is at the end of the list, and below 0
// it is out of visits.
func (a arcModel) walk(t *Thread, visits int) (slab int, held int) {
	if own := t.Load(arcOwn)[0]; own != 0 {
		t.Follow(arcSlot + own - 1)
		return own, t.Load(arcSlot + own - 1)[0]
	}
	// The first slab has the other arc.
	next := t.Load(arcNext)[0]
	switch {
	case next == 0:
		return 0, 0
	case visits < 2:
		return -1, 0
	}
	t.Follow(arcSlot + next - 1)
	return next, t.Load(arcSlot + next - 1)[0]
}

// extend puts a slab behind the first one, or finds that somebody has; 0: the pool has none.
func (a arcModel) extend(t *Thread) int {
	for fresh := 1; fresh <= 2; fresh++ {
		if t.Or(arcSlabBit+fresh-1, 1) == 1 {
			continue
		}
		if a.broken == "the link is stored" {
			t.Store(arcNext, fresh)
			return fresh
		}
		if linked := t.CAS(arcNext, 0, fresh); linked != 0 {
			t.Exchange(arcSlabBit+fresh-1, 0)
			return linked
		}
		return fresh
	}
	return 0
}

// apply does an operation, but for what is accounted of it.
func (a arcModel) apply(t *Thread, o operation, visits int) (outcome int) {
	inserts := o.kind == unique
	if inserts && t.Load(arcState)[0]&^vertexThere != 0 {
		return pending
	}
	for ; visits > 0; visits-- {
		slab, held := a.walk(t, visits)
		switch {
		case slab < 0:
			return pending
		case slab == 0 && !inserts:
			return absent
		case slab == 0:
			if slab = a.extend(t); slab == 0 {
				return pending
			}
			t.Follow(arcSlot + slab - 1)
			held = emptySlot
		}
		if outcome, over := a.act(t, o, arcSlot+slab-1, held); over {
			if outcome == inserted && a.broken == "given up behind its insertion" {
				return pending
			}
			return outcome
		}
	}
	return pending
}

// act does an operation at a slot. Not over: somebody else was faster.
func (a arcModel) act(t *Thread, o operation, slot, held int) (outcome int, over bool) {
	switch {
	case held == 0 && o.kind == unique:
		return pending, true // a tombstone: the slab is full, and here the pool is, too
	case held != key && o.kind != unique:
		return absent, true
	case held == key && o.kind == unique:
		return found, true
	case held == key && o.kind == finds:
		return foundValue(0), true
	case held == key:
		return deleted, t.CAS(slot, key, 0) == key
	}
	return inserted, t.CAS(slot, emptySlot, key) == emptySlot
}

// account is graph_account: the degree, the vertex that is one from now on, and the insertion that waits.
func (a arcModel) account(t *Thread, o operation, outcome int) {
	change := map[int]int{inserted: 1, deleted: -1}[outcome]
	if a.broken == "an arc that is found counts" && outcome == found && o.kind == unique {
		change = 1
	}
	switch {
	case change != 0 && a.broken == "the degree is stored":
		t.Store(arcDegree, t.Load(arcDegree)[0]+change)
	case change != 0:
		t.Add(arcDegree, change)
	}
	if outcome == inserted && t.Load(arcsGone)[0] != 0 && t.Load(arcState)[0]&vertexThere == 0 {
		if t.Or(arcState, vertexThere)&vertexThere == 0 || a.broken == "who saw the flag counts" {
			t.Add(arcsGone, -1)
		}
	}
	switch {
	case o.kind != unique || outcome != pending || a.broken == "nobody counts itself":
	case a.broken == "who waits is stored":
		t.Store(arcState, t.Load(arcState)[0]+1)
	default:
		t.Add(arcState, 1)
	}
}

func (a arcModel) do(visits int) func(*Thread, operation) int {
	return func(t *Thread, o operation) int {
		outcome := inserted // of another arc, which nobody else has
		if o.kind != disturbs {
			outcome = a.apply(t, o, visits)
		}
		a.account(t, o, outcome)
		return outcome
	}
}

func arcHeld(places []int) (values []int) {
	slabs := []int{places[arcNext]}
	if places[arcOwn] != 0 {
		slabs[0] = places[arcOwn]
	}
	for _, s := range slabs {
		if s != 0 && places[arcSlot+s-1] == key {
			values = append(values, 0)
		}
	}
	return values
}

// sound says what is wrong with what the graph knows of its vertex behind a dispatch.
func (a arcModel) sound(places, returned []int) string {
	for n := 1; n <= 2; n++ {
		if used := places[arcNext] == n || places[arcOwn] == n; used != (places[arcSlabBit+n-1] == 1) {
			return fmt.Sprintf("slab %d is nobody's and not free, or somebody's and free", n)
		}
	}
	gone, others := 1-places[arcState]/vertexThere, 1
	for _, own := range a.ops {
		if own[0].kind == disturbs { // always done
			others++
		}
	}
	_, waiting := a.again(returned)
	switch {
	case places[arcDegree] != others+len(arcHeld(places)):
		return fmt.Sprintf("the degree is %d", places[arcDegree])
	case gone == 1 && len(arcHeld(places)) != 0:
		return "an arc of a vertex that is none"
	case gone != places[arcsGone]:
		return fmt.Sprintf("%d vertices are gone, and %d are counted", gone, places[arcsGone])
	case places[arcState]%vertexThere != waiting:
		return fmt.Sprintf("%d insertions wait, and %d are counted", waiting, places[arcState]%vertexThere)
	}
	return ""
}

// grow is what the host does between two dispatches: the vertex gets a bucket for the arc, if insertions wait for it.
func (a arcModel) grow(places []int) []int {
	next := append([]int{}, places...)
	if places[arcState]%vertexThere == 0 {
		return next
	}
	next[arcState] &= vertexThere
	if a.broken == "growth makes it a vertex" {
		next[arcState] = vertexThere
	}
	next[arcNext], next[arcSlabBit], next[arcSlabBit+1], next[arcOwn] = 0, 1, 0, 1
	next[arcSlot], next[arcSlot+1] = emptySlot, emptySlot
	if len(arcHeld(places)) != 0 && a.broken != "growth forgets the list" {
		next[arcSlot] = key
	}
	return next
}

// again are the threads' operations that a dispatch has left pending, and how many insertions are among them.
func (a arcModel) again(returned []int) (ops [][]operation, waiting int) {
	ops = make([][]operation, len(a.ops))
	for i, own := range a.ops {
		if returned[i] != pending {
			continue
		}
		ops[i] = own
		if own[0].kind == unique {
			waiting++
		}
	}
	return ops, waiting
}

func entryOf(values []int) entry {
	if len(values) == 0 {
		return entry{}
	}
	return entry{true, values[0]}
}

// dispatch is one of some operations, of which each thread has one or none.
func (a arcModel) dispatch(places []int, ops [][]operation, visits []int, then func(_, _ []int) string) Model {
	m := Model{Places: places}
	for i, own := range ops {
		m.Threads = append(m.Threads, runs(own, a.do(visits[i])))
	}
	judged := judge(entryOf(arcHeld(places)), ops, arcHeld)
	m.Fault = func(places, returned []int) string {
		for i := range returned {
			if len(ops[i]) == 0 {
				returned[i] = done
			}
		}
		return cmp.Or(judged(places, returned), a.sound(places, returned), then(places, returned))
	}
	return m
}

// model has two dispatches, with the host between them.
func (a arcModel) model(places []int) Model {
	known := map[string]string{}
	return a.dispatch(places, a.ops, a.visits, func(places, returned []int) string {
		left, _ := a.again(returned)
		name := fmt.Sprint(places, left)
		if _, is := known[name]; !is {
			enough := []int{mostVisits, mostVisits, mostVisits}
			_, known[name] = Explore(a.dispatch(a.grow(places), left, enough, a.through(left)))
		}
		return known[name]
	})
}

// through says what is wrong if an operation isn't done by the second dispatch, whose bucket has room for it.
func (a arcModel) through(ops [][]operation) func(places, returned []int) string {
	return func(places, returned []int) string {
		for i, r := range returned {
			if r == pending && places[arcSlot] != 0 {
				return fmt.Sprintf("%v is still pending", ops[i])
			}
		}
		return ""
	}
}

// Insertions, deletions and lookups of one arc, of which each may run out of visits or find the pool full, answer in
// both dispatches together what some order of them has, and leave a vertex of which all is known.
func TestArcOfAGraph(t *testing.T) {
	gone := []int{0, 1, 1, 0, emptySlot, emptySlot, 0, 0, 0}
	empty := []int{vertexThere, 1, 0, 0, emptySlot, emptySlot, 0, 0, 0}
	there := []int{vertexThere, 2, 0, 1, key, emptySlot, 1, 0, 0}
	insert, remove, find := []operation{{unique, 0}}, []operation{{removes, 0}}, []operation{{finds, 0}}
	for _, c := range []struct {
		name   string
		places []int
		ops    [][]operation
		visits []int
		broken []string
	}{
		{"gone", gone, [][]operation{insert, insert, find}, []int{2, 2, 2}, []string{
			"the link is stored", "an arc that is found counts", "given up behind its insertion"}},
		{"gone", gone, [][]operation{insert, insert, remove}, []int{2, 2, 2}, []string{
			"the degree is stored"}},
		{"gone", gone, [][]operation{insert, {{disturbs, 0}}, find}, []int{2, 2, 2}, []string{
			"the degree is stored", "who saw the flag counts"}},
		{"gone", gone, [][]operation{insert, insert, remove}, []int{1, 1, 1}, []string{
			"the link is stored", "nobody counts itself", "who waits is stored"}},
		{"gone", gone, [][]operation{insert, insert, find}, []int{0, 0, 0}, []string{"growth makes it a vertex"}},
		{"empty", empty, [][]operation{insert, remove, insert}, []int{2, 1, 1}, []string{
			"nobody counts itself", "growth forgets the list"}},
		{"there", there, [][]operation{insert, insert, insert}, []int{1, 1, 2}, []string{
			"nobody counts itself", "who waits is stored", "growth forgets the list"}},
		{"there", there, [][]operation{remove, insert, find}, []int{1, 1, 2}, []string{"nobody counts itself"}},
		{"there", there, [][]operation{remove, remove, insert}, []int{2, 2, 2}, nil},
	} {
		for _, broken := range append([]string{""}, c.broken...) {
			t.Run(fmt.Sprint(c.name, c.ops, c.visits, " ", broken), func(t *testing.T) {
				check(t, arcModel{c.ops, c.visits, broken}.model(c.places), broken == "")
			})
		}
	}
}
