//go:build cgo && (linux || windows)

#include "native.h"

#include <stdlib.h>
#include <string.h>

#define HANDLE(type, value) ((type)(uintptr_t)(value))
#define INTEGER(handle) ((uint64_t)(uintptr_t)(handle))
#define LAYER "VK_LAYER_KHRONOS_validation"

// Defined in Go (vulkan.go).
extern void vkdsMessage(uintptr_t sink, uint32_t severity, char *id, char *text);

static VkBool32 VKAPI_PTR on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types, const VkDebugUtilsMessengerCallbackDataEXT *data, void *sink) {
	(void)types;
	vkdsMessage((uintptr_t)sink, severity, (char *)data->pMessageIdName, (char *)data->pMessage);
	return VK_FALSE;
}

static int has_layer(PFN_vkGetInstanceProcAddr get) {
	PFN_vkEnumerateInstanceLayerProperties list = (PFN_vkEnumerateInstanceLayerProperties)get(NULL, "vkEnumerateInstanceLayerProperties");
	uint32_t n = 0;
	if (!list || list(&n, NULL) != VK_SUCCESS || n == 0) return 0;
	VkLayerProperties *all = calloc(n, sizeof *all);
	int found = 0;
	if (list(&n, all) >= 0)
		for (uint32_t i = 0; i < n; i++) found |= !strcmp(all[i].layerName, LAYER);
	free(all);
	return found;
}

static int has_instance_extension(PFN_vkGetInstanceProcAddr get, const char *name) {
	PFN_vkEnumerateInstanceExtensionProperties list = (PFN_vkEnumerateInstanceExtensionProperties)get(NULL, "vkEnumerateInstanceExtensionProperties");
	uint32_t n = 0;
	if (!list || list(NULL, &n, NULL) != VK_SUCCESS || n == 0) return 0;
	VkExtensionProperties *all = calloc(n, sizeof *all);
	int found = 0;
	if (list(NULL, &n, all) >= 0)
		for (uint32_t i = 0; i < n; i++) found |= !strcmp(all[i].extensionName, name);
	free(all);
	return found;
}

// take_instance loads the table of an instance's calls.
static VkResult take_instance(PFN_vkGetInstanceProcAddr get, VkInstance handle, vkds_instance **out) {
	vkds_instance *in = *out = calloc(1, sizeof *in);
	in->handle = handle;
	in->get = get;
#define GET(field, name) in->field = (PFN_##name)get(handle, #name)
	GET(get_device, vkGetDeviceProcAddr);
	GET(create_device, vkCreateDevice);
	GET(extensions, vkEnumerateDeviceExtensionProperties);
	GET(properties, vkGetPhysicalDeviceProperties2);
	GET(features, vkGetPhysicalDeviceFeatures2);
	GET(memory, vkGetPhysicalDeviceMemoryProperties2);
	GET(families, vkGetPhysicalDeviceQueueFamilyProperties);
#undef GET
	return in->properties && in->features && in->memory ? VK_SUCCESS : VK_ERROR_INCOMPATIBLE_DRIVER;
}

VkResult vkds_adopt_instance(void *loader, uint64_t instance, vkds_instance **out) {
	VkResult r = take_instance((PFN_vkGetInstanceProcAddr)loader, HANDLE(VkInstance, instance), out);
	if (r != VK_SUCCESS) free(*out);
	return r;
}

