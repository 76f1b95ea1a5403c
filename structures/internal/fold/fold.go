// Package fold records what the operations of a batch come to that are on one key, one after the other: the values that
// batches of updates in place leave behind, for structures that then insert them.
package fold

import (
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Args are the operands of Record: addresses. Positions are those of the batch in key order, where equal keys keep the
// batch's order.
type Args struct {
	Width   structures.Width // of keys and values
	Type    saved.Type       // of values
	Kind    structures.Kind  // one that updates in place, or InsertUnique; or Mixed, of whatever updates
	Keys    uint64           // a key a position
	Sources uint64           // a word a position: where the operation stands in the batch
	Values  uint64           // a value an operation, in the batch's order
	Kinds   uint64           // a byte an operation, likewise; of Mixed alone
	Old     uint64           // a value a position: that which its key has before
	Found   uint64           // a byte a position: 1 if the key is there before, else 0

	// OutValues has room for a value a position. The last one of a key gets the key's value, the others any.
	OutValues uint64
	// OutKinds, if not 0, has room for a byte a position, up to a multiple of 4. The last one of a key gets Insert or
	// Delete, by whether the key is there when all is done.
	OutKinds uint64
	N        int
	CountAt  uint64 // 0, or the address of how many operations there are, N at most
	Scratch  uint64 // Scratch bytes
}

const (
	workgroup = 128
	tile      = 4 * workgroup // FOLD_TILE of shaders/fold/fold.glsl
)

func tiles(n int) int { return (n + tile - 1) / tile }

// Scratch returns the bytes of scratch that Record of so many operations needs, of either width.
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

// Record records it. The time goes with N, also where all operations are on one key.
func Record(k *recording.Kernels, s *vk.Stream, a Args) error {
	if a.N == 0 {
		return nil
	}
	b := batch{a.Keys, a.Sources, a.Values, a.Kinds, recording.Length{At: a.CountAt, N: uint32(a.N)}}
	kind := recording.Constant("KIND", uint32(a.Kind))
	if a.Kind.UpdatesInPlace() {
		module, constants := recording.OfValues(recording.Sized("fold/tiles", a.Width), a.Kind, a.Type)
		sums, err := recording.Kernel[tilesPush](k, s, module, workgroup, append(constants, kind)...)
		if err != nil {
			return err
		}
		sums.Dispatch(s, tiles(a.N), tilesPush{b, a.Scratch})
	}
	module, constants := recording.OfValues(recording.Sized("fold/fold", a.Width), a.Kind, a.Type)
	values, err := recording.Kernel[foldPush](k, s, module, workgroup, append(constants, kind)...)
	if err != nil {
		return err
	}
	values.Dispatch(s, tiles(a.N), foldPush{b, a.Scratch, a.Old, a.Found, a.OutValues, a.OutKinds})
	return nil
}
