// The calls of Vulkan that vulkan-go can't make safely (those that take a slice of structs or of strings) or doesn't
// have (those newer than 1.1), each as a flat C function. Handles are 64-bit integers, so that Go's garbage collector
// does not take them for pointers.
#ifndef VKDS_NATIVE_H
#define VKDS_NATIVE_H

#include <stdint.h>
#include "vulkan/vulkan_core.h"

typedef struct {
	VkInstance handle;
	VkDebugUtilsMessengerEXT messenger;
	PFN_vkGetInstanceProcAddr get;
	PFN_vkGetDeviceProcAddr get_device;
	PFN_vkDestroyInstance destroy; // NULL: the instance is adopted
	PFN_vkCreateDevice create_device;
	PFN_vkEnumerateDeviceExtensionProperties extensions;
	PFN_vkGetPhysicalDeviceProperties2 properties;
	PFN_vkGetPhysicalDeviceFeatures2 features;
	PFN_vkGetPhysicalDeviceMemoryProperties2 memory;
	PFN_vkGetPhysicalDeviceQueueFamilyProperties families;
} vkds_instance;

// Bits of vkds_description.features: first the required features, then the optional ones.
enum {
	VKDS_BUFFER_ADDRESS = 1 << 0,
	VKDS_MEMORY_MODEL = 1 << 1,
	VKDS_MEMORY_MODEL_DEVICE_SCOPE = 1 << 2,
	VKDS_SUBGROUP_SIZE_CONTROL = 1 << 3,
	VKDS_FULL_SUBGROUPS = 1 << 4,
	VKDS_TIMELINE = 1 << 5,
	VKDS_SYNCHRONIZATION2 = 1 << 6,
	VKDS_MAINTENANCE4 = 1 << 7,
	VKDS_REQUIRED = (1 << 8) - 1,
	VKDS_INT64 = 1 << 16,
	VKDS_INT64_ATOMICS = 1 << 17,
	VKDS_MEMORY_BUDGET = 1 << 18,
	VKDS_EXECUTABLE_STATISTICS = 1 << 19,
	VKDS_PORTABILITY = 1 << 20, // not a feature: making the device must enable the portability extension
};

// Kinds of work, for barriers.
enum { VKDS_SHADER = 1, VKDS_TRANSFER = 2, VKDS_INDIRECT = 4, VKDS_HOST = 8 };

#define VKDS_FAMILIES 16

typedef struct {
	char name[256], driver[256], driver_info[256];
	uint8_t device_uuid[16], cache_uuid[16];
	uint32_t api_version, driver_version, vendor, device, type, features;
	uint32_t subgroup, min_subgroup, max_subgroup, subgroup_operations, subgroup_stages, required_size_stages, max_subgroups;
	uint32_t max_invocations, max_workgroup, max_groups[3], shared_bytes, push_bytes, max_allocations;
	float timestamp_period;
	uint64_t max_buffer, max_allocation;
	uint32_t family_count, family_flags[VKDS_FAMILIES], family_queues[VKDS_FAMILIES], family_timestamp_bits[VKDS_FAMILIES];
	uint32_t type_count, type_flags[VK_MAX_MEMORY_TYPES], type_heap[VK_MAX_MEMORY_TYPES];
	uint32_t heap_count, heap_flags[VK_MAX_MEMORY_HEAPS];
	uint64_t heap_bytes[VK_MAX_MEMORY_HEAPS];
} vkds_description;

typedef struct {
	VkDevice handle;
	PFN_vkAllocateMemory allocate;
	PFN_vkGetBufferDeviceAddress address;
	PFN_vkCreateSemaphore create_semaphore;
	PFN_vkGetSemaphoreCounterValue semaphore_value;
	PFN_vkWaitSemaphores wait;
	PFN_vkQueueSubmit2 submit;
	PFN_vkBeginCommandBuffer begin;
	PFN_vkCmdPipelineBarrier2 barrier;
	PFN_vkCmdCopyBuffer copy;
	PFN_vkCmdWriteTimestamp2 timestamp;
	PFN_vkCreatePipelineLayout create_layout;
	PFN_vkCreateComputePipelines create_pipelines;
	PFN_vkGetPipelineExecutablePropertiesKHR executables;
	PFN_vkGetPipelineExecutableStatisticsKHR statistics;
} vkds_device;

typedef struct {
	char executable[256], name[256], description[256];
	uint32_t format; // VkPipelineExecutableStatisticFormatKHR
	uint64_t bits;
} vkds_statistic;

// If sink is not 0, the validation layer is enabled, and its messages go to the Go handle sink. *missing names the
// layer if it is not installed.
VkResult vkds_create_instance(void *get, uintptr_t sink, vkds_instance **out, const char **missing);
void vkds_destroy_instance(vkds_instance *in, int keep_loaded);
void vkds_describe(vkds_instance *in, uint64_t physical, vkds_description *out);
void vkds_memory_budget(vkds_instance *in, uint64_t physical, uint64_t *usage, uint64_t *budget);

// Adopts an instance, which is not destroyed. VK_ERROR_INCOMPATIBLE_DRIVER: it lacks required calls.
VkResult vkds_adopt_instance(void *get, uint64_t instance, vkds_instance **out);
// Adopts a device, which is not destroyed. VK_ERROR_INCOMPATIBLE_DRIVER: it lacks required calls.
VkResult vkds_adopt_device(vkds_instance *in, uint64_t device, vkds_device **out);

VkResult vkds_create_device(vkds_instance *in, uint64_t physical, uint32_t family, uint32_t queues, uint32_t features, vkds_device **out);
VkResult vkds_allocate(vkds_device *d, uint64_t buffer, uint64_t bytes, uint32_t type, uint64_t *memory);
uint64_t vkds_address(vkds_device *d, uint64_t buffer);

VkResult vkds_create_timeline(vkds_device *d, uint64_t *semaphore);
// Returned by value, because Go allocates what C is given the address of.
typedef struct {
	VkResult result;
	uint64_t value;
} vkds_value;
vkds_value vkds_timeline_value(vkds_device *d, uint64_t semaphore);
VkResult vkds_timeline_wait(vkds_device *d, uint64_t semaphore, uint64_t value, uint64_t timeout);
VkResult vkds_submit(vkds_device *d, uint64_t queue, uint64_t commands, uint32_t waits, const uint64_t *semaphores, const uint64_t *values, uint64_t signal, uint64_t value);

VkResult vkds_begin(vkds_device *d, uint64_t commands);
void vkds_barrier(vkds_device *d, uint64_t commands, uint32_t before, uint32_t after);
void vkds_copy(vkds_device *d, uint64_t commands, uint64_t from, uint64_t to, uint64_t from_at, uint64_t to_at, uint64_t bytes);
void vkds_timestamp(vkds_device *d, uint64_t commands, uint64_t pool, uint32_t query);

VkResult vkds_create_layout(vkds_device *d, uint32_t push_bytes, uint64_t *layout);
VkResult vkds_create_pipeline(vkds_device *d, uint64_t cache, uint64_t module, uint64_t layout, const char *entry, uint32_t constants, const uint32_t *ids, const uint32_t *values, uint32_t subgroup, int statistics, uint64_t *pipeline);
// Fills in at most room statistics. Returns how many there are, or a negative VkResult.
int64_t vkds_statistics(vkds_device *d, uint64_t pipeline, uint32_t room, vkds_statistic *out);

#endif
