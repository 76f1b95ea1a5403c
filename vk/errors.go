package vk

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/vkds/vkds/vk/internal/native"
)

var (
	// ErrClosed is the family of *ClosedError: errors.Is(err, ErrClosed) finds it. Methods of a Device, Stream, Kernel
	// or Buffer, and of a structure, return it after the Close or Free.
	ErrClosed = errors.New("vk: already closed")
	// ErrNotOpen is returned by methods of a nil or zero Device, or of a nil or zero object that is made from a Device.
	// It is also returned by constructors that get such a Device.
	ErrNotOpen = errors.New("vk: not open: a nil pointer, or a zero value that no constructor has made")
	// ErrDeviceLost says that the driver has given up the device, for example after a fault, a watchdog's timeout or
	// the removal of a card. Every later call on the Device returns it, too, except Close. A new Open may succeed.
	ErrDeviceLost = errors.New("vk: device lost: its memory is gone; close it and open it again")
	// ErrNoRoom is the family of errors that say that a device, the host, a pool or a structure has too little room:
	// *OutOfMemoryError, *LimitError, a *CallError because the host has no memory left, and errors around one of them.
	// errors.Is(err, ErrNoRoom) finds them.
	ErrNoRoom = errors.New("vk: too little room")
)

// ClosedError says what was closed or freed before the call. The call did nothing.
type ClosedError struct{ What string } // "stream", "buffer of keys", "hash table", …

func (e *ClosedError) Error() string { return ErrClosed.Error() + ": the " + e.What }

// Is reports whether target is ErrClosed, or says the same.
func (e *ClosedError) Is(target error) bool {
	same, is := target.(*ClosedError)
	return target == ErrClosed || is && *same == *e
}

// isClosed reports whether an error says that an object other than its Device was closed or freed.
func isClosed(err error) bool {
	closed, is := err.(*ClosedError)
	return is && closed.What != theDevice
}

const theDevice = "device"

// OptionError is returned for an option, or another argument, whose value is not valid, for example a nil io.Writer.
// The call did nothing.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return fmt.Sprintf("option %s: %s", e.Option, e.Reason) }

// NoDriverError is returned if the machine has no usable Vulkan loader or driver, or if the program was built so that
// it can't use Vulkan on any machine.
type NoDriverError struct {
	Library string // the name of the loader; empty if the program can't use Vulkan
	Reason  string // why the loader can't be used; empty if the loader was found but no driver
}

func (e *NoDriverError) Error() string {
	if e.Library == "" {
		return "vk: no Vulkan in this program: it was " + e.Reason
	}
	driver := "on Debian the package mesa-vulkan-drivers has one for every CPU"
	loader := "on Debian it is in the package libvulkan1"
	if runtime.GOOS == "windows" {
		driver, loader = "it comes with the graphics card's software", "it comes with the graphics card's driver"
	}
	if e.Reason == "" {
		return fmt.Sprintf("vk: no Vulkan driver is installed (%s)", driver)
	}
	return fmt.Sprintf("vk: the Vulkan loader %s can't be opened: %s (%s)", e.Library, e.Reason, loader)
}

// NoDeviceError is returned if no device matches Options.Device.
type NoDeviceError struct {
	Asked string   // the requested index, name or type; empty: any
	Have  []string // the existing devices, by index
}

func (e *NoDeviceError) Error() string {
	if len(e.Have) == 0 {
		return "vk: the Vulkan drivers here found no device"
	}
	return fmt.Sprintf("vk: no device %q; choose one by its number, name or type: %s", e.Asked,
		strings.Join(e.Have, "; "))
}

// MissingFeatureError names the features that a device lacks.
type MissingFeatureError struct {
	Device   string
	Features []string // by their names in the Vulkan specification, if it has one
}

func (e *MissingFeatureError) Error() string {
	return fmt.Sprintf("vk: %s lacks %s", e.Device, strings.Join(e.Features, ", "))
}

func optionalNames() string {
	var names []string
	for _, f := range optional {
		names = append(names, string(f.feature))
	}
	return strings.Join(names, ", ")
}

// OutOfMemoryError is returned if device memory could not be allocated. Memory that was allocated before is intact.
type OutOfMemoryError struct {
	Bytes  uint64 // bytes that were requested
	Used   uint64 // bytes in use at that time
	Budget uint64 // bytes that may be used in total

	// FileLimit is the limit for the size of the process's files (ulimit -f), if it caused the error: drivers of CPU
	// devices keep device memory in a file. Otherwise it is nil.
	FileLimit *uint64
}

func (e *OutOfMemoryError) Error() string {
	if e.FileLimit != nil {
		return fmt.Sprintf("vk: out of device memory: %d bytes requested; the driver keeps them in a file, and a file "+
			"may have at most %d bytes (ulimit -f)", e.Bytes, *e.FileLimit)
	}
	return fmt.Sprintf("vk: out of device memory: %d bytes requested, %d of %d in use", e.Bytes, e.Used, e.Budget)
}

// Is reports whether target is ErrNoRoom.
func (e *OutOfMemoryError) Is(target error) bool { return target == ErrNoRoom }

