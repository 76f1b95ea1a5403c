package primitives

import (
	"fmt"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

func checkWidth(w structures.Width) error {
	if w > structures.Bits64 {
		return &vk.OptionError{Option: "Width", Reason: w.String() + " is not a width of keys"}
	}
	return nil
}

// Widths has the widths of keys and of their values. Values are as wide as their keys, or have 32 bits, like the
// indices of elements.
type Widths struct{ Key, Value structures.Width }

func (w Widths) check() error {
	if w.Key > structures.Bits64 || w.Value > w.Key {
		return &vk.OptionError{Option: "Widths",
			Reason: fmt.Sprintf("keys of %s with values of %s are not supported", w.Key, w.Value)}
	}
	return nil
}

// module returns the name of a kernel's module for keys alone, or for pairs.
func (w Widths) module(kernel string, pairs bool) string {
	if !pairs {
		return recording.OfKeys(kernel, w.Key)
	}
	return recording.OfPairs(kernel, w.Key, w.Value)
}
