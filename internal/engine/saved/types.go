package saved

import (
	"encoding/binary"
	"math"

	"github.com/vkds/vkds/structures"
)

// Kind is the kind of numbers that a type has.
type Kind uint8

const (
	Unsigned Kind = iota
	Signed
	Float
)

// Type is a type of numbers.
type Type struct {
	Kind  Kind
	Width structures.Width
}

// TypeOf returns the Type of T, also if T is a named type.
func TypeOf[T structures.Number]() Type {
	t := Type{Width: structures.WidthOf[T]()}
	switch {
	case structures.Float[T]():
		t.Kind = Float
	case structures.Signed[T]():
		t.Kind = Signed
	}
	return t
}

// Name returns the type's name in a Header.
func (t Type) Name() string {
	return [...][2]string{{"u32", "u64"}, {"i32", "i64"}, {"f32", "f64"}}[t.Kind][t.Width]
}

// String returns the type's name in Go.
func (t Type) String() string {
	return [...][2]string{{"uint32", "uint64"}, {"int32", "int64"}, {"float32", "float64"}}[t.Kind][t.Width]
}

// holds reports whether type t has all numbers of another type.
func (t Type) holds(of Type) bool {
	wider := t.Width == structures.Bits64 && of.Width == structures.Bits32
	return t == of || wider && (t.Kind == of.Kind || t.Kind == Signed && of.Kind == Unsigned)
}

// wider converts a number of type of to type t, which must hold it. Both numbers are given as bits.
func (t Type) wider(of Type, bits uint64) uint64 {
	switch {
	case t == of || of.Kind == Unsigned:
		return bits
	case of.Kind == Signed:
		return uint64(int64(int32(bits)))
	}
	if f := math.Float32frombits(uint32(bits)); f == f {
		return math.Float64bits(float64(f))
	}
	const mantissa, more = 1<<23 - 1, 52 - 23 // a conversion would change a NaN's payload
	return bits>>31<<63 | 0x7ff<<52 | bits&mantissa<<more
}

// Column describes the keys or the values of a dictionary in memory: numbers of a type, encoded as words.
type Column struct {
	Type               Type
	negative, positive uint64 // the bits that the word of a negative and of another number has flipped
	shift              uint8  // the number's position in the word, in bits
}

// Keys returns the column for keys of type K, as words (structures.KeyCode).
func Keys[K structures.Number]() Column {
	negative, positive := structures.KeyCode[K]().Flips()
	return Column{TypeOf[K](), negative, positive, 0}
}

// Values returns the column for values of type V with keys of type K, as words (structures.ValueCode).
func Values[K, V structures.Number]() Column {
	code := structures.ValueCode[K, V]()
	negative, positive := code.Flips()
	return Column{TypeOf[V](), negative, positive, code.Shift()}
}

// Shift returns the position of a number in its word, in bits.
func (c Column) Shift() uint8 { return c.shift }

// keysOf returns the column for keys of a type.
func keysOf(t Type) Column {
	return [...][2]Column{
		{Keys[uint32](), Keys[uint64]()}, {Keys[int32](), Keys[int64]()}, {Keys[float32](), Keys[float64]()},
	}[t.Kind][t.Width]
}

// numbers has the number types by which the tool's own types are stored.
var numbers = map[string]Type{
	"hex": {Unsigned, structures.Bits32}, "hex64": {Unsigned, structures.Bits64},
	"time":   {Unsigned, structures.Bits32}, // seconds since 1970
	"time64": {Signed, structures.Bits64},   // nanoseconds since 1970
	"ip":     {Unsigned, structures.Bits32}, "ip6": {Unsigned, structures.Bits64},
	Text: {}, // in memory, the number of a text
}

// Named returns a column for a type by its name in a Header. The words have the order of the numbers. The tool's own
// types have names, too: hexadecimal numbers, times, addresses and text. ok is false if there is no such type.
func Named(name string) (c Column, ok bool) {
	t, ok := numbers[name]
	for i := range 6 {
		if own := (Type{Kind(i / 2), structures.Width(i % 2)}); own.Name() == name {
			t, ok = own, true
		}
	}
	return keysOf(t), ok
}

// GoName returns Go's name of a type by its name in a Header, which a Reader has checked.
func GoName(name string) string {
	if name == "" || name == Text {
		return name
	}
	c, _ := Named(name)
	return c.Type.String()
}

// Columns describes the keys and values of a dictionary.
type Columns struct {
	Keys, Values Column
	KeysOnly     bool // there are no values, as in a set
}

// Pairs returns the columns of a dictionary of these types.
func Pairs[K, V structures.Number]() Columns { return Columns{Keys: Keys[K](), Values: Values[K, V]()} }

// Set returns the columns of a set.
func Set[K structures.Number]() Columns { return Columns{Keys: Keys[K](), KeysOnly: true} }

// Width returns the width of keys or values, whichever is wider.
func (c Columns) Width() structures.Width {
	if c.KeysOnly {
		return c.Keys.Type.Width
	}
	return max(c.Keys.Type.Width, c.Values.Type.Width)
}

// word returns the word for a number, which is given as bits.
func (c Column) word(number uint64) uint64 {
	if number>>(c.Type.Width.Bits()-1)&1 == 1 {
		return (number ^ c.negative) << c.shift
	}
	return (number ^ c.positive) << c.shift
}

// number returns the number for a word, as bits. The sign bit of a word is flipped if any of its bits are.
func (c Column) number(word uint64) uint64 {
	word >>= c.shift
	if word>>(c.Type.Width.Bits()-1)&1 == 1 {
		return word ^ c.positive
	}
	return word ^ c.negative
}

// AppendWords converts words to numbers and appends these to b, in the format of a block.
func AppendWords[W structures.Word](b []byte, c Column, words []W) []byte {
	for _, word := range words {
		if number := c.number(uint64(word)); c.Type.Width == structures.Bits64 {
			b = binary.LittleEndian.AppendUint64(b, number)
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(number))
		}
	}
	return b
}
