package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// hash is the hash table, which there is.
func (s *session) hash() hashTable { return s.dictionary.(mapTable).hashTable }

// slabsOf is how many slabs the hash table has.
func (s *session) slabsOf(ctx context.Context) (uint64, error) {
	stats, err := s.hash().Stats(ctx)
	return stats.Slabs, err
}

// compareCopy puts the bandwidth of a measurement beside that of the device's copy, which is measured once a run.
func (s *session) compareCopy(ctx context.Context, m Measurement, err error) error {
	if err != nil {
		return err
	}
	if s.report.Environment.CopyGBps == 0 {
		if s.report.Environment.CopyGBps, err = copyBandwidth(ctx, s.d, s.stream, s.o); err != nil {
			return err
		}
	}
	m.Ratios = append(m.Ratios, Ratio{"copy bandwidth", m.GBps() / s.report.Environment.CopyGBps})
	return s.add(m, nil)
}

// copyBandwidth is the GB/s, read and written, of a copy between large buffers.
func copyBandwidth(ctx context.Context, d *vk.Device, stream *vk.Stream, o Common) (float64, error) {
	bytes := 1 << 30
	if d.Info().Type == vk.CPU {
		bytes = 1 << 26
	}
	if used, budget := d.Memory(); budget > used {
		bytes = min(bytes, int(budget-used)/4&^0xfff)
	}
	from, err := vk.NewBuffer[uint8](d, bytes)
	if err != nil {
		return 0, err
	}
	defer from.Free()
	to, err := vk.NewBuffer[uint8](d, bytes)
	if err != nil {
		return 0, err
	}
	defer to.Free()
	defer stream.Wait(context.Background())
	stream.Fill(from, 0, bytes, 1)
	for start := time.Now(); ; {
		stream.Copy(to, 0, from, 0, bytes)
		if err := stream.Wait(ctx); err != nil {
			return 0, err
		}
		if time.Since(start) >= o.WarmUp {
			break
		}
	}
	stream.Timings()
	for range o.Repeat {
		stream.Timed("copy", func() { stream.Copy(to, 0, from, 0, bytes) })
	}
	if err := stream.Wait(ctx); err != nil {
		return 0, err
	}
	var times []time.Duration
	for _, t := range stream.Timings() {
		times = append(times, t.Duration)
	}
	return rate(2*bytes, Median(times)) / 1e9, nil
}

// Flush and rehash are calls that wait by themselves: the wall time is theirs, the device's that of their kernel.

// flush deletes the first half of the queries' keys, and measures the compaction.
func (s *session) flush(ctx context.Context) error {
	if err := s.hold(ctx, s.n); err != nil {
		return err
	}
	keys, err := s.batchOf(ctx, "batch keys", s.n/2, s.query)
	if err != nil {
		return err
	}
	table := s.hash()
	defer s.stream.Wait(context.Background())
	halved := func(ctx context.Context) error {
		if err := s.changing(ctx); err != nil {
			return err
		}
		b := structures.DeviceBatch{Count: s.n / 2, Keys: keys, Status: s.status, Left: s.left}
		if err := table.On(s.stream).Apply(structures.Delete, b); err != nil {
			return err
		}
		return table.On(s.stream).Finish(ctx, structures.Delete, b)
	}
	if err := halved(ctx); err != nil {
		return err
	}
	m, err := s.measureSlabs(ctx, s.measurement(s.n, s.n/2), halved, table.Flush, "flush")
	if err != nil {
		return err
	}
	err = s.finds(ctx, func(i int) (uint32, bool) { return s.space.value(s.query(i)), i >= s.n/2 })
	return s.compareCopy(ctx, m, err)
}

// rehash measures the way into so many times as many buckets.
func rehash(factor float64) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		if err := s.hold(ctx, s.n); err != nil {
			return err
		}
		table := s.hash()
		buckets := int(table.InShaders().Device().Buckets)
		back := func(ctx context.Context) error { return table.Rehash(ctx, buckets) }
		there := func(ctx context.Context) error { return table.Rehash(ctx, max(4, int(float64(buckets)*factor))) }
		m, err := s.measureSlabs(ctx, s.measurement(s.n, s.n), back, there, "rehash")
		if err != nil {
			return err
		}
		if err := s.holdsAll(ctx, s.n); err != nil {
			return err
		}
		return s.compareCopy(ctx, m, back(ctx))
	}
}

