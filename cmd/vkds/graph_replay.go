package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/vk"
)

func newGraphReplayCommand(g *global) *cobra.Command {
	var s graphSource
	r := graphReplay{global: g, source: &s}
	c := &cobra.Command{
		Use:   "replay FILE --batch N [--window W]",
		Short: "Replay a list of edges in its order, and count after each batch",
		Long: `Replay inserts the edges of a file into a graph on the device, batch by batch in the
file's order, and prints after each batch how many rows were read, and how many vertices,
edges, triangles and connected components there are. With --window it deletes the edges,
too, that the last W rows don't have, and counts the vertices alone that they have.

Triangles are kept up by the edges that a batch changes, and components by those that come.
With a window components are found anew after each batch, in the graph where it is.

The file is read while it is replayed, so it may come through a pipe. Edges are
undirected, and one that comes again changes nothing.

` + graphHelp,
		Example: `  vkds graph replay messages.txt.gz --batch 10000 --window 50000 --plot messages.svg
  mail-log | vkds graph replay - --batch 1000 --json`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error { return r.run(c.Context(), arguments[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.IntVar(&r.batch, "batch", 0, "how many `rows` a batch has")
	_ = c.MarkFlagRequired("batch") // which there is
	flags.IntVar(&r.window, "window", 0, "keep the edges of the last `rows` alone")
	flags.StringVar(&r.plot, "plot", "", "draw what is counted over the rows, to a `file`\n(.png, .svg, .pdf)")
	r.rows.add(flags, replayColumns...)
	flags.Lookup("json").Usage = "print JSON, a batch a line"
	s.add(flags, graphFlags{})
	return c
}

var replayColumns = []string{"rows", "vertices", "edges", "triangles", "components"}

// graphReplay is what the command's flags say, and what it does.
type graphReplay struct {
	*global
	source        *graphSource
	batch, window int
	plot          string
	rows          rowFlags

	graph *growingGraph
	last  *edgeWindow // nil: all rows stay
	steps []replayStep
}

// mostRows is how many rows a batch or a window may have.
const mostRows = 1 << 30

// check finds out what can't be before time is spent.
func (r *graphReplay) check(path string) error {
	switch {
	case r.batch < 1 || r.batch > mostRows:
		return fmt.Errorf("--batch %d: a batch has 1 to %d rows", r.batch, mostRows)
	case r.window < 0 || r.window > mostRows:
		return fmt.Errorf("--window %d: a window has up to %d rows", r.window, mostRows)
	case r.plot == "":
		return checkInputs("-", path)
	}
	return cmp.Or(checkPicture(r.plot), outfile.Check(r.plot), checkInputs(r.plot, path), checkInputs("-", path))
}

func (r *graphReplay) run(ctx context.Context, path string) (err error) {
	if err := r.check(path); err != nil {
		return err
	}
	d, err := r.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	show, end := r.progressBeside("replaying " + filepath.Base(path))
	defer end()
	r.source.complete(r.global, show)
	a := newAnswer(r.out, r.rows, replayColumns...)
	for err = r.pass(ctx, d, path, a); r.source.options.TakeForText(path, err); {
		err = r.pass(ctx, d, path, a)
	}
	if err := a.end(err); err != nil {
		return err
	}
	return r.draw(ctx, path)
}

// pass replays a file from its beginning.
func (r *graphReplay) pass(ctx context.Context, d *vk.Device, path string, a *answer) (err error) {
	r.last = nil
	if r.window > 0 {
		r.last = newEdgeWindow(r.window)
	}
	if r.graph, err = newGrowingGraph(ctx, d, r.last != nil); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, r.graph.close()) }()
	file, err := graphfile.Open(ctx, path, r.source.options.Options)
	if err != nil {
		return err
	}
	defer file.Close()
	return r.replay(ctx, file, a)
}

// replay replays a file. Each row is written as soon as it is there. Those that a pass before has written stay:
// numbers are the same ids as their texts, unless some are hexadecimal.
func (r *graphReplay) replay(ctx context.Context, file *graphfile.Reader, a *answer) error {
	rows, before, started := int64(0), r.steps, time.Now()
	var batch graphfile.Edges
	for {
		err := file.Read(&batch, r.batch)
		if err == io.EOF {
			note := "replayed " + rate(rows, "rows", time.Since(started))
			if n := file.Skipped(); n > 0 {
				note += fmt.Sprintf("; %s skipped", grouped(n))
			}
			r.note("%s", note)
			return nil
		}
		if err != nil {
			return err
		}
		rows += int64(batch.Len())
		step, err := r.step(ctx, batch, file.Vertices.Len())
		if err != nil {
			return err
		}
		step.Rows = uint64(rows)
		if len(before) > 0 {
			if step != before[0] {
				return errors.New("as texts, as which they are read again, ids of earlier rows differ that are the " +
					"same as numbers: --id-type says what they are")
			}
			before = before[1:]
			continue
		}
		r.steps = append(r.steps, step)
		err = a.rows(1, func(line *row, _ int) {
			for _, n := range []uint64{step.Rows, step.Vertices, step.Edges, step.Triangles, step.Components} {
				line.number(n)
			}
		})
		if err := cmp.Or(err, a.out.Flush()); err != nil {
			return err
		}
	}
}

// step does what a batch of rows does to the graph, and counts what there is then, among so many vertices that have
// come. Those that are in none of the window's rows are no components.
func (r *graphReplay) step(ctx context.Context, batch graphfile.Edges, seen int) (step replayStep, err error) {
	come, gone, there := edgeList{From: batch.From, To: batch.To}, edgeList{}, seen
	if r.last != nil {
		come, gone = r.last.Add(batch.From, batch.To)
		there = r.last.Vertices()
	}
	if err := r.graph.change(ctx, come, gone, seen); err != nil {
		return step, err
	}
	components, err := r.graph.components(ctx, there)
	return replayStep{Vertices: uint64(there), Edges: r.graph.edges, Triangles: r.graph.triangles,
		Components: components}, err
}

// draw draws the steps, if that is wanted.
func (r *graphReplay) draw(ctx context.Context, path string) error {
	if r.plot == "" {
		return nil
	}
	var picture bytes.Buffer
	format := strings.TrimPrefix(filepath.Ext(r.plot), ".")
	if err := drawReplay(&picture, filepath.Base(called(path)), r.steps, format); err != nil {
		return fmt.Errorf("%s: %w", r.plot, err)
	}
	return outfile.Replace(ctx, r.plot, picture.Bytes())
}

// checkPicture tells of a name that says of no picture what it is.
func checkPicture(path string) error {
	switch filepath.Ext(path) {
	case ".png", ".svg", ".pdf":
		return nil
	}
	return fmt.Errorf("--plot %s: the name of a picture ends in .png, .svg or .pdf", path)
}
