// Package linearizability checks that what concurrent operations on a dictionary answer could have come about in some
// sequential order: for each key of histories recorded on the device, by porcupine.
package linearizability

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// operation is one of a history.
type operation struct {
	kind       structures.Kind
	key, value uint64
}

// outcome is what an operation answered.
type outcome struct {
	status structures.Status
	value  uint64
	any    bool // of Find: it saw a pair of the key, whichever
}

// moments splits the operations that are no single moment, since they visit the pairs of a key one after another: a
// DeleteAll that removed n pairs is n deletions, and a moment without any pair; a Count is n sightings.
func moments(in operation, out outcome) ([]operation, []outcome) {
	find := operation{structures.Find, in.key, 0}
	switch in.kind {
	case structures.DeleteAll:
		ins, outs := []operation{find}, []outcome{{status: structures.Absent}}
		for range out.value {
			ins = append(ins, operation{structures.Delete, in.key, 0})
			outs = append(outs, outcome{status: structures.Deleted})
		}
		return ins, outs
	case structures.CountAll:
		if out.value == 0 {
			return []operation{find}, []outcome{{status: structures.Absent}}
		}
		return []operation{find}, []outcome{{status: structures.Found, any: true}}
	}
	return []operation{in}, []outcome{out}
}

// values is the state of a key: the values of its pairs, the least recently inserted first, eight bytes each. A string,
// so that states compare by ==.
type values string

func (v values) first() uint64 { return binary.LittleEndian.Uint64([]byte(v[:8])) }
func (v values) push(x uint64) values {
	return v + values(binary.LittleEndian.AppendUint64(nil, x))
}
func (v values) set(x uint64) values { return values(binary.LittleEndian.AppendUint64(nil, x)) + v[8:] }

func (v values) String() string {
	var s []string
	for ; v != ""; v = v[8:] {
		s = append(s, fmt.Sprint(v.first()))
	}
	return "{" + strings.Join(s, " ") + "}"
}

// step is the sequential dictionary, but for what moments splits: whether the operation may have that outcome in that
// state, and the next state.
func step(f form, v values, in operation, out outcome) (bool, values) {
	there := v != ""
	if in.kind.Inserts() {
		switch {
		case !there || in.kind == structures.InsertDuplicate:
			if f.set {
				in.value = 0
			}
			return out.status == structures.Inserted, v.push(in.value)
		case in.kind == structures.InsertUnique:
			return out.status == structures.Found, v
		case f.set:
			return out.status == structures.Assigned, v
		}
		x := v.first()
		switch in.kind {
		case structures.Insert:
			x = in.value
		case structures.InsertAdd:
			x = (x + in.value) & f.ones()
		case structures.InsertMin:
			x = min(x, in.value)
		case structures.InsertMax:
			x = max(x, in.value)
		}
		return out.status == structures.Assigned, v.set(x)
	}
	if !there {
		return out.status == structures.Absent && (out.value == 0 || in.kind == structures.Delete), v
	}
	switch in.kind {
	case structures.Delete:
		return out.status == structures.Deleted, v[8:]
	case structures.Find:
		return out.status == structures.Found && (f.set || out.any || out.value == v.first()), v
	}
	return false, v
}

func model(f form) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return values("") },
		Step: func(state, in, out any) (bool, any) {
			return step(f, state.(values), in.(operation), out.(outcome))
		},
		DescribeOperation: func(in, out any) string {
			i, o := in.(operation), out.(outcome)
			return fmt.Sprintf("%v(%d, %d) = %v %d", i.kind, i.key, i.value, o.status, o.value)
		},
		DescribeState: func(state any) string { return state.(values).String() },
	}
}

// check fails the test if the history of some key has no sequential order. When many operations overlap, the search for
// one may take minutes: one history in twenty may stay undecided.
func check(t *testing.T, f form, history []porcupine.Operation) {
	t.Helper()
	keys := map[uint64][]porcupine.Operation{}
	for _, o := range history {
		key := o.Input.(operation).key
		ins, outs := moments(o.Input.(operation), o.Output.(outcome))
		for i := range ins {
			keys[key] = append(keys[key], porcupine.Operation{Input: ins[i], Output: outs[i], Call: o.Call,
				Return: o.Return})
		}
	}
	m, undecided := model(f), 0
	for key, h := range keys {
		switch porcupine.CheckOperationsTimeout(m, h, 20*time.Second) {
		case porcupine.Illegal:
			var lines []string
			for _, o := range h {
				lines = append(lines, fmt.Sprintf("[%d, %d] %s", o.Call, o.Return,
					m.DescribeOperation(o.Input, o.Output)))
			}
			t.Fatalf("no sequential order of the operations on key %d has these outcomes:\n%s", key,
				strings.Join(lines, "\n"))
		case porcupine.Unknown:
			t.Logf("the history of key %d, %d operations, took too long to check", key, len(h))
			undecided++
		}
	}
	require.LessOrEqual(t, undecided, len(keys)/20, "undecided of %d histories", len(keys))
}