VkResult vkds_create_instance(void *loader, uintptr_t sink, vkds_instance **out, const char **missing) {
	PFN_vkGetInstanceProcAddr get = (PFN_vkGetInstanceProcAddr)loader;
	PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
	if (!create) return VK_ERROR_INITIALIZATION_FAILED;
	*missing = NULL;

	VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, NULL, "vkds", 1, "vkds", 1, VK_API_VERSION_1_3};
	VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
	info.pApplicationInfo = &application;
	const char *extensions[3];
	info.ppEnabledExtensionNames = extensions;
	if (has_instance_extension(get, "VK_KHR_portability_enumeration")) {
		extensions[info.enabledExtensionCount++] = "VK_KHR_portability_enumeration";
		info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
	}

	static const char *const layers[] = {LAYER};
	VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
	VkValidationFeaturesEXT checks = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, NULL, 1, &synchronization, 0, NULL};
	VkDebugUtilsMessengerCreateInfoEXT messenger = {VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT, &checks};
	messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
	// Omit general messages: they come from the loader, about other layers and drivers.
	messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
	messenger.pfnUserCallback = on_message;
	messenger.pUserData = (void *)sink;
	if (sink) {
		if (!has_layer(get)) {
			*missing = LAYER;
			return VK_ERROR_LAYER_NOT_PRESENT;
		}
		info.enabledLayerCount = 1;
		info.ppEnabledLayerNames = layers;
		extensions[info.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
		info.pNext = &messenger;
	}

	VkInstance handle;
	VkResult r = create(&info, NULL, &handle);
	if (r != VK_SUCCESS) return r;
	vkds_instance *in;
	r = take_instance(get, handle, &in);
	in->destroy = (PFN_vkDestroyInstance)get(handle, "vkDestroyInstance");
	if (r == VK_SUCCESS && sink) {
		PFN_vkCreateDebugUtilsMessengerEXT listen = (PFN_vkCreateDebugUtilsMessengerEXT)get(handle, "vkCreateDebugUtilsMessengerEXT");
		messenger.pNext = NULL;
		r = listen ? listen(handle, &messenger, NULL, &in->messenger) : VK_ERROR_EXTENSION_NOT_PRESENT;
	}
	if (r != VK_SUCCESS) {
		vkds_destroy_instance(in, 0);
		return r;
	}
	*out = in;
	return VK_SUCCESS;
}

// keep_loaded stops the messages but keeps the VkInstance, so that the drivers stay loaded in the process.
void vkds_destroy_instance(vkds_instance *in, int keep_loaded) {
	if (in->messenger) {
		PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)in->get(in->handle, "vkDestroyDebugUtilsMessengerEXT");
		destroy(in->handle, in->messenger, NULL);
	}
	if (in->destroy && !keep_loaded) in->destroy(in->handle, NULL);
	free(in);
}

