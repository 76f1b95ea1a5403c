package slabhash

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

const (
	slabWords  = 32
	baseWords  = slabWords + 1 // of a bucket: its base slab, and a word for the tail of its list (slab_hash.glsl)
	maxBuckets = min(1<<31, math.MaxInt)
	fresh      = ^uint32(0) // each word of a new slab
	workgroup  = 64

	slotsBytes = 120 // bytes of a slab's slots; the rest is two words (slab.glsl)
)

// Description is a table as kernels see it: SlabHash of shaders/include/slab_hash.glsl. Embed it in the push constants
// of your own kernel. It is valid until the next call that may grow or rehash the table: an insertion from Go slices,
// Finish, Reserve, Rehash, Clear or Close. After UsedOn, these calls wait before they replace memory.
type Description struct {
	Base        uint64 // address of the base slabs, with a word for each bucket after them
	Pool        alloc.PoolDescription
	Buckets     uint32
	Seed        uint32
	Mask        uint32
	SpecialOnes uint32
	SpecialZero uint32
}

// base is the array of base slabs, and the values that depend on its length.
type base struct {
	slabs   *vk.Buffer[uint32]
	buckets uint32
	mask    uint32
	ones    uint32
	zero    uint32
}

// table is the slab hash of a Map or a Set, of any types.
type table struct {
	d         *vk.Device
	memory    *vk.Budget // the limit of what the table keeps
	o         Options
	width     structures.Width // of keys and values
	keys      bool             // a set
	columns   saved.Columns    // types of keys and values
	slots     int              // in a slab
	pool      *slabs.Pool
	ownPool   bool
	fences    bool // others may use slabs as soon as they are freed
	base      base
	tiles     tiles
	stream    *vk.Stream
	pipelines *pipeline.Pool
	order     *sequential.Order
	counter   *vk.HostBuffer[uint32] // for calls that run alone: read and cleared after recording.Run, which waits
	kernels   *recording.Kernels
	own       *recording.Own
	uses      vk.Uses // of the base slabs
	changes   recording.Changes
	visits    uint32
	used      uint64 // an upper bound of the slots in use; a survey tightens it
	meter     recording.Meter
	gate      *gate.Gate
	progress  *gate.Progress
	prepared  recording.Prepared
	ahead     recording.Ahead // for ordered insertions, by kind

	failures uint32 // of the pool, when they were last read
}

// bare returns a table that is not open.
func bare(columns saved.Columns) *table {
	return &table{width: columns.Width(), keys: columns.KeysOnly, columns: columns}
}

func newTable(ctx context.Context, d *vk.Device, columns saved.Columns, o Options) (*table, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := o.complete(d); err != nil {
		return nil, err
	}
	var pool *slabs.Pool // a shared one
	if o.Pool != nil {
		pool = slabs.Of(o.Pool)
		if err := pool.Accept(d); err != nil {
			return nil, err
		}
	}
	width, keys := columns.Width(), columns.KeysOnly
	t := &table{
		d: d, o: o, width: width, keys: keys, columns: columns, slots: SlotsAt(width, keys), pool: pool,
		tiles: bestTiles(d, width, keys, o.Tile), visits: initialVisits,
		kernels: recording.NewKernels(d), own: recording.NewOwn(d).Of(width),
		memory: d.Budget("MaxBytes", o.MaxBytes), progress: gate.NewProgress(o.Progress),
	}
	buckets, err := t.layOut()
	if err != nil {
		return nil, err
	}
	if err := t.open(ctx, buckets); err != nil {
		return nil, joint.Error(err, t.free(false))
	}
	return t, nil
}

