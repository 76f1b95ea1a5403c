package primitives

import (
	"fmt"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
)

func checkWidth(w structures.Width) error {
	if w > structures.Bits64 {
		return &WidthsError{Widths{Key: w}}
	}
	return nil
}

// Widths has the widths of keys and of their values. Values are as wide as their keys, or have 32 bits, like the
// indices of elements.
type Widths struct{ Key, Value structures.Width }

func (w Widths) check() error {
	if w.Key > structures.Bits64 || w.Value > w.Key {
		return &WidthsError{w}
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

// WidthsError is returned if an operation does not take keys and values of these widths.
type WidthsError struct{ Widths Widths }

func (e *WidthsError) Error() string {
	return fmt.Sprintf("primitives: keys of %s with values of %s", e.Widths.Key, e.Widths.Value)
}
