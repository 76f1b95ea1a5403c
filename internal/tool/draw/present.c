//go:build glfw

#include "present.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYER "VK_LAYER_KHRONOS_validation"

#define GET(name) PFN_##name name = (PFN_##name)p->get(p->instance, #name)
// Returns the result of a call if it is an error.
#define TRY(name, ...)                                   \
	do {                                                  \
		int result_ = name(__VA_ARGS__);                  \
		if (result_ < 0) return p->failed = #name, result_; \
	} while (0)

static VkBool32 VKAPI_PTR on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types, const VkDebugUtilsMessengerCallbackDataEXT *data, void *to) {
	(void)types;
	if (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) __atomic_add_fetch(&((presenter *)to)->complaints, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "vkds: validation: %s\n", data->pMessage);
	return VK_FALSE;
}

int present_instance(presenter *p, void *get, char **extensions, uint32_t n, int validation) {
	p->get = (PFN_vkGetInstanceProcAddr)get;
	GET(vkCreateInstance);
	VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, NULL, "vkds", 1, "vkds", 1, VK_API_VERSION_1_3};
	const char *names[16];
	for (uint32_t i = 0; i < n && i < 15; i++) names[i] = extensions[i];
	const char *layer = LAYER;
	VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, NULL, 0, &application, 0, NULL, n < 15 ? n : 15, names};
	VkDebugUtilsMessengerCreateInfoEXT messages = {VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
	VkValidationFeatureEnableEXT checks[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
	VkValidationFeaturesEXT features = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, &messages, 1, checks, 0, NULL};
	if (validation) {
		messages.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
		messages.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
		messages.pfnUserCallback = on_message;
		messages.pUserData = p;
		names[info.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
		info.enabledLayerCount = 1;
		info.ppEnabledLayerNames = &layer;
		info.pNext = &features;
	}
	int r = vkCreateInstance(&info, NULL, &p->instance);
	if (r == VK_ERROR_LAYER_NOT_PRESENT) return PRESENT_NO_LAYER;
	if (r < 0) return p->failed = "vkCreateInstance", r;
	if (validation) {
		GET(vkCreateDebugUtilsMessengerEXT);
		TRY(vkCreateDebugUtilsMessengerEXT, p->instance, &messages, NULL, &p->messenger);
	}
	return VK_SUCCESS;
}

static int has_extension(presenter *p, const char *name) {
	GET(vkEnumerateDeviceExtensionProperties);
	uint32_t n = 0;
	if (vkEnumerateDeviceExtensionProperties(p->physical, NULL, &n, NULL) < 0) return 0;
	VkExtensionProperties *all = calloc(n + 1, sizeof *all);
	int found = 0;
	if (vkEnumerateDeviceExtensionProperties(p->physical, NULL, &n, all) >= 0)
		for (uint32_t i = 0; i < n; i++) found |= !strcmp(all[i].extensionName, name);
	free(all);
	return found;
}

static int choose_device(presenter *p, const uint8_t *uuid) {
	GET(vkEnumeratePhysicalDevices);
	GET(vkGetPhysicalDeviceProperties2);
	VkPhysicalDevice all[64];
	uint32_t n = 64;
	TRY(vkEnumeratePhysicalDevices, p->instance, &n, all);
	for (uint32_t i = 0; i < n; i++) {
		VkPhysicalDeviceIDProperties id = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
		VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id};
		vkGetPhysicalDeviceProperties2(all[i], &properties);
		if (!memcmp(id.deviceUUID, uuid, VK_UUID_SIZE)) return p->physical = all[i], VK_SUCCESS;
	}
	return PRESENT_NO_DEVICE;
}

