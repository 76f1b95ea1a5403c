package recording

import (
	"fmt"

	"github.com/vkds/vkds/structures"
)

// Sized is the name of the module that a kernel is compiled to for keys and values of a width.
func Sized(kernel string, w structures.Width) string {
	return fmt.Sprintf("%s.k%dv%d", kernel, w.Bits(), w.Bits())
}
