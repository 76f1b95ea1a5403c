//go:build glfw

// Presenting: an instance and a device that can show images in a window, and the images, which compute shaders write.
// vk.Adopt gets the device. Each function returns a VkResult, and sets `failed` to the call that it is of.
#ifndef VKDS_PRESENT_H
#define VKDS_PRESENT_H

#include <stdint.h>
#include <vulkan/vulkan_core.h>

#define PRESENT_IMAGES 16      // of a swapchain, at most
#define PRESENT_PIPELINES 4
#define PRESENT_PUSH_BYTES 128

// Results beside those of Vulkan.
#define PRESENT_NO_DEVICE 1001     // the instance doesn't have the device
#define PRESENT_NO_QUEUE 1002      // no queue both computes and shows images in the window
#define PRESENT_NO_FORMAT 1003     // no image of the window has 8 bits a colour, or none can be written
#define PRESENT_NO_WRITES 1004     // the device lacks shaderStorageImageWriteWithoutFormat
#define PRESENT_NO_LAYER 1005      // there is no validation layer
#define PRESENT_NO_SWAPCHAIN 1006  // the device lacks VK_KHR_swapchain

typedef struct {
	PFN_vkGetInstanceProcAddr get;
	VkInstance instance;
	VkDebugUtilsMessengerEXT messenger;
	VkSurfaceKHR surface;
	VkPhysicalDevice physical;
	VkDevice device;
	uint32_t family;
	VkQueue queue;
	int int64, int64_atomics, memory_budget;   // features that the device has, and that are on

	VkCommandPool pool;
	VkCommandBuffer commands;
	VkFence fence;
	VkSemaphore acquired;
	VkDescriptorSetLayout set_layout;
	VkDescriptorPool sets_pool;
	VkPipelineLayout layout;
	VkPipeline pipelines[PRESENT_PIPELINES];

	VkSwapchainKHR swapchain;
	VkExtent2D extent;
	uint32_t count;
	VkImage images[PRESENT_IMAGES];
	VkImageView views[PRESENT_IMAGES];
	VkDescriptorSet sets[PRESENT_IMAGES];
	VkSemaphore drawn[PRESENT_IMAGES];
	int swapped;                 // the images have blue first

	int indirect;                // the shader writes an image of our own, which is copied: the window's can't be written
	int always_indirect;         // for tests
	VkImage own;
	VkDeviceMemory own_memory;

	int complaints;              // errors that the validation layer found
	const char *failed;
} presenter;

int present_instance(presenter *p, void *get, char **extensions, uint32_t n, int validation);
int present_device(presenter *p, uint64_t surface, const uint8_t *uuid);
int present_pipeline(presenter *p, uint32_t at, const uint32_t *code, size_t bytes);
// Makes the images anew, for a window of that size. No image may be in use.
int present_images(presenter *p, uint32_t width, uint32_t height);
// Waits for an image to draw on. VK_ERROR_OUT_OF_DATE_KHR: make the images anew. VK_TIMEOUT: a window that nobody sees
// may give none.
int present_acquire(presenter *p, uint32_t *image);
// Draws an image by a pipeline, and shows it. The queue's lock must be held.
int present_draw(presenter *p, uint32_t image, uint32_t pipeline, const void *push, uint32_t bytes);
// Waits until the image is drawn.
int present_wait(presenter *p);
// Waits until the queue has done everything. The queue's lock must be held.
int present_idle(presenter *p);
int present_complaints(presenter *p);
// Reads the handle at an address.
uint64_t present_read(uintptr_t at);
void present_close_device(presenter *p);
void present_close(presenter *p);

#endif