static int choose_family(presenter *p) {
	GET(vkGetPhysicalDeviceQueueFamilyProperties);
	GET(vkGetPhysicalDeviceSurfaceSupportKHR);
	VkQueueFamilyProperties families[32];
	uint32_t n = 32;
	vkGetPhysicalDeviceQueueFamilyProperties(p->physical, &n, families);
	for (p->family = 0; p->family < n; p->family++) {
		VkBool32 shows = VK_FALSE;
		if (!(families[p->family].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
		TRY(vkGetPhysicalDeviceSurfaceSupportKHR, p->physical, p->family, p->surface, &shows);
		if (shows) return VK_SUCCESS;
	}
	return PRESENT_NO_QUEUE;
}

// create_device turns on what vk.RequiredFeatures names, and of the features that vkds can do without those that the
// device has.
static int create_device(presenter *p) {
	GET(vkGetPhysicalDeviceFeatures2);
	GET(vkCreateDevice);
	GET(vkGetDeviceQueue);
	VkPhysicalDeviceVulkan12Features has12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
	VkPhysicalDeviceFeatures2 has = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &has12};
	vkGetPhysicalDeviceFeatures2(p->physical, &has);
	if (!has.features.shaderStorageImageWriteWithoutFormat) return PRESENT_NO_WRITES;
	if (!has_extension(p, VK_KHR_SWAPCHAIN_EXTENSION_NAME)) return PRESENT_NO_SWAPCHAIN;
	p->int64 = has.features.shaderInt64;
	p->int64_atomics = has12.shaderBufferInt64Atomics;
	p->memory_budget = has_extension(p, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);

	VkPhysicalDeviceVulkan13Features f13 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
	VkPhysicalDeviceVulkan12Features f12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
	VkPhysicalDeviceFeatures2 f = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f12};
	f12.bufferDeviceAddress = f12.vulkanMemoryModel = f12.vulkanMemoryModelDeviceScope = f12.timelineSemaphore = VK_TRUE;
	f13.subgroupSizeControl = f13.computeFullSubgroups = f13.synchronization2 = f13.maintenance4 = VK_TRUE;
	f.features.shaderStorageImageWriteWithoutFormat = VK_TRUE;
	f.features.shaderInt64 = has.features.shaderInt64;
	f12.shaderBufferInt64Atomics = has12.shaderBufferInt64Atomics;
	float priority = 1;
	VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, p->family, 1, &priority};
	const char *names[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME};
	VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &f, 0, 1, &queue, 0, NULL, p->memory_budget ? 2 : 1, names};
	TRY(vkCreateDevice, p->physical, &info, NULL, &p->device);
	vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
	return VK_SUCCESS;
}

// create_parts makes what all frames use.
static int create_parts(presenter *p) {
	GET(vkCreateCommandPool);
	GET(vkAllocateCommandBuffers);
	GET(vkCreateFence);
	GET(vkCreateSemaphore);
	GET(vkCreateDescriptorSetLayout);
	GET(vkCreateDescriptorPool);
	GET(vkAllocateDescriptorSets);
	GET(vkCreatePipelineLayout);
	VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, NULL, VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, p->family};
	TRY(vkCreateCommandPool, p->device, &pool, NULL, &p->pool);
	VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, p->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
	TRY(vkAllocateCommandBuffers, p->device, &allocate, &p->commands);
	VkFenceCreateInfo fence = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
	TRY(vkCreateFence, p->device, &fence, NULL, &p->fence);
	VkSemaphoreCreateInfo semaphore = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
	TRY(vkCreateSemaphore, p->device, &semaphore, NULL, &p->acquired);

	VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
	VkDescriptorSetLayoutCreateInfo set = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, NULL, 0, 1, &binding};
	TRY(vkCreateDescriptorSetLayout, p->device, &set, NULL, &p->set_layout);
	VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, PRESENT_IMAGES};
	VkDescriptorPoolCreateInfo sets = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, NULL, 0, PRESENT_IMAGES, 1, &size};
	TRY(vkCreateDescriptorPool, p->device, &sets, NULL, &p->sets_pool);
	VkDescriptorSetLayout layouts[PRESENT_IMAGES];
	for (int i = 0; i < PRESENT_IMAGES; i++) layouts[i] = p->set_layout;
	VkDescriptorSetAllocateInfo all = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, NULL, p->sets_pool, PRESENT_IMAGES, layouts};
	TRY(vkAllocateDescriptorSets, p->device, &all, p->sets);
	VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, PRESENT_PUSH_BYTES};
	VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, NULL, 0, 1, &p->set_layout, 1, &range};
	TRY(vkCreatePipelineLayout, p->device, &layout, NULL, &p->layout);
	return VK_SUCCESS;
}

