package models

import "fmt"

// What threads do to one key, and the judge of what came of it, for models of all that a dictionary does.

type kindOf int

const (
	puts     kindOf = iota // OP_INSERT
	unique                 // OP_INSERT_UNIQUE
	adds                   // OP_INSERT_ADD
	swaps                  // the same, by compare-and-swap
	lowers                 // OP_INSERT_MIN
	raises                 // OP_INSERT_MAX
	removes                // OP_DELETE
	finds                  // OP_FIND
	disturbs               // what is done to other keys: no part of this one's history
)

type operation struct {
	kind  kindOf
	value int
}

func (o operation) String() string {
	kinds := []string{"put", "unique", "add", "swap", "min", "max", "remove", "find", "disturb"}
	return fmt.Sprint(kinds[o.kind], o.value)
}

// newValue is op_value of the GLSL.
func (o operation) newValue(old int) int {
	switch o.kind {
	case adds, swaps:
		return old + o.value
	case lowers:
		return min(old, o.value)
	case raises:
		return max(old, o.value)
	}
	return o.value
}

// What an operation returns is its outcome and, where one is found, the value; what a thread returns is those of its
// operations, the first one's last.
const (
	perOutcome = 8
	perResult  = 10000
)

func foundValue(value int) int { return found + perOutcome*value }

// runs makes a thread of operations, each done by the protocol.
func runs(ops []operation, do func(*Thread, operation) int) func(*Thread) int {
	return func(t *Thread) int {
		all := 0
		for i := range ops {
			all = perResult*all + do(t, ops[i])
		}
		return all
	}
}

// entry is what there is of the key: whether it is there, and its value.
type entry struct {
	there bool
	value int
}

// follows is what an operation leaves, if its result is right there and then. A pending one has done nothing.
func (e entry) follows(o operation, result int) (entry, bool) {
	outcome := result % perOutcome
	switch {
	case outcome == pending || o.kind == disturbs:
		return e, true
	case o.kind == finds:
		return e, e.there && result == foundValue(e.value) || !e.there && outcome == absent
	case o.kind == removes:
		return entry{}, e.there && outcome == deleted || !e.there && outcome == absent
	case !e.there:
		return entry{true, o.value}, outcome == inserted
	case o.kind == unique:
		return e, outcome == found
	}
	return entry{true, o.newValue(e.value)}, outcome == assigned
}

// explained says whether the results and the end come of the operations, done one after the other in some order that
// keeps each thread's own.
func explained(now entry, ops [][]operation, results [][]int, end entry) bool {
	over := true
	for i := range ops {
		if len(results[i]) == 0 {
			continue
		}
		over = false
		at := len(ops[i]) - len(results[i])
		next, right := now.follows(ops[i][at], results[i][0])
		if !right {
			continue
		}
		own := results[i]
		results[i] = own[1:]
		is := explained(next, ops, results, end)
		results[i] = own
		if is {
			return true
		}
	}
	return over && now == end
}

// judge is a model's Fault. `held` are the values that the key has at the end.
func judge(before entry, ops [][]operation, held func(places []int) []int) func(places, returned []int) string {
	return func(places, returned []int) string {
		results := make([][]int, len(ops))
		for i, all := range returned {
			for range ops[i] {
				results[i] = append([]int{all % perResult}, results[i]...)
				all /= perResult
			}
		}
		values, end := held(places), entry{}
		if len(values) > 1 {
			return fmt.Sprintf("the key is there more than once, %v", places)
		}
		if len(values) == 1 {
			end = entry{true, values[0]}
		}
		if !explained(before, ops, results, end) {
			return fmt.Sprintf("no order of %v explains %v and the end %v", ops, results, places)
		}
		return ""
	}
}
