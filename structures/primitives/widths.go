package primitives

import (
	"fmt"

	"github.com/vkds/vkds/structures"
)

// Width is how wide an element is.
type Width = structures.Width

const (
	Bits32 = structures.Bits32
	Bits64 = structures.Bits64
)

func checkWidth(w Width) error {
	if w > Bits64 {
		return &WidthsError{Widths{Key: w}}
	}
	return nil
}

// moduleOf is the name of a kernel that is compiled for elements of this width.
func moduleOf(kernel string, w Width) string { return kernel + Widths{Key: w}.variant(false) }

// Widths are those of keys and of the values that go with them. Values are as wide as their keys, or 32 bits wide: as
// the numbers of elements are, which say where a key came from.
type Widths struct{ Key, Value Width }

func (w Widths) check() error {
	if w.Key > Bits64 || w.Value > w.Key {
		return &WidthsError{w}
	}
	return nil
}

// variant is the part of a module's name that says what it is compiled for: keys alone, or pairs.
func (w Widths) variant(pairs bool) string {
	if !pairs {
		return fmt.Sprintf(".k%d", w.Key.Bits())
	}
	return fmt.Sprintf(".k%dv%d", w.Key.Bits(), w.Value.Bits())
}

// WidthsError says that an operation takes no keys and values of these widths.
type WidthsError struct{ Widths Widths }

func (e *WidthsError) Error() string {
	return fmt.Sprintf("primitives: keys of %s with values of %s", e.Widths.Key, e.Widths.Value)
}