int present_device(presenter *p, uint64_t surface, const uint8_t *uuid) {
	p->surface = (VkSurfaceKHR)surface;
	int r = choose_device(p, uuid);
	if (r == VK_SUCCESS) r = choose_family(p);
	if (r == VK_SUCCESS) r = create_device(p);
	return r == VK_SUCCESS ? create_parts(p) : r;
}

int present_pipeline(presenter *p, uint32_t at, const uint32_t *code, size_t bytes) {
	GET(vkCreateShaderModule);
	GET(vkCreateComputePipelines);
	GET(vkDestroyShaderModule);
	VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, NULL, 0, bytes, code};
	VkShaderModule module;
	TRY(vkCreateShaderModule, p->device, &info, NULL, &module);
	VkComputePipelineCreateInfo pipeline = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
	pipeline.layout = p->layout;
	pipeline.stage = (VkPipelineShaderStageCreateInfo){VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, NULL, 0, VK_SHADER_STAGE_COMPUTE_BIT, module, "main", NULL};
	int r = vkCreateComputePipelines(p->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &p->pipelines[at]);
	vkDestroyShaderModule(p->device, module, NULL);
	if (r < 0) p->failed = "vkCreateComputePipelines";
	return r;
}

// drop_images frees all that is of the swapchain's size, and the swapchain.
static void drop_images(presenter *p) {
	GET(vkDestroyImageView);
	GET(vkDestroySemaphore);
	GET(vkDestroyImage);
	GET(vkFreeMemory);
	GET(vkDestroySwapchainKHR);
	for (uint32_t i = 0; i < PRESENT_IMAGES; i++) {
		vkDestroyImageView(p->device, p->views[i], NULL);
		vkDestroySemaphore(p->device, p->drawn[i], NULL);
		p->views[i] = VK_NULL_HANDLE;
		p->drawn[i] = VK_NULL_HANDLE;
	}
	vkDestroyImage(p->device, p->own, NULL);
	vkFreeMemory(p->device, p->own_memory, NULL);
	p->own = VK_NULL_HANDLE;
	p->own_memory = VK_NULL_HANDLE;
	if (vkDestroySwapchainKHR) vkDestroySwapchainKHR(p->device, p->swapchain, NULL);
	p->swapchain = VK_NULL_HANDLE;
	p->count = 0;
}

static int is_writable(presenter *p, VkFormat format) {
	GET(vkGetPhysicalDeviceFormatProperties2);
	VkFormatProperties3 more = {VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
	VkFormatProperties2 properties = {VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &more};
	vkGetPhysicalDeviceFormatProperties2(p->physical, format, &properties);
	VkFormatFeatureFlags2 needs = VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;
	return (more.optimalTilingFeatures & needs) == needs;
}

// choose_format prefers a format that shaders can write; others are copied to, without a conversion.
static int choose_format(presenter *p, const VkSurfaceCapabilitiesKHR *can, VkSurfaceFormatKHR *chosen) {
	GET(vkGetPhysicalDeviceSurfaceFormatsKHR);
	VkSurfaceFormatKHR all[128];
	uint32_t n = 128;
	TRY(vkGetPhysicalDeviceSurfaceFormatsKHR, p->physical, p->surface, &n, all);
	const VkFormat known[] = {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R8G8B8A8_SRGB};
	for (p->indirect = p->always_indirect; p->indirect < 2; p->indirect++) {
		VkImageUsageFlags usage = p->indirect ? VK_IMAGE_USAGE_TRANSFER_DST_BIT : VK_IMAGE_USAGE_STORAGE_BIT;
		if (!(can->supportedUsageFlags & usage)) continue;
		for (uint32_t k = 0; k < 4; k++)
			for (uint32_t i = 0; i < n; i++) {
				if (all[i].format != known[k] || (!p->indirect && !is_writable(p, known[k]))) continue;
				*chosen = all[i];
				p->swapped = p->indirect && k % 2 == 0;
				return VK_SUCCESS;
			}
	}
	return PRESENT_NO_FORMAT;
}

// create_own makes the image that is written and then copied, if the window's own images can't be written.
static int create_own(presenter *p) {
	GET(vkCreateImage);
	GET(vkGetImageMemoryRequirements);
	GET(vkGetPhysicalDeviceMemoryProperties);
	GET(vkAllocateMemory);
	GET(vkBindImageMemory);
	VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
	info.imageType = VK_IMAGE_TYPE_2D;
	info.format = VK_FORMAT_R8G8B8A8_UNORM;
	info.extent = (VkExtent3D){p->extent.width, p->extent.height, 1};
	info.mipLevels = info.arrayLayers = 1;
	info.samples = VK_SAMPLE_COUNT_1_BIT;
	info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
	TRY(vkCreateImage, p->device, &info, NULL, &p->own);
	VkMemoryRequirements needs;
	vkGetImageMemoryRequirements(p->device, p->own, &needs);
	VkPhysicalDeviceMemoryProperties memory;
	vkGetPhysicalDeviceMemoryProperties(p->physical, &memory);
	uint32_t type = 0, fallback = UINT32_MAX;
	for (; type < memory.memoryTypeCount; type++) {
		if (!(needs.memoryTypeBits >> type & 1)) continue;
		if (fallback == UINT32_MAX) fallback = type;
		if (memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) break;
	}
	VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, needs.size, type < memory.memoryTypeCount ? type : fallback};
	TRY(vkAllocateMemory, p->device, &allocate, NULL, &p->own_memory);
	TRY(vkBindImageMemory, p->device, p->own, p->own_memory, 0);
	return VK_SUCCESS;
}