void vkds_describe(vkds_instance *in, uint64_t physical, vkds_description *out) {
	VkPhysicalDevice p = HANDLE(VkPhysicalDevice, physical);
	memset(out, 0, sizeof *out);

	VkPhysicalDeviceVulkan13Properties p13 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
	VkPhysicalDeviceVulkan12Properties p12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES, &p13};
	VkPhysicalDeviceVulkan11Properties p11 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, &p12};
	VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
	in->properties(p, &properties);
	int full = properties.properties.apiVersion >= VK_API_VERSION_1_3;
	if (full) {
		properties.pNext = &p11;
		in->properties(p, &properties);
	}
	const VkPhysicalDeviceLimits *limits = &properties.properties.limits;
	strcpy(out->name, properties.properties.deviceName);
	strcpy(out->driver, p12.driverName);
	strcpy(out->driver_info, p12.driverInfo);
	memcpy(out->device_uuid, p11.deviceUUID, 16);
	memcpy(out->cache_uuid, properties.properties.pipelineCacheUUID, 16);
	out->api_version = properties.properties.apiVersion;
	out->driver_version = properties.properties.driverVersion;
	out->vendor = properties.properties.vendorID;
	out->device = properties.properties.deviceID;
	out->type = properties.properties.deviceType;
	out->subgroup = p11.subgroupSize;
	out->min_subgroup = p13.minSubgroupSize;
	out->max_subgroup = p13.maxSubgroupSize;
	out->subgroup_operations = p11.subgroupSupportedOperations;
	out->subgroup_stages = p11.subgroupSupportedStages;
	out->required_size_stages = p13.requiredSubgroupSizeStages;
	out->max_subgroups = p13.maxComputeWorkgroupSubgroups;
	out->max_invocations = limits->maxComputeWorkGroupInvocations;
	out->max_workgroup = limits->maxComputeWorkGroupSize[0];
	memcpy(out->max_groups, limits->maxComputeWorkGroupCount, sizeof out->max_groups);
	out->shared_bytes = limits->maxComputeSharedMemorySize;
	out->push_bytes = limits->maxPushConstantsSize;
	out->max_allocations = limits->maxMemoryAllocationCount;
	out->timestamp_period = limits->timestampPeriod;
	out->max_buffer = p13.maxBufferSize;
	out->max_allocation = p11.maxMemoryAllocationSize;

	uint32_t n = 0;
	in->extensions(p, NULL, &n, NULL);
	VkExtensionProperties *extensions = calloc(n ? n : 1, sizeof *extensions);
	int executables = 0;
	if (in->extensions(p, NULL, &n, extensions) >= 0)
		for (uint32_t i = 0; i < n; i++) {
			const char *name = extensions[i].extensionName;
			if (!strcmp(name, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) out->features |= VKDS_MEMORY_BUDGET;
			if (!strcmp(name, "VK_KHR_portability_subset")) out->features |= VKDS_PORTABILITY;
			executables |= !strcmp(name, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
		}
	free(extensions);

	if (full) {
		VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR fx = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
		VkPhysicalDeviceVulkan13Features f13 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, executables ? &fx : NULL};
		VkPhysicalDeviceVulkan12Features f12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
		VkPhysicalDeviceFeatures2 f = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f12};
		in->features(p, &f);
		if (f12.bufferDeviceAddress) out->features |= VKDS_BUFFER_ADDRESS;
		if (f12.vulkanMemoryModel) out->features |= VKDS_MEMORY_MODEL;
		if (f12.vulkanMemoryModelDeviceScope) out->features |= VKDS_MEMORY_MODEL_DEVICE_SCOPE;
		if (f13.subgroupSizeControl) out->features |= VKDS_SUBGROUP_SIZE_CONTROL;
		if (f13.computeFullSubgroups) out->features |= VKDS_FULL_SUBGROUPS;
		if (f12.timelineSemaphore) out->features |= VKDS_TIMELINE;
		if (f13.synchronization2) out->features |= VKDS_SYNCHRONIZATION2;
		if (f13.maintenance4) out->features |= VKDS_MAINTENANCE4;
		if (f.features.shaderInt64) out->features |= VKDS_INT64;
		if (f12.shaderBufferInt64Atomics) out->features |= VKDS_INT64_ATOMICS;
		if (fx.pipelineExecutableInfo) out->features |= VKDS_EXECUTABLE_STATISTICS;
	}

	VkQueueFamilyProperties families[VKDS_FAMILIES];
	out->family_count = VKDS_FAMILIES;
	in->families(p, &out->family_count, families);
	for (uint32_t i = 0; i < out->family_count; i++) {
		out->family_flags[i] = families[i].queueFlags;
		out->family_queues[i] = families[i].queueCount;
		out->family_timestamp_bits[i] = families[i].timestampValidBits;
	}

	VkPhysicalDeviceMemoryProperties2 memory = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
	in->memory(p, &memory);
	out->type_count = memory.memoryProperties.memoryTypeCount;
	for (uint32_t i = 0; i < out->type_count; i++) {
		out->type_flags[i] = memory.memoryProperties.memoryTypes[i].propertyFlags;
		out->type_heap[i] = memory.memoryProperties.memoryTypes[i].heapIndex;
	}
	out->heap_count = memory.memoryProperties.memoryHeapCount;
	for (uint32_t i = 0; i < out->heap_count; i++) {
		out->heap_flags[i] = memory.memoryProperties.memoryHeaps[i].flags;
		out->heap_bytes[i] = memory.memoryProperties.memoryHeaps[i].size;
	}
}

