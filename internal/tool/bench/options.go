package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/tool/bench/latched"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Options say what Run measures: each operation at each combination of what its axes list. Ops tells the axes of each
// operation, by the names here. The zero value measures a benchmark's main operations at the sizes that it has by
// itself.
type Options struct {
	Common
	Ops []string // names of Ops(benchmark); nil: the main ones

	// The axes. nil, and the zero values of numbers: what stands behind.
	Sizes    []int                    // "n": elements in the structure, up to 2^30; 2^16 to 2^20
	Loads    []float64                // "load": what a slab hash is laid out for; 0.7
	Tiles    []int                    // "tile": lanes a slab or node; what measured best
	Skew     float64                  // "skew": share of a batch that one key takes; 0.5
	Batches  []int                    // "batch": operations of a batch of updates; of an LSM's smallest level; 2^14
	Orders   []Order                  // "order": in which keys come; Random
	Levels   []Levels                 // "levels": of the LSM that is searched; FullLevels
	Lookups  []structures.LookupOrder // "lookup": AutoOrder
	Lengths  []int                    // "length": pairs expected in the ranges that are counted and listed; 8
	Stale    []float64                // "stale": shares of elements that a cleanup removes; 0.1, 0.5
	Changed  []float64                // "changed": shares of keys changed behind a snapshot; 0.01, 0.1, 0.5
	Paths    []btree.Path             // "path": that batches of updates take; Concurrent, Batched
	Fills    []float64                // "fill": shares of slots that nodes made in bulk get; btree.DefaultFill
	Statuses bool                     // "statuses": batched updates have them, too, as concurrent ones do
	Forms    []primitives.Form        // "form": of primitives that have two; Auto
	Widths   []int                    // "width": bits of the elements of primitives, 32 or 64; 32
	Nodes    []int                    // "node": bytes of a node, 128 or 256; 128
	Waits    []latched.Wait           // "wait": what finds a latch taken; Restart
	Kinds    []latched.Kind           // "kind": of latched tree; BLink
	Graphs   []GraphKind              // "graph": how its edges are made; Uniform
	On       []Analyzed               // "on": what analytics read; OnCSR
}

// What the axes choose among, by their names.
var (
	LookupOrders = enum.Of("way to look up", structures.AutoOrder, structures.OneByOne, structures.SortedFirst)
	Paths        = enum.Of("path", btree.Concurrent, btree.Batched)
	Forms        = enum.Of("form", primitives.Auto, primitives.SinglePass, primitives.MultiPass)
	Waits        = latched.Waits
	Kinds        = latched.Kinds
)

// Common are the options of every benchmark.
type Common struct {
	Repeat int // measured runs; 0: 5
	// of the same work right before; 0: 0.5 s (an idle GPU's clock is low), on a CPU device one run
	WarmUp time.Duration
	Seed   uint32        // of keys and values; 0: a random one
	Budget time.Duration // no measurement is begun after so long; 0: no limit

	// Progress, if not nil, is told what is measured next, and how many of the measurements are done.
	Progress func(done, total int, what string)
}

// WrongError says that an operation gave a wrong result, so that its time means nothing.
type WrongError struct{ Op, Reason string }

func (e *WrongError) Error() string {
	return fmt.Sprintf("bench: %s: wrong result: %s", e.Op, e.Reason)
}

const (
	defaultRepeat = 5
	defaultWarmUp = 500 * time.Millisecond
	defaultBatch  = 1 << 14
	minSize       = 64
	maxSize       = 1 << 30 // the mixes take keys of indices up to three times as many
)

func (o *Common) complete(d *vk.Device) error {
	if o.Repeat < 0 || o.WarmUp < 0 || o.Budget < 0 {
		return &structures.OptionError{Option: "Repeat, WarmUp, Budget", Reason: "negative"}
	}
	if o.Repeat == 0 {
		o.Repeat = defaultRepeat
	}
	if o.WarmUp == 0 && d.Info().Type != vk.CPU {
		o.WarmUp = defaultWarmUp
	}
	for o.Seed == 0 {
		o.Seed = rand.Uint32()
	}
	if !d.Has(vk.Timestamps) {
		return &vk.MissingFeatureError{Device: d.Info().Name, Features: []string{string(vk.Timestamps)}}
	}
	return nil
}

// complete checks the options, takes out those that a benchmark doesn't have, and gives the others their defaults.
func (o *Options) complete(d *vk.Device, b *benchmark) (err error) {
	if err = o.Common.complete(d); err != nil {
		return err
	}
	if o.Ops, err = Named(Ops(b.name), o.Ops); err != nil {
		return &structures.OptionError{Option: "Ops", Reason: err.Error()}
	}
	tile := 0
	if b.name == "latched" {
		tile = min(16, d.SubgroupSize())
	}
	return cmp.Or(
		listed(b, "n", &o.Sizes, "Sizes", wrongSize, b.size),
		listed(b, "load", &o.Loads, "Loads", func(x float64) string { return above0(x, 1000) }, 0.7),
		listed(b, "tile", &o.Tiles, "Tiles", nil, tile),
		listed(b, "batch", &o.Batches, "Batches", wrongBatch, defaultBatch),
		listed(b, "order", &o.Orders, "Orders", o.wrongOrder, Random),
		listed(b, "levels", &o.Levels, "Levels", nil, FullLevels),
		listed(b, "lookup", &o.Lookups, "Lookups", nil, structures.AutoOrder),
		listed(b, "length", &o.Lengths, "Lengths", wrongLength, 8),
		listed(b, "stale", &o.Stale, "Stale", func(x float64) string { return above0(x, 0.5) }, 0.1, 0.5),
		listed(b, "changed", &o.Changed, "Changed", func(x float64) string { return above0(x, 1) }, 0.01, 0.1, 0.5),
		listed(b, "path", &o.Paths, "Paths", nil, btree.Concurrent, btree.Batched),
		listed(b, "fill", &o.Fills, "Fills", nil, 0),
		listed(b, "form", &o.Forms, "Forms", nil, primitives.Auto),
		listed(b, "width", &o.Widths, "Widths", wrongWidth, 32),
		listed(b, "node", &o.Nodes, "Nodes", nil, 128),
		listed(b, "wait", &o.Waits, "Waits", nil, latched.Restart),
		listed(b, "kind", &o.Kinds, "Kinds", nil, latched.BLink),
		listed(b, "graph", &o.Graphs, "Graphs", nil, Uniform),
		listed(b, "on", &o.On, "On", nil, OnCSR),
		o.completeSkew(),
	)
}

