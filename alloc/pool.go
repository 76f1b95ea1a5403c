// Package alloc is the host side of the slab allocator: pools of 128-byte slabs that kernels allocate and free while
// they run (shaders/include/slab_alloc.glsl). The host creates a pool, grows it, counts its slabs and closes it.
//
// The allocator is SlabAlloc of Ashkiani, Farach-Colton and Owens, "A Dynamic Hash Table for the GPU" (2018), section
// V: super blocks consist of memory blocks of 1024 slabs, and each memory block has a bitmap. If a kernel finds its
// pool full, it marks the operations that it could not do and ends. The host then grows the pool and dispatches those
// operations again.
package alloc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/vk"
)

const (
	// SlabBytes is the size of a slab.
	SlabBytes = 128
	// BlockSlabs is the number of slabs in a memory block.
	BlockSlabs = 1024
	// MaxSuperBlocks is the most super blocks of a pool: a reference has 8 bits for the super block.
	MaxSuperBlocks = 256

	defaultSuperShift = 13 // POOL_SUPER_SHIFT in slab_alloc.glsl

	blockWords  = BlockSlabs * SlabBytes / 4 // for slabs
	bitmapWords = BlockSlabs / 32
	blockBytes  = 4 * (blockWords + bitmapWords)

	// The table, in 64-bit words: counters, then the addresses of units and bitmaps of each super block.
	tableSupers = 8
	tableWords  = tableSupers + 2*MaxSuperBlocks
	tableBytes  = 8 * tableWords
)

// PoolOptions configure a pool. The zero value is a pool of one memory block that may grow to the limit of the device's
// memory.
type PoolOptions struct {
	Blocks   int    // memory blocks of 1024 slabs (128 KiB) at first; 0 = 1
	MaxBytes uint64 // the most memory that the pool may keep; 0 = as much as the device has. A move takes more.
	// Memory, if not nil, is the budget that all memory of the pool is taken from.
	Memory *vk.Budget

	// SuperShift is log2 of the number of memory blocks in a super block, 2 to 13; 0 = 13. Tests use small super blocks
	// to have many of them without gigabytes of memory. Kernels get the value from Constants.
	SuperShift int
}

// DevicePool is a pool as kernels see it. Put it into push constants unchanged: it is SlabPool of slab_alloc.glsl.
type DevicePool struct {
	Table  uint64 // address of the table of super blocks
	Units  uint64 // address of the first super block's slabs
	Blocks uint32 // memory blocks in all super blocks
	Seed   uint32 // where subgroups begin to search for a free slab; differs from dispatch to dispatch
}

// SlabPool is a pool of slabs on one device. Several goroutines may use it, and several structures may share it. A call
// of the pool runs alone: it waits for the calls of the pool and of these structures that came before. Only Device,
// Light, Constants, Bytes, Growths and Uses never wait.
//
// Do not call Reset while recorded work that uses the pool runs. Grow and Close wait for work that is registered with
// Uses.
type SlabPool struct {
	*state
	entered bool // the holder has entered the gate, so calls do not enter it again
}

// state is shared by all handles of a pool.
type state struct {
	d        *vk.Device
	memory   vk.MemorySource // d, or a Budget on it
	maxBytes uint64
	shift    int
	stream   *vk.Stream
	table    *vk.Buffer[uint64]
	counts   *vk.Buffer[uint32] // for Stats: a word for each super block; nil before the first call
	uses     vk.Uses

	gate *gate.Gate

	mu      sync.Mutex // guards the fields below; to change them, enter the gate as well
	supers  []*superBlock
	growths uint64
	seed    uint32
}

// superBlock is one contiguous piece of a pool: blocks times 1024 slabs, and a bit for each slab in the bitmaps.
type superBlock struct {
	blocks  int
	units   *vk.Buffer[uint32]
	bitmaps *vk.Buffer[uint32]
}

