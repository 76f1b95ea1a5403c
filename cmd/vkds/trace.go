package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/draw"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
)

// tracing is the command "vkds trace".
type tracing struct {
	source
	ops, sample, output, save string
	events                    int
}

func newTraceCommand(g *global) *cobra.Command {
	var t tracing
	c := &cobra.Command{
		Use:   "trace [DICT-or-TABLE|TRACE] -o FILE",
		Short: "See what the GPU's kernels do to a dictionary, step by step",
		Long: `Trace runs operations on a dictionary with instrumented kernels, and writes an
HTML page that replays them event by event, without a network: which operation
reads which node, takes which latch, splits which node. A B-link-tree's nodes
that their parents don't know yet are red. Of an LSM it shows its levels, and
the merges that fill them, tile by tile.

The file of --ops has an operation a line, without a header: its kind, key and
value. The operations of one batch run concurrently. An empty line ends a batch,
a line "snapshot" opens a snapshot of a tree, and "cleanup" cleans an LSM up:
  insert,5,50
  delete,7
  snapshot
  insert-add,5,1
Kinds: ` + strings.Join(tracedKinds.Names(), ", ") + `.

Only a hash table takes insert-duplicate. Sums (insert-add) are of unsigned
integers.

Without --ops there are samples: ` + strings.Join(sampleNames(), ", ") + `.

TRACE is a file that a program of yours has written (trace.Trace.WriteTo), or
--save. It has the events alone: keys and values are shown as their words, and
of what the structure had before only what the events tell.

` + sourceHelp,
		Example: `  vkds trace --sample split -o split.html
  vkds trace airports.vkds --structure btree --ops changes.csv -o changes.html`,
		Args: takes("one DICT, TABLE or TRACE", 0, 1),
		RunE: func(c *cobra.Command, arguments []string) error { return t.run(c.Context(), g, arguments) },
	}
	flags := c.Flags()
	flags.StringVarP(&t.output, "output", "o", "", "`file` of the page; \"-\" is standard output")
	_ = c.MarkFlagRequired("output") // it exists
	flags.StringVar(&t.ops, "ops", "", "`file` of the operations; \"-\" is standard input")
	flags.StringVar(&t.sample, "sample", "", "a `sample` instead: "+strings.Join(sampleNames(), ", "))
	flags.StringVar(&t.save, "save", "", "save the trace in a `file`, too")
	flags.IntVar(&t.events, "events", 1<<18, "`number` of events for which there is room, 32 bytes each")
	t.add(c, "")
	return c
}

func (t *tracing) run(ctx context.Context, g *global, arguments []string) error {
	if err := t.check(arguments); err != nil { // now rather than after the work
		return err
	}
	if t.events < 1 {
		return fmt.Errorf("--events %d: at least 1", t.events)
	}
	p, err := t.page(ctx, g, arguments)
	if err != nil {
		return err
	}
	if p.Trace.Dropped != 0 {
		g.note("%s events had no room (--events)", grouped(p.Trace.Dropped))
	}
	if t.save != "" {
		save := func(w io.Writer) error { _, err := p.Trace.WriteTo(w); return err }
		if err := g.writeTo(ctx, t.save, save); err != nil {
			return err
		}
	}
	return g.writeTo(ctx, t.output, p.Write)
}

// check returns an error if a file can't be read or written, or would be overwritten.
func (t *tracing) check(arguments []string) error {
	inputs := slices.Clone(arguments)
	if t.ops != "" {
		inputs = append(inputs, t.ops)
	}
	if len(inputs) == 2 && inputs[0] == input.Stdin && inputs[1] == input.Stdin {
		return errBothFromStdin("the dictionary", "the operations")
	}
	outputs := []string{t.output}
	if t.save != "" {
		outputs = append(outputs, t.save)
	}
	for _, output := range outputs {
		if err := checkOutput(output, inputs...); err != nil {
			return err
		}
	}
	if len(outputs) == 2 && filepath.Clean(t.output) == filepath.Clean(t.save) {
		return fmt.Errorf("the page and the trace can't both be %s", t.output)
	}
	return nil
}