// listed gives the list of an axis its default where there is none, and refuses what is wrong in it. An axis that the
// benchmark doesn't have has one value alone, which nothing looks at.
func listed[T any](b *benchmark, axis string, list *[]T, option string, wrong func(T) string, standard ...T) error {
	if !b.has(axis) {
		*list = make([]T, 1)
		return nil
	}
	if len(*list) == 0 {
		*list = standard
	}
	for _, x := range *list {
		if wrong == nil {
			break
		}
		if reason := wrong(x); reason != "" {
			return &structures.OptionError{Option: option, Reason: fmt.Sprintf("%v: %s", x, reason)}
		}
	}
	return nil
}

func wrongSize(n int) string {
	if n < minSize || n > maxSize {
		return fmt.Sprintf("%d to %d", minSize, maxSize)
	}
	return ""
}

func wrongBatch(n int) string {
	if n < 1 || n > maxSize {
		return fmt.Sprintf("1 to %d", maxSize)
	}
	return ""
}

func wrongLength(n int) string {
	if n < 1 || n > rangePairs {
		return fmt.Sprintf("1 to %d", rangePairs)
	}
	return ""
}

func wrongWidth(bits int) string {
	if bits != 32 && bits != 64 {
		return "32 or 64"
	}
	return ""
}

// wrongOrder is asked when the sizes are known.
func (o *Options) wrongOrder(x Order) string {
	if most := slices.Max(o.Sizes); x == Gaussian && most > maxGaussian {
		return fmt.Sprintf("at most %d keys, not %d", maxGaussian, most)
	}
	return ""
}

func above0(x, most float64) string {
	if !(x > 0 && x <= most) {
		return fmt.Sprintf("above 0, up to %g", most)
	}
	return ""
}

func (o *Options) completeSkew() error {
	if o.Skew == 0 {
		o.Skew = 0.5
	}
	if reason := above0(o.Skew, 1); reason != "" {
		return &structures.OptionError{Option: "Skew", Reason: fmt.Sprintf("%g: %s", o.Skew, reason)}
	}
	return nil
}

// setting is a value of each axis that a structure is opened at.
type setting struct {
	form     primitives.Form
	width    structures.Width
	order    Order
	batch    int // the one asked for, which may be more than there are pairs
	load     float64
	fill     float64
	latched  latched.Options
	graph    GraphKind
	analyzed Analyzed
	tile     int
}

// settings are all combinations, the last axis first.
func (o *Options) settings() []setting {
	all := []setting{{}}
	all = combined(all, o.Forms, func(at *setting, x primitives.Form) { at.form = x })
	all = combined(all, o.Widths, func(at *setting, x int) { at.width = structures.Width(x / 64) })
	all = combined(all, o.Orders, func(at *setting, x Order) { at.order = x })
	all = combined(all, o.Batches, func(at *setting, x int) { at.batch = x })
	all = combined(all, o.Loads, func(at *setting, x float64) { at.load = x })
	all = combined(all, o.Fills, func(at *setting, x float64) { at.fill = x })
	all = combined(all, o.Kinds, func(at *setting, x latched.Kind) { at.latched.Kind = x })
	all = combined(all, o.Waits, func(at *setting, x latched.Wait) { at.latched.Wait = x })
	all = combined(all, o.Graphs, func(at *setting, x GraphKind) { at.graph = x })
	all = combined(all, o.On, func(at *setting, x Analyzed) { at.analyzed = x })
	all = combined(all, o.Nodes, func(at *setting, x int) { at.latched.NodeBytes = x })
	return combined(all, o.Tiles, func(at *setting, x int) { at.tile, at.latched.Tile = x, x })
}

// of is the setting as an operation sees it, which differs by its own axes alone.
func (at setting) of(p Op) setting {
	forget(p, "form", &at.form)
	forget(p, "width", &at.width)
	forget(p, "order", &at.order)
	forget(p, "batch", &at.batch)
	forget(p, "load", &at.load)
	forget(p, "fill", &at.fill)
	forget(p, "kind", &at.latched.Kind)
	forget(p, "wait", &at.latched.Wait)
	forget(p, "graph", &at.graph)
	forget(p, "on", &at.analyzed)
	forget(p, "node", &at.latched.NodeBytes)
	forget(p, "tile", &at.latched.Tile)
	forget(p, "tile", &at.tile)
	return at
}

func forget[T any](p Op, axis string, value *T) {
	if !p.Has(axis) {
		*value = *new(T)
	}
}

// newTo says whether an operation sees in setting i what it hasn't seen in those before.
func newTo(p Op, settings []setting, i int) bool {
	return !slices.ContainsFunc(settings[:i], func(at setting) bool { return at.of(p) == settings[i].of(p) })
}

func combined[T any](settings []setting, values []T, set func(*setting, T)) (all []setting) {
	for _, at := range settings {
		for _, x := range values {
			set(&at, x)
			all = append(all, at)
		}
	}
	return all
}
