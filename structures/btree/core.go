package btree

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// tree is a Tree without its type parameters.
type tree struct {
	columns    saved.Columns // the types of keys and values
	d          *vk.Device
	memory     *vk.Budget // for memory that the tree keeps
	o          Options
	width      structures.Width // of keys and values
	tiles      tiles
	queries    queryShape
	pool       *slabs.Pool
	state      *vk.Buffer[uint32] // counters, BTREE_…_AT in btree_node.glsl
	stream     *vk.Stream         // for work outside of batches
	pipelines  *pipeline.Pool
	reader     *ordered.Reader
	order      *sequential.Order // of concurrent batches from Go slices
	kernels    *recording.Kernels
	primitives *primitives.Primitives
	scratch    recording.Scratch
	own        *recording.Own
	root       uint32 // the slab of the root
	shared     bool   // the pool has other users (claim.go)
	seed       *claim // in a shared pool: the root's slab
	planted    bool   // there are nodes
	claims     claims
	uses       vk.Uses   // of the tree's memory, by streams
	known      counted   // the number of nodes
	building   *building // the last BuildOn that may be dropped, or nil
	failures   uint32    // of the pool, when last read
	visits     uint32    // the visit budget of a dispatch of a concurrent batch
	mostVisits uint32    // the greatest visits that a retry gets
	meter      recording.Meter
	metered    atomic.Pointer[slabs.Pool] // the pool, for Metrics
	batches    tally
	gate       *gate.Gate
	progress   *gate.Progress
	prepared   recording.Prepared
	ahead      recording.Ahead // of batches, by kind, what is sorted with the keys, and whether snapshots are open
	versions   versions
}

const (
	workgroup  = 64
	stateWords = 192 // the counters, and from planAt on the plan of the bulk build (shaders/btree/build.glsl)
	planAt     = 64
)

// makeTree makes an empty tree.
func makeTree(ctx context.Context, d *vk.Device, columns saved.Columns, o Options) (*tree, error) {
	t, err := open(ctx, d, columns, o)
	if err == nil {
		if o.Path == Batched {
			r := t.batchRecorder(nil, batched{Kind: structures.Insert})
			r.begins()
		}
		err = t.inside(ctx, func() error { return t.empty(ctx) })
	}
	if err != nil {
		return nil, joint.Error(err, t.Close())
	}
	return t, nil
}

// bare returns a tree that is not open.
func bare(columns saved.Columns) *tree {
	t := &tree{columns: columns, width: columns.Width()}
	t.reader = ordered.NewReader(nil, t.width, t.newest(), nil, nil, nil)
	return t
}

// inside runs do in a call of its own.
func (t *tree) inside(ctx context.Context, do func() error) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	return do()
}

// open makes a tree without nodes. Close it, also after an error.
func open(ctx context.Context, d *vk.Device, columns saved.Columns, o Options) (*tree, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := o.complete(d, columns.Width()); err != nil {
		return nil, err
	}
	var shared *slabs.Pool
	if o.Pool != nil {
		shared = slabs.Of(o.Pool)
		if err := shared.Accept(d); err != nil {
			return nil, err
		}
	}
	t := &tree{
		columns: columns, d: d, o: o, width: columns.Width(), shared: o.Pool != nil, gate: gate.New(),
		tiles:     bestTiles(d, o.Tile),
		queries:   bestQueryShape(d, o.Tile),
		pipelines: pipeline.NewPool(d), order: sequential.New(d), kernels: recording.NewKernels(d),
		primitives: primitives.New(d, primitives.Options{}), scratch: recording.NewScratch(d), own: recording.NewOwn(d),
		visits: firstVisits(d), mostVisits: maxVisits, memory: d.Budget("MaxBytes", o.MaxBytes),
	}
	t.kernels.Over(func() recording.Form { return t.pool.Form() }) // a compaction replaces the pool
	if t.shared {
		t.gate = gate.Within(shared.Gate())
	}
	t.progress = gate.NewProgress(o.Progress)
	t.reader = ordered.NewReader(d, t.width, t.newest(), t.pipelines, t.own, t.progress)
	pool := t.poolOptions(blocksFor(t.geometry().nodesFor(o.Capacity, o.Fill)))
	if err := t.fits(pool); err != nil {
		return t, pipeline.Impossible("Capacity", o.Capacity, err)
	}
	var err error
	if t.stream, err = d.NewStream(); err != nil {
		return t, err
	}
	if t.state, err = vk.NewBuffer[uint32](t.memory, stateWords); err != nil {
		return t, err
	}
	if err := t.state.Upload(ctx, 0, make([]uint32, stateWords)); err != nil {
		return t, err
	}
	if t.shared {
		t.pool = shared
		err = t.inside(ctx, func() error {
			if err := t.roomBeside(ctx, t.geometry().nodesFor(o.Capacity, o.Fill)); err != nil {
				return pipeline.Impossible("Capacity", o.Capacity, err)
			}
			return t.plant(ctx)
		})
	} else {
		t.pool, err = slabs.New(ctx, d, pool)
	}
	if err == nil {
		t.metered.Store(t.pool)
	}
	return t, err
}

