// Package btree is an ordered dictionary in GPU memory that can be searched and changed at the same time: a B-link-tree
// of 128-byte nodes, after Awad, Ashkiani, Johnson, Farach-Colton and Owens, Engineering a High-Performance GPU B-Tree
// (2019), and chapter 3 of Awad's dissertation, Fully Concurrent GPU Data Structures (2022).
//
// Keys and values are 32 bits, and none of them is reserved. Updates come in by two ways. The concurrent one does
// mixed operations concurrently, from Go slices, from streams and from other people's kernels. The batched one
// takes large batches: it sorts them and changes each node that they touch once, without latches.
package btree

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/internal/pools"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/sequential"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Device is a tree as kernels see it: BTree of shaders/include/btree_node.glsl. Embed it in the push constants of a
// kernel of your own. It holds until the next call on the tree that may give it more memory: any update from Go slices,
// Finish, Compact, Clear, Close. UsedOn keeps those back from the memory.
type Device struct {
	Pool  alloc.DevicePool
	State uint64 // address of the tree's counters
	Root  uint32 // its slab
}

// Tree is a B-link-tree. Several goroutines may use one: queries run beside one another, and what changes it runs alone
// (structures.Dictionary says more); so do Len, Stats, Check and Export.
//
// Its updates and queries are those of structures.Updates and structures.Queries. Of equal keys in a batch of deletions
// any may be the one Deleted on the concurrent path, and the first is on the batched one. Of queries on streams, FindOn
// with SortedFirst, and where it measured faster with AutoOrder (docs/benchmarks.md), and NeighborOn bring the keys
// into parts in order first (primitives.Partition). Candidates of CountOn and RangeOn are the pairs themselves; where
// one range has so many neighbouring leaves that a dispatch would take too long, they are said to be 2^63 and more, and
// it isn't done: Count and Range cut such ranges up.
type Tree struct {
	structures.Updates
	structures.Queries

	d          *vk.Device
	o          Options
	width      structures.Width // of keys and values
	tiles      tiles
	queries    queryShape
	pool       *alloc.SlabPool
	state      *vk.Buffer[uint32] // counters, BTREE_…_AT in btree_node.glsl
	stream     *vk.Stream         // for what is done outside of batches
	pipelines  *pipeline.Pool
	reader     ordered.Reader
	order      *sequential.Order // of concurrent batches from Go slices
	kernels    *recording.Kernels
	primitives *primitives.Primitives
	scratch    recording.Scratch
	own        *recording.Own
	root       uint32 // its slab
	shared     bool   // the pool has other users (claim.go)
	seed       *claim // in a shared pool: the root's slab
	planted    bool   // there are nodes
	claims     claims
	uses       vk.Uses   // of the tree's memory
	known      counted   // of its nodes
	building   *building // nil: all that BuildOn has recorded is certain
	failures   uint32    // of the pool, as last seen
	visits     uint32    // the visit budget of a dispatch of a concurrent batch
	mostVisits uint32    // that it is raised to
	meter      recording.Meter
	metered    atomic.Pointer[alloc.SlabPool] // the pool, for Metrics
	batches    tally
	gate       *gate.Gate
	prepared   atomic.Bool // all kernels are made
	changes    uint64      // to the pairs, so far
}

const (
	workgroup  = 64
	stateWords = 192 // the counters, and from planAt on the plan of the bulk build (shaders/btree/build.glsl)
	planAt     = 64
)

// New makes an empty tree. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated,
// where there is no memory for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*Tree, error) {
	t, err := open(ctx, d, o, structures.Bits32)
	if err == nil {
		err = t.inside(ctx, func() error { return t.empty(ctx) })
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// inside does something in a call of its own.
func (t *Tree) inside(ctx context.Context, do func() error) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	return do()
}

// open makes a tree without nodes. It is to be closed, also after an error.
func open(ctx context.Context, d *vk.Device, o Options, width structures.Width) (*Tree, error) {
	if err := o.complete(d); err != nil {
		return nil, err
	}
	if o.Pool != nil {
		if err := pools.Of(o.Pool).Accept(d); err != nil {
			return nil, err
		}
	}
	t := &Tree{
		d: d, o: o, width: width, shared: o.Pool != nil, gate: gate.New(), tiles: bestTiles(d, o.Tile),
		queries:   bestQueryShape(d, o.Tile),
		pipelines: pipeline.NewPool(d), order: sequential.New(d), kernels: recording.NewKernels(d),
		primitives: primitives.New(d, primitives.Options{}), scratch: recording.NewScratch(d), own: recording.NewOwn(d),
		visits: firstVisits(d), mostVisits: maxVisits,
	}
	if t.shared {
		t.gate = gate.Within(pools.Of(o.Pool).Gate())
	}
	t.o.Progress = t.gate.Progress(o.Progress)
	t.Updates, t.Queries = pipeline.Updates(t.UpdateInto), &t.reader
	t.reader = ordered.NewReader(d, (*recorder)(t), t.pipelines, t.own, t.o.Progress)
	pool := alloc.PoolOptions{Blocks: blocksFor(t.geometry().nodesFor(o.Capacity, o.Fill)), MaxBytes: o.MaxBytes}
	if err := t.fits(pool); err != nil {
		return t, &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
	}
	var err error
	if t.stream, err = d.NewStream(); err != nil {
		return t, err
	}
	if t.state, err = vk.NewBuffer[uint32](d, stateWords); err != nil {
		return t, err
	}
	if err := t.state.Upload(ctx, 0, make([]uint32, stateWords)); err != nil {
		return t, err
	}
	if t.shared {
		t.pool = pools.Inside(o.Pool)
		err = t.inside(ctx, func() error {
			if err := t.roomBeside(ctx, t.geometry().nodesFor(o.Capacity, o.Fill)); err != nil {
				return &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
			}
			return t.plant(ctx)
		})
	} else {
		t.pool, err = alloc.NewSlabPool(ctx, d, pool)
	}
	if err == nil {
		t.metered.Store(t.pool)
	}
	return t, err
}

