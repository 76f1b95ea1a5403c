//go:build cgo && linux

#include "foreign.h"

#include <dlfcn.h>
#include <stdlib.h>

#define GET(name) PFN_##name name = (PFN_##name)get(f->instance, #name)

int foreign_open(foreign *f, int older) {
	void *loader = dlopen("libvulkan.so.1", RTLD_NOW);
	if (!loader) return -1;
	PFN_vkGetInstanceProcAddr get = f->get = (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr");
	PFN_vkCreateInstance vkCreateInstance = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
	VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, NULL, "foreign", 1, "foreign", 1, older ? VK_API_VERSION_1_0 : VK_API_VERSION_1_3};
	VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, NULL, 0, &application};
	int r = vkCreateInstance(&info, NULL, &f->instance);
	if (r) return r;

	GET(vkEnumeratePhysicalDevices);
	GET(vkGetPhysicalDeviceQueueFamilyProperties);
	GET(vkCreateDevice);
	uint32_t one = 1;
	r = vkEnumeratePhysicalDevices(f->instance, &one, &f->physical);
	if (r < 0) return r;
	VkQueueFamilyProperties families[16];
	uint32_t n = 16;
	vkGetPhysicalDeviceQueueFamilyProperties(f->physical, &n, families);
	for (f->family = 0; f->family < n && !(families[f->family].queueFlags & VK_QUEUE_COMPUTE_BIT);) f->family++;

	// No optional feature: a program that renders has no use for them.
	VkPhysicalDeviceVulkan13Features f13 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
	VkPhysicalDeviceVulkan12Features f12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &f13};
	f12.bufferDeviceAddress = f12.vulkanMemoryModel = f12.vulkanMemoryModelDeviceScope = f12.timelineSemaphore = VK_TRUE;
	f13.subgroupSizeControl = f13.computeFullSubgroups = f13.synchronization2 = f13.maintenance4 = VK_TRUE;
	float priority = 1;
	VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, f->family, 1, &priority};
	VkDeviceCreateInfo device = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, older ? NULL : &f12, 0, 1, &queue};
	r = vkCreateDevice(f->physical, &device, NULL, &f->device);
	if (r) return r;
	GET(vkGetDeviceQueue);
	vkGetDeviceQueue(f->device, f->family, 0, &f->queue);
	if (older) return 0;

	GET(vkCreateSemaphore);
	VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, NULL, VK_SEMAPHORE_TYPE_TIMELINE, 0};
	VkSemaphoreCreateInfo semaphore = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
	r = vkCreateSemaphore(f->device, &semaphore, NULL, &f->done);
	if (r) return r;
	GET(vkCreateCommandPool);
	VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, NULL, 0, f->family};
	return vkCreateCommandPool(f->device, &pool, NULL, &f->pool);
}

int foreign_fill(foreign *f, uint64_t wait, uint64_t value, uint64_t buffer, uint64_t offset, uint64_t bytes, uint32_t word, uint64_t done) {
	PFN_vkGetInstanceProcAddr get = f->get;
	GET(vkAllocateCommandBuffers);
	GET(vkBeginCommandBuffer);
	GET(vkCmdFillBuffer);
	GET(vkEndCommandBuffer);
	GET(vkQueueSubmit2);
	VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, f->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
	VkCommandBuffer commands;
	int r = vkAllocateCommandBuffers(f->device, &allocate, &commands);
	if (r) return r;
	VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
	vkBeginCommandBuffer(commands, &begin);
	vkCmdFillBuffer(commands, (VkBuffer)(uintptr_t)buffer, offset, bytes, word);
	vkEndCommandBuffer(commands);
	VkSemaphoreSubmitInfo after = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, (VkSemaphore)(uintptr_t)wait, value, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0};
	VkSemaphoreSubmitInfo signal = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, f->done, done, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0};
	VkCommandBufferSubmitInfo work = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, NULL, commands, 0};
	VkSubmitInfo2 submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2, NULL, 0, 1, &after, 1, &work, 1, &signal};
	return vkQueueSubmit2(f->queue, 1, &submit, VK_NULL_HANDLE);
}

int foreign_close(foreign *f) {
	PFN_vkGetInstanceProcAddr get = f->get;
	GET(vkDestroyInstance);
	GET(vkDeviceWaitIdle);
	GET(vkDestroySemaphore);
	GET(vkDestroyCommandPool);
	GET(vkDestroyDevice);
	int r = vkDeviceWaitIdle(f->device);
	vkDestroySemaphore(f->device, f->done, NULL);
	vkDestroyCommandPool(f->device, f->pool, NULL);
	vkDestroyDevice(f->device, NULL);
	vkDestroyInstance(f->instance, NULL);
	return r;
}