void vkds_memory_budget(vkds_instance *in, uint64_t physical, uint64_t *usage, uint64_t *budget) {
	VkPhysicalDeviceMemoryBudgetPropertiesEXT b = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
	VkPhysicalDeviceMemoryProperties2 memory = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &b};
	in->memory(HANDLE(VkPhysicalDevice, physical), &memory);
	memcpy(usage, b.heapUsage, sizeof b.heapUsage);
	memcpy(budget, b.heapBudget, sizeof b.heapBudget);
}

// take_device loads the table of a device's calls. Those of an extension may be missing.
static VkResult take_device(vkds_instance *in, VkDevice handle, vkds_device **out) {
	vkds_device *d = *out = calloc(1, sizeof *d);
	d->handle = handle;
#define GET(field, name) d->field = (PFN_##name)in->get_device(handle, #name)
	GET(allocate, vkAllocateMemory);
	GET(address, vkGetBufferDeviceAddress);
	GET(create_semaphore, vkCreateSemaphore);
	GET(semaphore_value, vkGetSemaphoreCounterValue);
	GET(wait, vkWaitSemaphores);
	GET(submit, vkQueueSubmit2);
	GET(begin, vkBeginCommandBuffer);
	GET(barrier, vkCmdPipelineBarrier2);
	GET(copy, vkCmdCopyBuffer);
	GET(timestamp, vkCmdWriteTimestamp2);
	GET(create_layout, vkCreatePipelineLayout);
	GET(create_pipelines, vkCreateComputePipelines);
	GET(executables, vkGetPipelineExecutablePropertiesKHR);
	GET(statistics, vkGetPipelineExecutableStatisticsKHR);
#undef GET
	if (d->allocate && d->address && d->create_semaphore && d->semaphore_value && d->wait && d->submit && d->begin && d->barrier &&
		d->copy && d->timestamp && d->create_layout && d->create_pipelines) return VK_SUCCESS;
	free(d);
	return VK_ERROR_INCOMPATIBLE_DRIVER;
}

VkResult vkds_adopt_device(vkds_instance *in, uint64_t device, vkds_device **out) {
	return take_device(in, HANDLE(VkDevice, device), out);
}

VkResult vkds_create_device(vkds_instance *in, uint64_t physical, uint32_t family, uint32_t queues, uint32_t features, vkds_device **out) {
	VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR fx = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
	VkPhysicalDeviceVulkan13Features f13 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
	VkPhysicalDeviceVulkan12Features f12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
	VkPhysicalDeviceFeatures2 f = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f12};
	f12.bufferDeviceAddress = f12.vulkanMemoryModel = f12.vulkanMemoryModelDeviceScope = f12.timelineSemaphore = VK_TRUE;
	f13.subgroupSizeControl = f13.computeFullSubgroups = f13.synchronization2 = f13.maintenance4 = VK_TRUE;
	f.features.shaderInt64 = !!(features & VKDS_INT64);
	f12.shaderBufferInt64Atomics = !!(features & VKDS_INT64_ATOMICS);

	const char *extensions[3];
	uint32_t n = 0;
	if (features & VKDS_MEMORY_BUDGET) extensions[n++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
	if (features & VKDS_PORTABILITY) extensions[n++] = "VK_KHR_portability_subset";
	if (features & VKDS_EXECUTABLE_STATISTICS) {
		extensions[n++] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
		fx.pipelineExecutableInfo = VK_TRUE;
		f13.pNext = &fx;
	}

	float *priorities = calloc(queues, sizeof *priorities);
	for (uint32_t i = 0; i < queues; i++) priorities[i] = 1;
	VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, family, queues, priorities};
	VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &f, 0, 1, &queue, 0, NULL, n, extensions, NULL};
	VkDevice handle;
	VkResult r = in->create_device(HANDLE(VkPhysicalDevice, physical), &info, NULL, &handle);
	free(priorities);
	if (r != VK_SUCCESS) return r;

	r = take_device(in, handle, out);
	if (r != VK_SUCCESS) ((PFN_vkDestroyDevice)in->get_device(handle, "vkDestroyDevice"))(handle, NULL);
	return r;
}

