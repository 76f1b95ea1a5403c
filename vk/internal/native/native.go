// Package native has all Vulkan calls of vkds, in the interfaces Instance and Device. They are implemented in vulkan.go
// through the binding vulkan-go if it can make a call. Other calls are in native.c: those that are newer than the
// binding's Vulkan 1.1, and those that take a slice of structs or of strings, because the binding frees its C copy of
// these if a garbage collection runs during the call. In a program built without cgo, or for another system than Linux
// or Windows, there is no implementation: Load returns an error, and nothing else is called.
//
// The build needs Go, a C compiler and the headers of the C library. The Khronos headers are in include/, and the
// loader is opened at run time.
package native

import "unsafe"

// Result is a VkResult.
type Result int32

// Results that vkds handles differently, or for which it has its own words.
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

// Handles of Vulkan's objects. They are integers, so that Go's garbage collector does not take them for pointers. 0 is
// no object.
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

// Bits of the other flags of a Description, with the values of Vulkan.
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

// Message is a message of the validation layer. Severity has the bits of VkDebugUtilsMessageSeverityFlagBitsEXT.
type Message struct {
	Severity uint32
	ID, Text string
}

// QueueFamily is the result of vkGetPhysicalDeviceQueueFamilyProperties for a family.
type QueueFamily struct{ Flags, Queues, TimestampBits uint32 }

// MemoryType is a memory type: its VkMemoryPropertyFlags and its heap.
type MemoryType struct{ Flags, Heap uint32 }

// Heap is a memory heap: its VkMemoryHeapFlags and its size in bytes.
type Heap struct {
	Flags uint32
	Bytes uint64
}

// Description has the properties of a physical device that vkds needs. Properties of Vulkan 1.1 and newer are zero if
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
	// NewDevice makes a logical device with the features that vkds requires, the given optional features, and the first
	// queues of one family.
	NewDevice(p PhysicalDevice, family, queues, features uint32) (Device, Result)
	// Adopt returns a device that was made outside vkds from this instance, and one of its queues. WaitIdle of the
	// device waits only for that queue, and Destroy does not destroy the VkDevice.
	Adopt(device uint64, q Queue) (Device, Result)
	// Handle returns the VkInstance.
	Handle() uint64
	// Destroy destroys the instance. All objects made from it must have been destroyed. An adopted instance is not
	// destroyed.
	Destroy()
}

// Device is a logical device. Its methods are calls of Vulkan, and may be used concurrently if those may.
type Device interface {
	// Handle returns the VkDevice.
	Handle() uint64
	Queue(family, index uint32) Queue
	WaitIdle() Result
	// Destroy destroys the device. All objects made from it must have been destroyed.
	Destroy()

	// NewBuffer makes a buffer for copies, storage and indirect arguments, with a device address.
	NewBuffer(bytes uint64) (Buffer, Result)
	// Requirements returns the bytes of memory that a buffer needs, and its allowed memory types as bits.
	Requirements(Buffer) (bytes uint64, types uint32)
	// Allocate allocates memory dedicated to one buffer, with device addresses.
	Allocate(b Buffer, bytes uint64, memoryType uint32) (Memory, Result)
	Bind(Buffer, Memory) Result
	Map(m Memory, bytes uint64) (unsafe.Pointer, Result)
	Address(Buffer) uint64
	DestroyBuffer(Buffer)
	Free(Memory) // also unmaps it

	NewCache(data []byte) (Cache, Result)
	CacheData(Cache) []byte // nil if the driver has none
	DestroyCache(Cache)

	// NewLayout makes a pipeline layout that has only push constants.
	NewLayout(pushBytes uint32) (Layout, Result)
	DestroyLayout(Layout)
	NewModule(code []byte) (Module, Result)
	DestroyModule(Module)
	// NewPipeline makes a compute pipeline with full subgroups.
	NewPipeline(PipelineInfo) (Pipeline, Result)
	DestroyPipeline(Pipeline)
	// Statistics returns the driver's statistics of a pipeline that was made with PipelineInfo.Statistics. The device
	// must have ExecutableStatistics.
	Statistics(Pipeline) ([]Statistic, Result)

	// NewTimeline makes a timeline semaphore with the value 0.
	NewTimeline() (Semaphore, Result)
	TimelineValue(Semaphore) (uint64, Result)
	// WaitTimeline waits until the semaphore has reached the value, for at most the given number of nanoseconds.
	WaitTimeline(s Semaphore, value, nanoseconds uint64) Result
	DestroySemaphore(Semaphore)

	NewCommandPool(family uint32) (CommandPool, Result)
	ResetCommandPool(CommandPool)
	DestroyCommandPool(CommandPool)
	NewCommands(CommandPool) (Commands, Result)
	Begin(Commands) Result // discards the commands in the command buffer
	End(Commands) Result
	Reset(Commands)
	// Submit submits one command buffer. It waits until each semaphore has reached its value, and sets signal to value
	// when it has ended. The caller must hold the queue's lock.
	Submit(q Queue, c Commands, semaphores []Semaphore, values []uint64, signal Semaphore, value uint64) Result

	// Barrier makes work of some kinds after it wait for work of other kinds before it, and makes the writes of the
	// earlier work visible to the later work.
	Barrier(c Commands, before, after Work)
	Fill(c Commands, b Buffer, at, bytes uint64, word uint32)
	// Update writes up to 64 KiB of words. The command keeps a copy of them.
	Update(c Commands, b Buffer, at uint64, words []uint32)
	Copy(c Commands, from, to Buffer, fromAt, toAt, bytes uint64)
	// Run sets the pipeline and the push constants of the next dispatch.
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
	Indirect Work = 4 // reads of the arguments of indirect dispatches
	Host     Work = 8
)

// PipelineInfo describes a compute pipeline to make.
type PipelineInfo struct {
	Cache       Cache
	Module      Module
	Layout      Layout
	Entry       string
	ConstantIDs []uint32 // ids of specialization constants of four bytes
	Constants   []uint32 // their values
	Subgroup    uint32   // required subgroup size; 0 = the device's only one
	Statistics  bool     // make Device.Statistics available
}

// Formats of a Statistic's bits.
const (
	FormatBool = iota
	FormatInt64
	FormatUint64
	FormatFloat64
)

// Statistic is a number that the driver reports about a pipeline.
type Statistic struct {
	Executable, Name, Description string
	Format                        uint32
	Bits                          uint64
}

// Unsupported is the error of Load in a program that was built without Vulkan. It names the reason.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }
