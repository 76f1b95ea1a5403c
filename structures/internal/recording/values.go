package recording

import (
	"slices"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
)

// OfValues returns the module of a kernel that does operations of a kind on values of a type, and the constants of that
// module. Signed values have a module of their own for minima and maxima, and floats for sums, since only these depend
// on the type (shaders/include/value.glsl): module is the one for all other operations.
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

// UpdatesInPlace says whether a batch of a kind, or a mixed one of these kinds, has operations that update values in
// place. Without them it does not depend on the type of values.
func UpdatesInPlace(kind structures.Kind, kinds []structures.Kind) bool {
	return kind.UpdatesInPlace() || slices.ContainsFunc(kinds, structures.Kind.UpdatesInPlace)
}

// ByType says whether OfValues gives operations of a kind a module of their own.
func ByType(kind structures.Kind, of saved.Type) bool {
	module, _ := OfValues("", kind, of)
	return module != ""
}
