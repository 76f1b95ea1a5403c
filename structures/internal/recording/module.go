package recording

import (
	"fmt"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// OfKeys returns the name of a kernel's module for keys, or other numbers, of a width.
func OfKeys(kernel string, w structures.Width) string { return fmt.Sprintf("%s.k%d", kernel, w.Bits()) }

// OfPairs returns the name of a kernel's module for keys and values of two widths.
func OfPairs(kernel string, key, value structures.Width) string {
	return fmt.Sprintf("%s.k%dv%d", kernel, key.Bits(), value.Bits())
}

// Sized is OfPairs for keys and values of one width.
func Sized(kernel string, w structures.Width) string { return OfPairs(kernel, w, w) }

// ByLoops returns the variant of a module for the device's compiler: with rolled or unrolled loops
// (shaders/include/unroll.glsl).
func ByLoops(d *vk.Device, module string) string {
	if d.Info().Type == vk.CPU {
		return module + ".rolled"
	}
	return module + ".unrolled"
}
