package main_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	events "github.com/vkds/vkds/structures/trace"
)

// tracedPage is what the scripts of a page read.
type tracedPage struct {
	List     string
	Slots    int
	Begin    int
	Keys     []string
	Kinds    []string
	Kernels  []string
	Statuses []string
	Nodes    []struct{ Level int }
	Events   []int
	Marks    []struct {
		At   int
		Text string
	}
}

func readPage(t *testing.T, html string) (p tracedPage) {
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(html)
	require.NotNil(t, found)
	require.NoError(t, json.Unmarshal([]byte(found[1]), &p))
	return p
}

// ends tells how the operations on a key ended, by their kinds.
func (p tracedPage) ends() map[string]string {
	began, ends := map[int]string{}, map[string]string{}
	for i := 0; i < len(p.Events); i += 7 {
		e := p.Events[i : i+7]
		switch events.What(e[0]) {
		case events.Begin:
			began[e[2]] = p.Kinds[e[4]] + " " + p.Keys[e[5]]
		case events.End:
			ends[began[e[2]]] = p.Statuses[e[4]]
		}
	}
	return ends
}

// count counts the events of a kind from one on.
func (p tracedPage) count(what events.What, from int) (n int) {
	for i := 7 * from; i < len(p.Events); i += 7 {
		if events.What(p.Events[i]) == what {
			n++
		}
	}
	return n
}

// moves reports whether a rehash moved pairs.
func (p tracedPage) moves() bool {
	for i := 0; i < len(p.Events); i += 7 {
		if strings.Contains(p.Kernels[p.Events[i+1]], "rehash") {
			return true
		}
	}
	return false
}

func TestTraceSamples(t *testing.T) {
	needDevice(t)
	for name, what := range map[string]events.What{"split": events.Split, "latches": events.Latch,
		"snapshots": events.Keep, "slabs": events.Erase, "rehash": events.Write,
		"lsm": events.Mark, "graph": events.Link} {
		out, _ := answer(t, "", "trace", "--sample", name, "-o", "-")
		p := readPage(t, out)
		assert.NotZero(t, p.count(what, 0), name)
		assert.Equal(t, name == "rehash", p.moves(), name)
		assert.NotContains(t, out, "http", "it needs no network")
	}
}

const traceOps = "\ufeff" + `insert,14,5
delete, 21
find,8

snapshot
"insert-add",14,1
insert-unique,7,3
`

func TestTraceOps(t *testing.T) {
	needDevice(t)
	table, ops := write(t, "t.csv", rows(1000)), write(t, "ops.csv", traceOps)
	recorded := filepath.Join(t.TempDir(), "t.trace")
	for _, structure := range []string{"btree", "slabhash"} {
		done := ops
		if structure == "slabhash" {
			done = write(t, "few.csv", "insert,14,5\ndelete,21\nfind,8\n\ninsert-add,14,1\ninsert-unique,7,3\n")
		}
		out, _ := answer(t, "", "trace", table, "--structure", structure, "--ops", done, "-o", "-", "--save", recorded)
		p := readPage(t, out)
		ends := p.ends()
		for operation, status := range map[string]string{"insert 14": "assigned", "delete 21": "deleted",
			"find 8": "absent", "insert-add 14": "assigned"} {
			assert.Equal(t, status, ends[operation], "%s: %s", structure, operation)
		}
		if structure == "btree" {
			assert.Equal(t, "found", ends["insert-unique 7"])
			assert.Zero(t, p.Begin)
			assert.NotEmpty(t, p.Nodes)
			assert.Equal(t, 1, p.count(events.Keep, 0))
			require.Len(t, p.Marks, 2)
			assert.Equal(t, "batch 1", p.Marks[0].Text)
			assert.Regexp(t, "^a snapshot of time [0-9]+ is open, batch 2$", p.Marks[1].Text)
		} else {
			assert.Equal(t, 1000, p.count(events.Write, 0)-p.count(events.Write, p.Begin))
		}
		out, _ = answer(t, "", "trace", recorded, "-o", "-")
		again := readPage(t, out)
		assert.Equal(t, len(p.Events), len(again.Events))
		assert.Equal(t, p.List, again.List)
		assert.Equal(t, p.Slots, again.Slots)
		assert.Equal(t, ends, again.ends())
	}
	out, _ := answer(t, "", "trace", table, "--structure", "lsm", "--batch", "256", "--ops",
		write(t, "l.csv", "insert,14,5\ncleanup\ndelete,21\n"), "-o", "-", "--save", recorded)
	p := readPage(t, out)
	require.Len(t, p.Marks, 4)
	assert.Equal(t, "a cleanup", p.Marks[2].Text)
	assert.NotZero(t, p.count(events.Merge, 0))
	assert.Equal(t, 1, p.count(events.Mark, 0))
	again, _ := answer(t, "", "trace", recorded, "-o", "-")
	assert.Equal(t, p.Events, readPage(t, again).Events)
	assert.Equal(t, p.Slots, readPage(t, again).Slots)
	out, notes := answer(t, "insert,1,1\n", "trace", table, "--structure", "btree", "--ops", "-", "--events", "2",
		"-o", "-", "-v")
	assert.Equal(t, 2*7, len(readPage(t, out).Events))
	assert.Regexp(t, "[0-9]+ events had no room", notes)
}