// LimitError says that a structure or a pool would grow beyond a limit of its own, or a buffer beyond the largest one
// of the device, however much memory is free. The statuses say which operations were not done because of it. The
// structure stays usable. After deletions, Compact of a tree, Rehash of a graph or Cleanup of an LSM may make room, and
// structures.Retry does what is left. A hash table makes it by itself.
//
// A hash table or a sorted array that grows holds two copies for a while, and both count: it refuses to grow at a
// little more than half of its MaxBytes. With its option Capacity a structure has all its memory from the beginning.
type LimitError struct {
	What   string // "pairs of a sorted array", "bytes of an LSM", …
	Want   uint64 // the number that was needed
	Most   uint64 // the greatest number allowed
	Option string // the option that sets the limit; "": the limit is fixed
}

func (e *LimitError) Error() string {
	if e.Option != "" {
		return fmt.Sprintf("%d %s, but option %s allows at most %d", e.Want, e.What, e.Option, e.Most)
	}
	return fmt.Sprintf("%d %s, but at most %d are possible", e.Want, e.What, e.Most)
}

// Is reports whether target is ErrNoRoom.
func (e *LimitError) Is(target error) bool { return target == ErrNoRoom }

// tooLarge returns the error for a buffer that exceeds the largest one of the device.
func tooLarge(bytes, limit uint64) error {
	return &LimitError{What: "bytes in one buffer", Want: bytes, Most: limit}
}

// leastRoom is the memory that a process should be able to allocate when Vulkan is initialized, because drivers contain
// compilers.
const leastRoom = 512 << 20

// cramped reports whether the process cannot allocate leastRoom, by its own limits or the machine's.
func cramped() bool { return !native.Room(leastRoom) }

// beginning returns the error of a call that initializes Vulkan. If the process can't get enough memory, this is the
// error, whatever the loader and the drivers reported.
func beginning(call string, err error) error {
	if err != nil && cramped() {
		return &CallError{call, int32(native.ErrorOutOfHostMemory)}
	}
	return err
}

// ForeignError is returned if an object is used with another device than its own. The call had no effect.
type ForeignError struct{ What string } // "buffer of keys", "stream", …

func (e *ForeignError) Error() string { return "vk: the " + e.What + " is of another device" }

// RangeError is returned if a command or a copy would exceed its buffer. The command was not recorded; the copy was not
// begun.
type RangeError struct {
	What      string // "upload", "fill", …
	At, Bytes int    // the requested range, in bytes
	Size      uint64 // the buffer's size
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("vk: %s of %d bytes at %d does not fit a buffer of %d bytes", e.What, e.Bytes, e.At, e.Size)
}

// ModuleError says why a module can't be used as a kernel, for example because a Go struct does not match its push
// constants, or the type of Arguments does not match their block.
type ModuleError struct{ Module, Reason string }

func (e *ModuleError) Error() string { return fmt.Sprintf("vk: module %s: %s", e.Module, e.Reason) }

// CallError is returned if a Vulkan call fails in a way for which there is no other error here.
type CallError struct {
	Call   string // "vkQueueSubmit2"
	Result int32  // the VkResult
}

// Is reports whether target is ErrNoRoom and the host has no memory left.
func (e *CallError) Is(target error) bool {
	return target == ErrNoRoom && e.Result == int32(native.ErrorOutOfHostMemory)
}

func (e *CallError) Error() string {
	if name, ok := results[native.Result(e.Result)]; ok {
		return fmt.Sprintf("vk: %s: %s", e.Call, name)
	}
	return fmt.Sprintf("vk: %s: VkResult %d", e.Call, e.Result)
}

var results = map[native.Result]string{
	native.ErrorOutOfHostMemory:      "out of host memory (Vulkan's drivers need up to 512 MiB of it)",
	native.ErrorOutOfDeviceMemory:    "out of device memory",
	native.ErrorInitializationFailed: "initialization failed",
	native.ErrorMemoryMapFailed:      "memory can't be mapped",
	native.ErrorLayerNotPresent:      "a layer is not installed",
	native.ErrorExtensionNotPresent:  "an extension is not supported",
	native.ErrorFeatureNotPresent:    "a feature is not supported",
	native.ErrorIncompatibleDriver:   "the driver is too old",
	native.ErrorTooManyObjects:       "too many objects",
	native.ErrorInvalidShader:        "the shader failed to compile",
	native.ErrorFragmentedPool:       "the pool is fragmented",
	native.ErrorUnknown:              "unknown error",
}

// check converts a VkResult to an error of this package. It marks the Device if it is lost.
func (d *Device) check(call string, result native.Result) error {
	if d.fault != nil {
		if r := d.fault(call); r != native.Success {
			result = r
		}
	}
	switch {
	case result == native.ErrorDeviceLost:
		if d.lost.CompareAndSwap(false, true) {
			d.log.Warn("device lost", "call", call)
		}
		return ErrDeviceLost
	case result < 0:
		return &CallError{call, int32(result)}
	}
	return nil
}

// Err returns the reason why the Device cannot be used, or nil if it can: ErrNotOpen, ErrClosed or ErrDeviceLost.
func (d *Device) Err() error { return d.usable() }

func (d *Device) usable() error {
	switch {
	case !d.made():
		return ErrNotOpen
	case d.closed.Load():
		return &ClosedError{theDevice}
	case d.lost.Load():
		return ErrDeviceLost
	}
	return nil
}
