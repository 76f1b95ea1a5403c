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

// Loader is the Vulkan loader's name.
const Loader = "libvulkan.so.1"

// open opens a loader and returns its vkGetInstanceProcAddr, or the system's reason why not.
func open(library string) (unsafe.Pointer, error) {
	runtime.LockOSThread() // dlerror speaks of its own thread
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

// Backed says whether there is memory behind the last page of a mapping, as far as the kernel tells (since Linux 5.14).
func Backed(mapped unsafe.Pointer, bytes int) bool {
	const populateRead = 22 // MADV_POPULATE_READ, which is EFAULT if a read would be a SIGBUS
	page := syscall.Getpagesize()
	last := (uintptr(mapped) + uintptr(bytes) - 1) &^ uintptr(page-1)
	_, _, err := syscall.Syscall(syscall.SYS_MADVISE, last, uintptr(page), populateRead)
	return err != syscall.EFAULT
}

// FileLimit is how many bytes files of the process may have.
func FileLimit() uint64 {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) // a known limit has no error
	return limit.Cur
}

// Room says whether the process can have so many bytes more.
func Room(bytes int) bool {
	probe, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err == nil {
		syscall.Munmap(probe)
	}
	return err == nil
}
