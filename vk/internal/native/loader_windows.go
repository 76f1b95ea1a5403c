//go:build cgo

package native

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// Loader is the name of the Vulkan loader.
const Loader = "vulkan-1.dll"

// open opens a loader and returns its vkGetInstanceProcAddr, or the system's reason for a failure. It searches the
// program's folder and the folders of Windows and drivers, but not the current folder or the PATH.
func open(library string) (unsafe.Pointer, error) {
	loader, err := windows.LoadLibraryEx(library, 0, windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if err != nil {
		return nil, err
	}
	get, err := windows.GetProcAddress(loader, "vkGetInstanceProcAddr")
	return as[unsafe.Pointer](get), err
}

// Backed reports whether the last page of a mapping has memory.
func Backed(unsafe.Pointer, int) bool { return true }

// FileLimit returns the limit for the size of the process's files, in bytes.
func FileLimit() uint64 { return ^uint64(0) }

// Room reports whether the process can allocate this many more bytes.
func Room(bytes int) bool {
	const kind = windows.MEM_RESERVE | windows.MEM_COMMIT
	probe, err := windows.VirtualAlloc(0, uintptr(bytes), kind, windows.PAGE_READWRITE)
	if err == nil {
		_ = windows.VirtualFree(probe, 0, windows.MEM_RELEASE)
	}
	return err == nil
}
