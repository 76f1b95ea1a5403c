package models

import (
	"fmt"
	"slices"
	"testing"
)

// A batch of operations of one kind on one edge of an undirected graph, which is two arcs: shaders/graph/apply.comp,
// structures/graph/repair.go, and for insertions from Go slices internal/engine/sequential. Operations on an arc
// are atomic (TestArcOfAGraph) and may be left pending, any of them. An operation of which one arc is done remembers in
// its stage what became of that. Behind each dispatch an error may end the batch, and then the host repairs the edge.
type edgeBatch struct {
	kind    kindOf
	n       int
	ordered bool // equal edges count in the batch's order: it is from Go slices
	broken  string
}

// edgeState is what there is between dispatches. What is stored by operation i is weight i + 1.
type edgeState struct {
	arcs   [2]int // weights; 0: it is not there
	status [3]int
	stage  [3]int
	redo   bool // a weight is still to be stored once more
}

const weightBefore = 50

// onArc does an operation on an arc.
func (b edgeBatch) onArc(t *Thread, arc, weight int, kind kindOf) int {
	old := 0
	switch kind {
	case removes:
		if t.Exchange(arc, 0) == 0 {
			return absent
		}
		return deleted
	case unique:
		if t.CAS(arc, 0, weight) != 0 {
			return found
		}
		return inserted
	case puts:
		old = t.Exchange(arc, weight)
	case adds:
		old = t.Add(arc, weight)
	case raises:
		old = t.Max(arc, weight)
	}
	if old == 0 {
		return inserted
	}
	return assigned
}

// second says whether the second arc is left, by what became of the first.
func (b edgeBatch) second(status int) bool {
	if b.broken == "the second arc of what was inserted alone" {
		return status == inserted || status == deleted
	}
	return status != pending && status != absent
}

// kindOf is an operation's kind. That an edge is deleted by one stream while another inserts it, UpdateOn leaves to its
// callers not to do.
func (b edgeBatch) kindOf(i int) kindOf {
	if i == 0 && b.broken == "another stream's deletion" {
		return removes
	}
	return b.kind
}

// do is main of apply.comp for one operation: its status and stage, of which `skips` are the arcs that are given up.
func (b edgeBatch) do(t *Thread, i, stage, skips int) (status, left int) {
	status = stage
	if b.broken == "no stages" {
		status = pending
	}
	if status == pending && skips&1 == 0 {
		status = b.onArc(t, 0, i+1, b.kindOf(i))
	}
	if !b.second(status) {
		return status, pending
	}
	if skips&2 != 0 {
		return pending, status
	}
	b.onArc(t, 1, i+1, b.kindOf(i))
	return status, pending
}

// dispatch finds all states that a dispatch may lead to, if it gives up what `skips` says, two bits an operation.
func (b edgeBatch) dispatch(s edgeState, skips int) map[edgeState]bool {
	ends := map[edgeState]bool{}
	m := Model{Places: s.arcs[:]}
	for i := range b.n {
		m.Threads = append(m.Threads, func(t *Thread) int {
			if s.status[i] != pending {
				return perOutcome*s.status[i] + s.stage[i]
			}
			status, stage := b.do(t, i, s.stage[i], skips>>(2*i))
			return perOutcome*status + stage
		})
	}
	m.Fault = func(places, returned []int) string {
		next := edgeState{arcs: [2]int(places)}
		for i, r := range returned {
			next.status[i], next.stage[i] = r/perOutcome, r%perOutcome
		}
		ends[next] = true
		return ""
	}
	Explore(m)
	return ends
}