// NewSlabPool makes a pool. All slabs are free and all their words are ~0. Errors: *LimitError if Blocks is more than
// the options or the references allow, *vk.OutOfMemoryError.
func NewSlabPool(ctx context.Context, d *vk.Device, o PoolOptions) (*SlabPool, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if o.SuperShift == 0 {
		o.SuperShift = defaultSuperShift
	}
	if o.SuperShift < 2 || o.SuperShift > defaultSuperShift {
		return nil, fmt.Errorf("alloc: super blocks of 2^%d memory blocks: want 2^2 to 2^%d", o.SuperShift,
			defaultSuperShift)
	}
	if o.Blocks < 0 {
		return nil, fmt.Errorf("alloc: a slab pool of %d memory blocks", o.Blocks)
	}
	p := &SlabPool{state: &state{d: d, memory: d, maxBytes: o.MaxBytes, shift: o.SuperShift, gate: gate.New()}}
	if o.Memory != nil {
		if err := d.Accept("budget", o.Memory); err != nil {
			return nil, err
		}
		p.memory = o.Memory
	}
	if err := p.init(ctx, max(o.Blocks, 1)); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *SlabPool) init(ctx context.Context, blocks int) error {
	err := p.admits(blocks)
	if err != nil {
		return err
	}
	if p.stream, err = p.d.NewStream(); err != nil {
		return err
	}
	if p.table, err = vk.NewBuffer[uint64](p.memory, tableWords); err != nil {
		return err
	}
	if err := p.table.Upload(ctx, 0, make([]uint64, tableWords)); err != nil {
		return err
	}
	return p.growTo(ctx, blocks)
}

// made reports whether the pool was made by NewSlabPool.
func (p *SlabPool) made() bool { return p != nil && p.state != nil }

// enter waits until the call may run. leave ends the call.
func (p *SlabPool) enter(ctx context.Context) (leave func(), err error) {
	if !p.made() {
		return nil, vk.ErrNotOpen
	}
	if p.entered {
		return func() {}, ctx.Err()
	}
	return p.gate.Leave, p.gate.Enter(ctx)
}

// Device describes the pool for one dispatch. Call it for each dispatch, which then gets a Seed of its own, and always
// after Grow, which may move the first super block. For a closed pool it returns the zero value.
func (p *SlabPool) Device() DevicePool {
	if !p.made() {
		return DevicePool{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.supers) == 0 {
		return DevicePool{}
	}
	p.seed += 0x9e3779b9 // odd, so that 2^32 dispatches differ, and far apart from one to the next
	return DevicePool{Table: p.table.Address(), Units: p.supers[0].units.Address(), Blocks: uint32(p.blocks()),
		Seed: p.seed}
}

// Uses returns the record of the work that uses the pool's memory. Code that records such work, with the description
// that Device returns, must register it there. Grow then waits until the work has ended, or returns vk.ErrUnsubmitted
// if it was not submitted, and Close frees the memory after it. The caller must wait for work that is not registered.
func (p *SlabPool) Uses() *vk.Uses {
	if !p.made() {
		return &vk.Uses{}
	}
	return &p.uses
}

// Light reports whether the pool is one super block. This is the light variant of the paper's section V: a reference is
// an offset and needs no lookup in the table. Kernels are specialized for it (POOL_LIGHT), and must be specialized
// again when it changes.
func (p *SlabPool) Light() bool {
	if !p.made() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.supers) == 1
}

// Constants returns the specialization constants that a kernel over this pool needs, by name. Grow may change them.
func (p *SlabPool) Constants() map[string]uint32 {
	if !p.made() {
		return nil
	}
	return p.constants(p.Light())
}

func (p *SlabPool) constants(light bool) map[string]uint32 {
	c := map[string]uint32{"POOL_LIGHT": 0, "POOL_SUPER_SHIFT": uint32(p.shift)}
	if light {
		c["POOL_LIGHT"] = 1
	}
	return c
}

// Bytes returns the number of bytes of device memory that the pool takes.
func (p *SlabPool) Bytes() uint64 {
	if !p.made() {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.supers) == 0 {
		return 0
	}
	return tableBytes + uint64(p.blocks())*blockBytes
}

