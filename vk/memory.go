package vk

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vkds/vkds/vk/internal/native"
)

const (
	grain       = 256       // small buffers start and end at multiples of this; every device's alignment divides it
	smallLimit  = 256 << 10 // larger buffers have their own allocation
	sharedBytes = 4 << 20   // the size of a block that small buffers share
)

// allocator allocates device memory. A large buffer has its own VkBuffer and a dedicated allocation. Small buffers are
// ranges of shared blocks, because drivers limit the number of allocations (4096 is common).
type allocator struct {
	mu     sync.Mutex
	d      *Device
	limit  uint64
	device pool // Buffer
	host   pool // HostBuffer and staging
}

// pool is the memory of one memory type.
type pool struct {
	memoryType uint32
	heap       uint32
	mapped     bool
	used       uint64 // by regions, in bytes, rounded up to the grain
	blocks     []*block
}

// block is a VkBuffer with its memory.
type block struct {
	heap    uint32
	buffer  native.Buffer
	memory  native.Memory
	address uint64
	mapped  unsafe.Pointer // nil if the host cannot access the block
	bytes   uint64
	shared  bool
	holes   []hole // of a shared block: its free ranges by offset, no two of them adjacent
}

type hole struct{ at, bytes uint64 }

// region is the range of a block that a buffer occupies.
type region struct {
	d       *Device
	pool    *pool
	block   *block
	at      uint64
	bytes   uint64 // as requested
	rounded uint64 // bytes, rounded up to the grain
	budget  *Budget
	freed   atomic.Bool
}

// address returns the device address, or 0 if r is nil.
func (r *region) address() uint64 {
	if r == nil {
		return 0
	}
	return r.block.address + r.at
}

// drop frees a region; if r is nil, it does nothing.
func (r *region) drop() {
	if r != nil {
		r.d.drop(r)
	}
}

func (r *region) pointer() unsafe.Pointer { return unsafe.Add(r.block.mapped, r.at) }

// usable returns an error if the region cannot be used.
func (r *region) usable() error {
	if r.freed.Load() {
		return &ClosedError{"buffer"}
	}
	return r.d.usable()
}

// usableOn accepts a nil region.
func (r *region) usableOn(d *Device) error {
	switch {
	case r == nil:
		return nil
	case r.d != d:
		return errForeign
	}
	return r.usable()
}

// size returns the size in bytes, or 0 if r is nil.
func (r *region) size() uint64 {
	if r == nil {
		return 0
	}
	return r.bytes
}

// init chooses the memory types. The types that are allowed depend on a buffer's usage, so it asks with a buffer.
func (a *allocator) init(d *Device, limit uint64) error {
	a.d, a.limit = d, limit
	probe, err := d.newBuffer(grain)
	if err != nil {
		return err
	}
	_, allowed := d.native.Requirements(probe)
	d.native.DestroyBuffer(probe)

	const (
		local    = native.MemoryDeviceLocal
		visible  = native.MemoryHostVisible | native.MemoryHostCoherent
		readable = visible | native.MemoryHostCached
	)
	// The host uses only coherent memory, which needs no flushes, and cached memory if there is any, because reading
	// uncached memory is a hundred times slower. Buffers are mapped only if device and host share one memory; over a
	// bus, the staging ring is faster.
	wishes := []wish{{local, native.MemoryHostVisible}, {local, 0}}
	shared := d.info.Type == Integrated || d.info.Type == CPU
	if shared {
		wishes = []wish{{local | readable, 0}, {local, 0}}
	}
	if a.device, err = d.choosePool(allowed, wishes); err != nil {
		return err
	}
	a.device.mapped = shared && d.about.Types[a.device.memoryType].Flags&readable == readable
	if a.host, err = d.choosePool(allowed, []wish{{readable, local}, {readable, 0}, {visible, local},
		{visible, 0}}); err != nil {
		return err
	}
	a.host.mapped = true
	return nil
}

// wish describes a memory type that has some flags and lacks others.
type wish struct{ with, without uint32 }

func (d *Device) choosePool(allowed uint32, wishes []wish) (pool, error) {
	const special = 0x20 | 0x40 | 0x80 // protected memory and AMD's uncached types, which plain buffers must not use
	for _, w := range wishes {
		for i, t := range d.about.Types {
			if allowed>>i&1 == 1 && t.Flags&w.with == w.with && t.Flags&(w.without|special) == 0 {
				return pool{memoryType: uint32(i), heap: t.Heap}, nil
			}
		}
	}
	return pool{}, &MissingFeatureError{d.info.Name, []string{"a memory type for storage buffers"}}
}

