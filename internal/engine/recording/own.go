package recording

import (
	"cmp"
	"sync"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Own is memory of a structure for batches whose buffers lack something that kernels write. Each stream has its own
// memory, until its next such batch. Several goroutines may use one Own.
type Own struct {
	d        *vk.Device
	width    structures.Width // of values
	kernels  *Kernels
	mu       sync.Mutex
	found    Scratch
	outcomes map[*vk.Stream]*outcomes
}

// outcomes is the memory for the last batch of a stream that had no Status or no Left.
type outcomes struct {
	of     structures.DeviceBatch
	done   bool // none of its operations can be left pending
	status *vk.Buffer[uint8]
	left   *vk.Buffer[uint32]
}

// NewOwn returns an Own without memory.
func NewOwn(d *vk.Device) *Own {
	return &Own{d: d, kernels: NewKernels(d), found: NewScratch(d), outcomes: map[*vk.Stream]*outcomes{}}
}

// Of sets the width of values in batches and results. The default is 32 bits.
func (o *Own) Of(width structures.Width) *Own {
	o.width = width
	return o
}

// outcomesOf returns the batch with a Status and a Left, which are its own or the structure's. Left is 0.
func (o *Own) outcomesOf(s *vk.Stream, b structures.DeviceBatch) (structures.DeviceBatch, error) {
	if b.Status != nil && b.Left != nil {
		return b, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.last(s)
	if err := all.fit(o.d, s, Padded(b.Count)); err != nil {
		s.Fail(err)
		return b, err
	}
	all.of, all.done = b, false
	if b.Left == nil { // by a kernel, so that an error to make it comes before the first command
		if err := Clear(o.kernels, s, all.left.Address(), 1); err != nil {
			return b, err
		}
	}
	return all.complete(b), nil
}

// Done notes that none of the operations of a batch without a Status or a Left can be left pending.
func (o *Own) Done(s *vk.Stream, b structures.DeviceBatch) {
	if b.Status != nil && b.Left != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.last(s)
	all.of, all.done = b, true
}

func (o *Own) last(s *vk.Stream) *outcomes {
	all := o.outcomes[s]
	if all == nil {
		o.sweep()
		all = &outcomes{}
		o.outcomes[s] = all
	}
	return all
}

// sweep frees the memory of streams that are closed, whose work has ended. The lock is held.
func (o *Own) sweep() {
	for s, all := range o.outcomes {
		if !ended(o.d, s) {
			continue
		}
		if all.left != nil {
			all.left.Free()
		}
		if all.status != nil {
			all.status.Free()
		}
		delete(o.outcomes, s)
	}
}

// fit allocates the memory for a batch with the given number of status bytes. The old memory may still be in use.
func (o *outcomes) fit(d *vk.Device, s *vk.Stream, bytes int) error {
	if o.left == nil {
		left, err := vk.NewBuffer[uint32](d, 1)
		if err != nil {
			return err
		}
		o.left = left
	}
	if o.status.Len() >= bytes {
		return nil
	}
	status, err := vk.NewBuffer[uint8](d, bytes)
	if err != nil {
		return err
	}
	if o.status != nil {
		s.Finally(o.status.Free)
	}
	o.status = status
	return nil
}

func (o *outcomes) complete(b structures.DeviceBatch) structures.DeviceBatch {
	b.Status, b.Left = cmp.Or(b.Status, o.status), cmp.Or(b.Left, o.left)
	return b
}

// Again is Batch for a call that finishes a batch recorded earlier. done says that nothing can be left pending. Error:
// structures.ErrSuperseded.
func (o *Own) Again(s *vk.Stream, b structures.DeviceBatch) (_ structures.DeviceBatch, done bool, err error) {
	if b.Status != nil && b.Left != nil || b.Count == 0 {
		return b, b.Count == 0, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.outcomes[s]
	if all == nil || all.of != b {
		return b, false, structures.ErrSuperseded
	}
	return all.complete(b), all.done, nil
}

// NeedFound is Need for the buffers that tell which keys are found: bytes, bits or both.
func NeedFound(d *vk.Device, l structures.DeviceLookups) error {
	bytes, bits := Padded(l.Count), 0
	if l.FoundBits != nil {
		bits = (l.Count + 31) / 32
		if l.Found == nil {
			bytes = 0
		}
	}
	return cmp.Or(Need(d, l.Found, "found bytes", l.Count, bytes),
		Need(d, l.FoundBits, "words of found bits", l.Count, bits))
}

type foundBitsPush struct {
	Found, Bits uint64
	Count       Length
}

func foundBitsKernel() Spec[foundBitsPush] { return Of[foundBitsPush]("recording/found_bits", 64) }

// FindKernels lists the kernels of Find.
func (o *Own) FindKernels() Table { return Table{foundBitsKernel()} }

// Find calls find to record lookups, with the address for their found bytes, and records the conversion to bits if the
// batch wants bits.
func (o *Own) Find(s *vk.Stream, l structures.DeviceLookups, find func(found uint64) error) error {
	found := l.Found.Address()
	if l.Found == nil && l.Count != 0 {
		o.mu.Lock()
		at, err := o.found.Take(s, l.Count)
		o.mu.Unlock()
		if err != nil {
			return err
		}
		found = at
	}
	if err := find(found); err != nil || l.FoundBits == nil || l.Count == 0 {
		return err
	}
	k, err := foundBitsKernel().Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, (l.Count+2047)/2048, foundBitsPush{found, l.FoundBits.Address(),
		Length{l.DeviceCount.Address(), uint32(l.Count)}})
	return nil
}

// Release frees the memory after the work that uses it.
func (o *Own) Release(uses *vk.Uses) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.found.Release(uses)
	for s, all := range o.outcomes {
		if all.left != nil {
			uses.Free(all.left.Free)
		}
		if all.status != nil {
			uses.Free(all.status.Free)
		}
		delete(o.outcomes, s)
	}
}

// Bytes returns the size of the memory in bytes.
func (o *Own) Bytes() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	sum := o.found.Bytes()
	for _, all := range o.outcomes {
		if all.left != nil {
			sum += all.left.Bytes()
		}
		if all.status != nil {
			sum += all.status.Bytes()
		}
	}
	return sum
}
