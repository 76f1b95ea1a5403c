package vk

import (
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/vk/internal/native"
)

// Options configure Open and Adopt. The zero value opens the best device of the machine.
type Options struct {
	// Device is an index in List, a part of a name, or a type (discrete, integrated, virtual, cpu, other; gpu: any but
	// cpu). If it is empty, $VKDS_DEVICE is used, and if that is empty, too, the best device.
	Device     string
	Validation bool // check every call with VK_LAYER_KHRONOS_validation: core and synchronization
	// OnMessage is called for each message of the validation layer, from any thread, but never concurrently. If it is
	// nil, messages go to Logger only, or to standard error if Logger is nil, too.
	OnMessage func(Message)
	// Without lists optional features that are not used even if the device has them, in addition to those that
	// $VKDS_WITHOUT names (by their Vulkan names, separated by commas).
	Without []Feature
	// SubgroupSize is that of kernels whose KernelOptions set none. 0: that of Tuning, or else the device's own, but 16
	// on Intel's GPUs.
	SubgroupSize int
	CacheDir     string // folder of the pipeline cache and of tunings; "" = vkds in os.UserCacheDir; "none" = no files
	StagingBytes int    // size of the staging ring, up to 16 GiB; 0 = 64 MiB
	MemoryLimit  uint64 // bytes of device memory that buffers may take; 0 = the free memory that the driver reports
	// Tuning says how kernels divide their work. nil: as the file in CacheDir says that SaveTuning has written for the
	// device and its driver's version, if there is one and $VKDS_TUNING is not "none".
	Tuning Tuning
	// OnKernel, if not nil, is called with the driver's report on each kernel, by the goroutine that makes the kernel.
	// Each kernel is then compiled twice, and the device must have ExecutableStatistics.
	OnKernel func(KernelReport)
	// TimeDispatches makes every dispatch a Timed section, labeled with the name of its module, for Stream.Timings.
	TimeDispatches bool
	// Logger, if not nil, logs events of the Device: see Device.Log.
	Logger *slog.Logger
	// Trace, if it has Events, has kernels write what they do to a buffer, for Device.Traced.
	Trace Tracing

	staged bool                       // tests: transfers use the staging ring even if memory is mapped
	fault  func(string) native.Result // tests: see Device.fault
}

// Device is an open device.
type Device struct {
	instance native.Instance
	native   native.Device
	physical native.PhysicalDevice
	about    native.Description
	info     Info
	subgroup int
	folder   string // of cache and tuning; "": none
	tuning   Tuning

	queues    []*queue
	family    uint32
	nextQueue atomic.Uint32

	memory  allocator
	staging stager
	cache   pipelineCache
	layouts layouts

	mu       sync.Mutex
	alive    map[resource]struct{} // resources that Close must free
	kits     []kit                 // the kits of closed streams
	foreign  map[native.Semaphore]*timeline
	dead     graveyard
	attached sync.Map

	onKernel       func(KernelReport)
	tracer         *tracer // nil: kernels write no events
	timeDispatches bool
	log            *slog.Logger // never nil
	closing        sync.Once
	gate           sync.RWMutex // calls that use the driver hold it shared, Close holds it exclusively
	closed, lost   atomic.Bool
	fault          func(call string) native.Result // tests: a result other than Success replaces the call's own
}

// queue is a VkQueue; only one thread may submit to it at a time.
type queue struct {
	sync.Locker
	handle native.Queue
	newest Point // the newest submission, which ends after all earlier ones
}

// resource is an object that is freed with its Device.
type resource interface{ release() }

// loaderName is the name of the Vulkan loader. It is a variable for the test without a loader.
var loaderName = native.Loader

// load opens the Vulkan loader.
func load() error {
	err := native.Load(loaderName)
	if reason, ok := err.(native.Unsupported); ok {
		return &NoDriverError{Reason: string(reason)}
	}
	if err != nil {
		return beginning("the Vulkan loader", &NoDriverError{loaderName, err.Error()})
	}
	return nil
}