func (d *Device) newBuffer(bytes uint64) (native.Buffer, error) {
	b, result := d.native.NewBuffer(bytes)
	return b, d.check("vkCreateBuffer", result)
}

// room returns the bytes that regions use of a pool's heap, and the bytes that they may use in total. The lock must be
// held.
func (a *allocator) room(p *pool) (used, budget uint64) {
	used = a.device.used
	if a.host.heap == a.device.heap {
		used += a.host.used
	}
	if p.heap != a.device.heap {
		used = p.used
	} else if a.limit > 0 {
		return used, a.limit
	}
	if !a.d.Has(MemoryBudget) {
		return used, a.d.about.Heaps[p.heap].Bytes
	}
	taken, budgets := a.d.instance.Budget(a.d.physical)
	// The driver counts the holes in blocks and the objects in the graveyard as taken, but we can allocate from both.
	taken[p.heap] -= min(a.d.dead.bytes(p.heap), taken[p.heap])
	for _, q := range []*pool{&a.device, &a.host} {
		for _, b := range q.blocks {
			if q.heap == p.heap && b.shared {
				for _, h := range b.holes {
					taken[p.heap] -= min(h.bytes, taken[p.heap])
				}
			}
		}
	}
	return used, used + budgets[p.heap] - min(taken[p.heap], budgets[p.heap])
}

// Fits checks whether buffers of these sizes, in bytes, can be allocated together, without allocating them. It returns
// *LimitError for the first size that exceeds the device's largest buffer, and *OutOfMemoryError if all of them
// together exceed the free memory. An allocation may still fail after Fits returned nil, because others may allocate
// memory in between.
func (d *Device) Fits(sizes ...uint64) error {
	return d.fits(nil, sizes)
}

func (d *Device) fits(within *Budget, sizes []uint64) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	a := &d.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := uint64(0)
	for _, bytes := range sizes {
		if limit := d.info.MaxBufferBytes; bytes > limit {
			return tooLarge(bytes, limit)
		}
		sum += min(bytes, ^uint64(0)-sum)
	}
	if err := within.admit(sum); err != nil {
		return err
	}
	if used, budget := a.room(&a.device); sum > budget-min(used, budget) {
		return &OutOfMemoryError{Bytes: sum, Used: used, Budget: budget}
	}
	return nil
}

// take allocates a region of device memory, or of host memory. Its contents are undefined.
func (d *Device) take(host bool, bytes uint64) (*region, error) {
	return d.takeWithin(nil, host, bytes)
}

func (d *Device) takeWithin(within *Budget, host bool, bytes uint64) (*region, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	p := &d.memory.device
	if host {
		p = &d.memory.host
	}
	r, err := d.memory.allocate(p, within, bytes)
	if err != nil {
		return nil, err
	}
	d.adopt(r)
	return r, nil
}