int present_images(presenter *p, uint32_t width, uint32_t height) {
	GET(vkGetPhysicalDeviceSurfaceCapabilitiesKHR);
	GET(vkCreateSwapchainKHR);
	GET(vkGetSwapchainImagesKHR);
	GET(vkCreateImageView);
	GET(vkUpdateDescriptorSets);
	GET(vkCreateSemaphore);
	VkSurfaceCapabilitiesKHR can;
	TRY(vkGetPhysicalDeviceSurfaceCapabilitiesKHR, p->physical, p->surface, &can);
	VkExtent2D extent = can.currentExtent;
	if (extent.width == UINT32_MAX) { // the window has the size of its images
#define CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
		extent.width = CLAMP(width, can.minImageExtent.width, can.maxImageExtent.width);
		extent.height = CLAMP(height, can.minImageExtent.height, can.maxImageExtent.height);
	}
	if (extent.width == 0 || extent.height == 0) return VK_NOT_READY; // minimised

	VkSurfaceFormatKHR format = {0};
	int r = choose_format(p, &can, &format);
	if (r != VK_SUCCESS) return r;
	VkSwapchainCreateInfoKHR info = {VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
	info.surface = p->surface;
	info.minImageCount = can.minImageCount + 1;
	if (can.maxImageCount != 0 && info.minImageCount > can.maxImageCount) info.minImageCount = can.maxImageCount;
	info.imageFormat = format.format;
	info.imageColorSpace = format.colorSpace;
	info.imageExtent = extent;
	info.imageArrayLayers = 1;
	info.imageUsage = p->indirect ? VK_IMAGE_USAGE_TRANSFER_DST_BIT : VK_IMAGE_USAGE_STORAGE_BIT;
	info.preTransform = can.currentTransform;
	info.compositeAlpha = can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
		: (VkCompositeAlphaFlagBitsKHR)(can.supportedCompositeAlpha & -can.supportedCompositeAlpha);
	info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
	info.clipped = VK_TRUE;
	info.oldSwapchain = p->swapchain;
	VkSwapchainKHR fresh = VK_NULL_HANDLE;
	r = vkCreateSwapchainKHR(p->device, &info, NULL, &fresh);
	drop_images(p);
	p->swapchain = fresh;
	if (r < 0) return p->failed = "vkCreateSwapchainKHR", r;
	p->extent = extent;

	p->count = PRESENT_IMAGES;
	r = vkGetSwapchainImagesKHR(p->device, p->swapchain, &p->count, p->images);
	if (r != VK_SUCCESS) return p->failed = "vkGetSwapchainImagesKHR", r < 0 ? r : VK_ERROR_TOO_MANY_OBJECTS;
	if (p->indirect && (r = create_own(p)) != VK_SUCCESS) return r;
	for (uint32_t i = 0; i < p->count; i++) {
		VkSemaphoreCreateInfo semaphore = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
		TRY(vkCreateSemaphore, p->device, &semaphore, NULL, &p->drawn[i]);
		VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
		view.image = p->indirect ? p->own : p->images[i];
		view.viewType = VK_IMAGE_VIEW_TYPE_2D;
		view.format = p->indirect ? VK_FORMAT_R8G8B8A8_UNORM : format.format;
		view.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
		TRY(vkCreateImageView, p->device, &view, NULL, &p->views[i]);
		VkDescriptorImageInfo image = {VK_NULL_HANDLE, p->views[i], VK_IMAGE_LAYOUT_GENERAL};
		VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, NULL, p->sets[i], 0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, &image, NULL, NULL};
		vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
	}
	return VK_SUCCESS;
}

