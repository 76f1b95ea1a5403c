package bench

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// setting has a value of each axis. An axis that the benchmark does not have is 0.
type setting struct {
	N, Batch, Width, Tile int
	Shards                int
	Load, Fill            float64
	Order                 string
	Form                  primitives.Form
	Graph                 string
	File                  string
	On                    string
	queries
}

// queries are the axes whose values a structure need not be rebuilt for.
type queries struct {
	Levels                string
	Path                  btree.Path
	Length, Callers       int
	Stale, Changed, Share float64
}

// Axis is a parameter that the measurements of an operation depend on.
type Axis struct {
	Name, Usage string
	Values      []string // all values, if they have names
	Default     string   // values separated by commas
	set         func(at *setting, text string) error
	forget      func(at *setting)
}

// axis returns an axis whose value is a field of the setting.
func axis[T any](name, usage, standard string, field func(*setting) *T, parse func(string) (T, error)) Axis {
	return Axis{Name: name, Usage: usage, Default: standard,
		set: func(at *setting, text string) (err error) {
			*field(at), err = parse(text)
			return err
		},
		forget: func(at *setting) { *field(at) = *new(T) }}
}

// named returns an axis whose values have names.
func named[T fmt.Stringer](name, usage, standard string, field func(*setting) *T, all enum.Set[T]) Axis {
	x := axis(name, usage+strings.Join(all.Names(), ", "), standard, field, all.Parse)
	x.Values = all.Names()
	return x
}

// choice is named for values that only benchmarks have. The first one is the default.
func choice(name, usage string, field func(*setting) *string, names ...string) Axis {
	x := axis(name, usage+strings.Join(names, ", "), names[0], field, func(text string) (string, error) {
		if !slices.Contains(names, text) {
			return "", fmt.Errorf("unknown %s %q (known: %s)", name, text, strings.Join(names, ", "))
		}
		return text, nil
	})
	x.Values = names
	return x
}

const (
	maxSize    = 1 << 30 // the mixes take keys with indices up to three times as great
	rangePairs = 1 << 26 // about the number of pairs in a measured batch of ranges
)

// Axes are all axes. The first one changes slowest.
var Axes = []Axis{
	axis("n", "elements; 6 to 30: that power of two", "", func(at *setting) *int { return &at.N }, size(6)),
	named("form", "of operations that have two: ", "auto", func(at *setting) *primitives.Form { return &at.Form },
		enum.Of("form", primitives.Auto, primitives.SinglePass, primitives.MultiPass)),
	axis("width", "bits of an element: 32, 64", "32", func(at *setting) *int { return &at.Width },
		number[int](func(x float64) bool { return x == 32 || x == 64 }, "32 or 64")),
	choice("order", "in which keys come:\n", func(at *setting) *string { return &at.Order },
		random, ascending, descending),
	axis("batch", "operations of a batch of updates; 1 to 30: that power of two", "14",
		func(at *setting) *int { return &at.Batch }, size(1)),
	axis("load", "slabs a bucket that the elements would fill, in a graph those of\na vertex with several buckets",
		"0.7",
		func(at *setting) *float64 { return &at.Load }, above0(1000)),
	axis("fill", "share of a node's slots in use in a bulk build;\n0: 8 of 15, wide 4 of 6", "0",
		func(at *setting) *float64 { return &at.Fill },
		number[float64](func(x float64) bool { return x >= 0 && x <= 1 }, "above 0 and up to 1, or 0")),
	choice("graph", "how its edges are made: ", func(at *setting) *string { return &at.Graph }, uniform, rmat, grid),
	axis("file", "files of graphs to measure instead of made ones, in the formats\nof \"vkds help graphs\"", "",
		func(at *setting) *string { return &at.File }, func(path string) (string, error) { return path, nil }),
	choice("on", "what analytics read, compressed sparse rows or the dynamic graph itself,\nbuilt in bulk or after "+
		"many changes: ", func(at *setting) *string { return &at.On }, onCSR, onLive, onWorn),
	axis("shards", "of a dictionary, on all devices of the name in turn", "2",
		func(at *setting) *int { return &at.Shards }, between(1, 64)),
	axis("tile", "lanes that work on a slab or a node; 0: what measured best\nfor each kernel", "0",
		func(at *setting) *int { return &at.Tile }, strconv.Atoi),
	choice("levels", "of the LSM that is searched, those that are full: ",
		func(at *setting) *string { return &at.Levels }, fullLevels, oneLevel),
	named("path", "that batches of updates take: ", "concurrent,batched",
		func(at *setting) *btree.Path { return &at.Path }, enum.Of("path", btree.Concurrent, btree.Batched)),
	axis("stale", "shares of the elements that a cleanup removes", "0.1,0.5",
		func(at *setting) *float64 { return &at.Stale }, above0(0.5)),
	axis("changed", "shares of the keys that are changed then", "0.01,0.1,0.5",
		func(at *setting) *float64 { return &at.Changed }, above0(1)),
	axis("skew", "share of the batch that one key takes in the skewed operations", "0.5",
		func(at *setting) *float64 { return &at.Share }, above0(1)),
	axis("callers", "goroutines that call at the same time", "32,1024",
		func(at *setting) *int { return &at.Callers }, between(1, 1<<16)),
	axis("length", "pairs expected in a range that is counted or listed", "8",
		func(at *setting) *int { return &at.Length }, between(1, rangePairs)),
}

