package bench

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/vkds/vkds/vk"
)

// Report is what a benchmark measured, and on what.
type Report struct {
	Environment  Environment
	Measurements []Measurement
	LeftOut      int `json:",omitempty"` // measurements that the time budget had no room for
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
	CopyGBps     float64 `json:",omitempty"` // GB/s read and written by a device copy; 0: not measured
}

// Measurement is one operation at one setting.
type Measurement struct {
	Structure string
	Op        string
	N         int // elements in the structure
	// elements / slots of one slab a bucket, as laid out for N; of a tree the fill asked for
	Load        float64
	Utilization float64 // bytes of elements / bytes of slabs, measured with N elements in; 0: does not apply
	Tile        int     // lanes a slab or node; 0: what measured best, kernel by kernel
	Order       string  `json:",omitempty"` // of keys; "": random, or it does not matter
	// Form is of a primitive, or the path of updates; "": the one that the device gets by itself.
	Form       string          `json:",omitempty"`
	Width      int             `json:",omitempty"` // bits of a primitive's elements; 0: 32, or it has no widths
	Batch      int             `json:",omitempty"` // pairs of a batch
	Levels     string          `json:",omitempty"` // of an LSM: which are full
	Length     int             `json:",omitempty"` // pairs expected in a range
	Stale      float64         `json:",omitempty"` // share of stale elements
	Changed    float64         `json:",omitempty"` // share of the keys that were changed behind a snapshot
	Mix        string          `json:",omitempty"` // of a batch, whatever its share of updates; "": it has no others
	Updates    float64         `json:",omitempty"` // share of a mixed batch that changes something
	Operations int             // of a run
	Bytes      uint64          `json:",omitempty"` // that a run moves, read and written; 0: not told
	Device     []time.Duration // by the device's clock, a run each; nil: the operation is no single dispatch
	// Steps are by the device's clock, of each batch of a series: the median of all runs.
	Steps  []time.Duration `json:",omitempty"`
	Wall   []time.Duration // from the call to its end; for a dispatch, from recording it to the end of waiting
	Ratios []Ratio         `json:",omitempty"`
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

// Throughput is operations a second in millions, by the median of the device's times, or failing these of the wall's.
func (m Measurement) Throughput() float64 { return rate(m.Operations, m.time()) / 1e6 }

// WallThroughput is the same by wall time.
func (m Measurement) WallThroughput() float64 { return rate(m.Operations, Median(m.Wall)) / 1e6 }

// Extremes are the rates of a series' slowest and fastest batch, in millions a second; 0 where it is no series.
func (m Measurement) Extremes() (least, most float64) {
	if len(m.Steps) == 0 {
		return 0, 0
	}
	return rate(m.Batch, slices.Max(m.Steps)) / 1e6, rate(m.Batch, slices.Min(m.Steps)) / 1e6
}

// GBps is the gigabytes moved a second, 0 if their number is not told.
func (m Measurement) GBps() float64 { return rate(int(m.Bytes), m.time()) / 1e9 }

func (m Measurement) time() time.Duration {
	if len(m.Device) != 0 {
		return Median(m.Device)
	}
	return Median(m.Wall)
}

// over is how often one time goes into another; 0 where the clock has not seen the former pass.
func over(d, other time.Duration) float64 {
	if other <= 0 {
		return 0
	}
	return float64(d) / float64(other)
}

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// commit is set by the linker (-ldflags "-X github.com/vkds/vkds/bench.commit=…") where Go does not note it.
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
	if commit != "" {
		return commit
	}
	revision, modified := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "+changes"
			}
		}
	}
	return revision + modified
}