// Growths returns how often the pool has grown.
func (p *SlabPool) Growths() uint64 {
	if !p.made() {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.growths
}

// blocks returns the number of memory blocks in all super blocks.
func (p *SlabPool) blocks() int {
	n := 0
	for _, s := range p.supers {
		n += s.blocks
	}
	return n
}

// perSuper returns the number of memory blocks in a full super block.
func (p *SlabPool) perSuper() int { return 1 << p.shift }

// whole rounds a number of memory blocks up to a possible size of the pool: any number up to one super block, and full
// super blocks above that.
func (p *SlabPool) whole(blocks int) int {
	if blocks <= p.perSuper() {
		return blocks
	}
	return (blocks + p.perSuper() - 1) / p.perSuper() * p.perSuper()
}

// mostBlocks returns the number of memory blocks that the pool's own limits allow.
func (p *SlabPool) mostBlocks() int {
	most := MaxSuperBlocks * p.perSuper()
	if p.maxBytes != 0 {
		room := (p.maxBytes - min(p.maxBytes, tableBytes)) / blockBytes
		most = min(most, int(min(room, math.MaxInt32)))
	}
	if most > p.perSuper() {
		most = most / p.perSuper() * p.perSuper()
	}
	return most
}

// admits returns a *LimitError if the pool's own limits do not allow so many more memory blocks.
func (p *SlabPool) admits(blocks int) error {
	have, most := p.blocks(), p.mostBlocks()
	if blocks <= most-have {
		return nil
	}
	full := &LimitError{What: "memory blocks of a slab pool", Want: uint64(have) + uint64(blocks),
		Most: uint64(most)}
	if p.maxBytes != 0 {
		full.Option = "MaxBytes"
	}
	return full
}

// Grow adds at least the given number of memory blocks. If the pool's limits and the device's memory allow it, the pool
// doubles. Allocated slabs stay allocated, and references to them stay valid. Grow returns when the pool has grown.
//
// Up to 2^13 memory blocks (1 GiB), the pool is one super block. It grows by moving into a larger allocation, and both
// exist while it moves. Above that size, full super blocks are added, and nothing moves.
//
// Errors: *LimitError, *vk.OutOfMemoryError, *vk.TooLargeError if the device's largest buffer is less than 1 GiB,
// vk.ErrUnsubmitted (Uses), the context's. After an error the pool is as it was.
func (p *SlabPool) Grow(ctx context.Context, blocks int) error {
	leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := p.admits(blocks); err != nil || blocks <= 0 {
		return err
	}
	have, most := p.blocks(), p.mostBlocks()
	if err := p.uses.Rest(ctx); err != nil {
		return err
	}
	need := p.whole(have + blocks)
	double := min(max(need, p.whole(2*have)), most)
	err = p.growTo(ctx, double)
	var memory *vk.OutOfMemoryError
	var size *vk.TooLargeError
	var full *LimitError
	if double > need && (errors.As(err, &memory) || errors.As(err, &size) || errors.As(err, &full)) {
		err = p.growTo(ctx, need)
	}
	return err
}

// growth returns the sizes of the buffers that growTo makes, in bytes.
func (p *SlabPool) growth(blocks int) (sizes []uint64) {
	have := p.blocks()
	add := func(blocks int) {
		sizes = append(sizes, uint64(blocks)*4*blockWords, uint64(blocks)*4*bitmapWords)
		have += blocks
	}
	if have < min(blocks, p.perSuper()) {
		have = 0 // it moves
		add(min(blocks, p.perSuper()))
	}
	for have < blocks {
		add(p.perSuper())
	}
	return sizes
}

// growTo grows the pool to the given number of memory blocks. The number must be greater than the present one, and one
// that whole returns.
func (p *SlabPool) growTo(ctx context.Context, blocks int) (err error) {
	begin, before := time.Now(), p.blocks()
	if err := p.memory.Fits(p.growth(blocks)...); err != nil {
		return err // before super blocks are allocated and filled one by one
	}
	supers := append([]*superBlock(nil), p.supers...)
	var made []*superBlock
	var moved *superBlock
	defer func() {
		if err != nil {
			free(made...)
		}
	}()
	add := func(blocks int, from *superBlock) error {
		s, err := p.newSuperBlock(ctx, blocks, from)
		if err == nil {
			made = append(made, s)
		}
		return err
	}
	have := p.blocks()
	if len(supers) <= 1 && have < min(blocks, p.perSuper()) {
		if len(supers) == 1 {
			moved = supers[0]
		}
		if err := add(min(blocks, p.perSuper()), moved); err != nil {
			return err
		}
		supers = append(supers[:0], made[0])
		have = made[0].blocks
	}
	for ; have < blocks; have += p.perSuper() {
		if err := add(p.perSuper(), nil); err != nil {
			return err
		}
		supers = append(supers, made[len(made)-1])
	}
	entries := make([]uint64, 0, 2*len(supers))
	for _, s := range supers {
		entries = append(entries, s.units.Address(), s.bitmaps.Address())
	}
	// The device sees the new super blocks from here on, so the context can no longer stop the call.
	if err := p.table.Upload(context.WithoutCancel(ctx), tableSupers, entries); err != nil {
		return err
	}
	p.mu.Lock()
	p.supers = supers
	if before != 0 {
		p.growths++
	}
	p.mu.Unlock()
	if moved != nil {
		free(moved)
	}
	if before != 0 {
		p.d.Log().LogAttrs(ctx, slog.LevelInfo, "pool grown", slog.Int("slabs", p.blocks()*BlockSlabs),
			slog.Int("slabs_before", before*BlockSlabs), slog.Uint64("bytes", p.Bytes()),
			slog.Duration("duration", time.Since(begin)))
	}
	return nil
}

// newSuperBlock makes a super block that begins with the contents of from (nil: nothing). The rest of its slabs are
// free.
func (p *SlabPool) newSuperBlock(ctx context.Context, blocks int, from *superBlock) (*superBlock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &superBlock{blocks: blocks}
	var err error
	if s.units, err = vk.NewBuffer[uint32](p.memory, blocks*blockWords); err != nil {
		return nil, err
	}
	if s.bitmaps, err = vk.NewBuffer[uint32](p.memory, blocks*bitmapWords); err != nil {
		free(s)
		return nil, err
	}
	p.stream.Concurrent(func() {
		units, bitmaps := 0, 0 // bytes copied from the other
		if from != nil {
			units, bitmaps = int(from.units.Bytes()), int(from.bitmaps.Bytes())
			p.stream.Copy(s.units, 0, from.units, 0, units)
			p.stream.Copy(s.bitmaps, 0, from.bitmaps, 0, bitmaps)
		}
		p.stream.Fill(s.units, units, int(s.units.Bytes())-units, ^uint32(0))
		p.stream.Fill(s.bitmaps, bitmaps, int(s.bitmaps.Bytes())-bitmaps, 0)
	})
	// The device uses the memory until the work ends, so the wait must not be cancelled.
	if err := p.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		free(s)
		return nil, err
	}
	return s, nil
}

