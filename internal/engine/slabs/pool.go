// Package slabs is the core of package alloc: pools of slabs, and reclaimers of them. Structures use pools by the
// methods of this package. Its calls do not enter the pool's gate: the caller has entered it, alone unless the method
// says otherwise.
package slabs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/recording"
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

// Options are alloc.PoolOptions.
type Options struct {
	Blocks     int
	MaxBytes   uint64
	Memory     *vk.Budget
	SuperShift int
}

// PoolDescription is alloc.PoolDescription.
type PoolDescription struct {
	Table  uint64 // address of the table of super blocks
	Units  uint64 // address of the first super block's slabs
	Blocks uint32 // memory blocks in all super blocks
	Seed   uint32 // where subgroups begin to search, differently in each dispatch (slab_alloc.glsl)
}

// Pool is the pool of an alloc.SlabPool. A nil Pool is that of a handle that is not open.
type Pool struct {
	d        *vk.Device
	memory   vk.MemorySource // d, or a Budget on it
	maxBytes uint64
	shift    int
	forms    [2]recording.Form // of several super blocks, and of one
	stream   *vk.Stream
	table    *vk.Buffer[uint64]
	counts   *vk.Buffer[uint32] // for Stats: a word for each super block; nil before the first call
	uses     vk.Uses

	gate  *gate.Gate
	aside span // what SetAside keeps for Claim; guarded by the gate

	mu        sync.Mutex // guards the fields below; to change them, enter the gate as well
	supers    []*superBlock
	growths   uint64
	seed      uint32
	described bool   // since New or Reset, so that kernels may have allocated slabs
	aside256  uint32 // of 256 parts of the pool, those at its end that are set aside
}

// superBlock is one contiguous piece of a pool: blocks times 1024 slabs, and a bit for each slab in the bitmaps.
type superBlock struct {
	blocks  int
	units   *vk.Buffer[uint32]
	bitmaps *vk.Buffer[uint32]
}

// New is alloc.NewSlabPool.
func New(ctx context.Context, d *vk.Device, o Options) (*Pool, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if o.SuperShift == 0 {
		o.SuperShift = defaultSuperShift
	}
	if o.SuperShift < 2 || o.SuperShift > defaultSuperShift {
		return nil, &vk.OptionError{Option: "SuperShift",
			Reason: fmt.Sprintf("%d is not between 2 and %d", o.SuperShift, defaultSuperShift)}
	}
	if o.Blocks < 0 {
		return nil, &vk.OptionError{Option: "Blocks", Reason: "negative"}
	}
	p := &Pool{d: d, memory: d, maxBytes: o.MaxBytes, shift: o.SuperShift, gate: gate.New("pool of slabs")}
	for light := range p.forms {
		p.forms[light] = recording.Form{"POOL_LIGHT": uint32(light), "POOL_SUPER_SHIFT": uint32(p.shift)}
	}
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

func (p *Pool) init(ctx context.Context, blocks int) error {
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

// Gate returns the gate of the pool and of all structures that use it.
func (p *Pool) Gate() *gate.Gate {
	if p == nil {
		return nil
	}
	return p.gate
}

// Accept returns an error if structures on a device cannot use the pool: *vk.ForeignError if the pool is of another
// device, vk.ErrClosed if it is closed. The caller need not have entered.
func (p *Pool) Accept(d *vk.Device) error {
	if err := p.Gate().Err(); err != nil {
		return err
	}
	if p.d != d {
		return &vk.ForeignError{What: "pool of slabs"}
	}
	return nil
}

// Description describes the pool for one dispatch, with a Seed of its own. For a closed pool it returns the zero value.
// The caller need not have entered.
func (p *Pool) Description() PoolDescription {
	if p == nil {
		return PoolDescription{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.described = true
	return p.describe()
}

// describe is Description for a kernel that allocates nothing. p.mu is locked.
func (p *Pool) describe() PoolDescription {
	if len(p.supers) == 0 {
		return PoolDescription{}
	}
	p.seed += 0x9e3779b9 // odd, so that many dispatches differ, and far apart from one to the next
	return PoolDescription{Table: p.table.Address(), Units: p.supers[0].units.Address(), Blocks: uint32(p.blocks()),
		Seed: p.seed&^asideBits | p.aside256}
}

// Uses returns the record of the work that uses the pool's memory. The caller need not have entered.
func (p *Pool) Uses() *vk.Uses {
	if p == nil {
		return &vk.Uses{}
	}
	return &p.uses
}

// Light reports whether the pool is one super block. The caller need not have entered.
func (p *Pool) Light() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.supers) == 1
}

// Constants returns the specialization constants of a kernel over this pool. The caller need not have entered.
func (p *Pool) Constants() map[string]uint32 { return maps.Clone(p.Form()) }

// Form is Constants for a caller that does not change the map.
func (p *Pool) Form() recording.Form {
	if p == nil {
		return nil
	}
	return p.form(p.Light())
}

func (p *Pool) form(light bool) recording.Form {
	if light {
		return p.forms[1]
	}
	return p.forms[0]
}

// Forms returns all values that Constants can have from now on, for making kernels in advance. A pool is one super
// block until it needs a second one, which it never gives back. Options.MaxBytes may leave no room for a second one.
// The caller need not have entered.
func (p *Pool) Forms() (all []map[string]uint32) {
	if p == nil {
		return nil
	}
	if p.Light() {
		all = append(all, maps.Clone(p.form(true)))
	}
	if p.mostBlocks() > p.perSuper() {
		all = append(all, maps.Clone(p.form(false)))
	}
	return all
}

// Bytes returns the number of bytes of device memory that the pool takes. The caller need not have entered.
func (p *Pool) Bytes() uint64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.supers) == 0 {
		return 0
	}
	return tableBytes + uint64(p.blocks())*blockBytes
}

