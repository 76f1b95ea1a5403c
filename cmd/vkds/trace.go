package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/internal/tool/page"
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
		Long: `Trace does operations on a dictionary by kernels that tell what they do, and
writes a page that shows it event by event, in any browser and without a
network: which operation reads which node, takes which latch, splits which node.
A B-link-tree's nodes that their parents don't know yet are red.

OPS is a CSV file of operations: their kind, key, and value. Those of one batch
run concurrently. An empty line ends a batch, and a line "snapshot" has the tree
keep what it has for a snapshot:
  insert,5,50
  delete,7
  snapshot
  insert-add,5,1
Kinds: ` + strings.Join(tracedKinds.Names(), ", ") + `.

Without OPS there are samples: ` + strings.Join(sampleNames(), ", ") + `.

TRACE is a file that trace.Trace.WriteTo wrote, in a program of yours, or that
--save wrote.

` + sourceHelp,
		Example: `  vkds trace --sample split -o split.html
  vkds trace airports.vkds --structure btree --ops changes.csv -o changes.html`,
		Args: takes("one DICT, TABLE or TRACE", 0, 1),
		RunE: func(c *cobra.Command, arguments []string) error { return t.run(c.Context(), g, arguments) },
	}
	flags := c.Flags()
	flags.SortFlags = false
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
	if t.output != input.Stdin {
		if err := outfile.Check(t.output); err != nil { // now rather than after the work
			return err
		}
	}
	if t.save != "" {
		if err := outfile.Check(t.save); err != nil {
			return err
		}
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

func (t *tracing) page(ctx context.Context, g *global, arguments []string) (*page.Page, error) {
	switch {
	case t.sample != "" && (len(arguments) != 0 || t.ops != ""):
		return nil, errors.New("--sample has its own dictionary and operations")
	case t.sample == "" && len(arguments) == 0:
		return nil, errors.New("it needs a DICT, TABLE or TRACE, or --sample")
	case t.sample != "":
		return sample(ctx, g, t.sample, t.events)
	}
	if recorded, err := readTrace(arguments[0]); recorded != nil || err != nil {
		if err == nil && t.ops != "" {
			err = fmt.Errorf("%s is a trace, which has its operations (--ops)", called(arguments[0]))
		}
		if err != nil {
			return nil, err
		}
		return pageOf(recorded, filepath.Base(arguments[0])), nil
	}
	if t.ops == "" {
		return nil, errors.New("--ops says what to do to the dictionary")
	}
	w, err := t.load(ctx, g, arguments[0])
	if err != nil {
		return nil, err
	}
	return w.trace(ctx, g, t.events)
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

// pageOf is the page of a trace from elsewhere, which doesn't say what the structure had before. The kernels' names say
// what it is.
func pageOf(t *trace.Trace, title string) *page.Page {
	p := &page.Page{Title: title, Trace: t, Key: keytype.Uint64.Format, Value: keytype.Uint64.Format}
	for _, kernel := range t.Kernels {
		if strings.Contains(kernel, ".k64") {
			p.Width = structures.Bits64
		}
		switch {
		case strings.HasPrefix(kernel, "btree/"):
			p.List, p.Slots = "", btree.SlotsAt(p.Width)
		case strings.HasPrefix(kernel, "slabhash/"):
			p.List, p.Slots = "bucket", slabhash.SlotsAt(p.Width, !strings.Contains(kernel, "v"))
		case strings.HasPrefix(kernel, "graph/"):
			asGraph(p, strings.Contains(kernel, "v"))
		}
	}
	return p
}

// load reads a dictionary or table into the host's memory, and the operations.
func (t *tracing) load(ctx context.Context, g *global, path string) (*work, error) {
	dict, err := t.source.load(ctx, g, openAlready(nil), path)
	if err != nil {
		return nil, err
	}
	defer dict.Close()
	if dict.index != nil || dict.key == keytype.Text || dict.value == keytype.Text {
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
	w.steps, err = readSteps(t.ops, dict.key, dict.value)
	return w, err
}
