package btree

import (
	"context"
	"io"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/handle"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// tree is a Tree without its type parameters.
type tree struct {
	handle.Handle
	columns    saved.Columns // the types of keys and values
	memory     *vk.Budget    // for memory that the tree keeps
	o          Options
	width      structures.Width // of keys and values
	tiles      tiles
	queries    queryShape
	state      *vk.Buffer[uint32] // counters, BTREE_…_AT in btree_node.glsl
	reader     *ordered.Reader
	order      *sequential.Order // of concurrent batches from Go slices
	primitives *primitives.Primitives
	scratch    recording.Scratch
	root       uint32 // the slab of the root
	seed       *claim // in a shared pool (claim.go): the root's slab
	planted    bool   // there are nodes
	claims     claims
	known      counted   // the number of nodes
	building   *building // the last BuildOn that may be dropped, or nil
	failures   uint32    // of the pool, when last read
	visits     uint32    // the visit budget of a dispatch of a concurrent batch
	mostVisits uint32    // the greatest visits that a retry gets
	batches    tally
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
	t.reader = ordered.NewReader(&t.Handle, t.width, t.newest())
	t.versions.writes = &t.Changes
	return t
}

// inside runs do in a call of its own.
func (t *tree) inside(ctx context.Context, do func() error) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
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
	t := bare(columns)
	t.Open("tree", d, o.Progress)
	t.o, t.tiles, t.queries = o, bestTiles(d, o.Tile), bestQueryShape(d, o.Tile)
	t.order, t.primitives = sequential.New(d), primitives.New(d, primitives.Options{})
	t.scratch, t.memory = recording.NewScratch(d), d.Budget("MaxBytes", o.MaxBytes)
	t.visits, t.mostVisits = firstVisits(d), maxVisits
	options := t.poolOptions(blocksFor(t.geometry().nodesFor(o.Capacity, o.Fill)))
	if err := t.fits(options); err != nil {
		return t, pipeline.Impossible("Capacity", o.Capacity, err)
	}
	var err error
	if t.Stream, err = d.NewStream(); err != nil {
		return t, err
	}
	if t.state, err = vk.NewBuffer[uint32](t.memory, stateWords); err != nil {
		return t, err
	}
	if err := t.state.Upload(ctx, 0, make([]uint32, stateWords)); err != nil {
		return t, err
	}
	t.Meter.Hold(t.state.Bytes())
	if err = t.Over(ctx, shared, options); err != nil || !t.Shares {
		return t, err
	}
	return t, t.inside(ctx, func() error {
		if err := t.roomBeside(ctx, t.geometry().nodesFor(o.Capacity, o.Fill)); err != nil {
			return pipeline.Impossible("Capacity", o.Capacity, err)
		}
		return t.plant(ctx)
	})
}

// fits returns an error if there is too little memory for the tree's own pool, if it needs one.
func (t *tree) fits(o slabs.Options) error {
	if t.o.Pool != nil {
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
	return Description{Pool: alloc.PoolDescription(t.Pool.Description()), State: t.state.Address(), Root: t.root}
}

func (t *tree) Description() Description {
	return handle.Describe(&t.Handle, func() Description {
		t.known.unsure = true
		return t.description()
	})
}

func (t *tree) Constants() map[string]uint32 {
	if t.Gate == nil {
		return nil
	}
	leave, _ := t.Take()
	defer leave()
	c := t.Pool.Constants()
	c["TILE"], c["BTREE_SHARES"] = uint32(t.tiles.update), word(t.Shares)
	return c
}

// words returns the number of 32-bit words of a key or a value.
func (t *tree) words() int { return t.width.Bytes() / 4 }

// groups returns how many workgroups have so many invocations.
func groups(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// empty makes the tree empty.
func (t *tree) empty(ctx context.Context) error {
	b := bulk{Fill: t.o.Fill}
	return t.remake(ctx, b, func(b bulk) error { return t.bulkSorted(t.Stream, b) })
}

// Clear is Tree.Clear.
func (t *tree) Clear(ctx context.Context) error {
	if err := t.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer t.Leave()
	t.Changes.Made()
	if t.versions.protect() {
		all := ordered.NewDeletion([]structures.Range[uint64]{{Hi: ordered.LastKey(t.width)}}, t.width)
		_, err := all.Result(t.deletePieces(ctx, all))
		return err
	}
	return t.empty(ctx)
}

// Close is Tree.Close.
func (t *tree) Close() error {
	if t == nil {
		return nil // it was never made
	}
	return t.Handle.Close(t.close)
}

func (t *tree) close(shares bool) (err error) {
	if shares {
		if err = t.uproot(context.Background()); pipeline.Short(err) {
			return err
		}
	}
	err = joint.Error(err, t.Free(), t.primitives.Close())
	t.order.Close()
	t.scratch.Release(&t.Uses)
	t.versions.free()
	t.Uses.Free(t.state.Free)
	if t.seed != nil { // the pool is closed
		t.seed.memory.Free()
	}
	return err
}

// Prepare makes all kernels that calls on the tree may need (structures.Dictionary).
func (t *tree) Prepare(ctx context.Context) error { return t.Handle.Prepare(ctx, t.all) }

// savedFill is the parameter that is saved with the pairs.
var savedFill = transfer.Parameter{Structure: "btree", Name: "fill", Option: "Fill"}

// Save is Tree.Save.
func (t *tree) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.EnterAfterChanges(ctx); err != nil {
		return 0, err
	}
	defer t.Leave()
	reader := t.reader.Inside()
	n, err := reader.Total(ctx)
	if err != nil {
		return 0, err
	}
	return reader.Save(ctx, w, savedFill.Header(t.o.Fill, n), t.columns)
}

// load makes a tree from a file.
func load(ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns, o Options) (*tree, error) {
	return transfer.Loader[*tree]{
		Columns: columns,
		New:     func(h saved.Header, pairs int) (*tree, error) { return newAsSaved(ctx, d, columns, o, h, pairs) },
		Reserve: (*tree).Reserve,
		Insert:  (*tree).insert,
	}.Load(ctx, r)
}

func (t *tree) insert(ctx context.Context, pairs pipeline.Operations) error {
	return t.update(ctx, request{Operations: pairs})
}

// newAsSaved makes an empty tree with the saved options, and room for so many pairs.
func newAsSaved(ctx context.Context, d *vk.Device, columns saved.Columns, o Options, h saved.Header,
	pairs int) (*tree, error) {
	o.Capacity = max(o.Capacity, pairs)
	return transfer.Made(h, savedFill, &o.Fill, func() (*tree, error) { return makeTree(ctx, d, columns, o) })
}