// order does behind a dispatch what a batch from slices has: the weight that has to stay is stored once more, unless
// that is given up, and statuses become those of the batch's order.
func (b edgeBatch) order(s edgeState, skips int) edgeState {
	s.redo = false
	if !b.ordered || !slices.Contains(s.status[:b.n], assigned) && !slices.Contains(s.status[:b.n], found) {
		return s
	}
	// An insertion that waits for a vertex keeps those behind it away.
	for i := range b.n {
		if s.status[i] == pending && b.broken != "nobody waits" {
			if s.stage[i] == pending {
				skips |= 1
			} else {
				skips |= 2
			}
		}
	}
	switch b.kind {
	case puts:
		return b.orderInsertions(s, skips)
	case unique:
		return b.orderUnique(s, skips)
	case adds, raises:
		for i := 1; i < b.n; i++ {
			if j := slices.Index(s.status[:i], assigned); s.status[i] == inserted && j >= 0 {
				s.status[i], s.status[j] = assigned, inserted
			}
		}
	}
	return s
}

// again stores a weight in both arcs, as far as they are not given up, and returns whether all is done.
func (s *edgeState) again(weight, skips int) (outcome int) {
	outcome = assigned
	for arc := range 2 {
		if skips>>arc&1 != 0 {
			return pending
		}
		if arc == 0 && s.arcs[0] == 0 {
			outcome = inserted
		}
		s.arcs[arc] = weight
	}
	return outcome
}

func (b edgeBatch) orderInsertions(s edgeState, skips int) edgeState {
	outcome := s.again(b.n, skips)
	if outcome == pending {
		s.redo = true
		return s
	}
	isNew := outcome == inserted
	for i := range b.n {
		isNew = isNew || s.status[i] == inserted
		s.status[i], s.stage[i] = assigned, pending
	}
	if isNew {
		s.status[0] = inserted
	}
	return s
}

func (b edgeBatch) orderUnique(s edgeState, skips int) edgeState {
	in := slices.Index(s.status[:b.n], inserted)
	first := slices.IndexFunc(s.status[:b.n], func(status int) bool { return status != pending })
	if in < 0 || in == first && b.broken == "unique edges as they came" {
		return s
	}
	if s.again(first+1, skips) == pending {
		s.redo = true
		return s
	}
	s.status[in], s.status[first] = found, inserted
	return s
}

// repair is what the host does where an error has ended the batch.
func (b edgeBatch) repair(s edgeState) edgeState {
	half := false
	for i := range b.n {
		half = half || s.status[i] == pending && s.stage[i] != pending
	}
	if b.broken == "no repair" || b.broken == "repair of halves alone" && !half {
		return s
	}
	if b.kind == removes && s.arcs[0] == 0 {
		s.arcs[1] = 0
	}
	whole := s.arcs[0] != 0 && s.arcs[1] != 0
	if !whole && b.kind != removes {
		s.arcs = [2]int{} // it was new, and nobody is done
		return s
	}
	for i := range b.n {
		if s.status[i] == pending && (whole || s.stage[i] == deleted) {
			s.status[i] = s.stage[i]
		}
	}
	if whole {
		b.settle(&s)
	}
	return s
}

