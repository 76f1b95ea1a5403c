// Package native is all of Vulkan that vkds calls: the interfaces Instance and Device. They are implemented in
// vulkan.go, through vulkan-go where that can make a call, and by native.c for those that take a slice of structs or of
// strings (its binding frees the C copy when a garbage collection lands in the call) or are newer than its Vulkan 1.1.
// Where a program is built without cgo, or for another system than Linux or Windows, there is no implementation: Load
// says so, and nothing else is ever called.
//
// The build needs Go, a C compiler and the C library's headers: the Khronos headers are in include/, and the
// loader is opened at run time.
package native

import "unsafe"

// Result is a VkResult.
type Result int32

// Results that vkds tells apart, and those that it has words for.
const (
	Success                   Result = 0
	ErrorOutOfHostMemory      Result = -1
	ErrorOutOfDeviceMemory    Result = -2
	ErrorInitializationFailed Result = -3
	ErrorDeviceLost           Result = -4
	ErrorMemoryMapFailed      Result = -5
	ErrorLayerNotPresent      Result = -6
	ErrorExtensionNotPresent  Result = -7
	ErrorFeatureNotPresent    Result = -8
	ErrorIncompatibleDriver   Result = -9
	ErrorTooManyObjects       Result = -10
	ErrorFragmentedPool       Result = -12
	ErrorUnknown              Result = -13
	ErrorInvalidShader        Result = -1000012000
)

// Handles of Vulkan's objects. They are integers, so that Go's collector never takes one for a pointer; 0 is none.
type (
	PhysicalDevice uint64
	Queue          uint64
	Buffer         uint64
	Memory         uint64
	Cache          uint64
	Module         uint64
	Layout         uint64
	Pipeline       uint64
	Semaphore      uint64
	CommandPool    uint64
	Commands       uint64 // a command buffer
	QueryPool      uint64
)

// Bits of Description.Features.
const (
	BufferAddress          = 1 << 0
	MemoryModel            = 1 << 1
	MemoryModelDeviceScope = 1 << 2
	SubgroupSizeControl    = 1 << 3
	FullSubgroups          = 1 << 4
	Timeline               = 1 << 5
	Synchronization2       = 1 << 6
	Maintenance4           = 1 << 7
	Int64                  = 1 << 16
	Int64Atomics           = 1 << 17
	MemoryBudget           = 1 << 18
	ExecutableStatistics   = 1 << 19
)

// Bits of a Description's other flags, by Vulkan's numbers.
const (
	QueueGraphics      = 0x1
	QueueCompute       = 0x2
	StageCompute       = 0x20
	HeapDeviceLocal    = 0x1
	MemoryDeviceLocal  = 0x1
	MemoryHostVisible  = 0x2
	MemoryHostCoherent = 0x4
	MemoryHostCached   = 0x8
)

// maxHeaps is VK_MAX_MEMORY_HEAPS.
const maxHeaps = 16