// The dedicated struct must come before the flags: otherwise NVIDIA uses small pages, and random access beyond 2 GB
// becomes much slower.
VkResult vkds_allocate(vkds_device *d, uint64_t buffer, uint64_t bytes, uint32_t type, uint64_t *memory) {
	VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, NULL, VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
	VkMemoryDedicatedAllocateInfo dedicated = {VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, &flags, VK_NULL_HANDLE, HANDLE(VkBuffer, buffer)};
	VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &dedicated, bytes, type};
	VkDeviceMemory m = VK_NULL_HANDLE;
	VkResult r = d->allocate(d->handle, &info, NULL, &m);
	*memory = INTEGER(m);
	return r;
}

uint64_t vkds_address(vkds_device *d, uint64_t buffer) {
	VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, NULL, HANDLE(VkBuffer, buffer)};
	return d->address(d->handle, &info);
}

VkResult vkds_create_timeline(vkds_device *d, uint64_t *semaphore) {
	VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, NULL, VK_SEMAPHORE_TYPE_TIMELINE, 0};
	VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
	VkSemaphore s = VK_NULL_HANDLE;
	VkResult r = d->create_semaphore(d->handle, &info, NULL, &s);
	*semaphore = INTEGER(s);
	return r;
}

vkds_value vkds_timeline_value(vkds_device *d, uint64_t semaphore) {
	vkds_value v = {0};
	v.result = d->semaphore_value(d->handle, HANDLE(VkSemaphore, semaphore), &v.value);
	return v;
}

VkResult vkds_timeline_wait(vkds_device *d, uint64_t semaphore, uint64_t value, uint64_t timeout) {
	VkSemaphore s = HANDLE(VkSemaphore, semaphore);
	VkSemaphoreWaitInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, NULL, 0, 1, &s, &value};
	return d->wait(d->handle, &info, timeout);
}

VkResult vkds_submit(vkds_device *d, uint64_t queue, uint64_t commands, uint32_t waits, const uint64_t *semaphores, const uint64_t *values, uint64_t signal, uint64_t value) {
	VkSemaphoreSubmitInfo *wait = calloc(waits ? waits : 1, sizeof *wait);
	for (uint32_t i = 0; i < waits; i++)
		wait[i] = (VkSemaphoreSubmitInfo){VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, HANDLE(VkSemaphore, semaphores[i]), values[i], VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0};
	VkSemaphoreSubmitInfo done = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, HANDLE(VkSemaphore, signal), value, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0};
	VkCommandBufferSubmitInfo work = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, NULL, HANDLE(VkCommandBuffer, commands), 0};
	VkSubmitInfo2 info = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2, NULL, 0, waits, wait, commands ? 1 : 0, &work, 1, &done};
	VkResult r = d->submit(HANDLE(VkQueue, queue), 1, &info, VK_NULL_HANDLE);
	free(wait);
	return r;
}

VkResult vkds_begin(vkds_device *d, uint64_t commands) {
	VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, NULL, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, NULL};
	return d->begin(HANDLE(VkCommandBuffer, commands), &info);
}

void vkds_barrier(vkds_device *d, uint64_t commands, uint32_t before, uint32_t after) {
	static const struct {
		uint32_t work;
		VkPipelineStageFlags2 stage;
		VkAccessFlags2 reads, writes;
	} kinds[] = {
		{VKDS_SHADER, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT, VK_ACCESS_2_SHADER_WRITE_BIT},
		{VKDS_TRANSFER, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT},
		{VKDS_INDIRECT, VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, 0},
		{VKDS_HOST, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT, VK_ACCESS_2_HOST_WRITE_BIT},
	};
	VkMemoryBarrier2 memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (before & kinds[i].work) {
			memory.srcStageMask |= kinds[i].stage;
			memory.srcAccessMask |= kinds[i].writes;
		}
		if (after & kinds[i].work) {
			memory.dstStageMask |= kinds[i].stage;
			memory.dstAccessMask |= kinds[i].reads | kinds[i].writes;
		}
	}
	VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO, NULL, 0, 1, &memory, 0, NULL, 0, NULL};
	d->barrier(HANDLE(VkCommandBuffer, commands), &info);
}

