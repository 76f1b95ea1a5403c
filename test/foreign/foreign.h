// A program's own Vulkan device: what vkds is to share with it, and a command of its own.
#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdint.h>
#include "vulkan/vulkan_core.h"

typedef struct {
	PFN_vkGetInstanceProcAddr get;
	VkInstance instance;
	VkPhysicalDevice physical;
	VkDevice device;
	VkQueue queue;
	uint32_t family;
	VkCommandPool pool;
	VkSemaphore done; // a timeline
} foreign;

// Each returns a VkResult. older: for Vulkan 1.0, with no feature on.
int foreign_open(foreign *f, int older);
// Waits until a semaphore has a value, fills bytes of a buffer, and then raises f->done.
int foreign_fill(foreign *f, uint64_t wait, uint64_t value, uint64_t buffer, uint64_t offset, uint64_t bytes, uint32_t word, uint64_t done);
int foreign_close(foreign *f);

#endif
