package bench

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// WriteCSV writes one row a measurement: medians, with what they were measured on.
func (r Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{
		"structure", "operation", "n", "load", "utilization", "tile", "order", "form", "width", "batch", "levels",
		"length", "stale", "changed", "operations", "runs",
		"device_seconds", "device_mops", "slowest_mops", "fastest_mops", "wall_seconds", "wall_mops", "bytes",
		"gb_per_s", "ratios",
		"device", "driver", "subgroup", "commit", "seed",
	})
	e := r.Environment
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	whole := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	for _, m := range r.Measurements {
		device, deviceRate := "", ""
		if len(m.Device) != 0 {
			device, deviceRate = number(Median(m.Device).Seconds()), number(m.Throughput())
		}
		slowest, fastest := m.Extremes()
		c.Write([]string{
			m.Structure, m.Op, strconv.Itoa(m.N), number(m.Load), number(m.Utilization), strconv.Itoa(m.Tile),
			m.Order, m.Form, whole(m.Width), whole(m.Batch), m.Levels, whole(m.Length), number(m.Stale),
			number(m.Changed),
			strconv.Itoa(m.Operations),
			strconv.Itoa(max(len(m.Device), len(m.Wall))),
			device, deviceRate, number(slowest), number(fastest), number(Median(m.Wall).Seconds()),
			number(m.WallThroughput()),
			number(float64(m.Bytes)), number(m.GBps()), ratios(m, ";"),
			e.Device, e.Driver, strconv.Itoa(e.SubgroupSize), e.Commit, strconv.FormatUint(uint64(e.Seed), 10),
		})
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes the whole report, each run's times in nanoseconds.
func (r Report) WriteJSON(w io.Writer) error {
	j := json.NewEncoder(w)
	j.SetIndent("", "  ")
	return j.Encode(r)
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(r io.Reader) (report Report, err error) {
	err = json.NewDecoder(r).Decode(&report)
	return report, err
}

// WriteBenchstat writes a line a run in the format of Go's benchmarks, which benchstat compares.
func (r Report) WriteBenchstat(w io.Writer) error {
	e := r.Environment
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "device: %s\ndriver: %s\ncommit: %s\n", e.Device, e.Driver, e.Commit)
	for _, m := range r.Measurements {
		name := strings.ReplaceAll(fmt.Sprintf("Benchmark%s/%s/n=%d", m.Structure, m.Op, m.N), " ", "")
		if m.Load != 0 {
			name += fmt.Sprintf("/load=%.3g/tile=%d", m.Load, m.Tile)
		}
		for _, x := range m.settings() {
			name += "/" + strings.ReplaceAll(x, " ", "=")
		}
		times := m.Device
		if len(times) == 0 {
			times = m.Wall
		}
		for _, t := range times {
			fmt.Fprintf(b, "%s 1 %d ns/op %.6g Mop/s\n", name, t.Nanoseconds(), rate(m.Operations, t)/1e6)
		}
	}
	return b.Flush()
}

// WriteTable writes the report for people.
func (r Report) WriteTable(w io.Writer) error {
	e := r.Environment
	fmt.Fprintf(w, "%s, %s, subgroup %d, commit %s\n", e.Device, e.Driver, e.SubgroupSize, e.Commit)
	if e.CopyGBps != 0 {
		fmt.Fprintf(w, "device copy: %.0f GB/s, read and written\n", e.CopyGBps)
	}
	decimals := func(x float64, n int) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', n, 64)
	}
	titles := []string{"structure", "operation", "n", "setting", "load", "util.", "tile", "ms", "M op/s", "slowest",
		"fastest", "wall ms", "GB/s", ""}
	var rows [][]string
	for _, m := range r.Measurements {
		tile := "best"
		if m.Tile != 0 {
			tile = strconv.Itoa(m.Tile)
		}
		if m.Load == 0 && m.Tile == 0 {
			tile = ""
		}
		slowest, fastest := m.Extremes()
		rows = append(rows, []string{m.Structure, m.Op, size(m.N), strings.Join(m.settings(), ", "),
			decimals(m.Load, 3), decimals(m.Utilization, 3), tile,
			decimals(1e3*Median(m.Device).Seconds(), 3),
			strconv.FormatFloat(m.Throughput(), 'f', places(m.Throughput()), 64),
			decimals(slowest, places(slowest)), decimals(fastest, places(fastest)),
			decimals(1e3*Median(m.Wall).Seconds(), 3), decimals(m.GBps(), places(m.GBps())), ratios(m, ", ")})
	}
	titles, rows = withoutEmpty(titles, rows)
	var align []tw.Align
	for _, title := range titles {
		switch title {
		case "structure", "operation", "setting", "":
			align = append(align, tw.AlignLeft)
		default:
			align = append(align, tw.AlignRight)
		}
	}
	t := tablewriter.NewTable(w, tablewriter.WithConfig(tablewriter.Config{
		Header: tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off},
			Alignment: tw.CellAlignment{Global: tw.AlignLeft}},
		Row: tw.CellConfig{Alignment: tw.CellAlignment{PerColumn: align}},
	}))
	t.Header(titles)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	if err := t.Render(); err != nil {
		return err
	}
	if r.LeftOut != 0 {
		fmt.Fprintf(w, "%d measurements left out: no time in the budget\n", r.LeftOut)
	}
	return nil
}

// withoutEmpty leaves out the columns that have nothing in any row.
func withoutEmpty(titles []string, rows [][]string) ([]string, [][]string) {
	var kept []string
	short := make([][]string, len(rows))
	for c, title := range titles {
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[c] != "" }) {
			continue
		}
		kept = append(kept, title)
		for i, row := range rows {
			short[i] = append(short[i], row[c])
		}
	}
	return kept, short
}

// settings are what a measurement stands at, beside n and the load, in words.
func (m Measurement) settings() (all []string) {
	if m.Batch != 0 {
		all = append(all, "batch "+size(m.Batch))
	}
	if m.Levels != "" {
		all = append(all, "levels "+m.Levels)
	}
	if m.Length != 0 {
		all = append(all, fmt.Sprintf("length %d", m.Length))
	}
	if m.Stale != 0 {
		all = append(all, fmt.Sprintf("stale %g", m.Stale))
	}
	if m.Changed != 0 {
		all = append(all, fmt.Sprintf("changed %g", m.Changed))
	}
	if m.Width != 0 {
		all = append(all, fmt.Sprintf("width %d", m.Width))
	}
	for _, x := range []string{m.Order, m.Form} {
		if x != "" {
			all = append(all, x)
		}
	}
	return all
}

// places is how many decimals a figure has so that it shows three digits.
func places(x float64) int {
	switch {
	case x >= 100:
		return 0
	case x >= 10:
		return 1
	}
	return 2
}

// size writes powers of two as such.
func size(n int) string {
	if bits.OnesCount(uint(n)) == 1 {
		return fmt.Sprintf("2^%d", bits.Len(uint(n))-1)
	}
	return strconv.Itoa(n)
}

func ratios(m Measurement, separator string) string {
	var all []string
	for _, r := range m.Ratios {
		all = append(all, fmt.Sprintf("%.2f × %s", r.Value, r.To))
	}
	return strings.Join(all, separator)
}