func (t *tracing) page(ctx context.Context, g *global, arguments []string) (*draw.Page, error) {
	switch {
	case t.sample != "" && (len(arguments) != 0 || t.ops != ""):
		return nil, errors.New("--sample has its own dictionary and operations")
	case t.sample == "" && len(arguments) == 0:
		return nil, errors.New("trace needs a DICT, TABLE or TRACE, or --sample")
	case t.sample != "":
		if err := t.unread("--sample has its own dictionary"); err != nil {
			return nil, err
		}
		return sample(ctx, g, t.sample, t.events)
	}
	if recorded, err := readTrace(arguments[0]); recorded != nil || err != nil {
		if err == nil && t.ops != "" {
			err = fmt.Errorf("%s is a trace, which has its operations (--ops)", called(arguments[0]))
		}
		if err == nil {
			err = t.unread(called(arguments[0]) + " is a trace")
		}
		if err != nil {
			return nil, err
		}
		return pageOf(recorded, filepath.Base(arguments[0]))
	}
	if t.ops == "" {
		return nil, errors.New("--ops says what to do to the dictionary (and a TRACE must be a file)")
	}
	w, err := t.load(ctx, g, arguments[0])
	if err != nil {
		return nil, err
	}
	return w.trace(ctx, g, t.events)
}

// unread returns an error if a flag is given that says how to read or load what isn't there.
func (t *tracing) unread(why string) error {
	if name := t.given(append([]string{"structure", "load", "fill", "batch"}, forTables...)); name != "" {
		return fmt.Errorf("%s: --%s is for dictionaries", why, name)
	}
	return nil
}

// readTrace reads a trace. It returns nil if the file is something else.
func readTrace(path string) (*trace.Trace, error) {
	if path == input.Stdin {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	const begins = "vkds trace " // of every version
	if start, _ := in.Peek(len(begins)); string(start) != begins {
		return nil, nil
	}
	t, err := trace.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", called(path), err)
	}
	return t, nil
}

// pageOf is the page of a trace from elsewhere, which doesn't say what the structure had before. The names of the
// kernels that recorded events say what it is. Error: it is of several structures, or damaged.
func pageOf(t *trace.Trace, title string) (*draw.Page, error) {
	p := &draw.Page{Title: title, Trace: t, Key: keytype.Uint64.Format, Value: keytype.Uint64.Format}
	used, kinds := map[uint16]bool{}, map[string]bool{}
	for _, e := range t.Events {
		used[e.Kernel] = true
	}
	for i, kernel := range t.Kernels {
		if !used[uint16(i)] {
			continue
		}
		kind, rest, _ := strings.Cut(kernel, "/")
		_, form, _ := strings.Cut(rest, ".") // k64v64a64.rolled
		kinds[kind] = true
		if strings.HasPrefix(form, "k64") {
			p.Width = structures.Bits64
		}
		switch kind {
		case "btree":
			p.Slots = btree.SlotsAt(p.Width)
		case "slabhash":
			p.List, p.Slots = "bucket", slabhash.SlotsAt(p.Width, !strings.Contains(form, "v"))
		case "graph":
			asGraph(p, strings.Contains(form, "v"))
		case "runs":
			p.List, p.Slots = draw.Runs, draw.BatchOf(t)
		}
	}
	if len(kinds) > 1 {
		return nil, fmt.Errorf("%s has events of several structures (%s), and a page shows one", title,
			strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	for i, e := range t.Events {
		if !possible(e, p.Slots) {
			return nil, fmt.Errorf("%s is damaged: event %d can't be", title, i)
		}
	}
	if kinds["btree"] {
		p.Nodes = draw.GuessNodes(t)
	}
	return p, nil
}

// possible reports whether kernels record such an event: the page makes room for what it says.
func possible(e trace.Event, slots int) bool {
	const levels = 32
	switch e.What {
	case trace.Begin:
		return e.Other <= uint32(structures.CountRange)
	case trace.End:
		return e.Other <= uint32(structures.Absent)
	case trace.Write, trace.Change, trace.Erase:
		return int(e.Other) < slots
	case trace.Latch, trace.Latched:
		return e.Other < levels
	case trace.Split, trace.Separator:
		return e.Value < levels
	case trace.Row:
		return e.Other <= levels
	}
	return e.What <= trace.Mark
}

// load reads a dictionary or table into the host's memory, and the operations.
func (t *tracing) load(ctx context.Context, g *global, path string) (*work, error) {
	dict, err := t.source.load(ctx, g, openAlready(nil), path)
	if err != nil {
		return nil, err
	}
	defer dict.Close()
	if dict.hasText() {
		return nil, fmt.Errorf("%s has text, and traces are of numbers", called(path))
	}
	w := &work{title: filepath.Base(path), structure: dict.structure.name, parameter: dict.parameter,
		width: dict.width(), key: dict.key.Format, value: dict.value.Format, capacity: int(dict.pairs)}
	for c, err := range dict.Chunks(ctx) {
		if err != nil {
			return nil, err
		}
		w.keys, w.values = append(w.keys, c.Keys...), append(w.values, c.Values...)
	}
	w.steps, err = readSteps(t.ops, dict)
	return w, err
}
