//go:build !cgo || !linux

package native

import "runtime"

// Load answers why there is no Vulkan.
func Load(string) error {
	if runtime.GOOS != "linux" {
		return Unsupported("built for " + runtime.GOOS + ", and vkds opens Vulkan on Linux alone")
	}
	return Unsupported("built without cgo (build with CGO_ENABLED=1 and a C compiler)")
}

// NewInstance is never called: Load comes first.
func NewInstance(func(Message)) (in Instance, missing string, result Result) {
	return nil, "", ErrorIncompatibleDriver
}

// Room says whether the process can have so many bytes more.
func Room(int) bool { return true }
