// Command benchmarks writes the tables of docs/benchmarks.md from the reports that lie beside it, and draws reports:
//
//	go run ./docs/benchmarks                                 # the tables
//	go run ./docs/benchmarks -x length report.json plot.svg  # throughput over the length of ranges
//
// A report is what `vkds bench … --json` wrote. A table that is made of one stands after a comment that names the
// report, what the columns differ by, and for some of the rows what they show; all other rows are left as they are.
// A row shows throughput, or milliseconds if it ends with "in ms":
//
//	<!-- figures of h200.json by n
//	**vkds build**, keys unique = slabhash/build
//	-->
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vkds/vkds/internal/tool/bench"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func main() {
	x := flag.String("x", "n", "what a picture is drawn over: "+strings.Join(axes, ", "))
	flag.Parse()
	if err := run(*x, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func run(x string, files []string) error {
	switch len(files) {
	case 0:
		const page = "docs/benchmarks.md"
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		made, err := tables(string(text), "docs/benchmarks")
		return cmp.Or(err, os.WriteFile(page, []byte(made), 0o644))
	case 2:
		r, err := bench.ReadFile(files[0])
		if err != nil {
			return err
		}
		return picture(r, x, files[1])
	}
	return errors.New("no file for the tables, or a report and a picture")
}

var directive = regexp.MustCompile(`(?s)<!-- figures of (\S+) by (\S+)\n(.*?)\n-->\n(\|.*?\n)\n`)

// tables returns the page with its tables made of the reports in a folder, as far as these are there.
func tables(page, folder string) (string, error) {
	var failed error
	made := directive.ReplaceAllStringFunc(page, func(all string) string {
		part := directive.FindStringSubmatch(all)
		r, err := bench.ReadFile(filepath.Join(folder, part[1]))
		if err == nil {
			var table string
			if table, err = filled(part[4], r, part[2], strings.Split(part[3], "\n")); err == nil {
				return strings.TrimSuffix(all, part[4]+"\n") + table + "\n"
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", part[1], err))
		}
		return all
	})
	return made, failed
}

// filled is a table with a report's figures in the rows that are named. A figure is in the column whose head is the
// axis' value, or any other part of a measurement's name. It is the throughput in M operations/s, or the time in ms.
func filled(table string, r bench.Report, by string, rows []string) (string, error) {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	columns := cells(lines[0])
	for _, row := range rows {
		label, what, is := strings.Cut(row, " = ")
		what, inMilliseconds := strings.CutSuffix(what, " in ms")
		at := slices.IndexFunc(lines, func(line string) bool { return cells(line)[0] == label })
		if !is || at < 0 {
			return "", fmt.Errorf("no row %q", label)
		}
		made := []string{label}
		for _, column := range columns[1:] {
			heads := []string{column, by + "=" + column}
			if n := number(column); n != 0 {
				heads = append(heads, by+"="+strconv.Itoa(n), by+"="+bench.Power(n))
			}
			figure := ""
			for _, m := range r.Measurements {
				parts := strings.Split(m.Name(), "/")
				has := func(part string) bool { return slices.Contains(parts, part) }
				lacks := func(part string) bool { return !has(part) }
				if !slices.ContainsFunc(heads, has) || slices.ContainsFunc(strings.Split(what, "/"), lacks) {
					continue
				}
				if figure != "" {
					return "", fmt.Errorf("two figures for %s, %s", label, column)
				}
				if figure = figured(m.Throughput()); inMilliseconds {
					figure = figured(1e3 * m.Time().Seconds())
				}
			}
			made = append(made, figure)
		}
		lines[at] = strings.ReplaceAll("| "+strings.Join(made, " | ")+" |", "|  |", "| |")
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// figured formats a number with at least three digits.
func figured(x float64) string {
	places := 2
	if x >= 100 {
		places = 0
	} else if x >= 10 {
		places = 1
	}
	return strconv.FormatFloat(x, 'f', places, 64)
}

func cells(line string) (all []string) {
	for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

// number reads a column's head, 4 or 2²⁰; 0 if it is none.
func number(head string) int {
	const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹"
	text, power := "", ""
	for _, c := range head {
		if i := slices.Index([]rune(digits), c); i >= 0 {
			power += strconv.Itoa(i)
		} else {
			text += string(c)
		}
	}
	n, _ := strconv.Atoi(text)
	if exponent, err := strconv.Atoi(power); err == nil && n == 2 {
		return 1 << exponent
	}
	return n
}

var axes = []string{"n", "tile", "length", "load", "changed", "batches", "times"}

// point is where a measurement stands over an axis; the rest of what it is named by is a line's.
func point(m *bench.Measurement, x string) float64 {
	n := float64(m.N)
	switch x {
	case "tile":
		n, m.Tile = float64(m.Tile), 0
	case "length":
		n, m.Length = float64(m.Length), 0
	case "load":
		n, m.Load = m.Load, 0
	case "changed":
		n, m.Changed = 100*m.Changed, 0
	default:
		m.N = 0
	}
	return n
}

// lines are the throughputs of a report by what is measured; of series of batches, over the number of batches, the
// elements there by the time that they took, or the milliseconds of each (figures 4b and 4a of the GPU LSM's paper).
func lines(r bench.Report, x string) (names []string, points map[string]plotter.XYs) {
	points = map[string]plotter.XYs{}
	add := func(name string, at plotter.XY) {
		if points[name] == nil {
			names = append(names, name)
		}
		points[name] = append(points[name], at)
	}
	several := slices.ContainsFunc(r.Measurements, func(m bench.Measurement) bool { return m.N != r.Measurements[0].N })
	for _, m := range r.Measurements {
		if x != "batches" && x != "times" {
			y, at := m.Throughput(), point(&m, x)
			what := append([]string{m.Structure + " " + m.Op}, m.Settings()...)
			if m.N != 0 && several {
				what = append(what, fmt.Sprintf("n = %d", m.N))
			}
			add(strings.Join(what, ", "), plotter.XY{X: at, Y: y})
			continue
		}
		took := time.Duration(0)
		for i, step := range m.Steps {
			took += step
			at := plotter.XY{X: float64(i + 1), Y: float64((i+1)*m.Batch) / took.Seconds() / 1e6}
			if x == "times" {
				at.Y = step.Seconds() * 1e3
			}
			add(fmt.Sprintf("%s, b = %s", m.Structure, bench.Power(m.Batch)), at)
		}
	}
	for _, line := range points {
		slices.SortFunc(line, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	}
	return names, points
}

// picture draws a report.
func picture(r bench.Report, x, path string) error {
	if !slices.Contains(axes, x) {
		return fmt.Errorf("-x %s: one of %s", x, strings.Join(axes, ", "))
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = r.Environment.Device, x, "M operations/s"
	if x == "times" {
		p.X.Label.Text, p.Y.Label.Text = "batches", "ms"
	}
	if x == "n" || x == "batches" || x == "load" {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	names, points := lines(r, x)
	for i, name := range names {
		line, marks, err := plotter.NewLinePoints(points[name])
		if err != nil {
			return err
		}
		line.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), draw.CircleGlyph{}
		p.Add(line)
		if len(points[name]) <= 100 { // more would hide the line
			p.Add(marks)
		}
		p.Legend.Add(name, line, marks)
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*(1.05+0.05*float64(len(names))) // room for the legend above the lines
	return p.Save(22*vg.Centimeter, 14*vg.Centimeter, path)
}
