package alloc

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// ReclaimerOptions configure a reclaimer. The zero value suits most uses.
type ReclaimerOptions struct {
	// Stripes is the number of counters in which subgroups announce that they have entered an epoch, a power of two.
	// The default is 128, or 16 on CPU devices. With more stripes, subgroups collide less often; with fewer, the
	// counters are read faster.
	Stripes int
	// BagSlabs is the number of slabs in a limbo bag. The default is 512. A stripe has five bags, with 4 bytes for each
	// slab. Kernels try to advance the epoch each time a quarter of a bag is filled. A slab for which its bag has no
	// room is freed only when the dispatch has ended.
	BagSlabs int
	// Clear says that all words of a slab are set to ~0 when it is freed after a dispatch. Slab lists and hash tables
	// that share the pool rely on this. For slabs that kernels free, the kernel decides (epoch_leave_slabs).
	Clear bool
}

const (
	mostStripes  = 1 << 12
	mostBagSlabs = 1 << 16

	epochClasses  = 5   // EPOCH_CLASSES of epoch.glsl
	epochKeptAt   = 128 // EPOCH_KEPT_AT
	epochLines    = 256 // EPOCH_STRIPES_AT
	epochLine     = 128
	segmentSlabs  = 1 << 15 // 2^EPOCH_KEPT_SHIFT of epoch_slab.glsl
	reclaimGroups = 1024    // workgroups of a pass at most
)

// DeviceReclaimer is a reclaimer as kernels see it. Put it into push constants unchanged: it is EpochReclaimer of
// epoch.glsl.
type DeviceReclaimer struct {
	State   uint64 // address
	Stripes uint32
	Bag     uint32 // slabs
}

// Reclaimer frees slabs that a kernel removed from a structure while other threads of the same dispatch may still read
// them. It is epoch-based reclamation after Awad's dissertation (2022), section 4.4.4, and DEBRA;
// shaders/include/epoch.glsl, the device's part, explains it. Several goroutines may use one Reclaimer, each with its
// own streams.
type Reclaimer struct {
	pool *SlabPool
	o    ReclaimerOptions
	uses vk.Uses

	// To change the fields below, enter the pool.
	state  *vk.Buffer[uint32] // nil after Close
	blocks int                // memory blocks of the pool that state has marks for
	totals *vk.Buffer[uint32] // of reclaim.comp
}