// fits says whether there is room for a pool of the tree's own, if it is to have one.
func (t *Tree) fits(o alloc.PoolOptions) error {
	if t.shared {
		return nil
	}
	sizes, err := pools.Sizes(o)
	if err == nil {
		err = t.d.Fits(sizes...)
	}
	return err
}

// blocksFor returns how many memory blocks hold so many nodes.
func blocksFor(nodes int) int { return (nodes + alloc.BlockSlabs - 1) / alloc.BlockSlabs }

// device describes the tree to one dispatch.
func (t *Tree) device() Device {
	return Device{Pool: t.pool.Device(), State: t.state.Address(), Root: t.root}
}

// Device describes the tree to a kernel of your own, which includes shaders/include/btree.glsl. Ask for it at every
// dispatch: the next call on the tree that may need room counts the nodes that the kernel may have added, for which
// UpdateOn waits. It holds until the next call on the tree that may give it more memory: any update from Go slices,
// UpdateOn, BuildOn, Finish, Compact, Clear, Close. Of a tree that is closed, or whose pool is, it is the zero value.
func (t *Tree) Device() Device {
	leave, open := t.gate.Take()
	defer leave()
	device := t.device()
	if !open || device.Pool == (alloc.DevicePool{}) {
		return Device{}
	}
	t.known.unsure = true
	return device
}

// Constants are the specialization constants that a kernel over the tree needs, by name. They may change when the tree
// gets more memory.
func (t *Tree) Constants() map[string]uint32 {
	leave, _ := t.gate.Take()
	defer leave()
	c := t.pool.Constants()
	c["TILE"] = uint32(t.tiles.update)
	return c
}

// kernel returns the kernel of a module of shaders/btree.
func kernel[P any](t *Tree, s *vk.Stream, module string, tile int,
	own ...recording.Specialization) (*vk.Kernel[P], error) {
	all := append(recording.OverPool(t.pool.Constants(), recording.Constant("TILE", uint32(tile))), own...)
	return recording.Kernel[P](t.kernels, s, "btree/"+module, workgroup, all...)
}

// groups returns how many workgroups have so many invocations.
func groups(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// empty makes the tree one without pairs.
func (t *Tree) empty(ctx context.Context) error {
	b := bulk{Fill: t.o.Fill}
	return t.remake(ctx, b, func(b bulk) error { return t.bulkSorted(t.stream, b) })
}

// Clear removes all pairs. The memory stays. Errors: vk.ErrUnsubmitted (Finish), the context's.
func (t *Tree) Clear(ctx context.Context) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	t.changes++
	return t.empty(ctx)
}

// on records what record records, all of it or nothing, and notes that it names the tree's memory.
func (t *Tree) on(s *vk.Stream, record func() error) error {
	return recording.Naming(s, record, &t.uses, t.pool.Uses())
}

// Metrics are what the host knows, without a look at the tree and without a turn.
func (t *Tree) Metrics() structures.Metrics {
	m := t.meter.Metrics(t.d)
	if pool := t.metered.Load(); pool != nil {
		m.Bytes, m.Growths = 4*stateWords+pool.Bytes(), m.Growths+pool.Growths()
	}
	return m
}

// UsedOn notes that what was recorded into a stream so far names the tree's memory, as Device describes it: kernels of
// your own, for the tree's methods do so themselves. Calls that replace that memory wait until the work has ended, or
// return vk.ErrUnsubmitted where it was not submitted; Close frees it behind the work.
func (t *Tree) UsedOn(s *vk.Stream) {
	leave, open := t.gate.Take()
	defer leave()
	if open {
		t.uses.On(s)
		t.pool.Uses().On(s)
	}
}

// Close frees the tree's memory, when the calls before have ended. What streams have recorded or submitted is allowed
// to end first: the memory goes when the streams find that it has. To a pool that others share, Close gives the nodes
// back, and waits for the streams for that: vk.ErrUnsubmitted, and nothing is done, where one has work recorded that it
// has not submitted; *vk.OutOfMemoryError, and nothing is done, where there is no memory to list them in. Further calls
// do nothing.
func (t *Tree) Close() error {
	if t == nil {
		return nil // it was never made
	}
	leave, open, err := t.gate.Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	if t.shared && t.pool != nil && pools.Of(t.pool).Accept(t.d) == nil {
		if err := t.uses.Rest(context.Background()); errors.Is(err, vk.ErrUnsubmitted) {
			return err
		}
		if err = t.uproot(context.Background()); pipeline.Short(err) {
			return err
		}
	}
	t.gate.End()
	if t.stream != nil {
		err = errors.Join(err, t.stream.Close())
	}
	err = errors.Join(err, t.pipelines.Close(), t.order.Close(), t.primitives.Close())
	t.kernels.Close()
	t.scratch.Release(&t.uses)
	t.own.Release(&t.uses)
	if t.state != nil {
		t.uses.Free(t.state.Free)
	}
	if t.seed != nil { // the pool is no more
		t.seed.memory.Free()
	}
	if pool := t.metered.Swap(nil); pool != nil {
		t.meter.GrowBy(pool.Growths())
	}
	if t.pool != nil && !t.shared {
		err = errors.Join(err, t.pool.Close())
	}
	return err
}
