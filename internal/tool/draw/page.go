package draw

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"
	"math"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/trace"
)

// Page is a trace, and what is needed to show it.
type Page struct {
	Title string
	Trace *trace.Trace
	// List is what the structure has a list of slabs for: "bucket", "vertex". "" if it is a tree, Runs if it is an LSM.
	List  string
	Slots int // of a node or slab; of an LSM, the pairs of a batch
	Width structures.Width
	Nodes []Node // of a tree when the trace begins; of each level, in key order
	Begin int    // the event before which the page shows it at first
	Marks []Mark
	// Key and Value format words. Owner, of a graph, formats the vertex of an arc.
	Key, Value, Owner func(uint64) string
}

// Mark says what happened between two batches.
type Mark struct {
	At   int    `json:"at"` // the event before which it happened
	Text string `json:"text"`
}

// Runs is the List of an LSM.
const Runs = "run"

//go:embed page
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "page/page.html"))

// scripts are those of the page, in an order in which each finds what it uses.
var scripts = [...]string{"model", "tree", "lists", "runs", "picture", "page"}

func asset(name string) string {
	text, err := assets.ReadFile("page/" + name)
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return string(text)
}

// none is an index of nothing, in the page's data.
const none = -1

// data is what model.js reads.
type data struct {
	Device   string     `json:"device"`
	List     string     `json:"list"` // "": a tree
	Slots    int        `json:"slots"`
	Begin    int        `json:"begin"`
	Dropped  uint64     `json:"dropped"`
	What     []string   `json:"what"`
	Kinds    []string   `json:"kinds"`
	Statuses []string   `json:"statuses"`
	Kernels  []string   `json:"kernels"`
	Owners   []string   `json:"owners"` // of keys
	Keys     []string   `json:"keys"`
	Values   []string   `json:"values"`
	Nodes    []pageNode `json:"nodes"`
	Events   []int64    `json:"events"`
	Marks    []Mark     `json:"marks"`
	Merges   []merge    `json:"merges"`
}

type pageNode struct {
	ID     uint32  `json:"id"`
	Level  int     `json:"level"`
	Low    int64   `json:"low"`
	Next   int64   `json:"next"`
	Keys   []int64 `json:"keys"`
	Values []int64 `json:"values"`
}

// Write writes the page. Errors: the writer's.
func (p *Page) Write(w io.Writer) error {
	encoded, err := json.Marshal(p.data())
	if err != nil {
		return err
	}
	script := ""
	for _, name := range scripts {
		script += asset(name + ".js")
	}
	return layout.Execute(w, map[string]any{"Title": p.Title, "Style": template.CSS(asset("page.css")),
		"Data": template.JS(encoded), "Script": template.JS(script)})
}

func (p *Page) data() *data {
	d := &data{Device: p.Trace.Device, List: p.List, Slots: p.Slots, Begin: p.Begin,
		Dropped: p.Trace.Dropped, Kernels: append([]string{}, p.Trace.Kernels...), Keys: []string{}, Values: []string{},
		Owners: []string{}, Nodes: []pageNode{}, Events: []int64{}, Marks: append([]Mark{}, p.Marks...),
		Merges: []merge{}}
	for what := range trace.Mark + 1 {
		d.What = append(d.What, what.String())
	}
	for kind := range structures.CountRange + 1 {
		d.Kinds = append(d.Kinds, kind.String())
	}
	for status := range structures.Absent + 1 {
		d.Statuses = append(d.Statuses, status.String())
	}
	if p.List == Runs {
		d.Events, d.Merges = p.runs()
		return d
	}
	began := p.began()
	events := p.events(began)
	keys, values := p.words(events)
	for _, k := range keys.sorted {
		d.Keys = append(d.Keys, p.Key(k))
		if p.Owner != nil {
			d.Owners = append(d.Owners, p.Owner(k))
		}
	}
	for _, v := range values.sorted {
		d.Values = append(d.Values, p.Value(v))
	}
	for _, n := range p.Nodes {
		into := pageNode{ID: n.Ref, Level: n.Level, Low: keys.low(n.Low), Next: int64(n.Link), Keys: []int64{},
			Values: []int64{}}
		if n.Last {
			into.Next = none
		}
		for i, k := range n.Keys {
			if n.Level == 0 {
				into.Keys, into.Values = append(into.Keys, keys.of(k)), append(into.Values, values.of(n.Values[i]))
			} else {
				into.Keys, into.Values = append(into.Keys, keys.low(k)), append(into.Values, int64(n.Values[i]))
			}
		}
		d.Nodes = append(d.Nodes, into)
	}
	slabs, least := p.slabs()
	for _, e := range events {
		key, place, other, value := int64(none), int64(e.Place), int64(e.Other), int64(e.Value)
		if hasKey(e.What) {
			key = keys.of(e.Key)
		}
		switch {
		case hasValue(e.What):
			value = values.of(e.Value)
		case e.What == trace.Latch:
			value = int64(e.Key)
		}
		if o, ok := began[e.Operation]; ok && p.Owner != nil && !slabs[e.Place] {
			place = descriptors + int64(o.Key>>32)
		} else if p.List != "" {
			place -= least
		}
		if e.What == trace.Link {
			other -= least
		}
		d.Events = append(d.Events, int64(e.What), int64(e.Kernel), int64(e.Operation), place, other, key,
			value)
	}
	return d
}

