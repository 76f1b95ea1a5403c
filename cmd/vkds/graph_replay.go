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
		Short: "Insert edges batch by batch, and count after each batch",
		Long: `Replay inserts the edges of a file into a graph on the device, batch by batch,
in the file's order. After each batch it prints how many rows were read, and how
many vertices, edges, triangles and connected components the graph has. With
--window it also deletes the edges that are not in the last W rows, and counts
only the vertices in these rows.

A batch changes the number of triangles by those of its edges alone, and without
a window it also adds its edges to the components that are known. With a window,
components are computed anew after each batch.

The file is read while it is replayed, so it may come through a pipe. Edges are
undirected. An edge that is already there is not inserted again.

` + graphHelp,
		Example: `  vkds graph replay mails.txt.gz --batch 10000 --window 50000 --plot mails.svg
  mail-log | vkds graph replay - --batch 1000 --json`,
		Args: takes("one FILE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error { return r.run(c.Context(), arguments[0]) },
	}
	flags := c.Flags()
	flags.IntVar(&r.batch, "batch", 0, "number of `rows` of a batch")
	_ = c.MarkFlagRequired("batch") // it exists
	flags.IntVar(&r.window, "window", 0, "keep only the edges of the last `rows`")
	flags.StringVar(&r.plot, "plot", "", "draw the counts over the rows, to a `file`\n(.png, .svg, .pdf)")
	r.rows.add(flags, replayColumns...)
	flags.Lookup("json").Usage = "print JSON, a batch a line"
	s.add(flags, graphFlags{})
	return c
}

var replayColumns = []string{"rows", "vertices", "edges", "triangles", "components"}

// graphReplay holds the command's flags, and the state of a replay.
type graphReplay struct {
	*global
	source        *graphSource
	batch, window int
	plot          string
	rows          rowFlags

	graph *growingGraph
	last  *edgeWindow // nil: there is no window, and all edges stay
	steps []replayStep
}

// mostRows is the greatest number of rows that a batch or a window may have.
const mostRows = 1 << 30

// check returns those errors that can be found before the work.
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

// replay replays a file, and prints a row after each batch. If an earlier pass printed rows before ids turned out to be
// text, replay does not print these again, but checks that they are the same. They are not if ids are equal as numbers
// and differ as texts, such as 10 and 0xa.
func (r *graphReplay) replay(ctx context.Context, file *graphfile.Reader, a *answer) error {
	rows, before, started := int64(0), r.steps, time.Now()
	var batch graphfile.Edges
	for {
		err := file.Read(&batch, r.batch)
		if err == io.EOF {
			note := "replayed " + rate(rows, "rows", time.Since(started))
			note += andSkipped(file.Skipped())
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

// step applies a batch of rows to the graph and counts what it then has. seen is the number of vertices in all rows so
// far. Vertices that are in no row of the window do not count.
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

// draw draws the steps, if --plot is given.
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

// checkPicture returns an error if a name does not have the ending of a picture.
func checkPicture(path string) error {
	switch filepath.Ext(path) {
	case ".png", ".svg", ".pdf":
		return nil
	}
	return fmt.Errorf("--plot %s: the name of a picture ends in .png, .svg or .pdf", path)
}

// edgeWindow has the last rows of a list of undirected edges, which may repeat. An edge is in the window as long as one
// of its rows is. It is used from one goroutine at a time.
type edgeWindow struct {
	size     int
	rows     []windowEdge       // the last rows; a ring once there are size of them
	at       int                // index of the oldest row, once there are size
	times    map[windowEdge]int // how many rows each edge has
	touched  []windowEdge       // edges whose rows this Add has counted, each once
	before   map[windowEdge]int // how many rows those had before
	ends     []int              // how often each vertex is an end of a row
	vertices int                // that are ends of rows
}

// windowEdge has the lesser vertex first.
type windowEdge struct{ from, to uint32 }

// newEdgeWindow makes an empty window of size rows. size is at least 1.
func newEdgeWindow(size int) *edgeWindow {
	return &edgeWindow{size: size, times: map[windowEdge]int{}, before: map[windowEdge]int{}}
}

// edgeList is a list of edges, from From[i] to To[i].
type edgeList struct{ From, To []uint32 }

func (e *edgeList) add(one windowEdge) { e.From, e.To = append(e.From, one.from), append(e.To, one.to) }

// Vertices returns how many vertices are in the window's rows, loops included.
func (w *edgeWindow) Vertices() int { return w.vertices }

// Add moves the window over the next rows. It returns the edges that came into the window and those that left it, each
// once and without loops.
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

// count counts a row that comes (change is 1) or goes (-1).
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

// growingGraph is a graph that keeps count of its edges, triangles and components while it changes.
type growingGraph struct {
	d                *vk.Device
	graph            *graph.Graph
	live             *analytics.Analyzer
	linked           *analytics.Connectivity // nil if edges are deleted, too: components are then computed anew
	room             int                     // the number of vertices of linked
	edges, triangles uint64
}

// newGrowingGraph makes an empty graph. deletes says that edges will be deleted, too.
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

// link replaces linked by one of more vertices, with the same components.
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

// change inserts the edges of come, and then deletes those of gone. vertices is the number of vertices so far. Edges of
// come may already be in the graph; those of gone must be.
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

// components returns the number of components of so many vertices. Both counts below also have a component for each
// vertex beyond these, which has no edges.
func (g *growingGraph) components(ctx context.Context, vertices int) (uint64, error) {
	if g.linked != nil {
		all, err := g.linked.Components(ctx)
		return uint64(all.Count - g.room + vertices), err
	}
	all, err := g.live.Components(ctx)
	return uint64(all.Count - len(all.Labels) + vertices), err
}

// replayStep has the counts after a batch.
type replayStep struct {
	Rows                        uint64 // rows read so far
	Vertices, Edges, Components uint64
	Triangles                   uint64
}

// drawReplay draws the numbers of a graph's edges, triangles, components and vertices over the rows read, as png, svg
// or pdf. Their axis is logarithmic, so zeros are left out.
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
	if lines == 0 || p.Y.Max <= p.Y.Min { // around a single number, a logarithmic axis would reach 0
		p.Y.Scale, p.Y.Tick.Marker = plot.LinearScale{}, plot.DefaultTicks{}
	}
	picture, err := p.WriterTo(22*vg.Centimeter, 14*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(to)
	return err
}
