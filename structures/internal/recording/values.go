package recording

import (
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
)

const values = "VALUES" // says what values are

// Values is the constant of a kernel that does operations of a kind on values of a type. Only updates in place depend
// on the type, and so kernels of other kinds are the same for all types.
func Values(kind structures.Kind, of saved.Type) Specialization {
	if kind != structures.Mixed && !kind.UpdatesInPlace() {
		return Constant(values, valuesUnsigned)
	}
	return Constant(values, valuesOf(of))
}

// SetValues adds the constant of kernels of any kind to those of a structure. Unsigned values are the default.
func SetValues(constants map[string]uint32, of saved.Type) {
	if v := valuesOf(of); v != valuesUnsigned {
		constants[values] = v
	}
}

// VALUES_… of shaders/include/value.glsl.
const (
	valuesUnsigned = iota
	valuesSigned
	valuesFloat32
	valuesFloat64
)

func valuesOf(t saved.Type) uint32 {
	switch {
	case t.Kind == saved.Signed:
		return valuesSigned
	case t.Kind == saved.Float && t.Width == structures.Bits64:
		return valuesFloat64
	case t.Kind == saved.Float:
		return valuesFloat32
	}
	return valuesUnsigned
}
