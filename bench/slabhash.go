// Package bench measures vkds's data structures: throughput by the device's own timestamps and wall time beside it,
// medians of several runs behind a warm-up, fresh random keys, and every result checked. It is what `vkds bench`
// runs, and it serves a program as well.
package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/vkds/vkds/vk"
)

// Options say what SlabHash measures. The zero value measures the main operations on 2^20 pairs.
type Options struct {
	Ops     []string      // names of Ops; nil: DefaultOps
	Sizes   []int         // elements in the table, up to 2^30; nil: 2^20
	Loads   []float64     // loads that the table is laid out for; nil: 0.7
	Tiles   []int         // lanes a slab; 0, and nil: what measured best
	Repeat  int           // measured runs; 0: 5
	WarmUp  time.Duration // of the same work, right before the measured runs; 0: 0.5 s (an idle GPU runs at a low clock), on a CPU device one run
	Skew    float64       // share of a batch that one key takes, in the operations named skewed; 0: 0.5
	Seed    uint32        // of keys and values; 0: a random one
	Budget  time.Duration // no measurement is begun after so long; 0: no limit
	Compare bool          // measure a Go map and xsync.Map on the same keys, too

	// Progress, if not nil, is told what is measured next, and how many of the measurements are done.
	Progress func(done, total int, what string)
}

// OptionError says which option can't be.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return fmt.Sprintf("bench: option %s: %s", e.Option, e.Reason) }

// WrongError says that an operation gave a wrong result, so that its time means nothing.
type WrongError struct{ Op, Reason string }

func (e *WrongError) Error() string {
	return fmt.Sprintf("bench: %s: wrong result: %s", e.Op, e.Reason)
}

const (
	defaultRepeat = 5
	defaultWarmUp = 500 * time.Millisecond
	maxSize       = 1 << 30 // the mixes take keys of indices up to three times as many
)

func (o *Options) complete(d *vk.Device) error {
	if len(o.Ops) == 0 {
		o.Ops = DefaultOps()
	}
	for _, name := range o.Ops {
		if !slices.ContainsFunc(ops, func(p op) bool { return p.Name == name }) {
			var names []string
			for _, p := range ops {
				names = append(names, p.Name)
			}
			return &OptionError{"Ops", fmt.Sprintf("no operation %q; there are %s", name, strings.Join(names, ", "))}
		}
	}
	if len(o.Sizes) == 0 {
		o.Sizes = []int{1 << 20}
	}
	for _, n := range o.Sizes {
		if n < 64 || n > maxSize {
			return &OptionError{"Sizes", fmt.Sprintf("%d: 64 to %d", n, maxSize)}
		}
	}
	if len(o.Loads) == 0 {
		o.Loads = []float64{0.7}
	}
	for _, l := range o.Loads {
		if !(l > 0 && l <= 1000) {
			return &OptionError{"Loads", fmt.Sprintf("%g: above 0, up to 1000", l)}
		}
	}
	if len(o.Tiles) == 0 {
		o.Tiles = []int{0}
	}
	if o.Repeat < 0 || o.WarmUp < 0 || o.Budget < 0 {
		return &OptionError{"Repeat, WarmUp, Budget", "negative"}
	}
	if o.Repeat == 0 {
		o.Repeat = defaultRepeat
	}
	if o.WarmUp == 0 && d.Info().Type != vk.CPU {
		o.WarmUp = defaultWarmUp
	}
	if o.Skew == 0 {
		o.Skew = 0.5
	}
	if !(o.Skew > 0 && o.Skew <= 1) {
		return &OptionError{"Skew", fmt.Sprintf("%g: above 0, up to 1", o.Skew)}
	}
	for o.Seed == 0 {
		o.Seed = rand.Uint32()
	}
	if !d.Has(vk.Timestamps) {
		return &vk.MissingFeatureError{Device: d.Info().Name, Features: []string{string(vk.Timestamps)}}
	}
	return nil
}

