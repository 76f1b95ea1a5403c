package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/vk"
)

var lsmOps = operations[*orderedSession]{
	{Op{"insert", "n pairs into an empty LSM, batch by batch", true}, (*orderedSession).series},
	{Op{"find-exist", "search of n keys, all present, from every level", true}, (*orderedSession).findExist},
	{Op{"find-oldest", "search of n keys, all in the largest level", true}, (*orderedSession).findOldest},
	{Op{"find-none", "search of n keys, none present", true}, (*orderedSession).findNone},
	{Op{"count", "how many keys are in each of n ranges", true}, (*orderedSession).count},
	{Op{"range", "the pairs of n ranges, in order", true}, (*orderedSession).list},
	{Op{"cleanup", "removal of a share of n elements that are stale", true}, (*orderedSession).cleanup},
}

// lsmTable is an LSM whose insertions look like those of the structures that wait for the device.
type lsmTable struct{ *lsm.LSM }

func (l lsmTable) InsertOn(_ context.Context, s *vk.Stream, u structures.DeviceUpdates) error {
	return l.LSM.InsertOn(s, u)
}

// LSM measures the GPU LSM as section V of its paper does. With an error, the report holds what was measured before
// it. Errors as of SlabHash.
func LSM(ctx context.Context, d *vk.Device, o OrderedOptions) (Report, error) {
	kind := orderedKind{name: "lsm", levels: true, ops: lsmOps}
	kind.open = func(ctx context.Context, d *vk.Device, s *orderedSession) (orderedTable, error) {
		l, err := lsm.New(ctx, d, lsm.Options{Batch: s.batch, Timed: true})
		return lsmTable{l}, err
	}
	return kind.run(ctx, d, o)
}

// cleanup measures LSM.Cleanup of full levels, a share of whose elements is stale because their keys were inserted
// again (section V-D).
func (s *orderedSession) cleanup(ctx context.Context) error {
	elements := FullLevels.batches(s.n, s.batch) * s.batch
	for _, stale := range s.options.Stale {
		again := int(stale * float64(elements))
		different := elements - again
		pick := newOrder(different, uint64(s.o.Seed)<<11|1)
		keys, values, err := s.batchBuffers()
		if err != nil {
			return err
		}
		grown := func(ctx context.Context) error {
			if err := s.empty(ctx); err != nil {
				return err
			}
			if err := s.insert(ctx, different, nil); err != nil {
				return err
			}
			s.there = -1
			for first := 0; first < again; first += s.batch {
				n := min(s.batch, again-first)
				k, v := make([]uint32, n), make([]uint32, n)
				fill(k, func(i int) uint32 { return s.keys.key(pick.at(first + i)) })
				fill(v, func(i int) uint32 { return ^s.space.value(k[i]) })
				if err := keys.Upload(ctx, 0, k); err != nil {
					return err
				}
				if err := values.Upload(ctx, 0, v); err != nil {
					return err
				}
				if err := s.table.InsertOn(ctx, s.stream, structures.DeviceUpdates{Count: n, Keys: keys, Values: values}); err != nil {
					return err
				}
				if err := s.stream.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		}
		if err := s.empty(ctx); err != nil { // there is a table now
			return err
		}
		l := s.table.(lsmTable).LSM
		m := s.measurement("cleanup", elements, elements)
		m.Stale = stale
		if m, err = s.measureWall(ctx, m, grown, l.Cleanup, l.Timings, ""); err != nil {
			return err
		}
		later := make([]bool, s.n) // which keys came again, with another value
		for i := range again {
			later[pick.at(i)] = true
		}
		if err := s.add(m, s.holds(ctx, "cleanup", different, func(at int) uint32 {
			if later[at] {
				return ^s.space.value(s.keys.key(at))
			}
			return s.space.value(s.keys.key(at))
		})); err != nil {
			return err
		}
	}
	return nil
}