// Message is one message of the validation layer. Severity holds VkDebugUtilsMessageSeverityFlagBitsEXT.
type Message struct {
	Severity uint32
	ID, Text string
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

// Instance is a Vulkan instance.
type Instance interface {
	PhysicalDevices() ([]PhysicalDevice, Result)
	Describe(PhysicalDevice) Description
	// Budget returns, for each heap, the bytes that this process uses and the bytes that it may use now. The device
	// must have MemoryBudget.
	Budget(PhysicalDevice) (usage, budget [maxHeaps]uint64)
	// NewDevice makes a logical device with what vkds requires and the optional features named, and with the first
	// queues of one family.
	NewDevice(p PhysicalDevice, family, queues, features uint32) (Device, Result)
	// Adopt returns a device that others made from this instance, and one of its queues. Its WaitIdle waits for that
	// queue alone, and its Destroy leaves the device alive.
	Adopt(device uint64, q Queue) (Device, Result)
	// Handle is the VkInstance.
	Handle() uint64
	// Destroy ends the instance, everything that came from it having ended. An adopted one stays alive.
	Destroy()
}

// Device is a logical device. Its calls are Vulkan's, and so is what may be called at once.
type Device interface {
	// Handle is the VkDevice.
	Handle() uint64
	Queue(family, index uint32) Queue
	WaitIdle() Result
	// Destroy ends the device, everything made from it being destroyed already.
	Destroy()

	// NewBuffer makes a buffer for copies, storage and indirect arguments, with a device address.
	NewBuffer(bytes uint64) (Buffer, Result)
	// Requirements are the bytes of memory that a buffer needs, and its memory types as bits.
	Requirements(Buffer) (bytes uint64, types uint32)
	// Allocate allocates memory dedicated to one buffer, with device addresses.
	Allocate(b Buffer, bytes uint64, memoryType uint32) (Memory, Result)
	Bind(Buffer, Memory) Result
	Map(m Memory, bytes uint64) (unsafe.Pointer, Result)
	Address(Buffer) uint64
	DestroyBuffer(Buffer)
	Free(Memory) // and unmaps it

	NewCache(data []byte) (Cache, Result)
	CacheData(Cache) []byte // nil where the driver has none
	DestroyCache(Cache)

	// NewLayout makes a pipeline layout with nothing but push constants.
	NewLayout(pushBytes uint32) (Layout, Result)
	DestroyLayout(Layout)
	NewModule(code []byte) (Module, Result)
	DestroyModule(Module)
	// NewPipeline makes a compute pipeline with full subgroups.
	NewPipeline(PipelineInfo) (Pipeline, Result)
	DestroyPipeline(Pipeline)
	// Statistics asks what the driver knows of a pipeline made with Statistics. The device must have
	// ExecutableStatistics.
	Statistics(Pipeline) ([]Statistic, Result)

	// NewTimeline makes a timeline semaphore that stands at 0.
	NewTimeline() (Semaphore, Result)
	TimelineValue(Semaphore) (uint64, Result)
	// WaitTimeline waits, at most so many nanoseconds, until the semaphore has reached the value.
	WaitTimeline(s Semaphore, value, nanoseconds uint64) Result
	DestroySemaphore(Semaphore)

	NewCommandPool(family uint32) (CommandPool, Result)
	ResetCommandPool(CommandPool)
	DestroyCommandPool(CommandPool)
	NewCommands(CommandPool) (Commands, Result)
	Begin(Commands) Result // what the command buffer held is gone
	End(Commands) Result
	Reset(Commands)
	// Submit submits one command buffer that waits until each semaphore has reached its value, and raises signal to
	// value at its end. The caller holds the queue's lock.
	Submit(q Queue, c Commands, semaphores []Semaphore, values []uint64, signal Semaphore, value uint64) Result

	// Barrier makes what the work of some kinds before it wrote visible to the work of other kinds after it, which
	// waits for it.
	Barrier(c Commands, before, after Work)
	Fill(c Commands, b Buffer, at, bytes uint64, word uint32)
	// Update writes up to 64 KiB of words, of which the command keeps a copy.
	Update(c Commands, b Buffer, at uint64, words []uint32)
	Copy(c Commands, from, to Buffer, fromAt, toAt, bytes uint64)
	// Run chooses the pipeline of the dispatch that comes next, and its push constants.
	Run(c Commands, p Pipeline, l Layout, push unsafe.Pointer, pushBytes uint32)
	Dispatch(c Commands, x, y uint32)
	DispatchIndirect(c Commands, args Buffer, at uint64)

	NewTimestamps(queries uint32) (QueryPool, Result)
	ResetTimestamps(c Commands, q QueryPool, queries uint32)
	// Timestamp records the writing of a timestamp once all commands before it have ended.
	Timestamp(c Commands, q QueryPool, query uint32)
	// Timestamps waits for two timestamps and returns them.
	Timestamps(q QueryPool, first uint32) ([2]uint64, Result)
	DestroyTimestamps(QueryPool)
}

// Work is a set of kinds of work that a barrier orders.
type Work uint32

const (
	Shader   Work = 1
	Transfer Work = 2 // fills, updates and copies
	Indirect Work = 4 // the reading of a dispatch's arguments
	Host     Work = 8
)

// PipelineInfo says how to make a compute pipeline.
type PipelineInfo struct {
	Cache       Cache
	Module      Module
	Layout      Layout
	Entry       string
	ConstantIDs []uint32 // specialization constants, four bytes each
	Constants   []uint32 // their values
	Subgroup    uint32   // required subgroup size; 0 = the device's only one
	Statistics  bool     // keep what Statistics returns
}

// Formats of a Statistic's bits.
const (
	FormatBool = iota
	FormatInt64
	FormatUint64
	FormatFloat64
)

// Statistic is one number that the driver tells about a pipeline.
type Statistic struct {
	Executable, Name, Description string
	Format                        uint32
	Bits                          uint64
}

// Unsupported is Load's error in a program that was built without what Vulkan needs. It says what is missing.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }
