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
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/vk"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
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

// edgeWindow is the last rows of a list of edges, which are undirected and may come again. An edge is there as long
// as one of its rows is. It is used from one goroutine at a time.
type edgeWindow struct {
	size     int
	rows     []windowEdge // the last ones, in a ring of size, from its start as long as it isn't full
	at       int          // of the oldest row, once it is full
	times    map[windowEdge]int
	touched  []windowEdge       // by this Add, in the order of their rows
	before   map[windowEdge]int // of those, how often they were there
	ends     []int              // rows of a vertex
	vertices int
}

// windowEdge has the lesser vertex first.
type windowEdge struct{ from, to uint32 }

// newEdgeWindow makes an empty window of so many rows, at least one.
func newEdgeWindow(size int) *edgeWindow {
	return &edgeWindow{size: size, times: map[windowEdge]int{}, before: map[windowEdge]int{}}
}

// edgeList are some edges, from[i] to[i].
type edgeList struct{ From, To []uint32 }

func (e *edgeList) add(one windowEdge) { e.From, e.To = append(e.From, one.from), append(e.To, one.to) }

// Vertices is how many vertices have a row in the window, loops too.
func (w *edgeWindow) Vertices() int { return w.vertices }

// Add moves the window over the next rows, and returns the edges that were not there before and those that are there no
// longer, each once and without loops.
func (w *edgeWindow) Add(from, to []uint32) (come, gone edgeList) {
	w.touched = w.touched[:0]
	clear(w.before)
	for i, u := range from {
		row := windowEdge{min(u, to[i]), max(u, to[i])}
		w.count(row, 1)
		if len(w.rows) < w.size {
			w.rows = append(w.rows, row)
			continue
		}
		w.count(w.rows[w.at], -1)
		w.rows[w.at] = row
		w.at = (w.at + 1) % w.size
	}
	for _, one := range w.touched {
		switch before, now := w.before[one], w.times[one]; {
		case before == 0 && now > 0:
			come.add(one)
		case before > 0 && now == 0:
			gone.add(one)
		}
		if w.times[one] == 0 {
			delete(w.times, one)
		}
	}
	return come, gone
}

// count counts a row that comes or goes.
func (w *edgeWindow) count(row windowEdge, change int) {
	for _, v := range []uint32{row.from, row.to} {
		if missing := int(v) + 1 - len(w.ends); missing > 0 {
			w.ends = append(w.ends, make([]int, missing)...)
		}
		if w.ends[v] == 0 {
			w.vertices++
		}
		if w.ends[v] += change; w.ends[v] == 0 {
			w.vertices--
		}
	}
	if row.from == row.to {
		return
	}
	if _, there := w.before[row]; !there {
		w.before[row] = w.times[row]
		w.touched = append(w.touched, row)
	}
	w.times[row] += change
}

// growingGraph is a graph of which edges, triangles and components are kept up by what each batch changes.
type growingGraph struct {
	d                *vk.Device
	graph            *graph.Graph
	live             *analytics.Analyzer
	linked           *analytics.Connectivity // nil: edges go, too, and components are found anew
	room             int                     // vertices of linked
	edges, triangles uint64
}

// newGrowingGraph makes an empty one; deletes: edges will go, too.
func newGrowingGraph(ctx context.Context, d *vk.Device, deletes bool) (g *growingGraph, err error) {
	g = &growingGraph{d: d}
	if g.graph, err = graph.New(ctx, d, graph.Options{}); err != nil {
		return nil, err
	}
	g.live = analytics.NewLive(g.graph)
	if !deletes {
		if err := g.link(ctx, 1<<6); err != nil {
			return nil, errors.Join(err, g.close())
		}
	}
	return g, nil
}

func (g *growingGraph) close() error {
	var err error
	if g.linked != nil {
		err = g.linked.Close()
	}
	return errors.Join(err, g.live.Close(), g.graph.Close())
}

