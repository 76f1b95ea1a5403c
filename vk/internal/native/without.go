//go:build !cgo || !(linux || windows)

package native

import (
	"runtime"
	"unsafe"
)

// Loader is the Vulkan loader's name; here there is none.
const Loader = ""

// Load answers why there is no Vulkan.
func Load(string) error {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		return Unsupported("built for " + runtime.GOOS + ", and vkds opens Vulkan on Linux and Windows alone")
	}
	return Unsupported("built without cgo (build with CGO_ENABLED=1 and a C compiler)")
}

// NewInstance is never called: Load comes first.
func NewInstance(func(Message)) (in Instance, missing string, result Result) {
	return nil, "", ErrorIncompatibleDriver
}

// Adopt is never called: Load comes first.
func Adopt(uint64) (Instance, Result) { return nil, ErrorIncompatibleDriver }

// Backed says whether there is memory behind the last page of a mapping.
func Backed(unsafe.Pointer, int) bool { return true }

// FileLimit is how many bytes files of the process may have.
func FileLimit() uint64 { return ^uint64(0) }

// Room says whether the process can have so many bytes more.
func Room(int) bool { return true }