// NewReclaimer makes a reclaimer for the slabs of a pool. Errors: one for options that are not valid,
// *vk.OutOfMemoryError, vk.ErrClosed if the pool is closed.
func NewReclaimer(ctx context.Context, p *SlabPool, o ReclaimerOptions) (*Reclaimer, error) {
	if !p.made() {
		return nil, vk.ErrNotOpen
	}
	stripes := 128
	if p.d.Info().Type == vk.CPU {
		stripes = 16
	}
	o.Stripes, o.BagSlabs = cmp.Or(o.Stripes, stripes), cmp.Or(o.BagSlabs, 512)
	if o.Stripes < 1 || o.Stripes > mostStripes || bits.OnesCount(uint(o.Stripes)) != 1 {
		return nil, fmt.Errorf("alloc: a reclaimer of %d stripes: want a power of two up to %d", o.Stripes, mostStripes)
	}
	if o.BagSlabs < 1 || o.BagSlabs > mostBagSlabs {
		return nil, fmt.Errorf("alloc: limbo bags of %d slabs: want 1 to %d", o.BagSlabs, mostBagSlabs)
	}
	leave, err := p.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	r := &Reclaimer{pool: p, o: o}
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

// made reports whether the reclaimer was made by NewReclaimer.
func (r *Reclaimer) made() bool { return r != nil && r.pool != nil }

// fit makes the reclaimer large enough for all slabs of its pool. The caller has entered the pool, or is the only user.
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
	s.Fill(state, 0, int(state.Bytes()), 0)
	for i, at := range []int{flags, marks} {
		address := state.Address() + uint64(at)
		s.Fill(state, epochKeptAt+8*i, 4, uint32(address))
		s.Fill(state, epochKeptAt+8*i+4, 4, uint32(address>>32))
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

// On calls record, which records dispatches whose kernels retire slabs, or read slabs that other kernels retire. After
// them, On records a pass that returns all slabs left in limbo to the pool. When the stream has run that pass, only
// reachable slabs are allocated. Everything is recorded, or nothing (vk.Stream.Whole).
//
// Work recorded by On waits on the device for the work that other streams recorded by On before, even if they use
// different structures. Dispatches that may read the same retired slabs belong in one call. The descriptions passed to
// record are valid for this call only. record may call the pool, or a structure that shares it, only for descriptions
// (otherwise *structures.ReentryError).
//
// Errors: those of record and of making a kernel, vk.ErrUnsubmitted if another stream has recorded work by On and not
// submitted it, *vk.OutOfMemoryError if the pool has grown and the reclaimer cannot, vk.ErrClosed.
func (r *Reclaimer) On(s *vk.Stream, record func(DevicePool, DeviceReclaimer) error) error {
	if !r.made() {
		return vk.ErrNotOpen
	}
	p := r.pool
	ctx := context.Background()
	leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if r.state == nil {
		return vk.ErrClosed
	}
	if err := p.d.Accept("stream", s); err != nil {
		return err
	}
	k, err := kernel[reclaimPush](p, "reclaim")
	if err != nil {
		return err
	}
	if err := r.fit(ctx); err != nil {
		return err
	}
	if err := r.uses.Order(s); err != nil {
		return err
	}
	device := DeviceReclaimer{r.state.Address(), uint32(r.o.Stripes), uint32(r.o.BagSlabs)}
	err = s.Whole(func() error {
		if err := p.gate.Outside(func() error { return record(p.Device(), device) }); err != nil {
			return err
		}
		r.reclaim(s, k, device)
		return nil
	})
	if err == nil {
		r.uses.On(s)
		p.uses.On(s)
	}
	return err
}

type reclaimPush struct {
	Pool            DevicePool
	Reclaimer       DeviceReclaimer
	Totals          uint64
	Segments, Clear uint32
}

// reclaim records the pass that frees the slabs left in limbo.
func (r *Reclaimer) reclaim(s *vk.Stream, k *vk.Kernel[reclaimPush], device DeviceReclaimer) {
	push := reclaimPush{Pool: r.pool.Device(), Reclaimer: device, Totals: r.totals.Address(),
		Segments: uint32(segmentsOf(r.pool.blocks()))}
	if r.o.Clear {
		push.Clear = 1
	}
	subgroups := r.o.Stripes*epochClasses + int(push.Segments)
	perGroup := max(k.Workgroup()/r.pool.d.SubgroupSize(), 1)
	k.Dispatch(s, min((subgroups+perGroup-1)/perGroup, reclaimGroups), push)
}

// ReclaimerStats counts slabs since the reclaimer was made, modulo 2^32.
type ReclaimerStats struct {
	Freed uint32 // freed by kernels during a dispatch
	Left  uint32 // in limbo bags at the end of a dispatch
	Kept  uint32 // not in a limbo bag, because it was full; freed at the end of the dispatch
	// Stuck counts the subgroups that had entered an epoch and not left it by the end of their dispatch. This is a
	// mistake in the shader, and it keeps slabs from being freed during the dispatch.
	Stuck uint32
	Bytes uint64 // device memory taken
}

// Retired returns the number of slabs that were retired.
func (s ReclaimerStats) Retired() uint32 { return s.Freed + s.Left + s.Kept }

// Stats waits for the work that On has recorded, and returns its counts. Errors: vk.ErrUnsubmitted if some of the work
// was not submitted, the context's, vk.ErrClosed.
func (r *Reclaimer) Stats(ctx context.Context) (ReclaimerStats, error) {
	if !r.made() {
		return ReclaimerStats{}, vk.ErrNotOpen
	}
	leave, err := r.pool.enter(ctx)
	if err != nil {
		return ReclaimerStats{}, err
	}
	defer leave()
	if r.state == nil {
		return ReclaimerStats{}, vk.ErrClosed
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

// Close frees the reclaimer after the work that On has recorded. It may also be called after the pool was closed.
// Further calls of Close do nothing; other methods return vk.ErrClosed. Error: *structures.ReentryError if On's record
// calls it.
func (r *Reclaimer) Close() error {
	if !r.made() {
		return vk.ErrNotOpen
	}
	if !r.pool.entered {
		leave, _, err := r.pool.gate.Shut()
		if err != nil {
			return err
		}
		defer leave()
	}
	if r.state == nil {
		return nil
	}
	state, totals := r.state, r.totals
	r.state = nil
	r.uses.Free(func() {
		state.Free()
		totals.Free()
	})
	return nil
}
