// Package native holds the Vulkan calls that vulkan-go can't make: those that take a slice of structs or of
// strings (its binding frees the C copy when a garbage collection lands in the call), and those newer than
// its Vulkan 1.1. Each is one flat C function in native.c. Everything else goes through vulkan-go.
//
// The build needs Go, a C compiler and the C library's headers: the Khronos headers are in include/, and the
// loader is opened at run time.
package native

/*
#cgo CFLAGS: -std=c11 -Wall -I${SRCDIR}/include -DVK_NO_PROTOTYPES
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "native.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"

	"github.com/vulkan-go/vulkan"

	_ "github.com/vkds/vkds/vk/internal/native/include/vk_video"
	_ "github.com/vkds/vkds/vk/internal/native/include/vulkan"
)

// Bits of Description.Features.
const (
	BufferAddress          = C.VKDS_BUFFER_ADDRESS
	MemoryModel            = C.VKDS_MEMORY_MODEL
	MemoryModelDeviceScope = C.VKDS_MEMORY_MODEL_DEVICE_SCOPE
	SubgroupSizeControl    = C.VKDS_SUBGROUP_SIZE_CONTROL
	FullSubgroups          = C.VKDS_FULL_SUBGROUPS
	Timeline               = C.VKDS_TIMELINE
	Synchronization2       = C.VKDS_SYNCHRONIZATION2
	Maintenance4           = C.VKDS_MAINTENANCE4
	Int64                  = C.VKDS_INT64
	Int64Atomics           = C.VKDS_INT64_ATOMICS
	MemoryBudget           = C.VKDS_MEMORY_BUDGET
	ExecutableStatistics   = C.VKDS_EXECUTABLE_STATISTICS
)

func integer[T any](handle T) C.uint64_t { return *(*C.uint64_t)(unsafe.Pointer(&handle)) }

func handle[T any](value C.uint64_t) T { return *(*T)(unsafe.Pointer(&value)) }

var (
	loading sync.Mutex
	loaded  string
	entry   unsafe.Pointer
)

// Load opens the Vulkan loader and hands it to vulkan-go. The first that opens is the one this process keeps;
// a later call for another only says whether that one could be opened.
func Load(library string) error {
	loading.Lock()
	defer loading.Unlock()
	if entry != nil && loaded == library {
		return nil
	}
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	var reason *C.char
	get := C.vkds_open_loader(name, &reason)
	if get == nil {
		return errors.New(C.GoString(reason))
	}
	if entry != nil {
		return nil
	}
	vulkan.SetGetInstanceProcAddr(get)
	if err := vulkan.Init(); err != nil {
		return err
	}
	entry, loaded = get, library
	return nil
}

// Message is one message of the validation layer. Severity holds VkDebugUtilsMessageSeverityFlagBitsEXT.
type Message struct {
	Severity uint32
	ID, Text string
}

//export vkdsMessage
func vkdsMessage(sink C.uintptr_t, severity C.uint32_t, id, text *C.char) {
	cgo.Handle(sink).Value().(func(Message))(Message{uint32(severity), C.GoString(id), C.GoString(text)})
}

// Instance is a Vulkan instance. Destroy it after all that came from it.
type Instance struct {
	c    *C.vkds_instance
	sink cgo.Handle
	keep bool
}

// firstInstance marks the first instance of the process, whose Destroy leaves it alive. While one is alive the
// drivers stay loaded; NVIDIA's can be unloaded and loaded again only some twenty times.
var firstInstance sync.Once

// initInstance makes vulkan-go fetch its functions once. They are the loader's trampolines, which serve every
// instance; fetching them again while another goroutine calls one would be a race.
var initInstance sync.Once

// NewInstance makes a Vulkan 1.3 instance. A listener turns the validation layer on (core and
// synchronization) and is called, from any thread, for its warnings and errors. missing names the layer when
// it is not installed.
func NewInstance(listener func(Message)) (in *Instance, missing string, result vulkan.Result) {
	in = &Instance{}
	if listener != nil {
		in.sink = cgo.NewHandle(listener)
	}
	var name *C.char
	result = vulkan.Result(C.vkds_create_instance(entry, C.uintptr_t(in.sink), &in.c, &name))
	if result != vulkan.Success {
		if in.sink != 0 {
			in.sink.Delete()
		}
		return nil, C.GoString(name), result
	}
	initInstance.Do(func() { vulkan.InitInstance(in.Handle()) })
	firstInstance.Do(func() { in.keep = true })
	return in, "", vulkan.Success
}

// Handle is the instance as vulkan-go takes it.
func (in *Instance) Handle() vulkan.Instance {
	return *(*vulkan.Instance)(unsafe.Pointer(&in.c.handle))
}

// Destroy ends the instance.
func (in *Instance) Destroy() {
	var keep C.int
	if in.keep {
		keep = 1
	}
	C.vkds_destroy_instance(in.c, keep)
	if in.sink != 0 {
		in.sink.Delete()
	}
}

// QueueFamily is what vkGetPhysicalDeviceQueueFamilyProperties says.
type QueueFamily struct{ Flags, Queues, TimestampBits uint32 }

// MemoryType is one memory type: its VkMemoryPropertyFlags and its heap.
type MemoryType struct{ Flags, Heap uint32 }

// Heap is one memory heap: its VkMemoryHeapFlags and its size in bytes.
type Heap struct {
	Flags uint32
	Bytes uint64
}

// Description is what vkds needs to know of a physical device. The properties of 1.1 and newer are zero where
// the device's version is below 1.3.
type Description struct {
	Name, Driver, DriverInfo                                     string
	DeviceUUID, CacheUUID                                        [16]byte
	APIVersion, DriverVersion, Vendor, Device, Type              uint32
	Features                                                     uint32
	Subgroup, MinSubgroup, MaxSubgroup                           uint32
	SubgroupOperations, SubgroupStages                           uint32
	RequiredSizeStages, MaxSubgroups                             uint32
	MaxInvocations, MaxWorkgroup, SharedBytes, PushConstantBytes uint32
	MaxGroups                                                    [3]uint32
	MaxAllocations                                               uint32
	TimestampPeriod                                              float32
	MaxBuffer, MaxAllocation                                     uint64
	Families                                                     []QueueFamily
	Types                                                        []MemoryType
	Heaps                                                        []Heap
}

// Describe asks a physical device for its properties.
func (in *Instance) Describe(p vulkan.PhysicalDevice) Description {
	var c C.vkds_description
	C.vkds_describe(in.c, integer(p), &c)
	d := Description{
		Name: C.GoString(&c.name[0]), Driver: C.GoString(&c.driver[0]), DriverInfo: C.GoString(&c.driver_info[0]),
		DeviceUUID: *(*[16]byte)(unsafe.Pointer(&c.device_uuid)), CacheUUID: *(*[16]byte)(unsafe.Pointer(&c.cache_uuid)),
		APIVersion: uint32(c.api_version), DriverVersion: uint32(c.driver_version),
		Vendor: uint32(c.vendor), Device: uint32(c.device), Type: uint32(c._type), Features: uint32(c.features),
		Subgroup: uint32(c.subgroup), MinSubgroup: uint32(c.min_subgroup), MaxSubgroup: uint32(c.max_subgroup),
		SubgroupOperations: uint32(c.subgroup_operations), SubgroupStages: uint32(c.subgroup_stages),
		RequiredSizeStages: uint32(c.required_size_stages), MaxSubgroups: uint32(c.max_subgroups),
		MaxInvocations: uint32(c.max_invocations), MaxWorkgroup: uint32(c.max_workgroup),
		SharedBytes: uint32(c.shared_bytes), PushConstantBytes: uint32(c.push_bytes), MaxAllocations: uint32(c.max_allocations),
		TimestampPeriod: float32(c.timestamp_period),
		MaxBuffer:       uint64(c.max_buffer), MaxAllocation: uint64(c.max_allocation),
	}
	for i := range d.MaxGroups {
		d.MaxGroups[i] = uint32(c.max_groups[i])
	}
	for i := range c.family_count {
		d.Families = append(d.Families, QueueFamily{uint32(c.family_flags[i]), uint32(c.family_queues[i]), uint32(c.family_timestamp_bits[i])})
	}
	for i := range c.type_count {
		d.Types = append(d.Types, MemoryType{uint32(c.type_flags[i]), uint32(c.type_heap[i])})
	}
	for i := range c.heap_count {
		d.Heaps = append(d.Heaps, Heap{uint32(c.heap_flags[i]), uint64(c.heap_bytes[i])})
	}
	return d
}

// Budget returns, for each heap, the bytes that this process uses and the bytes that it may use now. The
// device must have MemoryBudget.
func (in *Instance) Budget(p vulkan.PhysicalDevice) (usage, budget [C.VK_MAX_MEMORY_HEAPS]uint64) {
	C.vkds_memory_budget(in.c, integer(p), (*C.uint64_t)(&usage[0]), (*C.uint64_t)(&budget[0]))
	return usage, budget
}

// Device is a logical device's table of functions.
type Device struct{ c *C.vkds_device }

// NewDevice makes a logical device with what vkds requires and the optional features named, and with the first
// queues of one family.
func (in *Instance) NewDevice(p vulkan.PhysicalDevice, family, queues, features uint32) (*Device, vulkan.Result) {
	d := &Device{}
	result := C.vkds_create_device(in.c, integer(p), C.uint32_t(family), C.uint32_t(queues), C.uint32_t(features), &d.c)
	return d, vulkan.Result(result)
}

// Handle is the device as vulkan-go takes it.
func (d *Device) Handle() vulkan.Device { return *(*vulkan.Device)(unsafe.Pointer(&d.c.handle)) }

// Destroy ends the device, everything made from it being destroyed already.
func (d *Device) Destroy() {
	vulkan.DestroyDevice(d.Handle(), nil)
	C.free(unsafe.Pointer(d.c))
}

// Allocate allocates memory dedicated to one buffer, with device addresses.
func (d *Device) Allocate(buffer vulkan.Buffer, bytes uint64, memoryType uint32) (vulkan.DeviceMemory, vulkan.Result) {
	var memory C.uint64_t
	result := C.vkds_allocate(d.c, integer(buffer), C.uint64_t(bytes), C.uint32_t(memoryType), &memory)
	return handle[vulkan.DeviceMemory](memory), vulkan.Result(result)
}

// Address is the buffer's device address.
func (d *Device) Address(buffer vulkan.Buffer) uint64 {
	return uint64(C.vkds_address(d.c, integer(buffer)))
}

// NewTimeline makes a timeline semaphore that stands at 0.
func (d *Device) NewTimeline() (vulkan.Semaphore, vulkan.Result) {
	var semaphore C.uint64_t
	result := C.vkds_create_timeline(d.c, &semaphore)
	return handle[vulkan.Semaphore](semaphore), vulkan.Result(result)
}

// TimelineValue reads a timeline semaphore.
func (d *Device) TimelineValue(semaphore vulkan.Semaphore) (uint64, vulkan.Result) {
	var value C.uint64_t
	result := C.vkds_timeline_value(d.c, integer(semaphore), &value)
	return uint64(value), vulkan.Result(result)
}

// WaitTimeline waits, at most so many nanoseconds, until the semaphore has reached the value.
func (d *Device) WaitTimeline(semaphore vulkan.Semaphore, value, nanoseconds uint64) vulkan.Result {
	return vulkan.Result(C.vkds_timeline_wait(d.c, integer(semaphore), C.uint64_t(value), C.uint64_t(nanoseconds)))
}

// Submit submits one command buffer (nil: none) that waits until each semaphore has reached its value, and
// raises signal to value at its end. The caller holds the queue's lock.
func (d *Device) Submit(queue vulkan.Queue, commands vulkan.CommandBuffer, semaphores []vulkan.Semaphore, values []uint64, signal vulkan.Semaphore, value uint64) vulkan.Result {
	var pin runtime.Pinner
	defer pin.Unpin()
	var s, v *C.uint64_t
	if len(semaphores) > 0 {
		pin.Pin(&semaphores[0])
		pin.Pin(&values[0])
		s, v = (*C.uint64_t)(unsafe.Pointer(&semaphores[0])), (*C.uint64_t)(&values[0])
	}
	return vulkan.Result(C.vkds_submit(d.c, integer(queue), integer(commands), C.uint32_t(len(semaphores)), s, v, integer(signal), C.uint64_t(value)))
}

// Work is a set of kinds of work that a barrier orders.
type Work uint32

const (
	Shader   Work = C.VKDS_SHADER
	Transfer Work = C.VKDS_TRANSFER // fills and copies
	Indirect Work = C.VKDS_INDIRECT // the reading of a dispatch's arguments
	Host     Work = C.VKDS_HOST
)

// Barrier makes what the work of some kinds before it wrote visible to the work of other kinds after it, which
// waits for it.
func (d *Device) Barrier(commands vulkan.CommandBuffer, before, after Work) {
	C.vkds_barrier(d.c, integer(commands), C.uint32_t(before), C.uint32_t(after))
}

// Copy records a copy of bytes between buffers.
func (d *Device) Copy(commands vulkan.CommandBuffer, from, to vulkan.Buffer, fromAt, toAt, bytes uint64) {
	C.vkds_copy(d.c, integer(commands), integer(from), integer(to), C.uint64_t(fromAt), C.uint64_t(toAt), C.uint64_t(bytes))
}

// Timestamp records the writing of a timestamp once all commands before it have ended.
func (d *Device) Timestamp(commands vulkan.CommandBuffer, pool vulkan.QueryPool, query uint32) {
	C.vkds_timestamp(d.c, integer(commands), integer(pool), C.uint32_t(query))
}

// NewLayout makes a pipeline layout with nothing but push constants.
func (d *Device) NewLayout(pushBytes uint32) (vulkan.PipelineLayout, vulkan.Result) {
	var layout C.uint64_t
	result := C.vkds_create_layout(d.c, C.uint32_t(pushBytes), &layout)
	return handle[vulkan.PipelineLayout](layout), vulkan.Result(result)
}

// Pipeline says how to make a compute pipeline.
type Pipeline struct {
	Cache       vulkan.PipelineCache
	Module      vulkan.ShaderModule
	Layout      vulkan.PipelineLayout
	Entry       string
	ConstantIDs []uint32 // specialization constants, four bytes each
	Constants   []uint32 // their values
	Subgroup    uint32   // required subgroup size; 0 = the device's only one
	Statistics  bool     // keep what Statistics returns
}

// NewPipeline makes a compute pipeline with full subgroups.
func (d *Device) NewPipeline(p Pipeline) (vulkan.Pipeline, vulkan.Result) {
	var pin runtime.Pinner
	defer pin.Unpin()
	name := C.CString(p.Entry)
	defer C.free(unsafe.Pointer(name))
	var ids, values *C.uint32_t
	if len(p.Constants) > 0 {
		pin.Pin(&p.ConstantIDs[0])
		pin.Pin(&p.Constants[0])
		ids, values = (*C.uint32_t)(&p.ConstantIDs[0]), (*C.uint32_t)(&p.Constants[0])
	}
	var statistics C.int
	if p.Statistics {
		statistics = 1
	}
	var pipeline C.uint64_t
	result := C.vkds_create_pipeline(d.c, integer(p.Cache), integer(p.Module), integer(p.Layout), name,
		C.uint32_t(len(p.Constants)), ids, values, C.uint32_t(p.Subgroup), statistics, &pipeline)
	return handle[vulkan.Pipeline](pipeline), vulkan.Result(result)
}

// Formats of a Statistic's bits.
const (
	FormatBool    = C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR
	FormatInt64   = C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR
	FormatUint64  = C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR
	FormatFloat64 = C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR
)

// Statistic is one number that the driver tells about a pipeline.
type Statistic struct {
	Executable, Name, Description string
	Format                        uint32
	Bits                          uint64
}

// Statistics asks what the driver knows of a pipeline made with Statistics. The device must have
// ExecutableStatistics.
func (d *Device) Statistics(pipeline vulkan.Pipeline) ([]Statistic, vulkan.Result) {
	var room [64]C.vkds_statistic
	n := C.vkds_statistics(d.c, integer(pipeline), C.uint32_t(len(room)), &room[0])
	if n < 0 {
		return nil, vulkan.Result(n)
	}
	var all []Statistic
	for i := range room[:min(int(n), len(room))] {
		s := &room[i]
		all = append(all, Statistic{C.GoString(&s.executable[0]), C.GoString(&s.name[0]), C.GoString(&s.description[0]), uint32(s.format), uint64(s.bits)})
	}
	return all, vulkan.Success
}
