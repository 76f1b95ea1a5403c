package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WritePlot draws the throughput, one line an operation (and setting), over n, or if there is one n only, over the
// memory utilisation; of batches inserted one after another, their effective rate over the number of batches there
// (figure 4b of the GPU LSM's paper); of one n also over the share of the keys that was changed since a snapshot, over
// the length of ranges, or of mixed batches over the share of updates (figures 4.3 to 4.5 of Awad, Fully Concurrent GPU
// Data Structures, 2022). format is that of the picture: png, svg, pdf.
func (r Report) WritePlot(w io.Writer, format string) error {
	p := plot.New()
	p.Title.Text = r.Environment.Device
	p.Y.Label.Text = "M operations/s"
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true // to the right there is room for texts in a wider font than asked for
	p.Y.Tick.Marker = plainTicks{}
	p.Add(plotter.NewGrid())
	if err := r.curves(p).draw(p); err != nil {
		return err
	}
	picture, err := p.WriterTo(22*vg.Centimeter, 14*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(w)
	return err
}

// plainTicks are the usual ones, with as many decimals as their numbers have.
type plainTicks struct{}

func (plainTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i, tick := range ticks {
		if !tick.IsMinor() {
			ticks[i].Label = strconv.FormatFloat(tick.Value, 'f', -1, 32)
		}
	}
	return ticks
}

// curves are lines by their names, in the order in which they came.
type curves struct {
	names []string
	lines map[string]plotter.XYs
	marks bool // each point has one
}

func (c *curves) add(name string, at plotter.XY) {
	if c.lines[name] == nil {
		c.names = append(c.names, name)
	}
	c.lines[name] = append(c.lines[name], at)
}

// curves chooses what is drawn, and names the axis.
func (r Report) curves(p *plot.Plot) *curves {
	if slices.ContainsFunc(r.Measurements, func(m Measurement) bool { return len(m.Steps) != 0 }) {
		return r.series(p)
	}
	x, tiles := r.axis(), map[int]bool{}
	p.X.Label.Text = x.label
	rest, settings := slices.Clone(r.Measurements), map[string]bool{}
	for i := range rest {
		if x.leaveOut != nil {
			x.leaveOut(&rest[i])
		}
		tiles[rest[i].Tile] = true
		settings[strings.Join(rest[i].settings(), ", ")] = true
	}
	c := &curves{lines: map[string]plotter.XYs{}, marks: true}
	for i, m := range rest {
		name := m.Op
		if m.Structure != "slabhash" {
			name = m.Structure + " " + name
		}
		if len(tiles) > 1 && m.Tile != 0 {
			name += fmt.Sprintf(", tile %d", m.Tile)
		}
		if len(settings) > 1 {
			name = strings.Join(append([]string{name}, m.settings()...), ", ")
		}
		c.add(name, plotter.XY{X: x.at(r.Measurements[i]), Y: m.Throughput()})
	}
	return c
}

// axis is what throughput is drawn over.
type axis struct {
	label    string
	at       func(m Measurement) float64
	has      func(m Measurement) bool // whether it says something of a measurement
	leaveOut func(m *Measurement)     // what it tells
}

func always(Measurement) bool { return true }

var (
	overN           = axis{"log2 n", func(m Measurement) float64 { return math.Log2(float64(m.N)) }, always, nil}
	overUtilization = axis{"memory utilisation", func(m Measurement) float64 { return m.Utilization },
		func(m Measurement) bool { return m.Utilization != 0 }, nil}
	overChanged = axis{"% of the keys that were changed since", func(m Measurement) float64 { return 100 * m.Changed },
		always, func(m *Measurement) { m.Changed = 0 }}
	overUpdates = axis{"% of updates", func(m Measurement) float64 { return 100 * m.Updates },
		func(m Measurement) bool { return m.Mix != "" }, func(m *Measurement) { m.Op = m.Mix }}
	overLength = axis{"pairs of a range", func(m Measurement) float64 { return float64(m.Length) },
		func(m Measurement) bool { return m.Length != 0 }, func(m *Measurement) { m.Length = 0 }}
)

// axis is n, if there are several, or that of some others which has most values, if it says something of all; else
// the memory utilisation, where that is known.
func (r Report) axis() axis {
	values := func(of func(m Measurement) float64) int {
		different := map[float64]bool{}
		for _, m := range r.Measurements {
			different[of(m)] = true
		}
		return len(different)
	}
	used := slices.ContainsFunc(r.Measurements, overUtilization.has)
	switch {
	case values(overN.at) > 1:
		return overN
	case used && values(func(m Measurement) float64 { return m.Load }) > 1:
		return overUtilization
	}
	best, most := overN, 1
	if used {
		best = overUtilization
	}
	for _, a := range []axis{overChanged, overUpdates, overLength} {
		hasNot := func(m Measurement) bool { return !a.has(m) }
		if n := values(a.at); n > most && !slices.ContainsFunc(r.Measurements, hasNot) {
			best, most = a, n
		}
	}
	return best
}

// series draws series of batches: the elements there by the time that they took.
func (r Report) series(p *plot.Plot) *curves {
	p.X.Label.Text, p.Y.Label.Text = "resident batches", "effective insertion rate, M pairs/s"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	c := &curves{lines: map[string]plotter.XYs{}}
	for _, m := range r.Measurements {
		name, took := fmt.Sprintf("%s, b = %s", m.Structure, size(m.Batch)), time.Duration(0)
		for i, t := range m.Steps {
			took += t
			c.add(name, plotter.XY{X: float64(i + 1), Y: rate((i+1)*m.Batch, took) / 1e6})
		}
	}
	return c
}

func (c *curves) draw(p *plot.Plot) error {
	for i, name := range c.names {
		points := c.lines[name]
		slices.SortStableFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		marks.Shape = draw.CircleGlyph{}
		p.Add(line)
		if c.marks {
			p.Add(marks)
			p.Legend.Add(name, line, marks)
		} else {
			p.Legend.Add(name, line)
		}
	}
	if p.X.Max <= p.X.Min { // a single point, about which a logarithmic axis would reach down to 0
		p.X.Scale, p.X.Tick.Marker = plot.LinearScale{}, plot.DefaultTicks{}
	}
	p.Y.Max *= 1.05 + 0.05*float64(len(c.names)) // room for the legend above the lines
	if _, linear := p.X.Scale.(plot.LinearScale); linear {
		p.X.Max += (p.X.Max - p.X.Min) / 25 // and for half of the last number
	}
	return nil
}
