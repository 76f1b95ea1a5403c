package slabhash

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/handle"
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
	maxBuckets = min(1<<31, math.MaxInt)
	fresh      = ^uint32(0) // each word of a new slab
	workgroup  = 64

	slotsBytes = 120 // bytes of a slab's slots; the rest is two words (slab.glsl)
)

// Description is a table as kernels see it: SlabHash of shaders/include/slab_hash.glsl. Embed it in the push constants
// of your own kernel. It is valid until the next call that may grow or rehash the table: an insertion from Go slices,
// Finish, Reserve, Rehash, Flush, Clear or Close. After UsedOn, these calls wait before they replace memory.
type Description struct {
	Base        uint64 // address of the base slabs, with a word for each bucket, or group, after them
	Pool        alloc.PoolDescription
	Buckets     uint32
	Seed        uint32
	Mask        uint32
	SpecialOnes uint32 // bucket, or group of buckets that share slabs, of the key ~0
	SpecialZero uint32 // and of the key 0
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
	handle.Handle
	memory  *vk.Budget // the limit of what the table keeps
	o       Options
	width   structures.Width // of keys and values
	keys    bool             // a set
	columns saved.Columns    // types of keys and values
	slots   int              // in a slab
	base    base
	tiles   tiles
	order   *sequential.Order
	counter *vk.HostBuffer[uint32] // for calls that run alone: read and cleared after recording.Run, which waits
	visits  uint32
	used    uint64          // an upper bound of the slots in use; a survey tightens it
	ahead   recording.Ahead // for ordered insertions, by kind

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
		o: o, width: width, keys: keys, columns: columns, slots: SlotsAt(width, keys),
		tiles: bestTiles(d, width, keys, o.Tile), visits: initialVisits, memory: d.Budget("MaxBytes", o.MaxBytes),
		order: sequential.New(d),
	}
	t.Open("hash table", d, o.Progress)
	t.Own.Of(width)
	buckets, err := t.layOut()
	if err != nil {
		return nil, err
	}
	if err := t.open(ctx, buckets, pool); err != nil {
		return nil, joint.Error(err, t.free(false))
	}
	return t, nil
}

// layOut returns the number of buckets for the options. It returns an error for impossible sizes before anything is
// allocated.
func (t *table) layOut() (uint32, error) {
	buckets := t.o.whole(uint32(t.o.Buckets))
	impossible := func(err error) error { return pipeline.Impossible("Buckets", t.o.Buckets, err) }
	if t.o.Buckets == 0 {
		buckets = t.bucketsFor(uint64(t.o.Capacity))
		impossible = func(err error) error {
			if t.o.Capacity == 0 {
				return err
			}
			return t.noCapacity(t.o.Capacity, err)
		}
		if buckets == maxBuckets {
			return 0, impossible(errBuckets)
		}
	}
	var sizes []uint64
	if t.o.Pool == nil {
		var err error
		if sizes, err = slabs.Sizes(t.poolOptions(buckets)); err != nil {
			return 0, impossible(err)
		}
	}
	if err := t.memory.Fits(append(sizes, t.baseWords(buckets)*4)...); err != nil {
		return 0, impossible(err)
	}
	return buckets, nil
}

// errBuckets says that a capacity is too large for any memory.
var errBuckets = fmt.Errorf("more than %d buckets", maxBuckets)

// noCapacity returns the error for a capacity that is not possible. How much memory it takes depends on the load.
func (t *table) noCapacity(pairs int, err error) error {
	return &structures.CapacityError{Option: "Capacity", Asked: pairs, Err: fmt.Errorf("at Load %g: %w", t.o.Load, err)}
}

// poolOptions returns the options of the table's own pool.
func (t *table) poolOptions(buckets uint32) slabs.Options {
	chained := float64(buckets) / 7 // at a load of 0.7, one bucket in seven has a second slab
	if t.o.shared() {
		chained = 1.25 * t.chained(t.o.Load*float64(t.slots)*float64(t.baseSlabs(buckets)), buckets)
	}
	return slabs.Options{Blocks: max(1, int(chained/slabs.BlockSlabs)), MaxBytes: t.o.MaxBytes, Memory: t.memory}
}

