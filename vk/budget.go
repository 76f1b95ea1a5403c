package vk

import "fmt"

// MemorySource is a *Device or a *Budget of one. NewBuffer and NewHostBuffer allocate memory from it.
type MemorySource interface {
	// Fits checks whether buffers of these sizes, in bytes, can be allocated together: see Device.Fits.
	Fits(sizes ...uint64) error
	take(host bool, bytes uint64) (*region, error)
}

// Budget limits the memory that several buffers of a Device take together: those that NewBuffer and NewHostBuffer
// allocate from the Budget instead of the Device. Buffers count until they are freed, with their sizes rounded up to
// multiples of 256 bytes. Several goroutines may use a Budget at once.
type Budget struct {
	d      *Device
	option string
	most   uint64
	used   uint64 // guarded by the allocator's lock
}

// Budget returns a Budget of this many bytes. A Budget of 0 bytes counts, but has no limit. If a buffer would exceed
// the Budget, allocating the buffer returns *LimitError, which names the option that set the limit.
func (d *Device) Budget(option string, bytes uint64) *Budget {
	if !d.made() {
		return nil
	}
	return &Budget{d: d, option: option, most: bytes}
}

// Used returns the bytes that buffers of the Budget take. Freed buffers do not count.
func (b *Budget) Used() uint64 {
	if b == nil || !b.d.made() {
		return 0
	}
	b.d.memory.mu.Lock()
	defer b.d.memory.mu.Unlock()
	return b.used
}

// Fits checks whether buffers of these sizes can be allocated together, like Device.Fits. It also returns *LimitError
// if they would exceed the Budget.
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

// admit returns *LimitError if this many more bytes would exceed the Budget. A nil Budget has no limit. The allocator's
// lock must be held.
func (b *Budget) admit(bytes uint64) error {
	if b == nil || b.most == 0 || bytes <= b.most-b.used {
		return nil
	}
	what := "bytes of device memory"
	if b.used > 0 {
		what += fmt.Sprintf(" (%d in use and %d more)", b.used, bytes)
	}
	return &LimitError{What: what, Want: b.used + min(bytes, ^uint64(0)-b.used), Most: b.most, Option: b.option}
}

// add adds bytes to those in use; their two's complement subtracts them. The allocator's lock must be held.
func (b *Budget) add(bytes uint64) {
	if b != nil {
		b.used += bytes
	}
}
