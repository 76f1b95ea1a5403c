package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// slabs is how many slabs the map has.
func (s *session) slabs(ctx context.Context, m *slabhash.Map) (uint64, error) {
	stats, err := m.Stats(ctx)
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

func (s *session) flush(ctx context.Context) error {
	queries, answers, err := s.queries(ctx)
	if err == nil {
		err = s.full(ctx)
	}
	if err != nil {
		return err
	}
	defer s.stream.Wait(context.Background())
	halved := func(ctx context.Context) error {
		if err := s.anew(ctx); err != nil {
			return err
		}
		b := s.batch(queries, nil)
		b.Count = s.n / 2
		if err := s.m.ApplyOn(s.stream, structures.Delete, b); err != nil {
			return err
		}
		return s.m.Finish(ctx, s.stream, structures.Delete, b)
	}
	if err := halved(ctx); err != nil {
		return err
	}
	before, err := s.slabs(ctx, s.m)
	if err != nil {
		return err
	}
	m := s.measurement("flush", s.n/2)
	if m, err = s.measureWall(ctx, m, halved, s.m.Flush, s.m.Timings, "flush.map"); err != nil {
		return err
	}
	after, err := s.slabs(ctx, s.m)
	if err != nil {
		return err
	}
	m.Bytes = (before + after) * slabBytes
	if err := s.find(queries, answers); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	there := func(i int) bool { return i >= s.n/2 }
	if err := s.checkFound(ctx, "flush", there); err != nil {
		return err
	}
	err = s.checkValues(ctx, "flush", answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), there(i) })
	return s.compareCopy(ctx, m, err)
}

func (s *session) rehash(ctx context.Context, op string, factor float64) error {
	if err := s.full(ctx); err != nil {
		return err
	}
	buckets := int(s.m.Device().Buckets)
	before, err := s.slabs(ctx, s.m)
	if err != nil {
		return err
	}
	m := s.measurement(op, s.n)
	back := func(ctx context.Context) error { return s.m.Rehash(ctx, buckets) }
	there := func(ctx context.Context) error { return s.m.Rehash(ctx, max(4, int(float64(buckets)*factor))) }
	if m, err = s.measureWall(ctx, m, back, there, s.m.Timings, "rehash"); err != nil {
		return err
	}
	after, err := s.slabs(ctx, s.m)
	if err != nil {
		return err
	}
	m.Bytes = (before + after) * slabBytes
	if err := s.holdsAll(ctx, op); err != nil {
		return err
	}
	if err := back(ctx); err != nil {
		return err
	}
	s.built = true
	return s.compareCopy(ctx, m, nil)
}

// clear is measured on a map with a pool of its own, which is what most have.
func (s *session) clear(ctx context.Context) error {
	keys, values, err := s.pairs(ctx)
	if err != nil {
		return err
	}
	own, err := slabhash.New(ctx, s.d, slabhash.Options{Buckets: bucketsFor(s.n, s.load, pairSlots), Load: s.load, MaxLoad: -1, Tile: s.tile, Seed: s.o.Seed})
	if err != nil {
		return err
	}
	defer own.Close()
	defer s.stream.Wait(context.Background())
	filled := func(ctx context.Context) error {
		b := s.batch(keys, values)
		if err := own.ApplyOn(s.stream, structures.Insert, b); err != nil {
			return err
		}
		return own.Finish(ctx, s.stream, structures.Insert, b)
	}
	if err := filled(ctx); err != nil {
		return err
	}
	stats, err := own.Stats(ctx)
	if err != nil {
		return err
	}
	m := s.measurement("clear", s.n)
	m.Utilization, m.Bytes = stats.Utilization, stats.Bytes
	if m, err = s.measureWall(ctx, m, filled, own.Clear, nil, ""); err != nil {
		return err
	}
	n, err := own.Len(ctx)
	if err == nil && n != 0 {
		err = &WrongError{"clear", "pairs are left"}
	}
	return s.compareCopy(ctx, m, err)
}
