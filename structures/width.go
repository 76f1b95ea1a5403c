package structures

import "github.com/vkds/vkds/internal/engine/enum"

// Width is the width of a number: of a key, a value, or an element of an array.
type Width uint8

const (
	Bits32 Width = iota // 4 bytes
	Bits64              // 8 bytes, aligned to 8, little endian
)

var widthNames = enum.Names[Width]{"32 bits", "64 bits"}

func (w Width) String() string { return widthNames.String(w) }

// Bytes returns the number of bytes of a number.
func (w Width) Bytes() int { return 4 << w }

// Bits returns the number of bits of a number.
func (w Width) Bits() int { return 32 << w }
