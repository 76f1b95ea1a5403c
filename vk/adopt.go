package vk

import (
	"slices"
	"sync"

	"github.com/vkds/vkds/vk/internal/native"
)

// Handles identifies a Vulkan device and one of its queues by their Vulkan handles. A program passes Handles to Adopt,
// and Device.Handles returns them. A handle that is a pointer in C is the value of that pointer here.
type Handles struct {
	Instance       uint64 // VkInstance, made for Vulkan 1.3 or newer by the system's loader
	PhysicalDevice uint64 // VkPhysicalDevice
	Device         uint64 // VkDevice
	Queue          uint64 // VkQueue of a family that has VK_QUEUE_COMPUTE_BIT
	Family         uint32 // the queue's family

	// Features are the features that the device was created with. They must contain RequiredFeatures. Vulkan cannot be
	// asked which features were enabled: if a feature is named here but was not enabled, the behaviour is undefined.
	Features []Feature
	// Lock guards the queue. vkds holds it during each vkQueueSubmit2 and vkQueueWaitIdle, and the program holds it
	// during its own calls on the queue. It may be nil if the program leaves the queue to vkds.
	Lock sync.Locker
}

// RequiredFeatures returns the features that vkds requires of each device, by their Vulkan names.
func RequiredFeatures() []Feature {
	var names []Feature
	for _, r := range required {
		names = append(names, Feature(r.name))
	}
	return names
}

// Adopt makes a Device from a VkDevice that the program has created for its own work, so that both share its memory and
// its queue. The Device uses only the queue that h names. Adopt ignores Options.Device, Options.Validation and
// Options.OnMessage, which belong to the instance.
//
// Close waits for the queue and frees everything that was made from the Device. The VkDevice and the instance stay
// alive; the program destroys them after Close.
//
// Errors:
//
//   - *OptionError if a handle is 0 or does not fit the others;
//   - *MissingFeatureError if h.Features or the physical device lack a feature that vkds requires. A device has no
//     features newer than the Vulkan version for which its instance was made;
//   - those of Open.
func Adopt(h Handles, o Options) (*Device, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	for _, handle := range []struct {
		name  string
		value uint64
	}{{"Instance", h.Instance}, {"PhysicalDevice", h.PhysicalDevice}, {"Device", h.Device}, {"Queue", h.Queue}} {
		if handle.value == 0 {
			return nil, &OptionError{"Handles." + handle.name, "it is 0"}
		}
	}
	if err := load(); err != nil {
		return nil, err
	}
	in, result := native.Adopt(h.Instance)
	if result != native.Success {
		return nil, &OptionError{"Handles.Instance", "it was made for a Vulkan older than 1.3"}
	}
	d, err := adopt(in, h, o)
	if err != nil {
		in.Destroy()
		return nil, err
	}
	return d, nil
}

func adopt(in native.Instance, h Handles, o Options) (*Device, error) {
	all, err := candidates(in)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(c candidate) bool { return c.physical == native.PhysicalDevice(h.PhysicalDevice) })
	if at < 0 {
		return nil, &OptionError{"Handles.PhysicalDevice", "the instance has no such device"}
	}
	c := all[at]
	if len(c.info.Missing) > 0 {
		return nil, &MissingFeatureError{c.info.Name, c.info.Missing}
	}
	if err := c.restrict(h); err != nil {
		return nil, err
	}
	d, err := newDevice(in, c, o)
	if err != nil {
		return nil, err
	}
	lock := h.Lock
	if lock == nil {
		lock = &sync.Mutex{}
	}
	d.family, d.queues = h.Family, []*queue{{Locker: lock, handle: native.Queue(h.Queue)}}
	var result native.Result
	if d.native, result = in.Adopt(h.Device, native.Queue(h.Queue)); result != native.Success {
		return nil, &OptionError{"Handles.Device", "it lacks calls of Vulkan 1.3"}
	}
	if err := d.begin(o, "program"); err != nil {
		return nil, err
	}
	return d, nil
}

// restrict reduces the abilities of a candidate to those that the program's device and queue have.
func (c *candidate) restrict(h Handles) error {
	var lacks []string
	for _, f := range RequiredFeatures() {
		if !slices.Contains(h.Features, f) {
			lacks = append(lacks, string(f)+" among Handles.Features")
		}
	}
	if len(lacks) > 0 {
		return &MissingFeatureError{c.info.Name, lacks}
	}
	families := c.about.Families
	if int64(h.Family) >= int64(len(families)) || families[h.Family].Flags&native.QueueCompute == 0 {
		return &OptionError{"Handles.Queue", "its family does not compute"}
	}
	c.info.Queues = 1
	c.info.Features = slices.DeleteFunc(slices.Clone(c.info.Features), func(f Feature) bool {
		switch f {
		case SubgroupSizes:
			return false // subgroupSizeControl is required
		case Timestamps:
			return families[h.Family].TimestampBits == 0
		}
		return !slices.Contains(h.Features, f)
	})
	return nil
}

// Handles returns the handles of the Device and of one of its queues, for the program's own calls. The program must
// hold Lock during its calls on the queue. The handles are valid until Close.
func (d *Device) Handles() Handles {
	if !d.made() {
		return Handles{}
	}
	q := d.queues[0]
	return Handles{
		Instance: d.instance.Handle(), PhysicalDevice: uint64(d.physical), Device: d.native.Handle(),
		Queue: uint64(q.handle), Family: d.family, Features: append(RequiredFeatures(), d.info.Features...), Lock: q,
	}
}

// Handle returns the VkBuffer that contains the elements, and the offset of the first element in bytes, because small
// buffers share a VkBuffer. Both are 0 for a nil Buffer. The handle is valid until Free.
func (b *Buffer[T]) Handle() (buffer, offset uint64) { return b.where().handle() }

// Handle returns the VkBuffer and the offset, like Buffer.Handle.
func (b *HostBuffer[T]) Handle() (buffer, offset uint64) { return b.where().handle() }

func (r *region) handle() (buffer, offset uint64) {
	if r == nil {
		return 0, 0
	}
	return uint64(r.block.buffer), r.at
}

// Semaphore returns the timeline semaphore of a Point, and the value that the semaphore has when the device has reached
// the Point. The program's own submissions can wait for it. Both are 0 for the zero Point. The handle is valid until
// the Device closes.
func (p Point) Semaphore() (semaphore, value uint64) {
	if p.line == nil {
		return 0, 0
	}
	return uint64(p.line.semaphore), p.value
}

// PointAt returns the Point at which the program's own timeline semaphore has a value, for Stream.After and Point.Wait.
// The semaphore must belong to the same VkDevice and must outlive every wait for the Point. After Device.Close, Wait
// and Done return ErrClosed.
func (d *Device) PointAt(semaphore, value uint64) Point {
	if !d.made() {
		return Point{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	line := d.foreign[native.Semaphore(semaphore)]
	if line == nil {
		line = &timeline{d: d, foreign: true, semaphore: native.Semaphore(semaphore), closed: d.closed.Load()}
		if d.foreign == nil {
			d.foreign = map[native.Semaphore]*timeline{}
		}
		d.foreign[line.semaphore] = line
	}
	return Point{line, value}
}

// closeForeign ends the waits for the program's own semaphores. The Device must be marked as closed.
func (d *Device) closeForeign() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range d.foreign {
		line.close()
	}
}
