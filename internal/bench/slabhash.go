// Package bench measures vkds's data structures: throughput by the device's own timestamps and wall time beside it,
// medians of several runs behind a warm-up, fresh random keys, and every result checked. It is what `vkds bench`
// runs, and it serves a program as well.
package bench

import (
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/vk"
)

// Options say what SlabHash measures. The zero value measures the main operations on 2^20 pairs.
type Options struct {
	Common
	Ops   []string  // names of Ops("slabhash"); nil: the main ones
	Sizes []int     // elements in the table, up to 2^30; nil: 2^20
	Loads []float64 // loads that the table is laid out for; nil: 0.7
	Tiles []int     // lanes a slab; 0, and nil: what measured best
	Skew  float64   // share of a batch that one key takes, in the operations named skewed; 0: 0.5
}

func (o *Options) complete(d *vk.Device) (err error) {
	if o.Ops, err = ops.complete(o.Ops); err != nil {
		return err
	}
	if o.Sizes, err = completeSizes("Sizes", o.Sizes, defaultSize); err != nil {
		return err
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
	if o.Skew == 0 {
		o.Skew = 0.5
	}
	if !(o.Skew > 0 && o.Skew <= 1) {
		return &OptionError{"Skew", fmt.Sprintf("%g: above 0, up to 1", o.Skew)}
	}
	return o.Common.complete(d)
}

// SlabHash measures the slab hash. With an error, the report holds what was measured before it. Errors:
// *OptionError, *WrongError, *vk.MissingFeatureError, *vk.OutOfMemoryError, the context's.
func SlabHash(ctx context.Context, d *vk.Device, o Options) (Report, error) {
	if err := o.complete(d); err != nil {
		return Report{}, err
	}
	r := Report{Environment: environment(d, o.Seed)}
	steps := newWalk(&r, o.Common, len(o.Sizes)*len(o.Loads)*len(o.Tiles)*len(o.Ops))
	for _, n := range o.Sizes {
		w, err := newWorkload(d, o.Common, n)
		if err != nil {
			return r, err
		}
		err = func() error {
			defer w.close()
			for _, load := range o.Loads {
				for _, tile := range o.Tiles {
					s := &session{workload: w, options: o, report: &r, load: load, tile: tile}
					if err := s.run(ctx, steps); err != nil {
						return fmt.Errorf("n = %d, load %.3g: %w", n, load, err)
					}
				}
			}
			return nil
		}()
		if err != nil {
			return r, err
		}
	}
	steps.end()
	return r, nil
}

var ops operations[*session]

func init() {
	ops = operations[*session]{
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

// bucketsFor is how many buckets have a load.
func bucketsFor(n int, load float64, slots int) int {
	return max(4, int(math.Ceil(float64(n)/(float64(slots)*load))))
}
