// Package fold records how operations on equal keys of a batch combine, one after the other. It computes the value that
// updates in place leave behind for each key, for structures that then insert these values.
package fold

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Args are the operands of Record, as addresses. A position is an index in the batch sorted by keys, in which equal
// keys keep the order of the batch.
type Args struct {
	Width   structures.Width // of keys and values
	Type    saved.Type       // of values
	Kind    structures.Kind  // a kind that updates in place, InsertUnique, or Mixed for any updates
	Keys    uint64           // a key for each position
	Sources uint64           // a word for each position: the index of its operation in the batch
	Values  uint64           // a value for each operation, in the order of the batch
	Kinds   uint64           // a byte for each operation, in the same order; for Mixed only
	Old     uint64           // a value for each position: the key's value before the batch
	Found   uint64           // a byte for each position: 1 if the key was there before the batch, else 0

	// OutValues has room for a value for each position. The value at the last position of a key is the key's new value;
	// those at other positions are undefined.
	OutValues uint64
	// OutKinds, if not 0, has room for a byte for each position, rounded up to a multiple of 4. The byte at the last
	// position of a key is Insert if the key is there after the batch, and Delete otherwise.
	OutKinds uint64
	N        int
	CountAt  uint64 // 0, or the address of the number of operations, at most N
	Scratch  uint64 // Scratch bytes
}

const (
	workgroup = 128
	tile      = 4 * workgroup // FOLD_TILE of shaders/fold/fold.glsl
)

func tiles(n int) int { return (n + tile - 1) / tile }

// Scratch returns the bytes of scratch memory that Record needs for n operations of either width.
func Scratch(n int) int { return structures.Bits64.Bytes() * tiles(n) }

type batch struct {
	Keys, Sources, Values, Kinds uint64
	Count                        recording.Length
}

type tilesPush struct {
	Batch batch
	Tiles uint64
}

type foldPush struct {
	Batch                                  batch
	Tiles, Old, Found, OutValues, OutKinds uint64
}

// tilesKernel describes the kernel for kinds that update in place.
func tilesKernel(w structures.Width, kind structures.Kind, of saved.Type) recording.Spec[tilesPush] {
	module, constants := variant("fold/tiles", w, kind, of)
	return recording.Of[tilesPush](module, workgroup, constants...)
}

func foldKernel(w structures.Width, kind structures.Kind, of saved.Type) recording.Spec[foldPush] {
	module, constants := variant("fold/fold", w, kind, of)
	return recording.Of[foldPush](module, workgroup, constants...)
}

func variant(module string, w structures.Width, kind structures.Kind,
	of saved.Type) (string, []recording.Specialization) {
	module, constants := recording.OfValues(recording.Sized(module, w), kind, of)
	return module, append(constants, recording.Constant("KIND", uint32(kind)))
}

// Kernels lists the kernels of a fold.
func Kernels(w structures.Width, kind structures.Kind, of saved.Type) recording.Table {
	if kind.UpdatesInPlace() {
		return recording.Table{tilesKernel(w, kind, of), foldKernel(w, kind, of)}
	}
	return recording.Table{foldKernel(w, kind, of)}
}

// Record records the fold. Its time depends on N, even if all operations are on one key.
func Record(k *recording.Kernels, s *vk.Stream, a Args) error {
	if a.N == 0 {
		return nil
	}
	b := batch{a.Keys, a.Sources, a.Values, a.Kinds, recording.Length{At: a.CountAt, N: uint32(a.N)}}
	if a.Kind.UpdatesInPlace() {
		sums, err := tilesKernel(a.Width, a.Kind, a.Type).Kernel(k, s)
		if err != nil {
			return err
		}
		sums.Dispatch(s, tiles(a.N), tilesPush{b, a.Scratch})
	}
	values, err := foldKernel(a.Width, a.Kind, a.Type).Kernel(k, s)
	if err != nil {
		return err
	}
	values.Dispatch(s, tiles(a.N), foldPush{b, a.Scratch, a.Old, a.Found, a.OutValues, a.OutKinds})
	return nil
}
