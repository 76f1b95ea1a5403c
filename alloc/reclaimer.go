package alloc

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/vk"
)

// ReclaimerOptions say how a reclaimer is laid out. The zero value is right for most.
type ReclaimerOptions struct {
	// Stripes is how many counters of announcements there are, a power of two; 0 = 128, on CPU devices 16. Subgroups
	// share them: more of them meet less often, and fewer are looked at faster.
	Stripes int
	// BagSlabs is how many slabs a limbo bag holds; 0 = 512. A stripe has five bags, of 4 bytes a slab. Kernels try to
	// move the epoch on whenever a quarter of a bag was filled. What finds no room in its bag isn't free before the
	// dispatch has ended.
	BagSlabs int
	// Clear has all words of a slab made ~0 where it is freed behind a dispatch, as slab lists and tables rely on that
	// share the pool. Kernels say for themselves whether they do so (epoch_leave_slabs).
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

// DeviceReclaimer is a reclaimer as kernels see it: EpochReclaimer of epoch.glsl, to be laid into push constants as it
// is.
type DeviceReclaimer struct {
	State   uint64 // address
	Stripes uint32
	Bag     uint32 // slabs
}

// Reclaimer frees slabs of a pool that kernels take out of a structure while others of the same dispatch may still be
// reading them: epoch-based reclamation after Awad's dissertation (2022), section 4.4.4, and DEBRA. The device's part,
// shaders/include/epoch.glsl, says how it works. Several goroutines may use one, each with streams of its own.
type Reclaimer struct {
	pool *SlabPool
	o    ReclaimerOptions
	uses vk.Uses

	// Whoever changes what follows has entered the pool.
	state  *vk.Buffer[uint32] // nil after Close
	blocks int                // of the pool, that state has marks for
	totals *vk.Buffer[uint32] // of reclaim.comp
}

// NewReclaimer makes a reclaimer for the slabs of a pool. The pool is closed behind it. Errors: what options are wrong,
// *vk.OutOfMemoryError, vk.ErrClosed where the pool is.
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

// made says whether NewReclaimer has made the reclaimer.
func (r *Reclaimer) made() bool { return r != nil && r.pool != nil }

// fit makes the reclaimer one for all slabs that its pool has. Whoever calls it has entered the pool, or is alone.
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

// segmentsOf is the number of segments that the marks of so many memory blocks have.
func segmentsOf(blocks int) int { return (blocks*BlockSlabs + segmentSlabs - 1) / segmentSlabs }

// On has a function record dispatches whose kernels retire slabs, or read what others retire, and records behind them
// that all slabs which are left in limbo go back to the pool: so the pool holds what can be reached and nothing else
// once the stream has come this far. All of it is recorded, or nothing (vk.Stream.Whole).
//
// What is recorded by On waits, on the device, for what other streams recorded by On before, whatever they have to do
// with each other; dispatches between which slabs may still be read belong into one call. The descriptions hold for
// this call. The function may not call the pool or a structure that shares it for more than descriptions
// (*structures.ReentryError).
//
// Errors: the function's, those of making a kernel, vk.ErrUnsubmitted where another stream has recorded work by On and
// not submitted it, *vk.OutOfMemoryError where the pool has grown and the reclaimer can't, vk.ErrClosed.
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

// reclaim records the pass that frees what is left.
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

// ReclaimerStats count slabs, since the reclaimer was made, modulo 2^32.
type ReclaimerStats struct {
	Freed uint32 // by kernels, for others of the same dispatch
	Left  uint32 // in limbo bags at a dispatch's end
	Kept  uint32 // in no limbo bag, since that was full, and freed at the dispatch's end
	// Stuck counts the subgroups that had entered an epoch and not left it by the end of their dispatch: a mistake of
	// the shader, for which slabs weren't freed earlier.
	Stuck uint32
	Bytes uint64 // device memory taken
}

// Retired is how many slabs were retired.
func (s ReclaimerStats) Retired() uint32 { return s.Freed + s.Left + s.Kept }

// Stats waits for the work that On has recorded, and returns what it came to. Errors: vk.ErrUnsubmitted where some of
// it was not submitted, the context's, vk.ErrClosed.
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

// Close frees the reclaimer behind the work that On has recorded, also after its pool. Further calls of Close do
// nothing; the others return vk.ErrClosed. Error: *structures.ReentryError, from a function that On has called.
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
