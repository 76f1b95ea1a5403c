package vk

// MemorySource is what NewBuffer and NewHostBuffer take memory from: a *Device, or a *Budget of one.
type MemorySource interface {
	// Fits checks whether buffers of these sizes, in bytes, can be allocated together: see Device.Fits.
	Fits(sizes ...uint64) error
	take(host bool, bytes uint64) (*region, error)
}

// Budget bounds the memory that several buffers of a Device take together: those for which NewBuffer and NewHostBuffer
// are given the Budget instead of the Device. Buffers count until they are freed, with their sizes rounded up to
// multiples of 256 bytes. Several goroutines may use a Budget at once.
type Budget struct {
	d      *Device
	option string
	most   uint64
	used   uint64 // the allocator's lock is held for it
}

// Budget returns a Budget of so many bytes; 0: it only counts. If a buffer would exceed it, allocating the buffer
// returns *LimitError, which names the option that set the limit.
func (d *Device) Budget(option string, bytes uint64) *Budget {
	if !d.made() {
		return nil
	}
	return &Budget{d: d, option: option, most: bytes}
}

// Used returns the bytes that the buffers take which have not been freed.
func (b *Budget) Used() uint64 {
	if b == nil || !b.d.made() {
		return 0
	}
	b.d.memory.mu.Lock()
	defer b.d.memory.mu.Unlock()
	return b.used
}

// Fits is Device.Fits, and returns *LimitError if buffers of these sizes would exceed the Budget.
func (b *Budget) Fits(sizes ...uint64) error {
	if b == nil {
		return ErrNotOpen
	}
	return b.d.fits(b, sizes)
}

func (b *Budget) usableOn(d *Device) error {
	if b.d != d {
		return errForeign
	}
	return nil
}

func (b *Budget) take(host bool, bytes uint64) (*region, error) {
	if b == nil {
		return nil, ErrNotOpen
	}
	return b.d.takeWithin(b, host, bytes)
}

// admit returns why so many bytes more can't be taken; of no Budget nil. The allocator's lock is held.
func (b *Budget) admit(bytes uint64) error {
	if b == nil || b.most == 0 || bytes <= b.most-b.used {
		return nil
	}
	return &LimitError{What: "bytes of device memory", Want: b.used + min(bytes, ^uint64(0)-b.used), Most: b.most,
		Option: b.option}
}

// add counts bytes, or as their two's complement takes them off. The allocator's lock is held.
func (b *Budget) add(bytes uint64) {
	if b != nil {
		b.used += bytes
	}
}
