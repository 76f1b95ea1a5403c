package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vkds/vkds/vk"
)

// Report is what a benchmark measured, and on what.
type Report struct {
	Environment  Environment
	Measurements []Measurement
}

// Environment is what figures must be quoted with.
type Environment struct {
	Device       string
	Type         string
	Driver       string
	API          string
	SubgroupSize int
	Int64Atomics bool
	Commit       string
	Go           string
	Processors   int
	Seed         uint32
	Time         time.Time
}

// Measurement is one operation at one setting.
type Measurement struct {
	Structure string
	Op        string
	N         int // elements in the structure
	// Load is elements / slots of one slab a bucket, as laid out for N; of a tree the fill asked for.
	Load  float64
	Tile  int    // lanes a slab or node; 0: what measured best, kernel by kernel
	Order string `json:",omitempty"` // of keys; "": random, or it does not matter
	// Form is of a primitive, or the path of updates; "": the one that the device gets by itself.
	Form       string          `json:",omitempty"`
	Width      int             `json:",omitempty"` // bits of an element; 0: 32, or it has no widths
	Batch      int             `json:",omitempty"` // pairs of a batch
	Levels     string          `json:",omitempty"` // of an LSM: which are full
	Length     int             `json:",omitempty"` // pairs expected in a range
	Stale      float64         `json:",omitempty"` // share of stale elements
	Changed    float64         `json:",omitempty"` // share of the keys that were changed after a snapshot
	Operations int             // of a run
	Bytes      uint64          `json:",omitempty"` // that a run moves, read and written; 0: not known
	Device     []time.Duration // by the device's clock, a run each; nil: the operation is no single dispatch
	Steps      []time.Duration `json:",omitempty"` // of each batch of a series: the median of all runs
	Wall       []time.Duration // from the call to its end; for a dispatch, from recording it to the end of waiting
	Ratios     []Ratio         `json:",omitempty"`
}

// Ratio compares a measurement with another of the same run: the time of this one / that of the other, or for what
// moves bytes the bandwidth of this one / that of the other.
type Ratio struct {
	To    string
	Value float64
}

// Median of some durations; 0 of none.
func Median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Throughput is operations a second in millions, by the median of Times.
func (m Measurement) Throughput() float64 { return rate(m.Operations, m.Time()) / 1e6 }

// GBps is the gigabytes moved a second, 0 if their number is not known.
func (m Measurement) GBps() float64 { return rate(int(m.Bytes), m.Time()) / 1e9 }

// Times are those of the runs by the device's clock, or without these by the wall's.
func (m Measurement) Times() []time.Duration {
	if len(m.Device) != 0 {
		return m.Device
	}
	return m.Wall
}

// Time is the median of Times.
func (m Measurement) Time() time.Duration { return Median(m.Times()) }

// beside adds the time over that of another measurement, unless the clock has not seen that pass.
func (m *Measurement) beside(to string, other time.Duration) {
	if other > 0 {
		m.Ratios = append(m.Ratios, Ratio{to, float64(m.Time()) / float64(other)})
	}
}

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// commit is set by the linker (-ldflags "-X github.com/vkds/vkds/internal/tool/bench.commit=…") where Go does not note
// it.
var commit string

func environment(d *vk.Device, seed uint32) Environment {
	info := d.Info()
	return Environment{
		Device: info.Name, Type: string(info.Type), Driver: info.Driver, API: info.APIVersion,
		SubgroupSize: d.SubgroupSize(), Int64Atomics: d.Has(vk.Int64Atomics),
		Commit: buildCommit(), Go: runtime.Version(), Processors: runtime.GOMAXPROCS(0), Seed: seed,
		Time: time.Now().UTC().Truncate(time.Second),
	}
}

func buildCommit() string {
	revision, modified := "unknown", ""
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	return cmp.Or(commit, revision+modified)
}

// ReadFile reads a report from a JSON file. Errors: those of os.ReadFile and of json.Unmarshal, with the path.
func ReadFile(path string) (report Report, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return report, err
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return report, fmt.Errorf("%s: %w", path, err)
	}
	return report, nil
}

// Name is what tells a measurement from others of a report, in the form of Go's benchmarks.
func (m Measurement) Name() string {
	name := strings.ReplaceAll(fmt.Sprintf("%s/%s/n=%d", m.Structure, m.Op, m.N), " ", "")
	if m.Load != 0 {
		name += fmt.Sprintf("/load=%.3g/tile=%d", m.Load, m.Tile)
	}
	for _, x := range m.Settings() {
		name += "/" + strings.ReplaceAll(x, " ", "=")
	}
	return name
}

// Write writes the report in the format of Go's benchmarks, which benchstat compares.
func (r Report) Write(w io.Writer) error { return r.write(w, true) }

// write leaves out the environment if that is written already.
func (r Report) write(w io.Writer, environment bool) (err error) {
	if e := r.Environment; environment {
		_, err = fmt.Fprintf(w, "device: %s\ndriver: %s\ncommit: %s\n", e.Device, e.Driver, e.Commit)
	}
	for i := 0; i < len(r.Measurements) && err == nil; i++ {
		err = r.Measurements[i].write(w)
	}
	return err
}

// write writes a line per run.
func (m Measurement) write(w io.Writer) error {
	for i, t := range m.Times() {
		line := fmt.Sprintf("Benchmark%s 1 %d ns/op %.6g Mop/s", m.Name(), t.Nanoseconds(), rate(m.Operations, t)/1e6)
		if m.Bytes != 0 {
			line += fmt.Sprintf(" %.4g GB/s", rate(int(m.Bytes), t)/1e9)
		}
		if len(m.Device) != 0 && i < len(m.Wall) {
			line += fmt.Sprintf(" %d wall-ns/op", m.Wall[i].Nanoseconds())
		}
		for _, x := range m.Ratios {
			line += fmt.Sprintf(" %.3g of-%s", x.Value, strings.ReplaceAll(x.To, " ", "-"))
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Settings are what a measurement stands at, beside n, the load and the tile, in words.
func (m Measurement) Settings() (all []string) {
	for _, x := range []struct {
		format string
		value  any
		is     bool
	}{
		{"batch %s", Power(m.Batch), m.Batch != 0}, {"levels %s", m.Levels, m.Levels != ""},
		{"length %d", m.Length, m.Length != 0}, {"stale %g", m.Stale, m.Stale != 0},
		{"changed %g", m.Changed, m.Changed != 0}, {"width %d", m.Width, m.Width != 0},
		{"%s", m.Order, m.Order != ""},
	} {
		if x.is {
			all = append(all, fmt.Sprintf(x.format, x.value))
		}
	}
	if m.Form != "" {
		all = append(all, strings.Split(m.Form, ", ")...)
	}
	return all
}

// Figure writes a number with three digits at least.
func Figure(x float64) string {
	places := 2
	if x >= 100 {
		places = 0
	} else if x >= 10 {
		places = 1
	}
	return strconv.FormatFloat(x, 'f', places, 64)
}

// Power writes powers of two as such.
func Power(n int) string {
	if bits.OnesCount(uint(n)) == 1 {
		return fmt.Sprintf("2^%d", bits.Len(uint(n))-1)
	}
	return strconv.Itoa(n)
}
