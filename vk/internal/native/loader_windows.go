//go:build cgo

package native

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// Loader is the Vulkan loader's name.
const Loader = "vulkan-1.dll"

// open opens a loader and returns its vkGetInstanceProcAddr, or the system's reason why not. It is looked for beside
// the program and where Windows and drivers put theirs, not in the current folder, nor along the PATH.
func open(library string) (unsafe.Pointer, error) {
	loader, err := windows.LoadLibraryEx(library, 0, windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if err != nil {
		return nil, err
	}
	get, err := windows.GetProcAddress(loader, "vkGetInstanceProcAddr")
	return as[unsafe.Pointer](get), err
}

// Backed says whether there is memory behind the last page of a mapping.
func Backed(unsafe.Pointer, int) bool { return true }

// FileLimit is how many bytes files of the process may have.
func FileLimit() uint64 { return ^uint64(0) }

// Room says whether the process can have so many bytes more.
func Room(bytes int) bool {
	const kind = windows.MEM_RESERVE | windows.MEM_COMMIT
	probe, err := windows.VirtualAlloc(0, uintptr(bytes), kind, windows.PAGE_READWRITE)
	if err == nil {
		_ = windows.VirtualFree(probe, 0, windows.MEM_RELEASE)
	}
	return err == nil
}
