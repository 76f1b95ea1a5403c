//go:build cgo

package native

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"
)

// Loader is the name of the Vulkan loader.
const Loader = "libvulkan.so.1"

// open opens a loader and returns its vkGetInstanceProcAddr, or the system's reason for a failure.
func open(library string) (unsafe.Pointer, error) {
	runtime.LockOSThread() // dlerror's result is per thread
	defer runtime.UnlockOSThread()
	name, symbol := C.CString(library), C.CString("vkGetInstanceProcAddr")
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(symbol))
	if loader := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL); loader != nil {
		if get := C.dlsym(loader, symbol); get != nil {
			return get, nil
		}
	}
	return nil, errors.New(C.GoString(C.dlerror()))
}

// Backed reports whether the last page of a mapping has memory, if the kernel can tell (since Linux 5.14).
func Backed(mapped unsafe.Pointer, bytes int) bool {
	const populateRead = 22 // MADV_POPULATE_READ, which is EFAULT if a read would be a SIGBUS
	page := syscall.Getpagesize()
	last := (uintptr(mapped) + uintptr(bytes) - 1) &^ uintptr(page-1)
	_, _, err := syscall.Syscall(syscall.SYS_MADVISE, last, uintptr(page), populateRead)
	return err != syscall.EFAULT
}

// FileLimit returns the limit for the size of the process's files, in bytes.
func FileLimit() uint64 {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) // no error for a known limit
	return limit.Cur
}

// Room reports whether the process can allocate this many more bytes.
func Room(bytes int) bool {
	probe, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err == nil {
		syscall.Munmap(probe)
	}
	return err == nil
}
