package vk

import (
	"fmt"

	"github.com/vkds/vkds/vk/internal/native"
)

// Feature is an optional feature of a device, by its Vulkan name if it has one. vkds uses the feature if the device has
// it, and works without it otherwise.
type Feature string

const (
	Int64                Feature = "shaderInt64"              // 64-bit integers in shaders
	Int64Atomics         Feature = "shaderBufferInt64Atomics" // 64-bit atomics in buffers
	MemoryBudget         Feature = "VK_EXT_memory_budget"     // the driver says how much memory is free
	ExecutableStatistics Feature = "pipelineExecutableInfo"   // the driver reports a kernel's registers and spills
	Timestamps           Feature = "timestamps"               // GPU timestamps on the compute queue
	// a kernel's subgroup size can be chosen; has no effect in Options.Without
	SubgroupSizes Feature = "requiredSubgroupSize"
)

type optionalFeature struct {
	feature Feature
	bit     uint32
}

var optional = []optionalFeature{
	{Int64, native.Int64},
	{Int64Atomics, native.Int64Atomics},
	{MemoryBudget, native.MemoryBudget},
	{ExecutableStatistics, native.ExecutableStatistics},
}

var required = []struct {
	name string
	bit  uint32
}{
	{"bufferDeviceAddress", native.BufferAddress},
	{"vulkanMemoryModel", native.MemoryModel},
	{"vulkanMemoryModelDeviceScope", native.MemoryModelDeviceScope},
	{"subgroupSizeControl", native.SubgroupSizeControl},
	{"computeFullSubgroups", native.FullSubgroups},
	{"timelineSemaphore", native.Timeline},
	{"synchronization2", native.Synchronization2},
	{"maintenance4", native.Maintenance4},
}

// subgroupOperations are bits of VkSubgroupFeatureFlagBits, all of Vulkan 1.1.
var subgroupOperations = []struct {
	name string
	bit  uint32
}{{"basic", 0x1}, {"vote", 0x2}, {"arithmetic", 0x4}, {"ballot", 0x8}, {"shuffle", 0x10}}

const apiVersion13 = 1<<22 | 3<<12

// missing names the required features that a device lacks.
func missing(d native.Description) []string {
	if d.APIVersion < apiVersion13 {
		return []string{fmt.Sprintf("Vulkan 1.3 (it has %s)", version(d.APIVersion))}
	}
	var names []string
	for _, r := range required {
		if d.Features&r.bit == 0 {
			names = append(names, r.name)
		}
	}
	compute := d.SubgroupStages&native.StageCompute != 0
	for _, o := range subgroupOperations {
		if !compute || d.SubgroupOperations&o.bit == 0 {
			names = append(names, "subgroup "+o.name+" in compute")
		}
	}
	if _, ok := computeFamily(d.Families); !ok {
		names = append(names, "a compute queue")
	}
	return names
}

// computeFamily chooses the queue family: the first family for compute without graphics that has timestamps, because
// drawing on the desktop does not delay it; otherwise the first family that has compute.
func computeFamily(families []native.QueueFamily) (int, bool) {
	best, found := 0, false
	for i, f := range families {
		if f.Flags&native.QueueCompute == 0 || f.Queues == 0 {
			continue
		}
		if f.Flags&native.QueueGraphics == 0 && f.TimestampBits > 0 {
			return i, true
		}
		if !found {
			best, found = i, true
		}
	}
	return best, found
}

func version(v uint32) string { return fmt.Sprintf("%d.%d.%d", v>>22, v>>12&0x3ff, v&0xfff) }
