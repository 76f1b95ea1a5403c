package recording

import (
	"cmp"
	"sync"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Own is memory of a structure's for batches that bring less than kernels write. Each stream has memory of its own,
// until the next batch of its that takes some. Several goroutines may use one.
type Own struct {
	d        *vk.Device
	width    structures.Width // of values
	kernels  *Kernels
	mu       sync.Mutex
	found    Scratch
	outcomes map[*vk.Stream]*outcomes
}

// outcomes are what became of a stream's last batch that had no Status or no Left.
type outcomes struct {
	of     structures.DeviceBatch
	done   bool // nothing of it can be left pending
	status *vk.Buffer[uint8]
	left   *vk.Buffer[uint32]
}

// NewOwn has no memory yet.
func NewOwn(d *vk.Device) *Own {
	return &Own{d: d, kernels: NewKernels(d), found: NewScratch(d), outcomes: map[*vk.Stream]*outcomes{}}
}

// Of has batches bring values of a width, and results: of 32 bits else.
func (o *Own) Of(width structures.Width) *Own {
	o.width = width
	return o
}

// outcomesOf is a batch with a Status and a Left, which is 0 by then: its own, or the structure's.
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
	if b.Left == nil { // by a kernel, so that what can't be made is found out before the first command
		if err := Clear(o.kernels, s, all.left.Address(), 1); err != nil {
			return b, err
		}
	}
	return all.complete(b), nil
}

// Done notes of a batch without a Status or a Left that nothing of it can be left pending.
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

// sweep frees what streams had that are closed: their work has ended. The lock is held.
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

// fit makes the memory that a batch with so many bytes of status takes. What was there before may be in use still.
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

// Again is Batch for who finishes a batch that was recorded before. done: nothing of it can be left pending. Error:
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

// NeedFound is Need of what says whether keys are found: bytes, bits or both.
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

// Find has lookups recorded whose found bytes go to an address, and bits made of them where they are asked for.
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
	k, err := Kernel[foundBitsPush](o.kernels, s, "recording/found_bits", 64)
	if err != nil {
		return err
	}
	k.Dispatch(s, (l.Count+2047)/2048, foundBitsPush{found, l.FoundBits.Address(),
		Length{l.DeviceCount.Address(), uint32(l.Count)}})
	return nil
}

// Release frees the memory, behind the work that names it.
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

// Bytes is how much memory there is.
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
