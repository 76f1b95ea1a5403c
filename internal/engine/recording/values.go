package recording

import (
	"slices"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
)

// OfValues returns the module and the constants of a kernel that does operations of a kind on values of a type. Only
// minima and maxima of signed values, and sums of floats, depend on the type, and have their own modules
// (shaders/include/value.glsl). For all other operations it returns module itself.
func OfValues(module string, kind structures.Kind, of saved.Type) (string, []Specialization) {
	mixed := kind == structures.Mixed
	switch {
	case of.Kind == saved.Signed && (mixed || kind == structures.InsertMin || kind == structures.InsertMax):
		return module + "signed", nil
	case of.Kind == saved.Float && (mixed || kind == structures.InsertAdd):
		return module + "float", []Specialization{Constant("FLOAT_BITS", uint32(of.Width.Bits()))}
	}
	return module, nil
}

// UpdatesInPlace reports whether a batch of a kind, or a mixed batch of these kinds, has operations that update values
// in place. Other batches do not depend on the type of values.
func UpdatesInPlace(kind structures.Kind, kinds []structures.Kind) bool {
	return kind.UpdatesInPlace() || slices.ContainsFunc(kinds, structures.Kind.UpdatesInPlace)
}

// ByType reports whether OfValues returns a separate module for operations of a kind.
func ByType(kind structures.Kind, of saved.Type) bool {
	module, _ := OfValues("", kind, of)
	return module != ""
}
