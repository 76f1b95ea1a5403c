//go:build glfw

package draw

/*
#cgo CFLAGS: -std=c11 -Wall -I${SRCDIR}/../../../vk/internal/native/include -DVK_NO_PROTOTYPES
#include <stdlib.h>
#include "present.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-gl/glfw/v3.3/glfw"
	"github.com/vkds/vkds/vk"
)

// WindowOptions say how a window is opened.
type WindowOptions struct {
	Validation bool // check every Vulkan call, and print to standard error what is wrong
}

// Window is an open window. All calls are made by the goroutine that opened it, which must be locked to its thread, and
// on macOS to the process's first one; Adopt alone may be called by another one.
type Window struct {
	o     WindowOptions
	glfw  *glfw.Window
	c     *C.presenter
	lock  sync.Mutex // of the queue
	stale bool       // the images aren't of the window's size
}

// WindowError is a Vulkan call of the window that failed.
type WindowError struct {
	Call   string
	Result int // VkResult
}

func (e *WindowError) Error() string { return fmt.Sprintf("window: %s: VkResult %d", e.Call, e.Result) }

// OpenWindow opens a window. Errors: there is no display, no Vulkan driver that shows images in windows, or no
// validation layer.
func OpenWindow(o WindowOptions) (*Window, error) {
	if err := display(); err != nil {
		return nil, err
	}
	if err := start(); err != nil {
		return nil, err
	}
	w := &Window{o: o, c: (*C.presenter)(C.calloc(1, C.sizeof_presenter)), stale: true}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// display returns an error if the environment names no display. GLFW would log that, and go on.
func display() error {
	switch runtime.GOOS {
	case "windows", "darwin":
		return nil
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("a window needs a display: neither DISPLAY nor WAYLAND_DISPLAY is set")
	}
	return nil
}

// start initializes GLFW. Its binding writes to the log why a display can't be opened, and returns no error.
func start() error {
	var logged bytes.Buffer
	before, flags := log.Writer(), log.Flags()
	log.SetOutput(&logged)
	log.SetFlags(0)
	err := caught(func() error { return glfw.Init() })
	log.SetOutput(before)
	log.SetFlags(flags)
	if err == nil && logged.Len() != 0 {
		err = errors.New(strings.TrimSpace(logged.String()))
	}
	if err != nil {
		return fmt.Errorf("the display can't be opened: %w", err)
	}
	return nil
}

// caught returns the error of a call that GLFW's binding panics with.
func caught(call func() error) (err error) {
	defer func() {
		if panicked, ok := recover().(*glfw.Error); ok {
			err = panicked
		}
	}()
	return call()
}

func (w *Window) open() error {
	glfw.WindowHint(glfw.ClientAPI, glfw.NoAPI)
	glfw.WindowHint(glfw.Visible, glfw.False) // until there is something to show
	err := caught(func() (err error) {
		w.glfw, err = glfw.CreateWindow(1280, 720, "vkds", nil, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("a window can't be opened: %w", err)
	}
	if !glfw.VulkanSupported() {
		return &vk.NoDriverError{Reason: "GLFW found no Vulkan loader"}
	}
	needs := w.glfw.GetRequiredInstanceExtensions()
	if len(needs) == 0 {
		return errors.New("no Vulkan driver here shows images in windows (VK_KHR_surface)")
	}
	names := make([]*C.char, len(needs))
	for i, name := range needs {
		names[i] = C.CString(name)
		defer C.free(unsafe.Pointer(names[i]))
	}
	list := (**C.char)(C.calloc(C.size_t(len(names)), C.sizeof_uintptr_t))
	defer C.free(unsafe.Pointer(list))
	copy(unsafe.Slice(list, len(names)), names)
	validation := C.int(0)
	if w.o.Validation {
		validation = 1
	}
	return w.result(C.present_instance(w.c, glfw.GetVulkanGetInstanceProcAddress(), list, C.uint32_t(len(names)),
		validation))
}

// surface makes the window's surface.
func (w *Window) surface() (uint64, error) {
	// The binding returns the address of a variable as an integer, which doesn't keep the variable alive. While there
	// is no collection, it lives.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	at, err := w.glfw.CreateWindowSurface((*byte)(unsafe.Pointer(w.c.instance)), nil)
	if err != nil {
		return 0, err
	}
	return uint64(C.present_read(C.uintptr_t(at))), nil
}

// Adopt makes the device that the options name, with a queue that shows images in the window, and returns it as vk.Open
// would. The caller closes it before the window. Errors: those of vk.Open and vk.Adopt, and that the device can't show
// images in the window.
func (w *Window) Adopt(o vk.Options) (*vk.Device, error) {
	// Which device is meant is known to vk.Open alone.
	asked, err := vk.Open(vk.Options{Device: o.Device, CacheDir: "none"})
	if err != nil {
		return nil, err
	}
	info := asked.Info()
	if err := asked.Close(); err != nil {
		return nil, err
	}
	surface, err := w.surface()
	if err != nil {
		return nil, err
	}
	err = w.result(C.present_device(w.c, C.uint64_t(surface), (*C.uint8_t)(unsafe.Pointer(&info.UUID[0]))))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Name, err)
	}
	for at, name := range []string{drawTree: "draw_tree", drawTable: "draw_table"} {
		for width, variant := range widths {
			if err := w.pipeline(at+drawings*width, name+"."+variant); err != nil {
				return nil, err
			}
		}
	}
	h := vk.Handles{
		Instance: handle(unsafe.Pointer(w.c.instance)), PhysicalDevice: handle(unsafe.Pointer(w.c.physical)),
		Device: handle(unsafe.Pointer(w.c.device)), Queue: handle(unsafe.Pointer(w.c.queue)),
		Family: uint32(w.c.family), Lock: &w.lock,
		// What create_device of present.c turns on.
		Features: []vk.Feature{"bufferDeviceAddress", "vulkanMemoryModel", "vulkanMemoryModelDeviceScope",
			"subgroupSizeControl", "computeFullSubgroups", "timelineSemaphore", "synchronization2", "maintenance4"},
	}
	for f, on := range map[vk.Feature]C.int{vk.Int64: w.c.int64, vk.Int64Atomics: w.c.int64_atomics,
		vk.MemoryBudget: w.c.memory_budget} {
		if on != 0 {
			h.Features = append(h.Features, f)
		}
	}
	return vk.Adopt(h, o)
}

func handle(h unsafe.Pointer) uint64 { return uint64(uintptr(h)) }

func (w *Window) pipeline(at int, name string) error {
	code := module(name).Code
	words := make([]uint32, len(code)/4) // aligned
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(code)), code)
	return w.result(C.present_pipeline(w.c, C.uint32_t(at), (*C.uint32_t)(&words[0]), C.size_t(len(code))))
}

// result is the error of a call.
func (w *Window) result(r C.int) error {
	switch r {
	case C.VK_SUCCESS, C.VK_SUBOPTIMAL_KHR:
		return nil
	case C.PRESENT_NO_DEVICE:
		return errors.New("the window's Vulkan instance has no such device")
	case C.PRESENT_NO_QUEUE:
		return errors.New("the device shows no images in this window: none of its queues both computes and presents")
	case C.PRESENT_NO_FORMAT:
		return errors.New("the window has no images of 8 bits a colour that can be written or copied to")
	case C.PRESENT_NO_WRITES:
		return &vk.MissingFeatureError{Device: "the device", Features: []string{"shaderStorageImageWriteWithoutFormat"}}
	case C.PRESENT_NO_SWAPCHAIN:
		return &vk.MissingFeatureError{Device: "the device", Features: []string{"VK_KHR_swapchain"}}
	case C.PRESENT_NO_LAYER:
		return &vk.MissingFeatureError{Device: "this machine", Features: []string{
			"VK_LAYER_KHRONOS_validation (on Debian the package vulkan-validationlayers)"}}
	}
	return &WindowError{C.GoString(w.c.failed), int(r)}
}

// picturePush is Push of picture.glsl.
type picturePush struct {
	scene      uint64
	origin     [2]int32
	rest       [2]float32
	scale      [2]float32
	width      int32
	height     int32
	swapped    uint32
	_padToLong uint32
}

// draw draws a scene and shows it. It returns false if that isn't possible now, because the window is hidden or changes
// its size.
func (w *Window) draw(s *Scene, c *camera) (drawn bool, err error) {
	const attempts = 4 // the window's size may change again and again
	for range attempts {
		if w.stale {
			if ready, err := w.images(); !ready {
				return false, err
			}
		}
		c.resize(int(w.c.extent.width), int(w.c.extent.height))
		var image C.uint32_t
		r := C.present_acquire(w.c, &image)
		if r == C.VK_ERROR_OUT_OF_DATE_KHR {
			w.stale = true
			continue
		}
		if r == C.VK_TIMEOUT {
			return false, nil
		}
		if err := w.result(r); err != nil {
			return false, err
		}
		p := picturePush{scene: s.address(), scale: [2]float32{float32(c.sx), float32(c.sy)},
			width: int32(w.c.extent.width), height: int32(w.c.extent.height), swapped: uint32(w.c.swapped)}
		p.origin, p.rest = c.origin()
		w.lock.Lock()
		r = C.present_draw(w.c, image, C.uint32_t(s.pipeline), unsafe.Pointer(&p), C.uint32_t(unsafe.Sizeof(p)))
		w.lock.Unlock()
		if r != C.VK_ERROR_OUT_OF_DATE_KHR {
			if err := w.result(r); err != nil {
				return false, err
			}
		}
		// Until the frame is drawn, the structure must not change.
		if err := w.result(C.present_wait(w.c)); err != nil {
			return false, err
		}
		if r != C.VK_ERROR_OUT_OF_DATE_KHR {
			return true, nil
		}
		w.stale = true
	}
	return false, nil
}

// images makes the images anew. It returns false if the window is minimised.
func (w *Window) images() (ready bool, err error) {
	width, height := w.glfw.GetFramebufferSize()
	if width == 0 || height == 0 {
		return false, nil
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	if err := w.result(C.present_idle(w.c)); err != nil {
		return false, err
	}
	r := C.present_images(w.c, C.uint32_t(width), C.uint32_t(height))
	if r == C.VK_NOT_READY {
		return false, nil
	}
	w.stale = false
	return true, w.result(r)
}

// Complaints returns how many errors the validation layer has found.
func (w *Window) Complaints() int { return int(C.present_complaints(w.c)) }

// Close closes the window. The device that Adopt returned must be closed.
func (w *Window) Close() error {
	C.present_close(w.c)
	C.free(unsafe.Pointer(w.c))
	w.c = nil
	return caught(func() error {
		if w.glfw != nil {
			w.glfw.Destroy()
		}
		glfw.Terminate()
		return nil
	})
}

// wake ends a wait for events.
func wake() { glfw.PostEmptyEvent() }
