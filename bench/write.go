package bench

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// WriteCSV writes one row a measurement: medians, with what they were measured on.
func (r Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{
		"structure", "operation", "n", "load", "utilization", "tile", "operations", "runs",
		"device_seconds", "device_mops", "wall_seconds", "wall_mops", "bytes", "gb_per_s", "ratios",
		"device", "driver", "subgroup", "commit", "seed",
	})
	e := r.Environment
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	for _, m := range r.Measurements {
		device, deviceRate := "", ""
		if len(m.Device) != 0 {
			device, deviceRate = number(Median(m.Device).Seconds()), number(m.Throughput())
		}
		c.Write([]string{
			m.Structure, m.Op, strconv.Itoa(m.N), number(m.Load), number(m.Utilization), strconv.Itoa(m.Tile),
			strconv.Itoa(m.Operations), strconv.Itoa(max(len(m.Device), len(m.Wall))),
			device, deviceRate, number(Median(m.Wall).Seconds()), number(m.WallThroughput()),
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
	t := tablewriter.NewTable(w, tablewriter.WithConfig(tablewriter.Config{
		Header: tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off}, Alignment: tw.CellAlignment{Global: tw.AlignLeft}},
		Row:    tw.CellConfig{Alignment: tw.CellAlignment{PerColumn: []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignLeft}}},
	}))
	t.Header("structure", "operation", "n", "load", "util.", "tile", "ms", "M op/s", "wall ms", "GB/s", "")
	decimals := func(x float64, n int) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', n, 64)
	}
	for _, m := range r.Measurements {
		tile := "best"
		if m.Tile != 0 {
			tile = strconv.Itoa(m.Tile)
		}
		if m.Load == 0 {
			tile = ""
		}
		t.Append(m.Structure, m.Op, size(m.N), decimals(m.Load, 3), decimals(m.Utilization, 3), tile,
			decimals(1e3*Median(m.Device).Seconds(), 3), strconv.FormatFloat(m.Throughput(), 'f', places(m.Throughput()), 64),
			decimals(1e3*Median(m.Wall).Seconds(), 3), decimals(m.GBps(), places(m.GBps())), ratios(m, ", "))
	}
	if err := t.Render(); err != nil {
		return err
	}
	if r.LeftOut != 0 {
		fmt.Fprintf(w, "%d measurements left out: no time in the budget\n", r.LeftOut)
	}
	return nil
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
