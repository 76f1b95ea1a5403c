//go:build !cgo || !(linux || windows)

package native

import (
	"runtime"
	"unsafe"
)

// Loader is the name of the Vulkan loader; there is none here.
const Loader = ""

// Load returns the reason why there is no Vulkan.
func Load(string) error {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		reason := "built for " + runtime.GOOS + ", and vkds opens Vulkan on Linux and Windows alone"
		if runtime.GOOS == "darwin" {
			reason += "; Apple's chips have a conformant Vulkan driver, KosmicKrisp, which vkds doesn't open yet"
		}
		return Unsupported(reason)
	}
	return Unsupported("built without cgo (build with CGO_ENABLED=1 and a C compiler)")
}

// NewInstance is never called: Load comes first.
func NewInstance(func(Message)) (in Instance, missing string, result Result) {
	return nil, "", ErrorIncompatibleDriver
}

// Adopt is never called: Load comes first.
func Adopt(uint64) (Instance, Result) { return nil, ErrorIncompatibleDriver }

// Backed reports whether the last page of a mapping has memory.
func Backed(unsafe.Pointer, int) bool { return true }

// FileLimit returns the limit for the size of the process's files, in bytes.
func FileLimit() uint64 { return ^uint64(0) }

// Room reports whether the process can allocate this many more bytes.
func Room(int) bool { return true }