func newInstance(listener func(native.Message)) (native.Instance, error) {
	if err := load(); err != nil {
		return nil, err
	}
	in, layer, result := native.NewInstance(listener)
	switch {
	case result == native.ErrorIncompatibleDriver:
		return nil, beginning("vkCreateInstance", &NoDriverError{Library: loaderName})
	case layer != "":
		return nil, &MissingFeatureError{"this machine",
			[]string{layer + " (on Debian the package vulkan-validationlayers)"}}
	case result < 0:
		return nil, beginning("vkCreateInstance", &CallError{"vkCreateInstance", int32(result)})
	}
	return in, nil
}

// Open opens a device. Errors:
//
//   - *NoDriverError if the machine has no Vulkan loader or driver, and in a program that was built without cgo or for
//     another system than Linux or Windows.
//   - *NoDeviceError if no device matches Options.Device.
//   - *MissingFeatureError if the device lacks a feature that vkds or the Options require, or if Options.Validation is
//     set and the validation layer is not installed.
//   - *OptionError if Options.Without or $VKDS_WITHOUT names an unknown feature, or if StagingBytes is out of bounds.
//   - a *CallError that is ErrNoRoom if the process cannot get enough memory.
func Open(o Options) (*Device, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var listener func(native.Message)
	if o.Validation {
		listener = listen(o.OnMessage, o.Logger)
	}
	in, err := newInstance(listener)
	if err != nil {
		return nil, err
	}
	d, err := open(in, o)
	if err != nil {
		in.Destroy()
		return nil, err
	}
	return d, nil
}

func open(in native.Instance, o Options) (*Device, error) {
	all, err := candidates(in)
	if err != nil {
		return nil, err
	}
	c, err := choose(all, o.Device)
	if err != nil {
		return nil, err
	}
	d, err := newDevice(in, c, o)
	if err != nil {
		return nil, err
	}
	features := c.about.Features
	for _, f := range optional {
		if !d.Has(f.feature) {
			features &^= f.bit
		}
	}
	family, _ := computeFamily(c.about.Families)
	d.family = uint32(family)
	count := min(c.about.Families[family].Queues, maxQueues)
	var result native.Result
	if d.native, result = in.NewDevice(c.physical, d.family, count, features); result != native.Success {
		return nil, beginning("vkCreateDevice", d.check("vkCreateDevice", result))
	}
	d.queues = make([]*queue, count)
	for i := range d.queues {
		d.queues[i] = &queue{Locker: &sync.Mutex{}, handle: d.native.Queue(d.family, uint32(i))}
	}
	if err := d.begin(o, chosenBy(o.Device)); err != nil {
		return nil, err
	}
	return d, nil
}

// newDevice returns a Device without a VkDevice.
func newDevice(in native.Instance, c candidate, o Options) (*Device, error) {
	without, err := leftOff(o)
	if err != nil {
		return nil, err
	}
	d := &Device{instance: in, physical: c.physical, about: c.about, info: c.info, alive: map[resource]struct{}{}}
	d.log = logFor(o.Logger, d.info)
	d.folder = cacheFolder(o.CacheDir)
	d.loadTuning(o.Tuning)
	d.timeDispatches = o.TimeDispatches
	// SubgroupSizes stays, because each kernel must require a size if the device has several.
	d.info.Features = slices.DeleteFunc(slices.Clone(d.info.Features), func(f Feature) bool {
		return f != SubgroupSizes && slices.Contains(without, f)
	})
	own := bestSubgroup(d.info)
	if size, err := d.subgroupSize(d.tuning[subgroupChoice], own); err == nil {
		own = size
	}
	if d.subgroup, err = d.subgroupSize(o.SubgroupSize, own); err != nil {
		return nil, err
	}
	d.info.MaxWorkgroup = mostInvocations(d.info, d.subgroup, int(d.about.MaxSubgroups))
	if d.onKernel = o.OnKernel; d.onKernel != nil && !d.Has(ExecutableStatistics) {
		return nil, &MissingFeatureError{d.info.Name, []string{string(ExecutableStatistics)}}
	}
	return d, nil
}