// measureSlabs measures a call that reads all slabs that there are and writes those that there are then, and waits by
// itself: the wall time is its own, the device's that of its kernel.
func (s *session) measureSlabs(ctx context.Context, m Measurement, prepare, call func(context.Context) error,
	kernel string) (Measurement, error) {
	before, err := s.slabsOf(ctx)
	if err != nil {
		return m, err
	}
	if m, err = s.measureWall(ctx, m, prepare, call, s.hash().Timings, kernel); err != nil {
		return m, err
	}
	after, err := s.slabsOf(ctx)
	m.Bytes = (before + after) * slabBytes
	return m, err
}

// clear is measured on a map with a pool of its own, which is what most have.
func (s *session) clear(ctx context.Context) error {
	keys, values, err := s.all(ctx, s.keys)
	if err != nil {
		return err
	}
	own, err := s.newMap(ctx, s.hashOptions(bucketsFor(s.n, s.at.load, slabhash.SlotsAt(s.width, false)), nil))
	if err != nil {
		return err
	}
	defer own.Close()
	defer s.stream.Wait(context.Background())
	filled := func(ctx context.Context) error {
		b := structures.DeviceBatch{Count: s.n, Keys: keys, Values: values, Status: s.status, Left: s.left}
		if err := own.On(s.stream).Apply(structures.Insert, b); err != nil {
			return err
		}
		return own.On(s.stream).Finish(ctx, structures.Insert, b)
	}
	if err := filled(ctx); err != nil {
		return err
	}
	stats, err := own.Stats(ctx)
	if err != nil {
		return err
	}
	m := s.measurement(s.n, s.n)
	m.Utilization, m.Bytes = stats.Utilization, stats.Bytes
	if m, err = s.measureWall(ctx, m, filled, own.Clear, nil, ""); err != nil {
		return err
	}
	n, err := own.Len(ctx)
	if err == nil && n != 0 {
		err = s.wrong("pairs are left")
	}
	return s.compareCopy(ctx, m, err)
}

// cleanup measures LSM.Cleanup of full levels, a share of whose elements is stale because their keys were inserted
// again (section V-D).
func (s *session) cleanup(ctx context.Context) error {
	if err := s.empty(ctx); err != nil {
		return err
	}
	l := s.dictionary.(lsmTable)
	elements := FullLevels.batches(s.n, s.batch) * s.batch
	for _, stale := range s.options.Stale {
		x := staleness{s: s, again: int(stale * float64(elements))}
		x.different = elements - x.again
		x.pick = newOrder(x.different, uint64(s.o.Seed)<<11|1)
		m := s.measurement(elements, elements)
		m.Stale = stale
		m, err := s.measureWall(ctx, m, x.make, l.Cleanup, l.Timings, "")
		if err != nil {
			return err
		}
		if err := s.add(m, s.holds(ctx, x.different, x.values())); err != nil {
			return err
		}
	}
	return nil
}

// staleness is so many different keys of an LSM, of which some come again with another value.
type staleness struct {
	s                *session
	different, again int
	pick             order // of those that come again
}

// make brings the LSM there.
func (x staleness) make(ctx context.Context) error {
	s := x.s
	if err := s.empty(ctx); err != nil {
		return err
	}
	s.there = -1
	if err := s.insert(ctx, s.keys, 0, x.different, nil); err != nil {
		return err
	}
	key := func(i int) uint32 { return s.keys.key(x.pick.at(i)) }
	for _, p := range chunks(x.again, s.batch) {
		u := structures.DeviceBatch{Count: p.count}
		var err error
		if u.Keys, err = s.batchOf(ctx, "batch keys", p.count, func(i int) uint32 {
			return key(p.first + i)
		}); err != nil {
			return err
		}
		if u.Values, err = s.batchOf(ctx, "batch values", p.count, func(i int) uint32 {
			return ^s.space.value(key(p.first + i))
		}); err != nil {
			return err
		}
		if err := s.dictionary.(lsmTable).UpdateOn(ctx, s.stream, structures.Insert, u); err != nil {
			return err
		}
		if err := s.stream.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// values are those that the keys then have, by their places in the sequence.
func (x staleness) values() func(at int) uint32 {
	later := make([]bool, x.s.n)
	for i := range x.again {
		later[x.pick.at(i)] = true
	}
	return func(at int) uint32 {
		value := x.s.space.value(x.s.keys.key(at))
		if later[at] {
			return ^value
		}
		return value
	}
}

// compact fills the nodes of a tree as far as they go.
func (s *session) compact(ctx context.Context) error {
	t, err := s.tree(ctx)
	if err != nil {
		return err
	}
	m, err := s.measureWall(ctx, s.measurement(s.n, s.n),
		func(ctx context.Context) error { return s.holdOf(ctx, s.keys, s.n) },
		func(ctx context.Context) error { return t.Compact(ctx, 1) }, nil, "")
	if err != nil {
		return err
	}
	s.there = -1
	return s.add(m, s.holdsAll(ctx, s.n))
}
