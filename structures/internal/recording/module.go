package recording

import (
	"fmt"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// OfKeys is the name of the module that a kernel is compiled to for numbers of a width: keys, or whatever they are.
func OfKeys(kernel string, w structures.Width) string { return fmt.Sprintf("%s.k%d", kernel, w.Bits()) }

// OfPairs is that of the module for keys and values of two widths.
func OfPairs(kernel string, key, value structures.Width) string {
	return fmt.Sprintf("%s.k%dv%d", kernel, key.Bits(), value.Bits())
}

// Sized is OfPairs for keys and values of one width.
func Sized(kernel string, w structures.Width) string { return OfPairs(kernel, w, w) }

// ByLoops is the variant of a module whose loops a device's compiler should have (shaders/include/unroll.glsl).
func ByLoops(d *vk.Device, module string) string {
	if d.Info().Type == vk.CPU {
		return module + ".rolled"
	}
	return module + ".unrolled"
}