// layOut returns the number of buckets for the options. It returns an error for impossible sizes before anything is
// allocated.
func (t *table) layOut() (uint32, error) {
	buckets, option, asked := uint32(t.o.Buckets), "Buckets", t.o.Buckets
	if buckets == 0 {
		buckets, option, asked = t.bucketsFor(uint64(t.o.Capacity)), "Capacity", t.o.Capacity
		if buckets == maxBuckets {
			err := fmt.Errorf("at load %g this takes more than %d buckets", t.o.Load, maxBuckets)
			return 0, pipeline.Impossible(option, asked, err)
		}
	}
	var sizes []uint64
	if t.pool == nil {
		var err error
		if sizes, err = slabs.Sizes(t.poolOptions(buckets)); err != nil {
			return 0, pipeline.Impossible(option, asked, err)
		}
	}
	if err := t.memory.Fits(append(sizes, uint64(buckets)*baseWords*4)...); err != nil {
		return 0, pipeline.Impossible(option, asked, err)
	}
	return buckets, nil
}

// poolOptions returns the options of the table's own pool.
func (t *table) poolOptions(buckets uint32) slabs.Options {
	// At a load of 0.7, one bucket in seven has a second slab.
	return slabs.Options{Blocks: max(1, int(float64(buckets)/7/slabs.BlockSlabs)), MaxBytes: t.o.MaxBytes,
		Memory: t.memory}
}

func (t *table) open(ctx context.Context, buckets uint32) error {
	var err error
	if t.stream, err = t.d.NewStream(); err != nil {
		return err
	}
	if t.counter, err = vk.NewHostBuffer[uint32](t.memory, 4); err != nil {
		return err
	}
	t.pipelines, t.order = pipeline.NewPool(t.d), sequential.New(t.d)
	if t.pool == nil {
		if t.pool, err = slabs.New(ctx, t.d, t.poolOptions(buckets)); err != nil {
			return err
		}
		t.ownPool = true
	}
	t.kernels.Over(t.pool.Form)
	t.fences = !t.ownPool
	t.gate = gate.Within(t.pool.Gate())
	if t.base, err = t.newBase(ctx, buckets); err == nil {
		t.meter.Hold(t.base.slabs.Bytes())
	}
	return err
}

// bucketsFor returns how many buckets give that many pairs the load Options.Load.
func (t *table) bucketsFor(pairs uint64) uint32 {
	b := float64(pairs) / (float64(t.slots) * t.o.Load)
	return uint32(min(max(b+1, 64), maxBuckets))
}

// SlotsAt returns how many pairs of a width fit into a slab, or for a set how many keys.
func SlotsAt(w structures.Width, set bool) int { return slotsBytes / slotBytes(w, set) }

// slotBytes returns the size of a slot, which has a key or a pair.
func slotBytes(width structures.Width, keys bool) int {
	if keys {
		return width.Bytes()
	}
	return 2 * width.Bytes()
}

// mix is hash_mix in GLSL.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0xd35a2d97
	x ^= x >> 15
	return x
}

// hash returns the bucket of the key that repeats word: slab_hash_bucket in GLSL.
func (t *table) hash(word, buckets uint32) uint32 {
	x := mix(word ^ t.o.Seed)
	if t.width == structures.Bits64 {
		x = mix(x ^ word ^ t.o.Seed)
	}
	high, _ := bits.Mul32(x, buckets)
	return high
}

// special reports whether a key belongs to one of the two buckets whose keys collide with patterns.
func (t *table) special(b base, key uint32) bool {
	h := t.hash(key, b.buckets)
	return h == b.ones || h == b.zero
}

// newBase makes new base slabs and finds the mask for the two buckets whose keys collide with the patterns of slab
// lists. A key stored as 0 is the mask itself, and a key stored as ~0 is its complement, so neither may belong to those
// buckets. Keys of 64 bits have the mask in both words.
func (t *table) newBase(ctx context.Context, buckets uint32) (base, error) {
	b := base{buckets: buckets, ones: t.hash(^uint32(0), buckets), zero: t.hash(0, buckets)}
	for b.mask = 1; t.special(b, b.mask) || t.special(b, ^b.mask); b.mask++ {
	}
	var err error
	if b.slabs, err = vk.NewBuffer[uint32](t.memory, int(buckets)*baseWords); err != nil {
		return base{}, err
	}
	t.stream.Fill(b.slabs, 0, int(b.slabs.Bytes()), fresh)
	if err := t.stream.Wait(ctx); err != nil {
		return base{}, joint.Error(err, t.abandon(b))
	}
	return b, nil
}