// SlabHash measures the slab hash. With an error, the report holds what was measured before it. Errors:
// *OptionError, *WrongError, *vk.MissingFeatureError, *vk.OutOfMemoryError, the context's.
func SlabHash(ctx context.Context, d *vk.Device, o Options) (Report, error) {
	if err := o.complete(d); err != nil {
		return Report{}, err
	}
	r := Report{Environment: environment(d, o.Seed)}
	start := time.Now()
	total := len(o.Sizes) * len(o.Loads) * len(o.Tiles) * len(o.Ops)
	done := 0
	for _, n := range o.Sizes {
		w, err := newWorkload(d, o, n)
		if err != nil {
			return r, err
		}
		err = func() error {
			defer w.close()
			for _, load := range o.Loads {
				for _, tile := range o.Tiles {
					s := &session{workload: w, report: &r, load: load, tile: tile}
					if err := s.run(ctx, func(what string) bool {
						if o.Budget > 0 && time.Since(start) > o.Budget {
							r.LeftOut++
							return false
						}
						if o.Progress != nil {
							o.Progress(done, total, what)
						}
						done++
						return true
					}); err != nil {
						return fmt.Errorf("n = %d, load %.3g: %w", n, load, err)
					}
				}
			}
			if o.Compare {
				return w.compareHost(ctx, &r)
			}
			return nil
		}()
		if err != nil {
			return r, err
		}
	}
	if o.Progress != nil {
		o.Progress(total, total, "")
	}
	return r, nil
}

// Op is an operation that SlabHash measures.
type Op struct {
	Name    string
	About   string
	Default bool // measured unless others are asked for
}

type op struct {
	Op
	run func(*session, context.Context) error
}

var ops []op

func init() {
	ops = []op{
		{Op{"build", "Insert of n new pairs into an empty map, keys unique", true}, (*session).build},
		{Op{"build-duplicates", "InsertDuplicate of n pairs into an empty map, nothing checked for", false}, (*session).buildDuplicates},
		{Op{"find-all", "search of n keys, all present", true}, (*session).findAll},
		{Op{"find-none", "search of n keys, none present", true}, (*session).findNone},
		{Op{"find-beside", "search of n keys, all present, by the kernel that may run beside updates", false}, (*session).findBeside},
		{Op{"replace", "Insert of n keys that are there", true}, (*session).replace},
		{Op{"delete", "deletion of all n keys", true}, (*session).delete},
		{Op{"gamma0", "n operations on n pairs: half insert, half delete", true}, func(s *session, ctx context.Context) error { return s.mix(ctx, "gamma0", Gamma0) }},
		{Op{"gamma1", "n operations on n pairs: 20% insert, 20% delete, 30% find, 30% find absent", true}, func(s *session, ctx context.Context) error { return s.mix(ctx, "gamma1", Gamma1) }},
		{Op{"gamma2", "n operations on n pairs: 10% insert, 10% delete, 40% find, 40% find absent", true}, func(s *session, ctx context.Context) error { return s.mix(ctx, "gamma2", Gamma2) }},
		{Op{"add-skewed", "Add of n pairs to an empty map, one key taking a share", false}, (*session).addSkewed},
		{Op{"min-skewed", "Min of n pairs, one key taking a share", false}, (*session).minSkewed},
		{Op{"insert-skewed", "Insert of n pairs, one key taking a share", false}, (*session).insertSkewed},
		{Op{"find-skewed", "search of n keys, one taking a share", false}, (*session).findSkewed},
		{Op{"flush", "compaction of a map of n pairs of which half are deleted", false}, (*session).flush},
		{Op{"rehash-half", "n pairs into half the buckets", false}, func(s *session, ctx context.Context) error { return s.rehash(ctx, "rehash-half", 0.5) }},
		{Op{"rehash-double", "n pairs into twice the buckets", false}, func(s *session, ctx context.Context) error { return s.rehash(ctx, "rehash-double", 2) }},
		{Op{"clear", "Clear of a map of n pairs with a pool of its own", false}, (*session).clear},
		{Op{"end-to-end", "Map.Insert and Map.Find of n pairs from Go slices to Go slices, beside the copies alone", false}, (*session).endToEnd},
		{Op{"set-build", "Insert of n new keys into an empty set", false}, (*session).setBuild},
		{Op{"set-find", "search of n keys in a set, all present", false}, (*session).setFind},
	}
}

// Ops lists what SlabHash can measure.
func Ops() []Op {
	var all []Op
	for _, p := range ops {
		all = append(all, p.Op)
	}
	return all
}

// DefaultOps names the main operations.
func DefaultOps() []string {
	var names []string
	for _, p := range ops {
		if p.Default {
			names = append(names, p.Name)
		}
	}
	return names
}

// bucketsFor is how many buckets have a load.
func bucketsFor(n int, load float64, slots int) int {
	return max(4, int(math.Ceil(float64(n)/(float64(slots)*load))))
}