// settle gives an edge that is whole the weight and its operations the statuses of their order, as far as it has one.
func (b edgeBatch) settle(s *edgeState) {
	first, last, in := -1, -1, slices.Index(s.status[:b.n], inserted)
	for i := range b.n {
		if s.status[i] != pending {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	switch {
	case b.broken == "the second arc's weight" && b.kind == adds:
		s.arcs[0] = s.arcs[1]
	case b.kind == puts && b.ordered && last >= 0 && b.broken != "repair of halves alone":
		s.arcs[0] = last + 1
	case b.kind == unique && b.ordered && in >= 0 && b.broken != "repair of halves alone":
		s.arcs[0] = first + 1
	}
	s.arcs[1] = s.arcs[0]
	if in >= 0 {
		s.status[in] = s.status[first]
		s.status[first] = inserted
	}
}

// fault says what is wrong with an edge and with what its operations answered; those that are pending did nothing.
func (b edgeBatch) fault(before int, s edgeState) string {
	if (s.arcs[0] == 0) != (s.arcs[1] == 0) {
		return "one arc without the other"
	}
	if s.arcs[0] != s.arcs[1] && (b.ordered || b.kind != puts && b.kind != unique) {
		return "weights that differ"
	}
	now, end := entry{before != 0, before}, entry{s.arcs[0] != 0, s.arcs[0]}
	if b.ordered {
		for i := range b.n {
			next, right := now.follows(operation{b.kind, i + 1}, s.status[i])
			if !right {
				return fmt.Sprintf("operation %d is not what its order says", i)
			}
			now = next
		}
		if now != end {
			return "not the weight of the batch's order"
		}
		return ""
	}
	var concurrent [][]operation
	var results [][]int
	for i, status := range s.status[:b.n] {
		concurrent = append(concurrent, []operation{{b.kindOf(i), i + 1}})
		results = append(results, []int{status})
	}
	if b.kind == puts || b.kind == unique { // whose weights are anybody's
		for weight := range b.n + 1 {
			if end.there && explained(now, concurrent, results, entry{true, weight}) {
				return ""
			}
		}
	}
	if !explained(now, concurrent, results, end) {
		return "no order of the operations"
	}
	return ""
}

// run follows all ways from a state on, and returns a fault if one has any.
func (b edgeBatch) run(before int, s edgeState, left int, known map[string]string) string {
	name := fmt.Sprint(s, left)
	if what, is := known[name]; is {
		return what
	}
	known[name] = ""
	for skips := range 1 << (2 * b.n) {
		if left == 0 && skips != 0 {
			break // nothing is given up any more
		}
		for end := range b.dispatch(s, skips) {
			for redo := range 4 {
				if left == 0 && redo != 0 {
					break
				}
				if what := b.behind(before, b.order(end, redo), left, known); what != "" {
					known[name] = what
					return what
				}
			}
		}
	}
	return ""
}

// behind goes on behind a dispatch: by another one, or by an error and its repair.
func (b edgeBatch) behind(before int, s edgeState, left int, known map[string]string) string {
	what := ""
	if slices.Contains(s.status[:b.n], pending) || s.redo {
		if left == 0 {
			return fmt.Sprintf("pending without an end: %+v", s)
		}
		if what = b.fault(before, b.repair(s)); what == "" {
			return b.run(before, s, left-1, known)
		}
		return fmt.Sprintf("%s after an error: %+v, repaired %+v", what, s, b.repair(s))
	}
	if what = b.fault(before, s); what != "" {
		what = fmt.Sprintf("%s: %+v", what, s)
	}
	return what
}

// An edge is in both adjacencies or in neither, with one weight, and its operations answer what an order of them has:
// behind the batch and behind an error, whatever was left pending how often.
func TestEdgeOfTwoArcs(t *testing.T) {
	for _, c := range []struct {
		kind    kindOf
		n       int
		ordered bool
		broken  []string
	}{
		{puts, 3, false, []string{"the second arc of what was inserted alone", "no stages"}},
		{unique, 3, false, []string{"another stream's deletion", "the second arc of what was inserted alone",
			"no stages"}},
		{adds, 2, false, []string{"no stages", "the second arc's weight", "no repair"}},
		{raises, 2, false, []string{"no stages"}},
		{removes, 3, false, []string{"no stages", "no repair"}},
		{puts, 3, true, []string{"nobody waits", "repair of halves alone", "no repair"}},
		{unique, 3, true, []string{"unique edges as they came", "repair of halves alone"}},
		{adds, 2, true, nil},
	} {
		for _, broken := range append([]string{""}, c.broken...) {
			b := edgeBatch{kind: c.kind, n: c.n, ordered: c.ordered, broken: broken}
			t.Run(fmt.Sprint(operation{c.kind, 0}, " ", c.ordered, " ", broken), func(t *testing.T) {
				what := ""
				for _, before := range []int{0, weightBefore} {
					if what == "" {
						what = b.run(before, edgeState{arcs: [2]int{before, before}}, 2, map[string]string{})
					}
				}
				if (what == "") != (broken == "") {
					t.Fatalf("fault %q", what)
				}
				t.Log(what)
			})
		}
	}
}
