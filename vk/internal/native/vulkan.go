//go:build cgo && (linux || windows)

package native

/*
#cgo CFLAGS: -std=c11 -Wall -I${SRCDIR}/include -DVK_NO_PROTOTYPES
#include <stdlib.h>
#include "native.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"

	"github.com/vulkan-go/vulkan"

	_ "github.com/vkds/vkds/vk/internal/native/include/vk_video"
	_ "github.com/vkds/vkds/vk/internal/native/include/vulkan"
)

// The numbers of native.go must be those of Vulkan, vulkan-go and native.h: an index other than 0 does not compile.
var _ = [1]struct{}{
	(BufferAddress ^ C.VKDS_BUFFER_ADDRESS) | (MemoryModel ^ C.VKDS_MEMORY_MODEL) |
		(MemoryModelDeviceScope ^ C.VKDS_MEMORY_MODEL_DEVICE_SCOPE) |
		(SubgroupSizeControl ^ C.VKDS_SUBGROUP_SIZE_CONTROL) |
		(FullSubgroups ^ C.VKDS_FULL_SUBGROUPS) |
		(Timeline ^ C.VKDS_TIMELINE) |
		(Synchronization2 ^ C.VKDS_SYNCHRONIZATION2) |
		(Maintenance4 ^ C.VKDS_MAINTENANCE4) | (Int64 ^ C.VKDS_INT64) | (Int64Atomics ^ C.VKDS_INT64_ATOMICS) |
		(MemoryBudget ^ C.VKDS_MEMORY_BUDGET) | (ExecutableStatistics ^ C.VKDS_EXECUTABLE_STATISTICS) |
		(int(Shader) ^ C.VKDS_SHADER) |
		(int(Transfer) ^ C.VKDS_TRANSFER) |
		(int(Indirect) ^ C.VKDS_INDIRECT) |
		(int(Host) ^ C.VKDS_HOST) |
		(QueueGraphics ^ C.VK_QUEUE_GRAPHICS_BIT) | (QueueCompute ^ C.VK_QUEUE_COMPUTE_BIT) |
		(StageCompute ^ C.VK_SHADER_STAGE_COMPUTE_BIT) | (HeapDeviceLocal ^ C.VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) |
		(MemoryDeviceLocal ^ C.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) |
		(MemoryHostVisible ^ C.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) |
		(MemoryHostCoherent ^ C.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) |
		(MemoryHostCached ^ C.VK_MEMORY_PROPERTY_HOST_CACHED_BIT) |
		(maxHeaps ^ C.VK_MAX_MEMORY_HEAPS) |
		(FormatBool ^ C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR) |
		(FormatInt64 ^ C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR) |
		(FormatUint64 ^ C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR) |
		(FormatFloat64 ^ C.VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR) |
		(int(Success) ^ C.VK_SUCCESS) | (int(ErrorOutOfHostMemory) ^ C.VK_ERROR_OUT_OF_HOST_MEMORY) |
		(int(ErrorOutOfDeviceMemory) ^ C.VK_ERROR_OUT_OF_DEVICE_MEMORY) |
		(int(ErrorInitializationFailed) ^ C.VK_ERROR_INITIALIZATION_FAILED) |
		(int(ErrorDeviceLost) ^ C.VK_ERROR_DEVICE_LOST) | (int(ErrorMemoryMapFailed) ^ C.VK_ERROR_MEMORY_MAP_FAILED) |
		(int(ErrorLayerNotPresent) ^ C.VK_ERROR_LAYER_NOT_PRESENT) |
		(int(ErrorExtensionNotPresent) ^ C.VK_ERROR_EXTENSION_NOT_PRESENT) |
		(int(ErrorFeatureNotPresent) ^ C.VK_ERROR_FEATURE_NOT_PRESENT) |
		(int(ErrorIncompatibleDriver) ^ C.VK_ERROR_INCOMPATIBLE_DRIVER) |
		(int(ErrorTooManyObjects) ^ C.VK_ERROR_TOO_MANY_OBJECTS) |
		(int(ErrorFragmentedPool) ^ C.VK_ERROR_FRAGMENTED_POOL) |
		(int(ErrorUnknown) ^ C.VK_ERROR_UNKNOWN) | (int(ErrorInvalidShader) ^ C.VK_ERROR_INVALID_SHADER_NV): {},
}

// as converts a handle between the types of this package, of vulkan-go and of C.
func as[To, From any](handle From) To { return *(*To)(unsafe.Pointer(&handle)) }

var (
	loading sync.Mutex
	loaded  string
	entry   unsafe.Pointer
)

// Load opens the Vulkan loader and passes it to vulkan-go. The process keeps the first loader that opens. A later call
// for another loader only reports whether that one can be opened.
func Load(library string) error {
	loading.Lock()
	defer loading.Unlock()
	if entry != nil && loaded == library {
		return nil
	}
	get, err := open(library)
	if err != nil {
		return err
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

//export vkdsMessage
func vkdsMessage(sink C.uintptr_t, severity C.uint32_t, id, text *C.char) {
	cgo.Handle(sink).Value().(func(Message))(Message{uint32(severity), C.GoString(id), C.GoString(text)})
}

type instance struct {
	c    *C.vkds_instance
	sink cgo.Handle
	keep bool
}

// firstInstance marks the first instance of the process, which Destroy does not destroy. While an instance exists, the
// drivers stay loaded; NVIDIA's can be unloaded and loaded again only about twenty times.
var firstInstance sync.Once

// initInstance makes vulkan-go load its functions, once. They are the loader's trampolines, which work for every
// instance. Loading them again while another goroutine calls one would be a race.
var initInstance sync.Once

// NewInstance makes a Vulkan 1.3 instance. If listener is not nil, the instance has the validation layer (core and
// synchronization), which calls the listener from any thread for warnings and errors. missing is the name of the layer
// if it is not installed.
func NewInstance(listener func(Message)) (_ Instance, missing string, _ Result) {
	in := &instance{}
	if listener != nil {
		in.sink = cgo.NewHandle(listener)
	}
	var name *C.char
	result := Result(C.vkds_create_instance(entry, C.uintptr_t(in.sink), &in.c, &name))
	if result != Success {
		if in.sink != 0 {
			in.sink.Delete()
		}
		return nil, C.GoString(name), result
	}
	initInstance.Do(func() { vulkan.InitInstance(in.handle()) })
	firstInstance.Do(func() { in.keep = true })
	return in, "", Success
}

// Adopt returns an instance that was made outside vkds with the same loader.
func Adopt(handle uint64) (Instance, Result) {
	in := &instance{}
	if result := Result(C.vkds_adopt_instance(entry, C.uint64_t(handle), &in.c)); result != Success {
		return nil, result
	}
	initInstance.Do(func() { vulkan.InitInstance(in.handle()) })
	return in, Success
}

func (in *instance) Handle() uint64 { return as[uint64](in.c.handle) }

func (in *instance) handle() vulkan.Instance { return as[vulkan.Instance](in.c.handle) }

func (in *instance) Destroy() {
	var keep C.int
	if in.keep {
		keep = 1
	}
	C.vkds_destroy_instance(in.c, keep)
	if in.sink != 0 {
		in.sink.Delete()
	}
}

func (in *instance) PhysicalDevices() ([]PhysicalDevice, Result) {
	var n uint32
	result := vulkan.EnumeratePhysicalDevices(in.handle(), &n, nil)
	if result != vulkan.Success || n == 0 {
		return nil, Result(result)
	}
	list := make([]vulkan.PhysicalDevice, n)
	result = vulkan.EnumeratePhysicalDevices(in.handle(), &n, list)
	var all []PhysicalDevice
	for _, p := range list[:min(int(n), len(list))] {
		all = append(all, as[PhysicalDevice](p))
	}
	return all, Result(result)
}

func (in *instance) Describe(p PhysicalDevice) Description {
	var c C.vkds_description
	C.vkds_describe(in.c, C.uint64_t(p), &c)
	d := Description{
		Name: C.GoString(&c.name[0]), Driver: C.GoString(&c.driver[0]), DriverInfo: C.GoString(&c.driver_info[0]),
		DeviceUUID: *(*[16]byte)(unsafe.Pointer(&c.device_uuid)),
		CacheUUID:  *(*[16]byte)(unsafe.Pointer(&c.cache_uuid)),
		APIVersion: uint32(c.api_version), DriverVersion: uint32(c.driver_version),
		Vendor: uint32(c.vendor), Device: uint32(c.device), Type: uint32(c._type), Features: uint32(c.features),
		Subgroup: uint32(c.subgroup), MinSubgroup: uint32(c.min_subgroup), MaxSubgroup: uint32(c.max_subgroup),
		SubgroupOperations: uint32(c.subgroup_operations), SubgroupStages: uint32(c.subgroup_stages),
		RequiredSizeStages: uint32(c.required_size_stages), MaxSubgroups: uint32(c.max_subgroups),
		MaxInvocations: uint32(c.max_invocations), MaxWorkgroup: uint32(c.max_workgroup),
		SharedBytes: uint32(c.shared_bytes), PushConstantBytes: uint32(c.push_bytes),
		MaxAllocations:  uint32(c.max_allocations),
		TimestampPeriod: float32(c.timestamp_period),
		MaxBuffer:       uint64(c.max_buffer), MaxAllocation: uint64(c.max_allocation),
	}
	for i := range d.MaxGroups {
		d.MaxGroups[i] = uint32(c.max_groups[i])
	}
	for i := range c.family_count {
		d.Families = append(d.Families, QueueFamily{uint32(c.family_flags[i]), uint32(c.family_queues[i]),
			uint32(c.family_timestamp_bits[i])})
	}
	for i := range c.type_count {
		d.Types = append(d.Types, MemoryType{uint32(c.type_flags[i]), uint32(c.type_heap[i])})
	}
	for i := range c.heap_count {
		d.Heaps = append(d.Heaps, Heap{uint32(c.heap_flags[i]), uint64(c.heap_bytes[i])})
	}
	return d
}

func (in *instance) Budget(p PhysicalDevice) (usage, budget [maxHeaps]uint64) {
	C.vkds_memory_budget(in.c, C.uint64_t(p), (*C.uint64_t)(&usage[0]), (*C.uint64_t)(&budget[0]))
	return usage, budget
}

// device is a logical device: its table of functions, and its handle as vulkan-go takes it.
type device struct {
	c       *C.vkds_device
	handle  vulkan.Device
	adopted Queue // the queue of an adopted device; 0 if the device is not adopted
}

func (in *instance) Adopt(handle uint64, q Queue) (Device, Result) {
	d := &device{adopted: q}
	if result := Result(C.vkds_adopt_device(in.c, C.uint64_t(handle), &d.c)); result != Success {
		return nil, result
	}
	d.handle = as[vulkan.Device](d.c.handle)
	return d, Success
}

func (d *device) Handle() uint64 { return as[uint64](d.handle) }

func (in *instance) NewDevice(p PhysicalDevice, family, queues, features uint32) (Device, Result) {
	d := &device{}
	result := C.vkds_create_device(in.c, C.uint64_t(p), C.uint32_t(family), C.uint32_t(queues), C.uint32_t(features),
		&d.c)
	if result != C.VK_SUCCESS {
		return nil, Result(result)
	}
	d.handle = as[vulkan.Device](d.c.handle)
	return d, Success
}

func (d *device) Queue(family, index uint32) Queue {
	var q vulkan.Queue
	vulkan.GetDeviceQueue(d.handle, family, index, &q)
	return as[Queue](q)
}

func (d *device) WaitIdle() Result {
	if d.adopted != 0 {
		return Result(vulkan.QueueWaitIdle(as[vulkan.Queue](d.adopted)))
	}
	return Result(vulkan.DeviceWaitIdle(d.handle))
}

func (d *device) Destroy() {
	if d.adopted == 0 {
		vulkan.DestroyDevice(d.handle, nil)
	}
	C.free(unsafe.Pointer(d.c))
}

// usage is VkBufferUsageFlags. vulkan-go does not have the flag for device addresses.
const usage = vulkan.BufferUsageFlags(C.VK_BUFFER_USAGE_TRANSFER_SRC_BIT | C.VK_BUFFER_USAGE_TRANSFER_DST_BIT |
	C.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | C.VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
	C.VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)

func (d *device) NewBuffer(bytes uint64) (Buffer, Result) {
	info := vulkan.BufferCreateInfo{SType: vulkan.StructureTypeBufferCreateInfo, Size: vulkan.DeviceSize(bytes),
		Usage: usage}
	defer info.Free()
	var b vulkan.Buffer
	result := vulkan.CreateBuffer(d.handle, &info, nil, &b)
	return as[Buffer](b), Result(result)
}

func (d *device) Requirements(b Buffer) (bytes uint64, types uint32) {
	var r vulkan.MemoryRequirements
	vulkan.GetBufferMemoryRequirements(d.handle, as[vulkan.Buffer](b), &r)
	r.Deref()
	defer r.Free()
	return uint64(r.Size), r.MemoryTypeBits
}

func (d *device) Allocate(b Buffer, bytes uint64, memoryType uint32) (Memory, Result) {
	var m C.uint64_t
	result := C.vkds_allocate(d.c, C.uint64_t(b), C.uint64_t(bytes), C.uint32_t(memoryType), &m)
	return Memory(m), Result(result)
}

func (d *device) Bind(b Buffer, m Memory) Result {
	return Result(vulkan.BindBufferMemory(d.handle, as[vulkan.Buffer](b), as[vulkan.DeviceMemory](m), 0))
}

func (d *device) Map(m Memory, bytes uint64) (unsafe.Pointer, Result) {
	var mapped unsafe.Pointer
	result := vulkan.MapMemory(d.handle, as[vulkan.DeviceMemory](m), 0, vulkan.DeviceSize(bytes), 0, &mapped)
	return mapped, Result(result)
}

func (d *device) Address(b Buffer) uint64 { return uint64(C.vkds_address(d.c, C.uint64_t(b))) }

func (d *device) DestroyBuffer(b Buffer) { vulkan.DestroyBuffer(d.handle, as[vulkan.Buffer](b), nil) }

func (d *device) Free(m Memory) { vulkan.FreeMemory(d.handle, as[vulkan.DeviceMemory](m), nil) }

func (d *device) NewCache(data []byte) (Cache, Result) {
	info := vulkan.PipelineCacheCreateInfo{SType: vulkan.StructureTypePipelineCacheCreateInfo,
		InitialDataSize: uint(len(data))}
	if len(data) > 0 {
		var pin runtime.Pinner
		pin.Pin(&data[0])
		defer pin.Unpin()
		info.PInitialData = unsafe.Pointer(&data[0])
	}
	defer info.Free()
	var c vulkan.PipelineCache
	result := vulkan.CreatePipelineCache(d.handle, &info, nil, &c)
	return as[Cache](c), Result(result)
}

func (d *device) CacheData(c Cache) []byte {
	var size uint
	if vulkan.GetPipelineCacheData(d.handle, as[vulkan.PipelineCache](c), &size, nil) != vulkan.Success || size == 0 {
		return nil
	}
	data := make([]byte, size)
	if vulkan.GetPipelineCacheData(d.handle, as[vulkan.PipelineCache](c), &size,
		unsafe.Pointer(&data[0])) != vulkan.Success {
		return nil
	}
	return data[:size]
}

func (d *device) DestroyCache(c Cache) {
	vulkan.DestroyPipelineCache(d.handle, as[vulkan.PipelineCache](c), nil)
}

func (d *device) NewLayout(pushBytes uint32) (Layout, Result) {
	var l C.uint64_t
	result := C.vkds_create_layout(d.c, C.uint32_t(pushBytes), &l)
	return Layout(l), Result(result)
}

func (d *device) DestroyLayout(l Layout) {
	vulkan.DestroyPipelineLayout(d.handle, as[vulkan.PipelineLayout](l), nil)
}

func (d *device) NewModule(code []byte) (Module, Result) {
	words := make([]uint32, len(code)/4)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words)), code)
	var pin runtime.Pinner
	pin.Pin(unsafe.SliceData(words))
	defer pin.Unpin()
	info := vulkan.ShaderModuleCreateInfo{SType: vulkan.StructureTypeShaderModuleCreateInfo, CodeSize: uint(len(code)),
		PCode: words}
	defer info.Free()
	var m vulkan.ShaderModule
	result := vulkan.CreateShaderModule(d.handle, &info, nil, &m)
	return as[Module](m), Result(result)
}

func (d *device) DestroyModule(m Module) {
	vulkan.DestroyShaderModule(d.handle, as[vulkan.ShaderModule](m), nil)
}

func (d *device) NewPipeline(p PipelineInfo) (Pipeline, Result) {
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
	result := C.vkds_create_pipeline(d.c, C.uint64_t(p.Cache), C.uint64_t(p.Module), C.uint64_t(p.Layout), name,
		C.uint32_t(len(p.Constants)), ids, values, C.uint32_t(p.Subgroup), statistics, &pipeline)
	return Pipeline(pipeline), Result(result)
}

func (d *device) DestroyPipeline(p Pipeline) {
	vulkan.DestroyPipeline(d.handle, as[vulkan.Pipeline](p), nil)
}

func (d *device) Statistics(p Pipeline) ([]Statistic, Result) {
	var room [64]C.vkds_statistic
	n := C.vkds_statistics(d.c, C.uint64_t(p), C.uint32_t(len(room)), &room[0])
	if n < 0 {
		return nil, Result(n)
	}
	var all []Statistic
	for i := range room[:min(int(n), len(room))] {
		s := &room[i]
		all = append(all, Statistic{C.GoString(&s.executable[0]), C.GoString(&s.name[0]), C.GoString(&s.description[0]),
			uint32(s.format), uint64(s.bits)})
	}
	return all, Success
}

func (d *device) NewTimeline() (Semaphore, Result) {
	var s C.uint64_t
	result := C.vkds_create_timeline(d.c, &s)
	return Semaphore(s), Result(result)
}

func (d *device) TimelineValue(s Semaphore) (uint64, Result) {
	v := C.vkds_timeline_value(d.c, C.uint64_t(s))
	return uint64(v.value), Result(v.result)
}

func (d *device) WaitTimeline(s Semaphore, value, nanoseconds uint64) Result {
	return Result(C.vkds_timeline_wait(d.c, C.uint64_t(s), C.uint64_t(value), C.uint64_t(nanoseconds)))
}

func (d *device) DestroySemaphore(s Semaphore) {
	vulkan.DestroySemaphore(d.handle, as[vulkan.Semaphore](s), nil)
}

func (d *device) NewCommandPool(family uint32) (CommandPool, Result) {
	info := vulkan.CommandPoolCreateInfo{
		SType: vulkan.StructureTypeCommandPoolCreateInfo, QueueFamilyIndex: family,
		Flags: vulkan.CommandPoolCreateFlags(
			vulkan.CommandPoolCreateResetCommandBufferBit | vulkan.CommandPoolCreateTransientBit),
	}
	defer info.Free()
	var p vulkan.CommandPool
	result := vulkan.CreateCommandPool(d.handle, &info, nil, &p)
	return as[CommandPool](p), Result(result)
}

func (d *device) ResetCommandPool(p CommandPool) {
	vulkan.ResetCommandPool(d.handle, as[vulkan.CommandPool](p), 0)
}

func (d *device) DestroyCommandPool(p CommandPool) {
	vulkan.DestroyCommandPool(d.handle, as[vulkan.CommandPool](p), nil)
}

func (d *device) NewCommands(p CommandPool) (Commands, Result) {
	info := vulkan.CommandBufferAllocateInfo{
		SType:       vulkan.StructureTypeCommandBufferAllocateInfo,
		CommandPool: as[vulkan.CommandPool](p), Level: vulkan.CommandBufferLevelPrimary, CommandBufferCount: 1,
	}
	defer info.Free()
	var c [1]vulkan.CommandBuffer
	result := vulkan.AllocateCommandBuffers(d.handle, &info, c[:])
	return as[Commands](c[0]), Result(result)
}

// Begin is in C because the binding allocates five times for it.
func (d *device) Begin(c Commands) Result { return Result(C.vkds_begin(d.c, C.uint64_t(c))) }

func (d *device) End(c Commands) Result {
	return Result(vulkan.EndCommandBuffer(as[vulkan.CommandBuffer](c)))
}

func (d *device) Reset(c Commands) { vulkan.ResetCommandBuffer(as[vulkan.CommandBuffer](c), 0) }

func (d *device) Submit(q Queue, c Commands, semaphores []Semaphore, values []uint64, signal Semaphore,
	value uint64) Result {
	var pin runtime.Pinner
	defer pin.Unpin()
	var s, v *C.uint64_t
	if len(semaphores) > 0 {
		pin.Pin(&semaphores[0])
		pin.Pin(&values[0])
		s, v = (*C.uint64_t)(&semaphores[0]), (*C.uint64_t)(&values[0])
	}
	return Result(C.vkds_submit(d.c, C.uint64_t(q), C.uint64_t(c), C.uint32_t(len(semaphores)), s, v,
		C.uint64_t(signal), C.uint64_t(value)))
}

func (d *device) Barrier(c Commands, before, after Work) {
	C.vkds_barrier(d.c, C.uint64_t(c), C.uint32_t(before), C.uint32_t(after))
}

func (d *device) Fill(c Commands, b Buffer, at, bytes uint64, word uint32) {
	vulkan.CmdFillBuffer(as[vulkan.CommandBuffer](c), as[vulkan.Buffer](b), vulkan.DeviceSize(at),
		vulkan.DeviceSize(bytes), word)
}

func (d *device) Update(c Commands, b Buffer, at uint64, words []uint32) {
	vulkan.CmdUpdateBuffer(as[vulkan.CommandBuffer](c), as[vulkan.Buffer](b), vulkan.DeviceSize(at),
		vulkan.DeviceSize(4*len(words)), &words[0])
}

func (d *device) Copy(c Commands, from, to Buffer, fromAt, toAt, bytes uint64) {
	C.vkds_copy(d.c, C.uint64_t(c), C.uint64_t(from), C.uint64_t(to), C.uint64_t(fromAt), C.uint64_t(toAt),
		C.uint64_t(bytes))
}

func (d *device) Run(c Commands, p Pipeline, l Layout, push unsafe.Pointer, pushBytes uint32) {
	commands := as[vulkan.CommandBuffer](c)
	vulkan.CmdBindPipeline(commands, vulkan.PipelineBindPointCompute, as[vulkan.Pipeline](p))
	if pushBytes > 0 {
		vulkan.CmdPushConstants(commands, as[vulkan.PipelineLayout](l),
			vulkan.ShaderStageFlags(vulkan.ShaderStageComputeBit), 0, pushBytes, push)
	}
}

func (d *device) Dispatch(c Commands, x, y uint32) {
	vulkan.CmdDispatch(as[vulkan.CommandBuffer](c), x, y, 1)
}

func (d *device) DispatchIndirect(c Commands, args Buffer, at uint64) {
	vulkan.CmdDispatchIndirect(as[vulkan.CommandBuffer](c), as[vulkan.Buffer](args), vulkan.DeviceSize(at))
}

func (d *device) NewTimestamps(queries uint32) (QueryPool, Result) {
	info := vulkan.QueryPoolCreateInfo{SType: vulkan.StructureTypeQueryPoolCreateInfo,
		QueryType: vulkan.QueryTypeTimestamp, QueryCount: queries}
	defer info.Free()
	var q vulkan.QueryPool
	result := vulkan.CreateQueryPool(d.handle, &info, nil, &q)
	return as[QueryPool](q), Result(result)
}

func (d *device) ResetTimestamps(c Commands, q QueryPool, queries uint32) {
	vulkan.CmdResetQueryPool(as[vulkan.CommandBuffer](c), as[vulkan.QueryPool](q), 0, queries)
}

func (d *device) Timestamp(c Commands, q QueryPool, query uint32) {
	C.vkds_timestamp(d.c, C.uint64_t(c), C.uint64_t(q), C.uint32_t(query))
}

func (d *device) Timestamps(q QueryPool, first uint32) ([2]uint64, Result) {
	var stamps [2]uint64
	result := vulkan.GetQueryPoolResults(d.handle, as[vulkan.QueryPool](q), first, 2, uint(unsafe.Sizeof(stamps)),
		unsafe.Pointer(&stamps), 8,
		vulkan.QueryResultFlags(vulkan.QueryResult64Bit|vulkan.QueryResultWaitBit))
	return stamps, Result(result)
}

func (d *device) DestroyTimestamps(q QueryPool) {
	vulkan.DestroyQueryPool(d.handle, as[vulkan.QueryPool](q), nil)
}
