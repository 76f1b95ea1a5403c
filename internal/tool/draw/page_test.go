package draw

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/trace"
)

func decimal(w uint64) string { return strconv.FormatUint(w, 10) }

// Of a leaf that is split below its root, the events tell both levels and that one is below the other.
func TestGuess(t *testing.T) {
	all := &trace.Trace{Kernels: []string{"btree/apply"}, Events: []trace.Event{
		{What: trace.Begin, Key: 25},
		{What: trace.Visit, Place: 7},
		{What: trace.Visit, Place: 9},
		{What: trace.Begin, Operation: 1, Key: 70},
		{What: trace.Visit, Operation: 1, Place: 7},
		{What: trace.Visit, Operation: 1, Place: 3},
		{What: trace.Write, Operation: 1, Place: 3, Key: 70},
		{What: trace.Split, Place: 9, Other: 2, Key: 30},
		{What: trace.Visit, Operation: 1, Place: 2},
	}}
	require.Equal(t, []Node{
		{Ref: 7, Level: 1, Last: true, Keys: []uint64{0, 70}, Values: []uint64{9, 3}},
		{Ref: 9, Last: true},
		{Ref: 3, Low: 70, Last: true},
	}, GuessNodes(all))
	require.Empty(t, GuessNodes(&trace.Trace{}))
}

// A merge of which tiles had no room among the events ends where the next one into the same memory begins.
func TestMergesWithoutAllTiles(t *testing.T) {
	tile := func(older, newer, first, pairs, whole uint32) trace.Event {
		return trace.Event{What: trace.Merge, Operation: trace.NoOperation, Place: 9, Other: first,
			Key: uint64(older) | uint64(newer)<<32, Value: uint64(pairs) | uint64(whole)<<32}
	}
	p := Page{List: Runs, Trace: &trace.Trace{Events: []trace.Event{tile(1, 2, 0, 10, 30), tile(3, 4, 10, 10, 20),
		tile(3, 4, 0, 10, 20), tile(3, 4, 0, 20, 20)}}}
	d := p.data()
	require.Equal(t, []merge{{1, 2, 3, 30, true}, {4, 5, 3, 20, false}, {4, 5, 3, 20, true}}, renumbered(d.Merges))
}

// renumbered gives runs the numbers in the order in which the merges name them.
func renumbered(all []merge) []merge {
	numbers := map[int64]int64{}
	number := func(x int64) int64 {
		if numbers[x] == 0 {
			numbers[x] = int64(len(numbers)) + 1
		}
		return numbers[x]
	}
	for i := range all {
		m := &all[i]
		m.Older, m.Newer, m.Into = number(m.Older), number(m.Newer), number(m.Into)
	}
	return all
}

// A value that is combined with another is shown as what that makes, in its width.
func TestCombine(t *testing.T) {
	for _, x := range []struct {
		kind             structures.Kind
		width            structures.Width
		old, value, want uint64
	}{
		{structures.Insert, structures.Bits32, 5, 7, 7},
		{structures.InsertAdd, structures.Bits32, 1<<32 - 1, 2, 1},
		{structures.InsertAdd, structures.Bits64, 1<<32 - 1, 2, 1<<32 + 1},
		{structures.InsertMin, structures.Bits32, 5, 7, 5},
		{structures.InsertMax, structures.Bits32, 5, 7, 7},
	} {
		p := Page{Width: x.width, Key: decimal, Value: decimal, Nodes: []Node{{Last: true, Keys: []uint64{1},
			Values: []uint64{x.old}}}, Trace: &trace.Trace{Events: []trace.Event{
			{What: trace.Begin, Other: uint32(x.kind), Key: 1, Value: x.value},
			{What: trace.Change, Key: 1, Value: x.value}}}}
		d := p.data()
		require.Equal(t, decimal(x.want), d.Values[d.Events[7+6]], "%v", x)
	}
}

// A page without events has no null in its data, and no text of the user's closes its script.
func TestEmptyPage(t *testing.T) {
	var b bytes.Buffer
	p := Page{Title: "</script><b>", Trace: &trace.Trace{Device: "</script>"}, Key: decimal, Value: decimal}
	require.NoError(t, p.Write(&b))
	require.NotContains(t, b.String(), "</script><b>")
	encoded, err := json.Marshal(p.data())
	require.NoError(t, err)
	require.NotContains(t, string(encoded), "null")
}