// descriptors is where the page's numbers of vertices' descriptors begin. Eight of them are in one line of memory.
const descriptors = 1 << 32

// slabs returns the places that have slots, and the least place of all.
func (p *Page) slabs() (slabs map[uint32]bool, least int64) {
	slabs, least = map[uint32]bool{}, math.MaxUint32
	for _, e := range p.Trace.Events {
		if e.What != trace.Begin && e.What != trace.End {
			least = min(least, int64(e.Place))
		}
		switch {
		case e.What == trace.Link:
			slabs[e.Other], least = true, min(least, int64(e.Other))
		case e.What != trace.Begin && hasValue(e.What):
			slabs[e.Place] = true
		}
	}
	return slabs, least
}

func hasKey(w trace.What) bool {
	return w == trace.Begin || hasValue(w) || w == trace.Split || w == trace.Grow || w == trace.Separator
}

// hasValue reports whether an event's value is a pair's.
func hasValue(w trace.What) bool {
	return w == trace.Begin || w == trace.Write || w == trace.Change || w == trace.Erase || w == trace.Lost
}

// began returns the events with which operations begin.
func (p *Page) began() map[uint32]trace.Event {
	began := map[uint32]trace.Event{}
	for _, e := range p.Trace.Events {
		if e.What == trace.Begin {
			began[e.Operation] = e
		}
	}
	return began
}

// events returns the events as the page shows them. Those of slabs have the keys of their operations, because a slot
// has another word for some; and those that combine a value with another one, the result.
func (p *Page) events(began map[uint32]trace.Event) []trace.Event {
	events, values := slices.Clone(p.Trace.Events), map[[2]uint64]uint64{}
	for _, n := range p.Nodes {
		for i, k := range n.Keys {
			if n.Level == 0 {
				values[[2]uint64{k}] = n.Values[i]
			}
		}
	}
	for i := range events {
		e := &events[i]
		operation, ok := began[e.Operation]
		pair := [2]uint64{e.Key}
		if p.List != "" {
			pair = [2]uint64{uint64(e.Place), uint64(e.Other)}
			if ok && hasValue(e.What) {
				e.Key = operation.Key
			}
		}
		switch e.What {
		case trace.Change:
			e.Value = p.combine(structures.Kind(operation.Other), values[pair], e.Value)
			values[pair] = e.Value
		case trace.Write:
			values[pair] = e.Value
		}
	}
	return events
}

// combine returns what a value becomes.
func (p *Page) combine(kind structures.Kind, old, value uint64) uint64 {
	switch kind {
	case structures.InsertAdd:
		if p.Width == structures.Bits32 {
			return uint64(uint32(old + value))
		}
		return old + value
	case structures.InsertMin:
		return min(old, value)
	case structures.InsertMax:
		return max(old, value)
	}
	return value
}

// words are the keys or values that the page names, by index in their order.
type words struct {
	sorted []uint64
	index  map[uint64]int64
}

func (p *Page) words(events []trace.Event) (keys, values words) {
	for _, n := range p.Nodes {
		keys.sorted = append(append(keys.sorted, n.Low), n.Keys...)
		if n.Level == 0 {
			values.sorted = append(values.sorted, n.Values...)
		}
	}
	for _, e := range events {
		if hasKey(e.What) {
			keys.sorted = append(keys.sorted, e.Key)
		}
		if hasValue(e.What) {
			values.sorted = append(values.sorted, e.Value)
		}
	}
	keys.sort()
	values.sort()
	return keys, values
}

func (w *words) sort() {
	slices.Sort(w.sorted)
	w.sorted = slices.Compact(w.sorted)
	w.index = make(map[uint64]int64, len(w.sorted))
	for i, x := range w.sorted {
		w.index[x] = int64(i)
	}
}

func (w *words) of(x uint64) int64 { return w.index[x] }

// low returns the index of the least key of a range: none for the least word, which is no key.
func (w *words) low(x uint64) int64 {
	if x == 0 {
		return none
	}
	return w.of(x)
}
