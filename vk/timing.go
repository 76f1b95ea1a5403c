package vk

import (
	"time"

	"github.com/vkds/vkds/vk/internal/native"
)

// Timing is the time that the device took for a Timed section.
type Timing struct {
	Label    string
	Duration time.Duration
	// Workgroups is the number of workgroups of a dispatch that was timed by Options.TimeDispatches. It is 0 for other
	// sections, and if the device read the number from memory.
	Workgroups int
}

const (
	poolQueries = 64
	maxTimings  = 1 << 16 // kept for Timings; the oldest are dropped first
)

// queryPool holds the timestamps of one batch at a time.
type queryPool struct {
	handle native.QueryPool
	used   uint32
}

// section is a Timed section that was recorded: two consecutive queries of a pool.
type section struct {
	label  string
	groups int
	pool   *queryPool
	first  uint32
}

// Timed measures the commands of record by the device's clock, from the end of all earlier commands to the end of the
// section's own. Timings returns the result after the work has ended. Sections may be nested. A section has no timing
// if the device lacks Timestamps, or if record submits work.
func (s *Stream) Timed(label string, record func()) { s.timed(label, 0, record) }

func (s *Stream) timed(label string, groups int, record func()) {
	if !s.made() || !s.d.Has(Timestamps) || !s.begin() {
		record()
		return
	}
	b, submitted := s.open, s.last
	pool, err := s.timestamps(b)
	if err != nil {
		s.fail(err)
		return
	}
	first := pool.used
	pool.used += 2
	s.d.native.Timestamp(b.commands, pool.handle, first)
	record()
	// If an After or a Wait inside has submitted the batch, the section has no timing. The batch that is open now may
	// be the same one, reused.
	if s.open != b || s.last != submitted || s.err != nil {
		return
	}
	s.d.native.Timestamp(b.commands, pool.handle, first+1)
	b.sections = append(b.sections, section{label, groups, pool, first})
}

// timestamps returns a pool of the batch with two unused queries.
func (s *Stream) timestamps(b *batch) (*queryPool, error) {
	if n := len(b.pools); n > 0 && b.pools[n-1].used+2 <= poolQueries {
		return b.pools[n-1], nil
	}
	var q *queryPool
	if n := len(s.queries); n > 0 {
		q, s.queries = s.queries[n-1], s.queries[:n-1]
	} else {
		handle, result := s.d.native.NewTimestamps(poolQueries)
		if err := s.d.check("vkCreateQueryPool", result); err != nil {
			return nil, err
		}
		q = &queryPool{handle: handle}
	}
	q.used = 0
	s.d.native.ResetTimestamps(b.commands, q.handle, poolQueries)
	b.pools = append(b.pools, q)
	return q, nil
}

// collect reads the timings of a batch that has ended.
func (s *Stream) collect(b *batch) {
	bits := s.d.about.Families[s.d.family].TimestampBits
	for _, t := range b.sections {
		stamps, result := s.d.native.Timestamps(t.pool.handle, t.first)
		if s.d.check("vkGetQueryPoolResults", result) != nil {
			continue
		}
		took := elapsed(stamps, bits, s.d.about.TimestampPeriod)
		s.timings = append(s.timings, Timing{t.label, took, t.groups})
	}
	if over := len(s.timings) - maxTimings; over > 0 {
		s.timings = append([]Timing(nil), s.timings[over:]...)
	}
}

// elapsed returns the time between two timestamps, of which only the low bits are valid. period is the length of a tick
// in nanoseconds.
func elapsed(stamps [2]uint64, bits uint32, period float32) time.Duration {
	ticks := (stamps[1] - stamps[0]) << (64 - bits) >> (64 - bits)
	return time.Duration(float64(ticks) * float64(period))
}

// Timings returns the Timed sections that have ended and that it has not returned before, in the order in which they
// ended on the device. After a Wait these are all sections recorded so far. At most the last 65,536 are kept.
func (s *Stream) Timings() []Timing {
	if !s.made() {
		return nil
	}
	s.tidy()
	t := s.timings
	s.timings = nil
	return t
}

func (q *queryPool) destroy(d *Device) { d.native.DestroyTimestamps(q.handle) }
