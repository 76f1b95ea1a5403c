package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WritePlot draws the throughput, one line an operation (and tile), over n, or if there is one n only, over the
// memory utilisation. format is that of the picture: png, svg, pdf.
func (r Report) WritePlot(w io.Writer, format string) error {
	p := plot.New()
	p.Title.Text = r.Environment.Device
	p.Y.Label.Text = "M operations/s"
	p.Y.Min = 0
	p.Legend.Top = true
	p.Add(plotter.NewGrid())

	sizes, tiles := map[int]bool{}, map[int]bool{}
	for _, m := range r.Measurements {
		sizes[m.N], tiles[m.Tile] = true, true
	}
	p.X.Label.Text = "log2 n"
	at := func(m Measurement) float64 { return math.Log2(float64(m.N)) }
	if len(sizes) == 1 {
		p.X.Label.Text = "memory utilisation"
		at = func(m Measurement) float64 { return m.Utilization }
	}
	lines := map[string]plotter.XYs{}
	var names []string
	for _, m := range r.Measurements {
		name := m.Op
		if m.Structure != "slabhash" {
			name = m.Structure + " " + name
		}
		if len(tiles) > 1 && m.Tile != 0 {
			name += fmt.Sprintf(", tile %d", m.Tile)
		}
		if lines[name] == nil {
			names = append(names, name)
		}
		lines[name] = append(lines[name], plotter.XY{X: at(m), Y: m.Throughput()})
	}
	for i, name := range names {
		points := lines[name]
		slices.SortStableFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		marks.Shape = draw.CircleGlyph{}
		p.Add(line, marks)
		p.Legend.Add(name, line, marks)
	}
	p.Y.Max *= 1.05 + 0.05*float64(len(names)) // room for the legend above the lines
	picture, err := p.WriterTo(22*vg.Centimeter, 14*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(w)
	return err
}