int present_acquire(presenter *p, uint32_t *image) {
	GET(vkAcquireNextImageKHR);
	int r = vkAcquireNextImageKHR(p->device, p->swapchain, 200000000, p->acquired, VK_NULL_HANDLE, image);
	if (r < 0) p->failed = "vkAcquireNextImageKHR";
	return r;
}

static VkImageMemoryBarrier2 barrier(VkImage image, VkPipelineStageFlags2 from, VkAccessFlags2 wrote, VkImageLayout before, VkPipelineStageFlags2 to, VkAccessFlags2 access, VkImageLayout after) {
	VkImageMemoryBarrier2 b = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2, NULL, from, wrote, to, access, before, after};
	b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
	b.image = image;
	b.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
	return b;
}

static int record(presenter *p, uint32_t image, uint32_t pipeline, const void *push, uint32_t bytes) {
	GET(vkBeginCommandBuffer);
	GET(vkCmdPipelineBarrier2);
	GET(vkCmdBindPipeline);
	GET(vkCmdBindDescriptorSets);
	GET(vkCmdPushConstants);
	GET(vkCmdDispatch);
	GET(vkCmdCopyImage);
	GET(vkEndCommandBuffer);
	const VkPipelineStageFlags2 compute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, copy = VK_PIPELINE_STAGE_2_COPY_BIT;
	VkImage shown = p->images[image], written = p->indirect ? p->own : shown;
	VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, NULL, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
	TRY(vkBeginCommandBuffer, p->commands, &begin);

	// The shader sees what kernels wrote to the structure and the scene in earlier submissions. The window gives the
	// image at the stage that waits for `acquired`.
	VkMemoryBarrier2 memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, NULL, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT, compute, VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
	VkImageMemoryBarrier2 first = barrier(written, compute | copy, 0, VK_IMAGE_LAYOUT_UNDEFINED, compute, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, VK_IMAGE_LAYOUT_GENERAL);
	VkDependencyInfo before = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO, NULL, 0, 1, &memory, 0, NULL, 1, &first};
	vkCmdPipelineBarrier2(p->commands, &before);
	vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipelines[pipeline]);
	vkCmdBindDescriptorSets(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->sets[image], 0, NULL);
	vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, push);
	vkCmdDispatch(p->commands, (p->extent.width + 7) / 8, (p->extent.height + 7) / 8, 1);

	VkPipelineStageFlags2 last = compute;
	VkAccessFlags2 wrote = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
	VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
	if (p->indirect) {
		VkImageMemoryBarrier2 both[] = {
			barrier(written, compute, wrote, layout, copy, VK_ACCESS_2_TRANSFER_READ_BIT, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL),
			barrier(shown, compute | copy, 0, VK_IMAGE_LAYOUT_UNDEFINED, copy, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL),
		};
		VkDependencyInfo between = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO, NULL, 0, 0, NULL, 0, NULL, 2, both};
		vkCmdPipelineBarrier2(p->commands, &between);
		VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
		VkImageCopy all = {layers, {0, 0, 0}, layers, {0, 0, 0}, {p->extent.width, p->extent.height, 1}};
		vkCmdCopyImage(p->commands, written, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, shown, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &all);
		last = copy;
		wrote = VK_ACCESS_2_TRANSFER_WRITE_BIT;
		layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
	}
	VkImageMemoryBarrier2 show = barrier(shown, last, wrote, layout, VK_PIPELINE_STAGE_2_NONE, 0, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
	VkDependencyInfo after = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO, NULL, 0, 0, NULL, 0, NULL, 1, &show};
	vkCmdPipelineBarrier2(p->commands, &after);
	TRY(vkEndCommandBuffer, p->commands);
	return VK_SUCCESS;
}