// Growths returns how often the pool has grown. The caller need not have entered.
func (p *Pool) Growths() uint64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.growths
}

// blocks returns the number of memory blocks in all super blocks.
func (p *Pool) blocks() int {
	n := 0
	for _, s := range p.supers {
		n += s.blocks
	}
	return n
}

// perSuper returns the number of memory blocks in a full super block.
func (p *Pool) perSuper() int { return 1 << p.shift }

// whole rounds a number of memory blocks up to a possible size of the pool: any number up to one super block, and full
// super blocks above that.
func (p *Pool) whole(blocks int) int {
	if blocks <= p.perSuper() {
		return blocks
	}
	return (blocks + p.perSuper() - 1) / p.perSuper() * p.perSuper()
}

// mostBlocks returns the number of memory blocks that the pool's own limits allow.
func (p *Pool) mostBlocks() int {
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

// admits returns a *vk.LimitError if the pool's own limits do not allow the given number of further memory blocks.
func (p *Pool) admits(blocks int) error {
	have, most := p.blocks(), p.mostBlocks()
	if blocks <= most-have {
		return nil
	}
	bytes := func(blocks int) uint64 { return tableBytes + uint64(blocks)*blockBytes }
	full := &vk.LimitError{What: "bytes of a slab pool", Want: bytes(p.whole(have + min(blocks, math.MaxInt32))),
		Most: bytes(most)}
	if p.maxBytes != 0 && full.Want > p.maxBytes {
		full.Most, full.Option = p.maxBytes, "MaxBytes"
	}
	return full
}

// Grow is alloc.SlabPool.Grow.
func (p *Pool) Grow(ctx context.Context, blocks int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := p.admits(blocks); err != nil || blocks <= 0 {
		return err
	}
	have, most := p.blocks(), p.mostBlocks()
	if err := p.uses.Rest(ctx); err != nil {
		return err
	}
	need := p.whole(have + blocks)
	double := min(max(need, p.whole(2*have)), most)
	err := p.growTo(ctx, double)
	if double > need && errors.Is(err, vk.ErrNoRoom) {
		err = p.growTo(ctx, need)
	}
	return err
}

// Relieve makes room after operations found the pool full. It gives back what is set aside. If nothing is, it grows the
// pool by blocks memory blocks, or by one if that fails. free is the number of slabs that were free after the
// operations. If the pool cannot grow but has free slabs, Relieve returns nil, because the operations may succeed with
// those: other operations have returned slabs that they did not need. If insist is set, it returns the error in this
// case, too. Errors: those of Grow.
func (p *Pool) Relieve(ctx context.Context, free, blocks int, insist bool) error {
	if p.aside.words != 0 {
		if err := p.uses.Rest(ctx); err != nil {
			return err
		}
		p.giveBack()
		return p.stream.Wait(context.WithoutCancel(ctx))
	}
	err := p.Grow(ctx, blocks)
	if err != nil && blocks > 1 {
		err = p.Grow(ctx, 1)
	}
	if !insist && free != 0 {
		return nil
	}
	return err
}

// Sizes returns the sizes in bytes of the large buffers of a new pool, for vk.Device.Fits. Error: *vk.LimitError.
func Sizes(o Options) ([]uint64, error) {
	p := Pool{shift: cmp.Or(o.SuperShift, defaultSuperShift), maxBytes: o.MaxBytes}
	return p.GrowthSizes(max(o.Blocks, 1))
}

// GrowthSizes returns the sizes in bytes of the large buffers that Grow makes for a number of memory blocks, without
// doubling, for vk.Device.Fits. Error: *vk.LimitError.
func (p *Pool) GrowthSizes(blocks int) ([]uint64, error) {
	if err := p.admits(blocks); err != nil || blocks <= 0 {
		return nil, err
	}
	return p.growth(p.whole(p.blocks() + blocks)), nil
}

// growth returns the sizes of the buffers that growTo makes, in bytes.
func (p *Pool) growth(blocks int) (sizes []uint64) {
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
func (p *Pool) growTo(ctx context.Context, blocks int) (err error) {
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
	p.set(p.aside)
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
func (p *Pool) newSuperBlock(ctx context.Context, blocks int, from *superBlock) (*superBlock, error) {
	if err := context.Cause(ctx); err != nil {
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
		units, bitmaps := 0, 0 // words copied from the other
		if from != nil {
			units, bitmaps = from.units.Len(), from.bitmaps.Len()
			p.stream.Copy(s.units, 0, from.units, 0, units)
			p.stream.Copy(s.bitmaps, 0, from.bitmaps, 0, bitmaps)
		}
		p.stream.Fill(s.units, units, s.units.Len()-units, ^uint32(0))
		p.stream.Fill(s.bitmaps, bitmaps, s.bitmaps.Len()-bitmaps, 0)
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

// Reset is alloc.SlabPool.Reset.
func (p *Pool) Reset(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	p.stream.Concurrent(func() {
		for _, s := range p.supers {
			p.stream.Fill(s.units, 0, s.units.Len(), ^uint32(0))
			p.stream.Fill(s.bitmaps, 0, s.bitmaps.Len(), 0)
		}
		p.stream.Fill(p.table, 0, tableSupers, 0)
	})
	if err := p.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	p.set(span{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.described = false
	return nil
}

// Close frees the pool after the work that is registered with Uses.
func (p *Pool) Close() error {
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