func free(supers ...*superBlock) {
	for _, s := range supers {
		s.units.Free()
		if s.bitmaps != nil {
			s.bitmaps.Free()
		}
	}
}

// Reset frees all slabs, sets all their words to ~0, and sets the counters of Stats to 0. The pool keeps its size.
// Reset returns when this is done; once begun, it does not stop when the context ends.
func (p *SlabPool) Reset(ctx context.Context) error {
	leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	p.stream.Concurrent(func() {
		for _, s := range p.supers {
			p.stream.Fill(s.units, 0, int(s.units.Bytes()), ^uint32(0))
			p.stream.Fill(s.bitmaps, 0, int(s.bitmaps.Bytes()), 0)
		}
		p.stream.Fill(p.table, 0, 8*tableSupers, 0)
	})
	return p.stream.Wait(context.WithoutCancel(ctx))
}

// Close waits for the calls before it, and frees the pool after the work that is registered with Uses. Further calls of
// Close do nothing; other methods return vk.ErrClosed.
func (p *SlabPool) Close() error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	if !p.entered {
		leave, open, err := p.gate.Shut()
		if err != nil {
			return err
		}
		defer leave()
		if !open {
			return nil
		}
	}
	p.gate.End()
	p.mu.Lock()
	supers := p.supers
	p.supers = nil
	p.mu.Unlock()
	p.uses.Free(func() {
		free(supers...)
		if p.counts != nil {
			p.counts.Free()
		}
		if p.table != nil {
			p.table.Free()
		}
	})
	if p.stream == nil {
		return nil
	}
	return p.stream.Close()
}
