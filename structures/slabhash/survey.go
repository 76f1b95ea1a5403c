package slabhash

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// The layout of survey.comp's rows, in words.
const (
	surveyRows     = 64
	surveyRowWords = 32
	surveyLive     = 0
	surveyTombs    = 1
	surveySlabs    = 2
	surveyLongest  = 3
	surveyLengths  = 4
)

type surveyPush struct {
	Hash  Description
	Rows  uint64
	First uint32
	Count uint32
}

type survey struct {
	live, tombstones, slabs uint64
	longest                 uint32
	lengths                 [16]uint64
}

// bucketsADispatch keeps a dispatch over whole buckets to about 10 ms.
func (t *table) bucketsADispatch() uint32 {
	if t.Device.Info().Type == vk.CPU {
		return 1 << 16
	}
	return 1 << 24
}

// ranges calls do for consecutive ranges of buckets, each for one dispatch. If progress is not nil, ranges calls it
// with the number of buckets done.
func (t *table) ranges(ctx context.Context, buckets uint32, progress structures.Progress,
	do func(first, count uint32) error) error {
	for first := uint32(0); first < buckets; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		count := min(t.bucketsADispatch(), buckets-first)
		if err := do(first, count); err != nil {
			return err
		}
		first += count
		if progress != nil {
			progress(int(first), int(buckets))
		}
	}
	return nil
}

// lists is ranges for kernels whose tiles have a list each: a bucket, or a group. do gets the lists of a range.
func (t *table) lists(ctx context.Context, buckets uint32, progress structures.Progress,
	do func(first, count uint32) error) error {
	return t.ranges(ctx, buckets, progress, func(first, count uint32) error { return do(t.list(first), t.list(count)) })
}

// tileGroups returns the number of workgroups that have a tile for each of that many buckets.
func (t *table) tileGroups(buckets uint32) int { return groups(int(buckets) * t.tiles.walk) }

// survey counts what the table holds, and with lengths also the buckets of each length.
func (t *table) survey(ctx context.Context, s *vk.Stream, lengths bool) (survey, error) {
	rows, err := vk.NewBuffer[uint32](t.Device, surveyRows*surveyRowWords)
	if err != nil {
		return survey{}, err
	}
	defer rows.Free()
	all := new(survey)
	words := make([]uint32, rows.Len())
	count := func(first, count uint32) error {
		err := recording.Run(s, func() error {
			k, err := t.surveyKernel(lengths).Kernel(t.Kernels, s)
			if err != nil {
				return err
			}
			s.Fill(rows, 0, rows.Len(), 0)
			k.Dispatch(s, t.tileGroups(count), surveyPush{t.description(t.base), rows.Address(), first, count})
			return nil
		})
		if err != nil {
			return err
		}
		if err := rows.Download(ctx, 0, words); err != nil {
			return err
		}
		for r := 0; r < len(words); r += surveyRowWords {
			row := words[r : r+surveyRowWords]
			all.live += uint64(row[surveyLive])
			all.tombstones += uint64(row[surveyTombs])
			all.slabs += uint64(row[surveySlabs])
			all.longest = max(all.longest, row[surveyLongest])
			for i := range all.lengths {
				all.lengths[i] += uint64(row[surveyLengths+i])
			}
		}
		return nil
	}
	err = t.ranges(ctx, t.base.buckets, nil, count)
	return *all, err
}

// Stats are the measurements of a table.
type Stats struct {
	Pairs      uint64 // pairs (of a set: keys) in the table
	Tombstones uint64 // slots of erased pairs, which Flush and Rehash reclaim
	Buckets    int
	Slabs      uint64 // base slabs and the slabs that they link to
	ChainSlabs uint64 // slabs without the base slabs

	Load           float64 // pairs / slots of the base slabs: β, the average slab count of section III-C
	SlabsPerBucket float64 // slabs / buckets
	Utilization    float64 // bytes of pairs / bytes of slabs: the memory utilization of section III-C
	LongestBucket  int     // slabs of the longest bucket
	// Lengths[i] is the number of buckets with i+1 slabs; the last one counts those with 16 or more. A slab that
	// buckets share counts for the first of them.
	Lengths [16]uint64

	Bytes uint64          // device memory of base slabs and pool
	Pool  alloc.PoolStats // the allocator's own statistics; a shared pool's are for all its users
}

func (t *table) Stats(ctx context.Context) (Stats, error) {
	if err := t.EnterAfterChanges(ctx); err != nil {
		return Stats{}, err
	}
	defer t.Leave()
	v, err := t.survey(ctx, t.Stream, true)
	if err != nil {
		return Stats{}, err
	}
	p, err := t.Pool.Stats(ctx)
	if err != nil {
		return Stats{}, err
	}
	t.used = v.live + v.tombstones
	buckets, baseSlabs := float64(t.base.buckets), t.baseSlabs(t.base.buckets)
	elementBytes := slotBytes(t.width, t.keys)
	return Stats{
		Pairs: v.live, Tombstones: v.tombstones, Buckets: int(t.base.buckets),
		Slabs: v.slabs, ChainSlabs: v.slabs - baseSlabs,
		Load:           float64(v.live) / (float64(t.slots) * float64(baseSlabs)),
		SlabsPerBucket: float64(v.slabs) / buckets,
		Utilization:    float64(v.live) * float64(elementBytes) / (float64(v.slabs) * slabWords * 4),
		LongestBucket:  int(v.longest), Lengths: v.lengths,
		Bytes: t.base.slabs.Bytes() + p.Bytes, Pool: alloc.PoolStats(p),
	}, nil
}

func (t *table) Len(ctx context.Context) (uint64, error) {
	if err := t.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer t.LeaveShared()
	return t.count(ctx)
}

// count is Len for a caller that has entered the table.
func (t *table) count(ctx context.Context) (uint64, error) {
	v := new(survey)
	err := t.Pipelines.Do(ctx, func(s *vk.Stream) (err error) {
		*v, err = t.survey(ctx, s, false)
		return err
	})
	return v.live, err
}
