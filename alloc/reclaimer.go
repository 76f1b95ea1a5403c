package alloc

import (
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/slabs"
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

// ReclaimerDescription is a reclaimer as kernels see it. Put it into push constants unchanged: it is EpochReclaimer of
// epoch.glsl.
type ReclaimerDescription struct {
	State   uint64 // address
	Stripes uint32
	Bag     uint32 // slabs
}

// Reclaimer frees slabs that a kernel removed from a structure while other threads of the same dispatch may still read
// them. It is epoch-based reclamation after Awad's dissertation (2022), section 4.4.4, and DEBRA;
// shaders/include/epoch.glsl, the device's part, explains it. Several goroutines may use one Reclaimer, each with its
// own streams.
type Reclaimer struct {
	core *slabs.Reclaimer
	gate *gate.Gate // the pool's
}

// NewReclaimer makes a reclaimer for the slabs of a pool. Errors: *vk.OptionError,
// *vk.OutOfMemoryError, vk.ErrClosed if the pool is closed.
func NewReclaimer(ctx context.Context, p *SlabPool, o ReclaimerOptions) (*Reclaimer, error) {
	pool, leave, err := p.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	core, err := slabs.NewReclaimer(ctx, pool, slabs.ReclaimerOptions(o))
	if err != nil {
		return nil, err
	}
	return &Reclaimer{core, pool.Gate()}, nil
}

// turns returns the pool's gate, or nil if NewReclaimer has not made the reclaimer.
func (r *Reclaimer) turns() *gate.Gate {
	if r == nil {
		return nil
	}
	return r.gate
}

// On calls record, which records dispatches whose kernels retire slabs, or read slabs that other kernels retire. After
// them, On records a pass that returns all slabs left in limbo to the pool. When the stream has run that pass, only
// reachable slabs are allocated. Everything is recorded, or nothing (vk.Stream.Whole).
//
// Work recorded by On waits on the device for the work that other streams recorded by On before, even if they use
// different structures. Dispatches that may read the same retired slabs belong in one call. The descriptions passed to
// record are valid for this call only. While record runs, the pool is in use by work that is not submitted, so calls
// that need the pool for themselves, for example Grow, return vk.ErrUnsubmitted.
//
// Errors: those of record and of making a kernel, vk.ErrUnsubmitted if another stream has recorded work by On and not
// submitted it, *vk.OutOfMemoryError if the pool has grown and the reclaimer cannot, vk.ErrClosed.
func (r *Reclaimer) On(s *vk.Stream, record func(PoolDescription, ReclaimerDescription) error) error {
	launch, err := r.begin(s)
	if err != nil {
		return err
	}
	return launch.Record(func() error {
		return record(PoolDescription(launch.Pool),
			ReclaimerDescription(launch.Reclaimer))
	})
}

func (r *Reclaimer) begin(s *vk.Stream) (*slabs.Launch, error) {
	if err := r.turns().Enter(context.Background()); err != nil {
		return nil, err
	}
	defer r.gate.Leave()
	return r.core.Begin(s)
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
	if err := r.turns().Enter(ctx); err != nil {
		return ReclaimerStats{}, err
	}
	defer r.gate.Leave()
	s, err := r.core.Stats(ctx)
	return ReclaimerStats(s), err
}

// Close frees the reclaimer after the work that On has recorded. It may also be called after the pool was closed.
// Further calls of Close do nothing; other methods return vk.ErrClosed.
func (r *Reclaimer) Close() error {
	leave, _, err := r.turns().Shut()
	if err != nil {
		return err
	}
	defer leave()
	r.core.Close()
	return nil
}