// begin makes the other parts of a Device that has a VkDevice and queues. After an error the VkDevice is destroyed.
func (d *Device) begin(o Options, chosenBy string) error {
	if seed := os.Getenv("VKDS_REORDERED"); seed != "" { // tests
		n, _ := strconv.ParseUint(seed, 10, 64)
		d.native = native.Reordered(d.native, n)
	}
	err := d.memory.init(d, o.MemoryLimit)
	if err == nil {
		err = d.cache.init(d)
	}
	if err != nil {
		d.destroy()
		return err
	}
	d.staging.init(d, o)
	d.fault = o.fault
	if d.tracer, err = newTracer(d, o.Trace); err != nil {
		d.destroy()
		return err
	}
	d.log.Info("device opened", "type", string(d.info.Type), "driver", d.info.Driver, "chosen_by", chosenBy,
		"subgroup", d.subgroup, "tuning", d.tuning, "features", d.info.Features, "bytes", d.info.HeapBytes)
	return nil
}

// check returns an error if an option is not valid.
func (o Options) check() error {
	for _, f := range o.Without {
		is := func(known optionalFeature) bool { return known.feature == f }
		if f != Timestamps && f != SubgroupSizes && !slices.ContainsFunc(optional, is) {
			return &OptionError{"Without",
				fmt.Sprintf("no such feature: %s (there are %s, %s)", f, optionalNames(), Timestamps)}
		}
	}
	if o.StagingBytes < 0 || uint64(o.StagingBytes) > mostStaging {
		return &OptionError{"StagingBytes",
			fmt.Sprintf("%d is not between 0 and %d", o.StagingBytes, uint64(mostStaging))}
	}
	return o.Trace.check()
}

// leftOff returns the optional features that are not to be used.
func leftOff(o Options) ([]Feature, error) {
	without := slices.Clone(o.Without)
	for name := range strings.SplitSeq(os.Getenv("VKDS_WITHOUT"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		known := slices.IndexFunc(optional, func(f optionalFeature) bool { return string(f.feature) == name })
		if known < 0 {
			return nil, &OptionError{"$VKDS_WITHOUT",
				fmt.Sprintf("no such feature: %s (there are %s)", name, optionalNames())}
		}
		without = append(without, optional[known].feature)
	}
	return without, nil
}

// maxQueues is the most queues that are requested from a device. Streams share them.
const maxQueues = 8

// subgroupSize returns the requested subgroup size, or the fallback if wish is 0. It returns an error if the device
// lacks the size.
func (d *Device) subgroupSize(wish, fallback int) (int, error) {
	if wish == 0 {
		wish = fallback
	}
	low, high := d.info.SubgroupSize, d.info.SubgroupSize
	if d.info.Has(SubgroupSizes) {
		low, high = d.info.MinSubgroup, d.info.MaxSubgroup
	}
	if wish < low || wish > high || bits.OnesCount(uint(wish)) != 1 {
		return 0, &MissingFeatureError{d.info.Name,
			[]string{fmt.Sprintf("subgroups of %d (it has %d to %d)", wish, low, high)}}
	}
	return wish, nil
}

// mostInvocations returns how large workgroups are at most if subgroups have so many lanes, halved so that it stays a
// power of two if it is one. Some devices have at most 56 subgroups in a workgroup, and so 1024 invocations with 32
// lanes, but not with 16.
func mostInvocations(i Info, lanes, subgroups int) int {
	most := i.MaxWorkgroup
	for i.Has(SubgroupSizes) && most > lanes*subgroups && most/2 >= lanes {
		most /= 2
	}
	return most
}

// Info describes the device as it was opened: Features does not contain Options.Without, and
// MaxWorkgroup is that of subgroups of SubgroupSize.
func (d *Device) Info() Info {
	if d == nil {
		return Info{}
	}
	return d.info
}

// Has reports whether the device has an optional feature that was not left off.
func (d *Device) Has(f Feature) bool { return d != nil && d.info.Has(f) }

// SubgroupSize returns the number of lanes in a subgroup, for kernels whose KernelOptions set no other size.
func (d *Device) SubgroupSize() int {
	if d == nil {
		return 0
	}
	return d.subgroup
}

// Attached returns the value that belongs to the Device under a key. If there is none, it calls make and keeps the
// value. If several goroutines do so at once, make may be called several times, but all of them get the same value. As
// with context.Context, a package uses its own types for keys.
func (d *Device) Attached(key any, make func() any) any {
	if !d.made() {
		return make()
	}
	value, ok := d.attached.Load(key)
	if !ok {
		value, _ = d.attached.LoadOrStore(key, make())
	}
	return value
}

// Memory returns the bytes of device memory that this Device's buffers take, and the bytes that they may take:
// Options.MemoryLimit, or the free memory that the driver reports, or the size of the heap. Both are 0 if the Device is
// closed.
func (d *Device) Memory() (used, budget uint64) {
	if !d.made() || !d.gate.TryRLock() {
		return 0, 0
	}
	defer d.leave()
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return d.memory.room(&d.memory.device)
}

// owned is an object of a Device: a Buffer, a HostBuffer or a Stream.
type owned interface{ usableOn(d *Device) error }

// errForeign is returned by usableOn for an object of another device.
var errForeign = errors.New("of another device")

// Accept returns an error if a Buffer, a HostBuffer or a Stream cannot be used with the Device: *ForeignError if it is
// of another device, ErrClosed if it was freed or closed. A nil *Buffer is accepted. The error names the object by
// what.
func (d *Device) Accept(what string, thing owned) error {
	if !d.made() {
		return ErrNotOpen
	}
	err := thing.usableOn(d)
	switch {
	case err == errForeign:
		return &ForeignError{what}
	case isClosed(err):
		return &ClosedError{what}
	}
	return err
}

// adopt registers a resource, which Close will release.
func (d *Device) adopt(r resource) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.alive[r] = struct{}{}
}