void vkds_copy(vkds_device *d, uint64_t commands, uint64_t from, uint64_t to, uint64_t from_at, uint64_t to_at, uint64_t bytes) {
	VkBufferCopy region = {from_at, to_at, bytes};
	d->copy(HANDLE(VkCommandBuffer, commands), HANDLE(VkBuffer, from), HANDLE(VkBuffer, to), 1, &region);
}

void vkds_timestamp(vkds_device *d, uint64_t commands, uint64_t pool, uint32_t query) {
	d->timestamp(HANDLE(VkCommandBuffer, commands), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, HANDLE(VkQueryPool, pool), query);
}

VkResult vkds_create_layout(vkds_device *d, uint32_t push_bytes, uint64_t *layout) {
	VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
	VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, NULL, 0, 0, NULL, push_bytes ? 1 : 0, &range};
	VkPipelineLayout l = VK_NULL_HANDLE;
	VkResult r = d->create_layout(d->handle, &info, NULL, &l);
	*layout = INTEGER(l);
	return r;
}

VkResult vkds_create_pipeline(vkds_device *d, uint64_t cache, uint64_t module, uint64_t layout, const char *entry, uint32_t constants, const uint32_t *ids, const uint32_t *values, uint32_t subgroup, int statistics, uint64_t *pipeline) {
	VkSpecializationMapEntry *map = calloc(constants ? constants : 1, sizeof *map);
	for (uint32_t i = 0; i < constants; i++) map[i] = (VkSpecializationMapEntry){ids[i], i * 4, 4};
	VkSpecializationInfo special = {constants, map, constants * 4, values};
	VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO, NULL, subgroup};
	VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
	if (statistics) info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
	info.layout = HANDLE(VkPipelineLayout, layout);
	info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
	info.stage.pNext = subgroup ? &size : NULL;
	info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
	info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
	info.stage.module = HANDLE(VkShaderModule, module);
	info.stage.pName = entry;
	info.stage.pSpecializationInfo = constants ? &special : NULL;
	VkPipeline p = VK_NULL_HANDLE;
	VkResult r = d->create_pipelines(d->handle, HANDLE(VkPipelineCache, cache), 1, &info, NULL, &p);
	free(map);
	*pipeline = INTEGER(p);
	return r;
}

int64_t vkds_statistics(vkds_device *d, uint64_t pipeline, uint32_t room, vkds_statistic *out) {
	VkPipelineInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, NULL, HANDLE(VkPipeline, pipeline)};
	uint32_t executables = 0;
	VkResult r = d->executables(d->handle, &info, &executables, NULL);
	if (r < 0) return r;
	VkPipelineExecutablePropertiesKHR *properties = calloc(executables ? executables : 1, sizeof *properties);
	for (uint32_t i = 0; i < executables; i++) properties[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
	r = d->executables(d->handle, &info, &executables, properties);
	int64_t total = 0;
	for (uint32_t e = 0; r >= 0 && e < executables; e++) {
		VkPipelineExecutableInfoKHR one = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, NULL, info.pipeline, e};
		uint32_t n = 0;
		r = d->statistics(d->handle, &one, &n, NULL);
		if (r < 0) break;
		VkPipelineExecutableStatisticKHR *values = calloc(n ? n : 1, sizeof *values);
		for (uint32_t i = 0; i < n; i++) values[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
		r = d->statistics(d->handle, &one, &n, values);
		for (uint32_t i = 0; r >= 0 && i < n; i++, total++) {
			if (total >= room) continue;
			vkds_statistic *s = &out[total];
			strcpy(s->executable, properties[e].name);
			strcpy(s->name, values[i].name);
			strcpy(s->description, values[i].description);
			s->format = values[i].format;
			s->bits = s->format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR ? values[i].value.b32 : values[i].value.u64;
		}
		free(values);
	}
	free(properties);
	return r < 0 ? r : total;
}