func TestTraceRefusals(t *testing.T) {
	table, ops := write(t, "t.csv", rows(10)), write(t, "ops.csv", "insert,1,1\n")
	text := write(t, "text.csv", "a,1\nb,2\n")
	damaged := write(t, "damaged.trace", "vkds trace 1\nnothing")
	both := filepath.Join(t.TempDir(), "both")
	var empty bytes.Buffer
	_, err := new(events.Trace).WriteTo(&empty)
	require.NoError(t, err)
	recorded := write(t, "empty.trace", empty.String())
	newer := write(t, "newer.trace", "vkds trace 9\nnothing")
	for _, x := range []struct {
		arguments []string
		want      string
	}{
		{nil, "trace needs a DICT, TABLE or TRACE, or --sample"},
		{[]string{"--sample", "x"}, "--sample x: there are split, latches, snapshots, slabs, rehash, lsm, graph"},
		{[]string{"--sample", "split", table}, "--sample has its own dictionary"},
		{[]string{"--sample", "split", "--fill", "0.5"}, "--sample has its own dictionary: --fill is for dictionaries"},
		{[]string{recorded, "--key-type", "i32"}, "empty.trace is a trace: --key-type is for dictionaries"},
		{[]string{table}, "--ops says what to do"},
		{[]string{text, "--ops", ops}, "has text, and traces are of numbers"},
		{[]string{table, "--structure", "sortedarray", "--ops", ops}, "sortedarray has no traced kernels"},
		{[]string{table, "--ops", write(t, "o.csv", "\n")}, "has no operations"},
		{[]string{table, "--structure", "btree", "--ops", write(t, "o.csv", "insert-duplicate,1,1\n")},
			"line 1: insert-duplicate: only a hash table"},
		{[]string{table, "--structure", "slabhash", "--ops", write(t, "o.csv", "insert,1,1\nsnapshot\n")},
			"line 2: only trees have snapshots"},
		{[]string{table, "--structure", "btree", "--ops", write(t, "o.csv", "insert,1,1\ncleanup\n")},
			"line 2: only an LSM has cleanups"},
		{[]string{table, "--value-type", "i32", "--ops", write(t, "o.csv", "insert-add,1,1\n")},
			"line 1: insert-add: sums are of unsigned integers"},
		{[]string{table, "--ops", write(t, "o.csv", "\"insert,1,1\n")}, "line 1: "},
		{[]string{table, "--ops", ops, "-o", table}, "is the same file as"},
		{[]string{table, "--ops", ops, "-o", ops}, "is the same file as"},
		{[]string{table, "--ops", ops, "--save", table}, "is the same file as"},
		{[]string{damaged, "-o", damaged}, "is the same file as"},
		{[]string{"--sample", "split", "-o", both, "--save", both}, "the page and the trace can't both be"},
		{[]string{"-", "--ops", "-"}, "can't both come from standard input"},
		{[]string{table, "--ops", filepath.Join(t.TempDir(), "none")}, "none"},
		{[]string{table, "--ops", write(t, "o.csv", "insert,1,1\n\nremove,1\n")}, "line 3: unknown kind of operation"},
		{[]string{table, "--ops", write(t, "o.csv", "insert,1\n")}, "line 1: insert takes 3 fields, and there are 2"},
		{[]string{table, "--ops", write(t, "o.csv", "delete,1,2\n")}, "line 1: delete takes 2 fields, and there are 3"},
		{[]string{table, "--ops", write(t, "o.csv", "delete,x\n")}, "line 1: "},
		{[]string{table, "--ops", write(t, "o.csv", "delete,1\n"+strings.Repeat("x", 1<<17))},
			"o.csv: line 2 is no operation: it is longer than 64 KiB"},
		{[]string{damaged}, "damaged.trace: trace: "},
		{[]string{newer}, "newer.trace: trace: this is no trace, or one of another version"},
		{[]string{damaged, "--ops", ops}, "damaged.trace"},
		{[]string{"--sample", "split", "--events", "0"}, "--events 0: at least 1"},
		{[]string{"--sample", "split", "--device", "none"}, "--device none: traces are of what a device does"},
	} {
		assert.Contains(t, refusal(t, "", append([]string{"trace", "-o", "-"}, x.arguments...)...), x.want)
	}
	assert.Contains(t, refusal(t, "", "trace", "--sample", "split"), `"output" not set`)
	needDevice(t)
	assert.Contains(t,
		refusal(t, "", "trace", "-o", "-", table, "--structure", "slabhash", "--ops", ops, "--events", "9"),
		"the table's 10 pairs take 40 events, and there is room for 9 (--events)")
}
