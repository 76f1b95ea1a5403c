package main

import (
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

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