int present_draw(presenter *p, uint32_t image, uint32_t pipeline, const void *push, uint32_t bytes) {
	GET(vkResetFences);
	GET(vkQueueSubmit2);
	GET(vkQueuePresentKHR);
	int r = record(p, image, pipeline, push, bytes);
	if (r < 0) return r;
	TRY(vkResetFences, p->device, 1, &p->fence);
	VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT;
	VkSemaphoreSubmitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, p->acquired, 0, stages, 0};
	VkSemaphoreSubmitInfo signal = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, p->drawn[image], 0, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0};
	VkCommandBufferSubmitInfo work = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, NULL, p->commands, 0};
	VkSubmitInfo2 submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2, NULL, 0, 1, &wait, 1, &work, 1, &signal};
	TRY(vkQueueSubmit2, p->queue, 1, &submit, p->fence);
	VkPresentInfoKHR present = {VK_STRUCTURE_TYPE_PRESENT_INFO_KHR, NULL, 1, &p->drawn[image], 1, &p->swapchain, &image, NULL};
	r = vkQueuePresentKHR(p->queue, &present);
	if (r < 0) p->failed = "vkQueuePresentKHR";
	return r;
}

int present_wait(presenter *p) {
	GET(vkWaitForFences);
	TRY(vkWaitForFences, p->device, 1, &p->fence, VK_TRUE, UINT64_MAX);
	return VK_SUCCESS;
}

int present_idle(presenter *p) {
	GET(vkQueueWaitIdle);
	TRY(vkQueueWaitIdle, p->queue);
	return VK_SUCCESS;
}

int present_complaints(presenter *p) { return __atomic_load_n(&p->complaints, __ATOMIC_RELAXED); }

uint64_t present_read(uintptr_t at) { return *(const uint64_t *)at; }

void present_close_device(presenter *p) {
	if (!p->device) return;
	GET(vkDestroyPipeline);
	GET(vkDestroyPipelineLayout);
	GET(vkDestroyDescriptorPool);
	GET(vkDestroyDescriptorSetLayout);
	GET(vkDestroySemaphore);
	GET(vkDestroyFence);
	GET(vkDestroyCommandPool);
	GET(vkDestroyDevice);
	GET(vkDeviceWaitIdle);
	vkDeviceWaitIdle(p->device);
	drop_images(p);
	for (int i = 0; i < PRESENT_PIPELINES; i++) vkDestroyPipeline(p->device, p->pipelines[i], NULL);
	vkDestroyPipelineLayout(p->device, p->layout, NULL);
	vkDestroyDescriptorPool(p->device, p->sets_pool, NULL);
	vkDestroyDescriptorSetLayout(p->device, p->set_layout, NULL);
	vkDestroySemaphore(p->device, p->acquired, NULL);
	vkDestroyFence(p->device, p->fence, NULL);
	vkDestroyCommandPool(p->device, p->pool, NULL);
	vkDestroyDevice(p->device, NULL);
	p->device = NULL;
}

void present_close(presenter *p) {
	if (!p->instance) return;
	present_close_device(p);
	GET(vkDestroySurfaceKHR);
	GET(vkDestroyInstance);
	GET(vkDestroyDebugUtilsMessengerEXT);
	if (p->surface) vkDestroySurfaceKHR(p->instance, p->surface, NULL);
	if (p->messenger) vkDestroyDebugUtilsMessengerEXT(p->instance, p->messenger, NULL);
	vkDestroyInstance(p->instance, NULL);
	p->instance = NULL;
}