// open makes what an open table has. shared is nil for a pool of its own.
func (t *table) open(ctx context.Context, buckets uint32, shared *slabs.Pool) error {
	var err error
	if t.Stream, err = t.Device.NewStream(); err != nil {
		return err
	}
	if t.counter, err = vk.NewHostBuffer[uint32](t.memory, 4); err != nil {
		return err
	}
	if err = t.Over(ctx, shared, t.poolOptions(buckets)); err != nil {
		return err
	}
	if t.base, err = t.newBase(ctx, buckets); err == nil {
		t.Meter.Hold(t.base.slabs.Bytes())
	}
	return err
}

// bucketsFor returns how many buckets give that many pairs the load Options.Load.
func (t *table) bucketsFor(pairs uint64) uint32 {
	b := float64(pairs) / (float64(t.slots) * t.o.Load)
	if t.o.shared() {
		b *= float64(groupBuckets) / groupSlabs
	}
	return t.o.whole(uint32(min(max(b+1, 64), maxBuckets)))
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

// special reports whether a key belongs to one of the two buckets, or their groups, whose keys collide with patterns.
func (t *table) special(b base, key uint32) bool {
	h := t.list(t.hash(key, b.buckets))
	return h == b.ones || h == b.zero
}

// newBase makes new base slabs and finds the mask for the two buckets whose keys collide with the patterns of slab
// lists. A key stored as 0 is the mask itself, and a key stored as ~0 is its complement, so neither may belong to those
// buckets. Keys of 64 bits have the mask in both words.
func (t *table) newBase(ctx context.Context, buckets uint32) (base, error) {
	b := base{buckets: buckets, ones: t.list(t.hash(^uint32(0), buckets)), zero: t.list(t.hash(0, buckets))}
	for b.mask = 1; t.special(b, b.mask) || t.special(b, ^b.mask); b.mask++ {
	}
	var err error
	if b.slabs, err = vk.NewBuffer[uint32](t.memory, int(t.baseWords(buckets))); err != nil {
		return base{}, err
	}
	t.Stream.Fill(b.slabs, 0, b.slabs.Len(), fresh)
	if err := t.Stream.Wait(ctx); err != nil {
		return base{}, joint.Error(err, t.abandon(b))
	}
	return b, nil
}

// abandon frees base slabs after the device's work on them.
func (t *table) abandon(b base) error {
	err := t.Stream.Wait(context.Background())
	b.slabs.Free()
	return err
}

func (t *table) description(b base) Description {
	return Description{
		Base: b.slabs.Address(), Pool: alloc.PoolDescription(t.Pool.Description()),
		Buckets: b.buckets, Seed: t.o.Seed, Mask: b.mask, SpecialOnes: b.ones, SpecialZero: b.zero,
	}
}

func (t *table) Close() error { return t.Handle.Close(t.free) }

// free frees the table's memory. shares: the table has slabs of a pool that stays open.
func (t *table) free(shares bool) (err error) {
	if shares {
		err = t.releaseChains(t.base)
	}
	err = joint.Error(err, t.Free())
	t.order.Close()
	t.counter.Free()
	t.Uses.Free(t.base.slabs.Free)
	return err
}

// variant returns the name of a kernel's module for this sort of table.
func (t *table) variant(kernel string) string { return recording.OfColumns(kernel, t.width, t.keys) }

// words returns the number of 32-bit words of a key or a value.
func (t *table) words() int { return t.width.Bytes() / 4 }

// protocol returns the name of the module of a kernel that changes slabs while others do.
func (t *table) protocol(kernel string) string {
	return recording.Protocol(t.Device, kernel, t.width, t.keys)
}

// at returns the address of an element of a buffer, which has two words at 64 bits. It is 0 for a nil buffer.
func (t *table) at(b *vk.Buffer[uint32], i int) uint64 { return recording.At(b, i<<t.width) }

// groups returns the number of workgroups with that many invocations.
func groups(invocations int) int { return (invocations + workgroup - 1) / workgroup }

// Description returns the table as kernels see it now, or the zero value after Close.
func (t *table) Description() Description {
	return handle.Describe(&t.Handle, func() Description { return t.description(t.base) })
}

func (t *table) Timings() []vk.Timing {
	leave, _ := t.Take()
	defer leave()
	return t.Stream.Timings()
}

func (t *table) Constants() map[string]uint32 {
	if t.Gate == nil {
		return nil
	}
	c := t.Pool.Constants()
	c["TILE"] = uint32(t.tiles.update)
	if t.o.shared() {
		c["SLAB_SHARED"] = 1
	}
	return c
}
