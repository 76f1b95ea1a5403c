//go:build cgo && linux

// Package foreign makes a Vulkan device without vkds, by C alone, for the tests of vk.Adopt.
package foreign

/*
#cgo CFLAGS: -std=c11 -Wall -I${SRCDIR}/../../vk/internal/native/include -DVK_NO_PROTOTYPES
#cgo LDFLAGS: -ldl
#include "foreign.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/vkds/vkds/vk"
)

// Device is a device of the program's own, with one queue and a timeline semaphore.
type Device struct {
	c    C.foreign
	lock sync.Mutex // of the queue
}

// Open makes a device of the first physical device with the features that vkds requires; older: with none, by an
// instance for Vulkan 1.0.
func Open(older bool) (*Device, error) {
	d := &Device{}
	var flag C.int
	if older {
		flag = 1
	}
	return d, result(C.foreign_open(&d.c, flag))
}

func result(r C.int) error {
	if r != 0 {
		return fmt.Errorf("VkResult %d", int(r))
	}
	return nil
}

// Handles are what vk.Adopt takes.
func (d *Device) Handles() vk.Handles {
	return vk.Handles{
		Instance:       uint64(uintptr(unsafe.Pointer(d.c.instance))),
		PhysicalDevice: uint64(uintptr(unsafe.Pointer(d.c.physical))),
		Device:         uint64(uintptr(unsafe.Pointer(d.c.device))),
		Queue:          uint64(uintptr(unsafe.Pointer(d.c.queue))),
		Family:         uint32(d.c.family),
		Features:       vk.RequiredFeatures(),
		Lock:           &d.lock,
	}
}

// Done is the timeline semaphore that Fill raises.
func (d *Device) Done() uint64 { return uint64(uintptr(unsafe.Pointer(d.c.done))) }

// Fill submits a command that waits for a semaphore's value, fills a buffer with a word, and then raises Done.
func (d *Device) Fill(wait, value, buffer, offset, bytes uint64, word uint32, done uint64) error {
	d.lock.Lock()
	defer d.lock.Unlock()
	return result(C.foreign_fill(&d.c, C.uint64_t(wait), C.uint64_t(value), C.uint64_t(buffer), C.uint64_t(offset),
		C.uint64_t(bytes), C.uint32_t(word), C.uint64_t(done)))
}

// Close ends the device and the instance.
func (d *Device) Close() error { return result(C.foreign_close(&d.c)) }