// abandon frees base slabs after the device's work on them.
func (t *table) abandon(b base) error {
	err := t.stream.Wait(context.Background())
	b.slabs.Free()
	return err
}

func (t *table) description(b base) Description {
	return Description{
		Base: b.slabs.Address(), Pool: alloc.PoolDescription(t.pool.Description()),
		Buckets: b.buckets, Seed: t.o.Seed, Mask: b.mask, SpecialOnes: b.ones, SpecialZero: b.zero,
	}
}

func (t *table) Close() error {
	return t.gate.Close(func() error {
		// If a shared pool is open, the table's slabs are returned to it. Nothing may find them in the table after
		// that.
		shares := !t.ownPool && t.gate.Err() == nil
		if shares {
			if err := t.uses.Rest(context.Background()); errors.Is(err, vk.ErrUnsubmitted) {
				return err
			}
		}
		t.gate.End()
		return t.free(shares)
	})
}

// free frees the table's memory. shares: the table has slabs of a pool that stays open.
func (t *table) free(shares bool) error {
	var err error
	if t.stream != nil {
		if shares {
			err = t.releaseChains(t.base)
		}
		err = joint.Error(err, t.stream.Close())
	}
	if t.pipelines != nil {
		err = joint.Error(err, t.pipelines.Close())
		t.order.Close()
	}
	t.kernels.Close()
	t.own.Release(&t.uses)
	if t.counter != nil {
		t.counter.Free()
	}
	if t.base.slabs != nil {
		t.uses.Free(t.base.slabs.Free)
		t.meter.Hold(0)
	}
	if t.ownPool {
		err = joint.Error(err, t.pool.Close())
	}
	return err
}

// on records work completely or not at all, and registers that the stream uses the table's memory.
func (t *table) on(s *vk.Stream, record func() error) error {
	return recording.Naming(s, record, &t.uses, t.pool.Uses())
}

// changing is on for work that changes the table.
func (t *table) changing(s *vk.Stream, record func() error) error {
	return recording.Naming(s, record, &t.uses, t.pool.Uses(), &t.changes)
}

func (t *table) UsedOn(s *vk.Stream) {
	leave, open := t.gate.Take()
	defer leave()
	if open {
		t.uses.On(s)
		t.pool.Uses().On(s)
		t.changes.On(s)
	}
}

// variant returns the name of a kernel's module for this sort of table.
func (t *table) variant(kernel string) string { return recording.OfColumns(kernel, t.width, t.keys) }

// words returns the number of 32-bit words of a key or a value.
func (t *table) words() int { return t.width.Bytes() / 4 }

// protocol returns the name of the module of a kernel that changes slabs while others do.
func (t *table) protocol(kernel string) string {
	return recording.Protocol(t.d, kernel, t.width, t.keys)
}

// at returns the address of an element of a buffer, which has two words at 64 bits. It is 0 for a nil buffer.
func (t *table) at(b *vk.Buffer[uint32], i int) uint64 { return recording.At(b, i<<t.width) }

// groups returns the number of workgroups with that many invocations.
func groups(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// Metrics returns those of the base slabs and of the pool.
func (t *table) Metrics() structures.Metrics {
	m := t.meter.Metrics(t.d)
	m.Bytes += t.pool.Bytes()
	m.Growths += t.pool.Growths()
	return m
}

// Description returns the table as kernels see it now, or the zero value after Close.
func (t *table) Description() Description {
	leave, _ := t.gate.Take()
	defer leave()
	if t.gate.Err() != nil {
		return Description{}
	}
	return t.description(t.base)
}

func (t *table) Timings() []vk.Timing {
	leave, _ := t.gate.Take()
	defer leave()
	return t.stream.Timings()
}

func (t *table) Constants() map[string]uint32 {
	if t.gate == nil {
		return nil
	}
	c := t.pool.Constants()
	c["TILE"] = uint32(t.tiles.update)
	return c
}
