package primitives

import (
	"fmt"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
)

func checkWidth(w structures.Width) error {
	if w > structures.Bits64 {
		return &WidthsError{Widths{Key: w}}
	}
	return nil
}

// Widths are those of keys and of the values that go with them. Values are as wide as their keys, or 32 bits wide: as
// the numbers of elements are, which say where a key came from.
type Widths struct{ Key, Value structures.Width }

func (w Widths) check() error {
	if w.Key > structures.Bits64 || w.Value > w.Key {
		return &WidthsError{w}
	}
	return nil
}

// module is the name of the module that a kernel is compiled to for keys alone, or for pairs.
func (w Widths) module(kernel string, pairs bool) string {
	if !pairs {
		return recording.OfKeys(kernel, w.Key)
	}
	return recording.OfPairs(kernel, w.Key, w.Value)
}

// WidthsError says that an operation takes no keys and values of these widths.
type WidthsError struct{ Widths Widths }

func (e *WidthsError) Error() string {
	return fmt.Sprintf("primitives: keys of %s with values of %s", e.Widths.Key, e.Widths.Value)
}