// link makes room for the components of so many vertices, and has those that were known.
func (g *growingGraph) link(ctx context.Context, vertices int) error {
	larger, err := analytics.NewConnectivity(ctx, g.d, vertices)
	if err != nil {
		return err
	}
	if g.linked != nil {
		known, err := g.linked.Components(ctx)
		if err == nil {
			all := make([]uint32, len(known.Labels))
			for v := range all {
				all[v] = uint32(v)
			}
			_, err = larger.Insert(ctx, all, known.Labels)
		}
		if err = errors.Join(err, g.linked.Close()); err != nil {
			return errors.Join(err, larger.Close())
		}
	}
	g.linked, g.room = larger, vertices
	return nil
}

// change has edges come and then others go, among so many vertices. What comes may be there, what goes is.
func (g *growingGraph) change(ctx context.Context, come, gone edgeList, vertices int) error {
	status, err := g.graph.InsertEdges(ctx, graph.Edges{From: come.From, To: come.To})
	if err != nil {
		return err
	}
	var fresh edgeList
	for i, s := range status {
		if s == structures.Inserted {
			fresh.From, fresh.To = append(fresh.From, come.From[i]), append(fresh.To, come.To[i])
		}
	}
	more, err := g.live.TrianglesThroughEdges(ctx, fresh.From, fresh.To)
	if err != nil {
		return err
	}
	fewer, err := g.live.TrianglesThroughEdges(ctx, gone.From, gone.To)
	if err != nil {
		return err
	}
	if _, err = g.graph.DeleteEdges(ctx, graph.Edges{From: gone.From, To: gone.To}); err != nil {
		return err
	}
	g.edges += uint64(len(fresh.From)) - uint64(len(gone.From))
	g.triangles += more.Count - fewer.Count
	if g.linked == nil {
		return nil
	}
	if vertices > g.room {
		if err := g.link(ctx, max(vertices, 2*g.room)); err != nil {
			return err
		}
	}
	_, err = g.linked.Insert(ctx, fresh.From, fresh.To)
	return err
}

// components counts those of so many vertices that have come; the others, which have no edge, are none.
func (g *growingGraph) components(ctx context.Context, vertices int) (uint64, error) {
	if g.linked != nil {
		all, err := g.linked.Components(ctx)
		return uint64(all.Count - g.room + vertices), err
	}
	all, err := g.live.Components(ctx)
	return uint64(all.Count - len(all.Labels) + vertices), err
}

// replayStep is a graph after a batch.
type replayStep struct {
	Rows                        uint64 // that were read so far
	Vertices, Edges, Components uint64
	Triangles                   uint64
}

// drawReplay writes a picture of a graph's edges, triangles and components, and its vertices, over the rows that were
// read, as png, svg or pdf. Numbers have a logarithmic axis, on which there is no 0.
func drawReplay(to io.Writer, title string, steps []replayStep, format string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "rows", "number"
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	lines := 0
	for i, curve := range []struct {
		name  string
		value func(replayStep) uint64
	}{
		{"triangles", func(s replayStep) uint64 { return s.Triangles }},
		{"edges", func(s replayStep) uint64 { return s.Edges }},
		{"vertices", func(s replayStep) uint64 { return s.Vertices }},
		{"components", func(s replayStep) uint64 { return s.Components }},
	} {
		var points plotter.XYs
		for _, s := range steps {
			if n := curve.value(s); n > 0 {
				points = append(points, plotter.XY{X: float64(s.Rows), Y: float64(n)})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		p.Add(line, marks)
		p.Legend.Add(curve.name, line, marks)
		lines++
	}
	if lines == 0 || p.Y.Max <= p.Y.Min { // about a single number a logarithmic axis would reach down to 0
		p.Y.Scale, p.Y.Tick.Marker = plot.LinearScale{}, plot.DefaultTicks{}
	}
	picture, err := p.WriterTo(22*vg.Centimeter, 14*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(to)
	return err
}