// fits returns an error if there is too little memory for the tree's own pool, if it needs one.
func (t *tree) fits(o slabs.Options) error {
	if t.shared {
		return nil
	}
	sizes, err := slabs.Sizes(o)
	if err == nil {
		err = t.memory.Fits(sizes...)
	}
	return err
}

// poolOptions returns the options of the tree's own pool.
func (t *tree) poolOptions(blocks int) slabs.Options {
	return slabs.Options{Blocks: blocks, MaxBytes: t.o.MaxBytes, Memory: t.memory}
}

// blocksFor returns how many memory blocks hold so many nodes.
func blocksFor(nodes int) int { return (nodes + slabs.BlockSlabs - 1) / slabs.BlockSlabs }

// description describes the tree for one dispatch.
func (t *tree) description() Description {
	return Description{Pool: alloc.PoolDescription(t.pool.Description()), State: t.state.Address(), Root: t.root}
}

func (t *tree) Description() Description {
	leave, _ := t.gate.Take()
	defer leave()
	if t.gate.Err() != nil {
		return Description{}
	}
	t.known.unsure = true
	return t.description()
}

func (t *tree) Constants() map[string]uint32 {
	if t.gate == nil {
		return nil
	}
	leave, _ := t.gate.Take()
	defer leave()
	c := t.pool.Constants()
	c["TILE"] = uint32(t.tiles.update)
	return c
}

// words returns the number of 32-bit words of a key or a value.
func (t *tree) words() int { return t.width.Bytes() / 4 }

// groups returns how many workgroups have so many invocations.
func groups(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// empty makes the tree empty.
func (t *tree) empty(ctx context.Context) error {
	b := bulk{Fill: t.o.Fill}
	return t.remake(ctx, b, func(b bulk) error { return t.bulkSorted(t.stream, b) })
}

// Clear removes all pairs, and keeps the memory. Errors: vk.ErrUnsubmitted (Finish), the context's.
func (t *tree) Clear(ctx context.Context) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	t.versions.writes.Made()
	if t.versions.protect() {
		all := ordered.NewDeletion([]structures.Range[uint64]{{Hi: ordered.LastKey(t.width)}}, t.width)
		_, err := all.Result(t.deletePieces(ctx, all))
		return err
	}
	return t.empty(ctx)
}

// on records all or nothing of what record records, and notes that it uses the tree's memory.
func (t *tree) on(s *vk.Stream, record func() error) error {
	return recording.Naming(s, record, &t.uses, t.pool.Uses())
}

// Metrics returns what the host knows. It neither asks the device nor waits for other calls.
func (t *tree) Metrics() structures.Metrics {
	m := t.meter.Metrics(t.d)
	if pool := t.metered.Load(); pool != nil {
		m.Bytes, m.Growths = 4*stateWords+pool.Bytes(), m.Growths+pool.Growths()
	}
	return m
}

func (t *tree) UsedOn(s *vk.Stream) {
	leave, open := t.gate.Take()
	defer leave()
	if open {
		t.uses.On(s)
		t.pool.Uses().On(s)
		t.versions.writes.On(s)
	}
}

// Close is Tree.Close.
func (t *tree) Close() error {
	if t == nil {
		return nil // it was never made
	}
	return t.gate.Close(t.close)
}

func (t *tree) close() (err error) {
	if t.shared && t.pool != nil && t.gate.Err() == nil {
		if err := t.uses.Rest(context.Background()); errors.Is(err, vk.ErrUnsubmitted) {
			return err
		}
		if err = t.uproot(context.Background()); pipeline.Short(err) {
			return err
		}
	}
	t.gate.End()
	if t.stream != nil {
		err = joint.Error(err, t.stream.Close())
	}
	err = joint.Error(err, t.pipelines.Close(), t.primitives.Close())
	t.order.Close()
	t.kernels.Close()
	t.scratch.Release(&t.uses)
	t.own.Release(&t.uses)
	t.versions.free()
	if t.state != nil {
		t.uses.Free(t.state.Free)
	}
	if t.seed != nil { // the pool is closed
		t.seed.memory.Free()
	}
	if pool := t.metered.Swap(nil); pool != nil {
		t.meter.GrowBy(pool.Growths())
	}
	if t.pool != nil && !t.shared {
		err = joint.Error(err, t.pool.Close())
	}
	return err
}
