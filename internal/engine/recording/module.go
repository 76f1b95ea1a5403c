package recording

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// OfKeys returns the name of a kernel's module for keys, or other numbers, of a width.
func OfKeys(kernel string, w structures.Width) string {
	return kernel + [...]string{structures.Bits32: ".k32", structures.Bits64: ".k64"}[w]
}

// OfPairs returns the name of a kernel's module for keys and values of two widths.
func OfPairs(kernel string, key, value structures.Width) string {
	return kernel + [...][2]string{
		structures.Bits32: {structures.Bits32: ".k32v32", structures.Bits64: ".k32v64"},
		structures.Bits64: {structures.Bits32: ".k64v32", structures.Bits64: ".k64v64"},
	}[key][value]
}

// Sized is OfPairs for keys and values of one width.
func Sized(kernel string, w structures.Width) string { return OfPairs(kernel, w, w) }

// OfColumns is Sized, or OfKeys if there are only keys.
func OfColumns(kernel string, w structures.Width, keysOnly bool) string {
	if keysOnly {
		return OfKeys(kernel, w)
	}
	return Sized(kernel, w)
}

// Protocol is OfColumns for a kernel that changes slabs of a hash table concurrently, with the device's atomics.
func Protocol(d *vk.Device, kernel string, w structures.Width, keysOnly bool) string {
	module := OfColumns(kernel, w, keysOnly)
	switch {
	case keysOnly && w == structures.Bits32:
		return module // 32-bit atomics do
	case d.Has(vk.Int64Atomics):
		return module + "a64"
	}
	return module + "a32"
}

// Torn returns the constant that says whether one load may read two aligned words at different times: the words of a
// pair, or of a number of 64 bits. CPU drivers read vectors word by word. Every GPU whose litmus test (vkds doctor) was
// seen reads the two words as one.
func Torn(d *vk.Device, name string) Specialization {
	if d.Info().Type == vk.CPU {
		return Constant(name, 1)
	}
	return Constant(name, 0)
}

// ByLoops returns the variant of a module for the device's compiler: with rolled or unrolled loops
// (shaders/include/unroll.glsl).
func ByLoops(d *vk.Device, module string) string {
	if d.Info().Type == vk.CPU {
		return module + ".rolled"
	}
	return module + ".unrolled"
}
