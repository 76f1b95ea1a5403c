package slabs

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// ReclaimerOptions are alloc.ReclaimerOptions.
type ReclaimerOptions struct {
	Stripes  int
	BagSlabs int
	Clear    bool
}

const (
	mostStripes  = 1 << 12
	mostBagSlabs = 1 << 16

	epochClasses  = 5   // EPOCH_CLASSES of epoch.glsl
	epochKeptAt   = 128 // EPOCH_KEPT_AT
	epochLines    = 256 // EPOCH_STRIPES_AT
	epochLine     = 128
	segmentSlabs  = 1 << 15 // 2^EPOCH_KEPT_SHIFT of epoch_slab.glsl
	reclaimGroups = 1024    // the greatest number of workgroups of a pass
)

// ReclaimerDescription is alloc.ReclaimerDescription.
type ReclaimerDescription struct {
	State   uint64 // address
	Stripes uint32
	Bag     uint32 // slabs
}

// Reclaimer is the reclaimer of an alloc.Reclaimer. The caller of its methods has entered the pool, alone.
type Reclaimer struct {
	pool *Pool
	o    ReclaimerOptions
	uses vk.Uses

	state  *vk.Buffer[uint32] // nil after Close
	blocks int                // memory blocks of the pool that state has marks for
	totals *vk.Buffer[uint32] // of reclaim.comp
}

// NewReclaimer is alloc.NewReclaimer. The caller has entered the pool.
func NewReclaimer(ctx context.Context, p *Pool, o ReclaimerOptions) (*Reclaimer, error) {
	stripes := 128
	if p.d.Info().Type == vk.CPU {
		stripes = 16
	}
	o.Stripes, o.BagSlabs = cmp.Or(o.Stripes, stripes), cmp.Or(o.BagSlabs, 512)
	if o.Stripes < 1 || o.Stripes > mostStripes || bits.OnesCount(uint(o.Stripes)) != 1 {
		return nil, &vk.OptionError{Option: "Stripes",
			Reason: fmt.Sprintf("%d is not a power of two up to %d", o.Stripes, mostStripes)}
	}
	if o.BagSlabs < 1 || o.BagSlabs > mostBagSlabs {
		return nil, &vk.OptionError{Option: "BagSlabs",
			Reason: fmt.Sprintf("%d is not between 1 and %d", o.BagSlabs, mostBagSlabs)}
	}
	r := &Reclaimer{pool: p, o: o}
	var err error
	if r.totals, err = vk.NewBuffer[uint32](p.memory, 4); err != nil {
		return nil, err
	}
	if err = r.totals.Upload(ctx, 0, make([]uint32, r.totals.Len())); err == nil {
		err = r.fit(ctx)
	}
	if err != nil {
		r.totals.Free()
		return nil, err
	}
	return r, nil
}

// fit makes the reclaimer large enough for all slabs of its pool.
func (r *Reclaimer) fit(ctx context.Context) error {
	blocks := r.pool.blocks()
	if r.state != nil && r.blocks >= blocks {
		return nil
	}
	segments := segmentsOf(blocks)
	bags := epochLines + r.o.Stripes*(epochLine+epochClasses*4*r.o.BagSlabs)
	flags := (bags + 15) &^ 15
	marks := (flags + 4*segments + 15) &^ 15
	state, err := vk.NewBuffer[uint32](r.pool.memory, marks/4+segments*segmentSlabs/32)
	if err != nil {
		return err
	}
	s := r.pool.stream
	s.Fill(state, 0, state.Len(), 0)
	for i, at := range []int{flags, marks} {
		address := state.Address() + uint64(at)
		s.Fill(state, epochKeptAt/4+2*i, 1, uint32(address))
		s.Fill(state, epochKeptAt/4+2*i+1, 1, uint32(address>>32))
	}
	if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
		state.Free()
		return err
	}
	if old := r.state; old != nil {
		r.uses.Free(old.Free)
	}
	r.state, r.blocks = state, blocks
	return nil
}

// segmentsOf returns the number of segments in the marks of the given number of memory blocks.
func segmentsOf(blocks int) int { return (blocks*BlockSlabs + segmentSlabs - 1) / segmentSlabs }

// Launch is a call of alloc.Reclaimer.On that may record.
type Launch struct {
	Pool      PoolDescription
	Reclaimer ReclaimerDescription

	s      *vk.Stream
	kernel *vk.Kernel[reclaimPush]
	groups int
	push   reclaimPush
	record []func() // end the uses of what Record records
}

type reclaimPush struct {
	Pool            PoolDescription
	Reclaimer       ReclaimerDescription
	Totals          uint64
	Segments, Clear uint32
}

// Begin prepares a launch on a stream. From here until Launch.Record has returned, the memory of pool and reclaimer is
// in use, so the caller may leave the pool before.
func (r *Reclaimer) Begin(s *vk.Stream) (*Launch, error) {
	if r.state == nil {
		return nil, &vk.ClosedError{What: "reclaimer"}
	}
	p := r.pool
	if err := p.d.Accept("stream", s); err != nil {
		return nil, err
	}
	k, err := kernel(p, p.reclaimKernel())
	if err != nil {
		return nil, err
	}
	if err := r.fit(context.Background()); err != nil {
		return nil, err
	}
	if err := r.uses.Order(s); err != nil {
		return nil, err
	}
	l := &Launch{Pool: p.Description(), s: s, kernel: k,
		Reclaimer: ReclaimerDescription{r.state.Address(), uint32(r.o.Stripes), uint32(r.o.BagSlabs)}}
	l.push = reclaimPush{Pool: p.Description(), Reclaimer: l.Reclaimer, Totals: r.totals.Address(),
		Segments: uint32(segmentsOf(p.blocks()))}
	if r.o.Clear {
		l.push.Clear = 1
	}
	subgroups := r.o.Stripes*epochClasses + int(l.push.Segments)
	perGroup := max(k.Workgroup()/p.d.SubgroupSize(), 1)
	l.groups = min((subgroups+perGroup-1)/perGroup, reclaimGroups)
	l.record = []func(){r.uses.Hold(s), p.uses.Hold(s)}
	return l, nil
}

// Record records what record records, and the pass that frees the slabs left in limbo. The caller need not have
// entered. Each launch must be recorded once.
func (l *Launch) Record(record func() error) error {
	for _, end := range l.record {
		defer end()
	}
	return l.s.Whole(func() error {
		if err := record(); err != nil {
			return err
		}
		l.kernel.Dispatch(l.s, l.groups, l.push)
		return nil
	})
}

// ReclaimerStats are alloc.ReclaimerStats.
type ReclaimerStats struct {
	Freed, Left, Kept, Stuck uint32
	Bytes                    uint64
}

// Stats is alloc.Reclaimer.Stats.
func (r *Reclaimer) Stats(ctx context.Context) (ReclaimerStats, error) {
	if r.state == nil {
		return ReclaimerStats{}, &vk.ClosedError{What: "reclaimer"}
	}
	if err := r.uses.Rest(ctx); err != nil {
		return ReclaimerStats{}, err
	}
	var t [4]uint32
	if err := r.totals.Download(ctx, 0, t[:]); err != nil {
		return ReclaimerStats{}, err
	}
	return ReclaimerStats{t[0], t[1], t[2], t[3], r.state.Bytes() + r.totals.Bytes()}, nil
}

// Close frees the reclaimer after the work that On has recorded.
func (r *Reclaimer) Close() {
	if r.state == nil {
		return
	}
	state, totals := r.state, r.totals
	r.state = nil
	r.uses.Free(func() {
		state.Free()
		totals.Free()
	})
}