func (a *allocator) allocate(p *pool, within *Budget, bytes uint64) (*region, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if limit := a.d.info.MaxBufferBytes; bytes > limit {
		return nil, tooLarge(bytes, limit)
	}
	rounded := max(grain, (bytes+grain-1)/grain*grain)
	if err := within.admit(rounded); err != nil {
		return nil, err
	}
	used, budget := a.room(p)
	if rounded > budget-min(used, budget) {
		return nil, &OutOfMemoryError{Bytes: bytes, Used: used, Budget: budget}
	}
	dead := a.d.dead.bytes(p.heap)
	if dead > budget-used-rounded {
		if err := a.d.settle(); err != nil {
			return nil, err
		}
		dead = 0
	}
	b, at, err := a.place(p, rounded)
	if outOfMemory(err) && dead > 0 {
		if err := a.d.settle(); err != nil {
			return nil, err
		}
		b, at, err = a.place(p, rounded)
	}
	if outOfMemory(err) {
		e := &OutOfMemoryError{Bytes: bytes, Used: used, Budget: budget}
		// The driver's file is longer than the memory in use, because it also contains the gaps in blocks and the
		// staging memory.
		if limit := native.FileLimit(); a.d.info.Type == CPU && limit < 2*(used+rounded)+sharedBytes {
			e.FileLimit = &limit
		}
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	p.used += rounded
	within.add(rounded)
	return &region{d: a.d, pool: p, block: b, at: at, bytes: bytes, rounded: rounded, budget: within}, nil
}

// outOfMemory reports whether a call failed because memory ran out.
func outOfMemory(err error) bool {
	call, ok := err.(*CallError)
	if !ok {
		return false
	}
	switch native.Result(call.Result) {
	case native.ErrorOutOfDeviceMemory, native.ErrorOutOfHostMemory, native.ErrorMemoryMapFailed:
		return true
	}
	return false
}

// place allocates from the first hole that is large enough, or makes a block.
func (a *allocator) place(p *pool, bytes uint64) (*block, uint64, error) {
	if bytes > smallLimit {
		b, err := a.newBlock(p, bytes, false)
		return b, 0, err
	}
	for _, b := range p.blocks {
		for i, h := range b.holes {
			if h.bytes < bytes {
				continue
			}
			b.holes[i] = hole{h.at + bytes, h.bytes - bytes}
			if h.bytes == bytes {
				b.holes = slices.Delete(b.holes, i, i+1)
			}
			return b, h.at, nil
		}
	}
	b, err := a.newBlock(p, sharedBytes, true)
	if err != nil {
		return nil, 0, err
	}
	b.holes = []hole{{bytes, sharedBytes - bytes}}
	return b, 0, nil
}

func (a *allocator) newBlock(p *pool, bytes uint64, shared bool) (*block, error) {
	d := a.d
	b := &block{heap: p.heap, bytes: bytes, shared: shared}
	var err error
	if b.buffer, err = d.newBuffer(bytes); err != nil {
		return nil, err
	}
	needed, _ := d.native.Requirements(b.buffer)
	var result native.Result
	b.memory, result = d.native.Allocate(b.buffer, needed, p.memoryType)
	if err = d.check("vkAllocateMemory", result); err == nil {
		err = d.check("vkBindBufferMemory", d.native.Bind(b.buffer, b.memory))
	}
	if err == nil && p.mapped {
		mapped, result := d.native.Map(b.memory, bytes)
		err = d.check("vkMapMemory", result)
		// lavapipe returns the result of a failed mmap as a valid pointer.
		if err == nil && (mapped == nil || uintptr(mapped) == ^uintptr(0)) {
			err = &CallError{"vkMapMemory", int32(native.ErrorMemoryMapFailed)}
		}
		b.mapped = mapped
		// lavapipe does not check whether its file for the memory has grown. An access beyond the end of the file is a
		// SIGBUS.
		if err == nil && d.info.Type == CPU && !native.Backed(mapped, int(bytes)) {
			err = &CallError{"vkMapMemory", int32(native.ErrorMemoryMapFailed)}
		}
	}
	if err != nil {
		b.destroy(d) // no queue has used it
		return nil, err
	}
	b.address = d.native.Address(b.buffer)
	p.blocks = append(p.blocks, b)
	return b, nil
}

// destroy frees a block. Freeing mapped memory also unmaps it.
func (b *block) destroy(d *Device) {
	d.native.DestroyBuffer(b.buffer)
	if b.memory != 0 {
		d.native.Free(b.memory)
	}
}

// release frees the region, and its block if no other region is in it. One empty shared block is kept, so that
// allocating and freeing a small buffer repeatedly makes no new allocations.
func (r *region) release() {
	a := &r.d.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	r.freed.Store(true)
	r.pool.used -= r.rounded
	r.budget.add(-r.rounded)
	b := r.block
	if b.shared {
		b.fill(hole{r.at, r.rounded})
		empty := func(b *block) bool { return len(b.holes) == 1 && b.holes[0].bytes == b.bytes }
		spare := slices.ContainsFunc(r.pool.blocks,
			func(other *block) bool { return other != b && other.shared && empty(other) })
		if !empty(b) || !spare {
			return
		}
	}
	r.pool.blocks = slices.DeleteFunc(r.pool.blocks, func(other *block) bool { return other == b })
	r.d.dead.bury(b)
}

// fill adds a hole and joins it with adjacent holes.
func (b *block) fill(h hole) {
	i := slices.IndexFunc(b.holes, func(other hole) bool { return other.at > h.at })
	if i < 0 {
		i = len(b.holes)
	}
	b.holes = slices.Insert(b.holes, i, h)
	if i+1 < len(b.holes) && h.at+h.bytes == b.holes[i+1].at {
		b.holes[i].bytes += b.holes[i+1].bytes
		b.holes = slices.Delete(b.holes, i+1, i+2)
	}
	if i > 0 && b.holes[i-1].at+b.holes[i-1].bytes == h.at {
		b.holes[i-1].bytes += b.holes[i].bytes
		b.holes = slices.Delete(b.holes, i, i+1)
	}
}

// close frees the remaining blocks.
func (a *allocator) close(d *Device) {
	for _, p := range []*pool{&a.device, &a.host} {
		for _, b := range p.blocks {
			b.destroy(d)
		}
		p.blocks = nil
	}
}