// drop releases a resource unless it was released before. If Close has begun, Close releases it.
func (d *Device) drop(r resource) {
	if !d.gate.TryRLock() {
		return
	}
	defer d.leave()
	d.mu.Lock()
	_, ok := d.alive[r]
	delete(d.alive, r)
	d.mu.Unlock()
	if ok {
		r.release()
		d.sweep()
	}
}

// made reports whether Open or Adopt has made the Device.
func (d *Device) made() bool { return d != nil && d.alive != nil }

// enter keeps the Device open until leave. If Close has begun, it returns ErrClosed and does not wait. So a call that
// has entered may enter again.
func (d *Device) enter() error {
	if !d.made() {
		return ErrNotOpen
	}
	if !d.gate.TryRLock() {
		return &ClosedError{theDevice}
	}
	if err := d.usable(); err != nil {
		d.leave()
		return err
	}
	return nil
}

func (d *Device) leave() { d.gate.RUnlock() }

// Close waits for running calls and submitted work, frees everything that was made from the Device, saves the pipeline
// cache and closes the device, also after ErrDeviceLost. It must not be called while a goroutine records work. Further
// calls wait until the first one has ended, and do nothing.
func (d *Device) Close() (err error) {
	if !d.made() {
		return ErrNotOpen
	}
	d.closing.Do(func() {
		d.gate.Lock() // never unlocked
		d.closed.Store(true)
		err = d.waitIdle()
		if errors.Is(err, ErrDeviceLost) {
			err = nil // on a lost device no work runs any more
		}
		d.destroy()
		d.instance.Destroy()
		d.log.Debug("device closed")
	})
	return err
}

// destroy destroys everything except the instance. The queues must be idle.
func (d *Device) destroy() {
	d.closed.Store(true)
	d.closeForeign()
	// Release streams before the buffers and kernels that their command buffers name.
	for _, streams := range []bool{true, false} {
		for r := range d.alive {
			if _, ok := r.(*Stream); ok == streams {
				delete(d.alive, r)
				r.release()
			}
		}
	}
	for _, k := range d.kits {
		k.destroy(d)
	}
	d.dead.empty(d)
	d.layouts.destroy(d)
	d.cache.close(d)
	d.memory.close(d)
	d.native.Destroy()
}
