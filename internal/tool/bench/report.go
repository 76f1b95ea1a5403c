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

// Report has the measurements of a benchmark and its environment.
type Report struct {
	Environment  Environment
	Measurements []Measurement
}

// Environment must be quoted with measurements.
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
	// Load is elements / slots of one slab for each bucket, as laid out for N; for a tree, the Options.Fill.
	Load  float64
	Tile  int    // lanes for each slab or node; 0: for each kernel, the number that measured best
	Order string `json:",omitempty"` // of keys; "": random, or without effect
	// Form is the form of a primitive, or the path of updates; "": the default of the device.
	Form       string          `json:",omitempty"`
	Width      int             `json:",omitempty"` // bits of an element; 0: 32, or without meaning
	Batch      int             `json:",omitempty"` // pairs of a batch
	Levels     string          `json:",omitempty"` // of an LSM: which ones are full
	Length     int             `json:",omitempty"` // pairs expected in a range
	Callers    int             `json:",omitempty"` // goroutines that called at the same time
	Stale      float64         `json:",omitempty"` // share of stale elements
	Changed    float64         `json:",omitempty"` // share of the keys whose values changed after a snapshot
	Operations int             // of one run
	Bytes      uint64          `json:",omitempty"` // read and written by one run; 0: not known
	Device     []time.Duration // by the device's clock, for each run; nil: the operation is not one dispatch
	Steps      []time.Duration `json:",omitempty"` // for each batch of a series: the median of all runs
	Wall       []time.Duration // from the call to its end; for a dispatch, from its recording to the end of the wait
	Properties []Property      `json:",omitempty"`
}

// Property is a property of what was made, or the quotient of the time and another one.
type Property struct {
	Unit  string
	Value float64
}

// Median returns the median of durations, 0 if there are none.
func Median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Throughput returns the millions of operations per second, by Time.
func (m Measurement) Throughput() float64 { return rate(m.Operations, m.Time()) / 1e6 }

// Times returns the times of the runs by the device's clock, or if there are none, by wall time.
func (m Measurement) Times() []time.Duration {
	if len(m.Device) != 0 {
		return m.Device
	}
	return m.Wall
}

// Time is the median of Times.
func (m Measurement) Time() time.Duration { return Median(m.Times()) }

// Beside adds the quotient of the time and that of another measurement, unless that is 0 (too short for the clock).
func (m *Measurement) Beside(name string, other time.Duration) {
	if other > 0 {
		m.Properties = append(m.Properties, Property{"of-time-of-" + strings.ReplaceAll(name, " ", "-"),
			float64(m.Time()) / float64(other)})
	}
}

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// commit is set by the linker (-ldflags "-X github.com/vkds/vkds/internal/tool/bench.commit=…") if Go does not record
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

// Name returns a name that is unique in a report, in the form of Go's benchmarks.
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

// Write writes the report in the format of Go's benchmarks, which benchstat reads.
func (r Report) Write(w io.Writer) error { return r.write(w, true) }

// write writes the report, with the environment if it is not written yet.
func (r Report) write(w io.Writer, environment bool) (err error) {
	if e := r.Environment; environment {
		_, err = fmt.Fprintf(w, "device: %s\ndriver: %s\ncommit: %s\n", e.Device, e.Driver, e.Commit)
	}
	for i := 0; i < len(r.Measurements) && err == nil; i++ {
		err = r.Measurements[i].write(w)
	}
	return err
}

// write writes a line for each run.
func (m Measurement) write(w io.Writer) error {
	for i, t := range m.Times() {
		line := fmt.Sprintf("Benchmark%s 1 %d ns/op %.6g Mop/s", m.Name(), t.Nanoseconds(), rate(m.Operations, t)/1e6)
		if m.Bytes != 0 {
			line += fmt.Sprintf(" %.4g GB/s", rate(int(m.Bytes), t)/1e9)
		}
		if len(m.Device) != 0 && i < len(m.Wall) {
			line += fmt.Sprintf(" %d wall-ns/op", m.Wall[i].Nanoseconds())
		}
		for _, x := range m.Properties {
			line += fmt.Sprintf(" %.3g %s", x.Value, x.Unit)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Settings returns the setting of a measurement in words, without n, the load and the tile.
func (m Measurement) Settings() (all []string) {
	for _, x := range []struct {
		format string
		value  any
		is     bool
	}{
		{"batch %s", Power(m.Batch), m.Batch != 0}, {"levels %s", m.Levels, m.Levels != ""},
		{"length %d", m.Length, m.Length != 0},
		{"callers %d", m.Callers, m.Callers != 0}, {"stale %g", m.Stale, m.Stale != 0},
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

// Power formats powers of two as such.
func Power(n int) string {
	if bits.OnesCount(uint(n)) == 1 {
		return fmt.Sprintf("2^%d", bits.Len(uint(n))-1)
	}
	return strconv.Itoa(n)
}