// size parses numbers. From least to 30 they are exponents of two.
func size(least int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if n >= least && n <= 30 {
			n = 1 << n
		}
		if err != nil || n < 1<<least || n > maxSize {
			return 0, fmt.Errorf("%d to 30 for a power of two, or a number from %d to 2^30", least, max(31, 1<<least))
		}
		return n, nil
	}
}

// between parses numbers from least to most.
func between(least, most int) func(string) (int, error) {
	is := func(x float64) bool { return x >= float64(least) && x <= float64(most) }
	return number[int](is, fmt.Sprintf("%d to %d", least, most))
}

// number parses numbers for which is returns true. reason is the error for others.
func number[T int | float64](is func(x float64) bool, reason string) func(string) (T, error) {
	return func(text string) (T, error) {
		x, err := strconv.ParseFloat(text, 64)
		if n := T(x); err == nil && is(x) && float64(n) == x {
			return n, nil
		}
		return 0, errors.New(reason)
	}
}

func above0(most float64) func(string) (float64, error) {
	return number[float64](func(x float64) bool { return x > 0 && x <= most }, fmt.Sprintf("above 0, up to %g", most))
}

// outer returns the part of the setting for which structures are rebuilt.
func (at setting) outer() setting {
	at.queries = queries{}
	return at
}

// of returns the setting with the axes of an operation only.
func (at setting) of(p Op) setting {
	for _, x := range Axes {
		if !p.Has(x.Name) {
			x.forget(&at)
		}
	}
	return at
}

// settings combines all values of the benchmark's axes. Error: *vk.OptionError.
func (b *Benchmark) settings(o *Options) ([]setting, error) {
	all := []setting{{}}
	for _, x := range Axes {
		if !b.has(x.Name) {
			continue
		}
		values := o.Axes[x.Name]
		if len(values) == 0 {
			values = strings.Split(b.standard(x), ",")
		}
		var combined []setting
		for _, at := range all {
			for _, text := range values {
				if err := x.set(&at, text); err != nil {
					return nil, &vk.OptionError{Option: "--" + x.Name + " " + text, Reason: err.Error()}
				}
				combined = append(combined, at)
			}
		}
		all = combined
	}
	return all, nil
}

// standard returns the default of an axis.
func (b *Benchmark) standard(x Axis) string {
	if x.Name == "n" {
		return strconv.Itoa(bits.Len(uint(b.size)) - 1)
	}
	return x.Default
}

// check completes the options of a benchmark. It returns an error for an unknown operation, and for an axis that none
// of the operations depends on.
func (o *Options) check(b *Benchmark) error {
	if o.Repeat < 0 || o.WarmUp < 0 {
		return &vk.OptionError{Option: "--repeat, --warm-up", Reason: "negative"}
	}
	if o.Repeat == 0 {
		o.Repeat = 5
	}
	if len(o.Ops) == 0 {
		for _, c := range b.cells {
			if c.Default {
				o.Ops = append(o.Ops, c.Name)
			}
		}
	}
	var all []string
	for _, c := range b.cells {
		all = append(all, c.Name)
	}
	for _, name := range o.Ops {
		if !slices.Contains(all, name) {
			return &vk.OptionError{Option: "--op " + name,
				Reason: fmt.Sprintf("no operation %q; there are %s", name, strings.Join(all, ", "))}
		}
	}
	for _, name := range []string{"n", "graph"} {
		if o.Axes["file"] != nil && o.Axes[name] != nil {
			return &vk.OptionError{Option: "--" + name, Reason: "changes nothing of the graph of a --file"}
		}
	}
	for name := range o.Axes {
		var readers []string
		readBy := false
		for _, c := range b.cells {
			if c.Has(name) {
				readers = append(readers, c.Name)
				readBy = readBy || slices.Contains(o.Ops, c.Name)
			}
		}
		if !readBy {
			return &vk.OptionError{Option: "--" + name,
				Reason: fmt.Sprintf("changes nothing of %s: it is for %s",
					strings.Join(o.Ops, ", "), strings.Join(readers, ", "))}
		}
	}
	return nil
}

// Check returns the error that Run would return for the options on any device.
func Check(name string, o Options) error {
	_, _, err := plan(name, &o)
	return err
}
