package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Flush and rehash are calls that wait by themselves. To have the device's own time of their kernels, these are
// dispatched here a second time, as any user of slabhash.Device may; the wall time is that of the call.

type flushPush struct {
	Hash  slabhash.Device
	First uint32
	Count uint32
}

type rehashPush struct {
	Hash            slabhash.Device
	FromBase        uint64
	FromBuckets     uint32
	FromMask        uint32
	FromSpecialOnes uint32
	FromSpecialZero uint32
	Failed          uint64
	First           uint32
	Count           uint32
}

const bucketsADispatch = 1 << 22

// overBuckets calls do for runs of buckets.
func overBuckets(buckets uint32, do func(first, count uint32)) {
	for first := uint32(0); first < buckets; first += min(bucketsADispatch, buckets-first) {
		do(first, min(bucketsADispatch, buckets-first))
	}
}

// upkeepKernel makes a kernel of the map's, and says how many workgroups it needs for so many buckets.
func upkeepKernel[P any](s *session, module string) (*vk.Kernel[P], func(buckets uint32) int, error) {
	m, err := shaders.Load(module)
	if err != nil {
		return nil, nil, err
	}
	constants := s.m.Constants()
	k, err := vk.NewKernel[P](s.d, m, vk.KernelOptions{Constants: constants})
	if err != nil {
		return nil, nil, err
	}
	return k, func(buckets uint32) int {
		return (int(buckets)*int(constants["TILE"]) + k.Workgroup() - 1) / k.Workgroup()
	}, nil
}

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
func copyBandwidth(ctx context.Context, d *vk.Device, stream *vk.Stream, o Options) (float64, error) {
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

func (s *session) flush(ctx context.Context) error {
	queries, answers, err := s.queries(ctx)
	if err == nil {
		err = s.full(ctx)
	}
	if err != nil {
		return err
	}
	k, groups, err := upkeepKernel[flushPush](s, "slabhash/flush.map")
	if err != nil {
		return err
	}
	defer k.Free()
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
	if err := s.m.Flush(ctx); err != nil {
		return err
	}
	after, err := s.slabs(ctx, s.m)
	if err != nil {
		return err
	}
	m := s.measurement("flush", s.n/2)
	m.Bytes = (before + after) * slabBytes
	if m, err = s.measureWall(ctx, m, halved, func(ctx context.Context) error { return s.m.Flush(ctx) }); err != nil {
		return err
	}
	wall := m.Wall
	m, err = s.measure(ctx, task{
		Measurement: m, prepare: halved,
		record: func() error {
			h := s.m.Device()
			overBuckets(h.Buckets, func(first, count uint32) { k.Dispatch(s.stream, groups(count), flushPush{h, first, count}) })
			return nil
		},
		check: func(ctx context.Context) error {
			if err := s.find(queries, answers); err != nil {
				return err
			}
			if err := s.stream.Wait(ctx); err != nil {
				return err
			}
			if err := s.checkFound(ctx, "flush", func(i int) bool { return i >= s.n/2 }); err != nil {
				return err
			}
			return s.checkValues(ctx, "flush", answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), i >= s.n/2 })
		},
	})
	m.Wall = wall
	return s.compareCopy(ctx, m, err)
}

func (s *session) rehash(ctx context.Context, op string, factor float64) error {
	if err := s.full(ctx); err != nil {
		return err
	}
	from := s.m.Device()
	buckets := max(4, int(float64(from.Buckets)*factor))
	to, err := slabhash.New(ctx, s.d, slabhash.Options{Buckets: buckets, Load: s.load, MaxLoad: -1, Pool: s.pool, Tile: s.tile, Seed: s.o.Seed})
	if err != nil {
		return err
	}
	defer to.Close()
	k, groups, err := upkeepKernel[rehashPush](s, "slabhash/rehash.map")
	if err != nil {
		return err
	}
	defer k.Free()
	defer s.stream.Wait(context.Background())
	before, err := s.slabs(ctx, s.m)
	if err != nil {
		return err
	}
	m := s.measurement(op, s.n)
	m, err = s.measure(ctx, task{
		Measurement: m, pending: true, prepare: to.Clear,
		record: func() error {
			from, h := s.m.Device(), to.Device()
			s.stream.Fill(s.left, 0, 4, 0)
			overBuckets(h.Buckets, func(first, count uint32) {
				k.Dispatch(s.stream, groups(count), rehashPush{
					Hash: h, FromBase: from.Base, FromBuckets: from.Buckets, FromMask: from.Mask,
					FromSpecialOnes: from.SpecialOnes, FromSpecialZero: from.SpecialZero,
					Failed: s.left.Address(), First: first, Count: count,
				})
			})
			return nil
		},
		check: func(ctx context.Context) error {
			of := s.m
			defer func() { s.m = of }()
			s.m = to
			return s.holdsAll(ctx, op)
		},
	})
	if err != nil {
		return err
	}
	after, err := s.slabs(ctx, to)
	if err != nil {
		return err
	}
	m.Bytes = (before + after) * slabBytes
	if err := to.Clear(ctx); err != nil { // its slabs are needed
		return err
	}
	m.Wall = nil
	back := func(ctx context.Context) error { return s.m.Rehash(ctx, int(from.Buckets)) }
	m, err = s.measureWall(ctx, m, back, func(ctx context.Context) error { return s.m.Rehash(ctx, buckets) })
	if err != nil {
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
	if m, err = s.measureWall(ctx, m, filled, own.Clear); err != nil {
		return err
	}
	n, err := own.Len(ctx)
	if err == nil && n != 0 {
		err = &WrongError{"clear", "pairs are left"}
	}
	return s.compareCopy(ctx, m, err)
}
