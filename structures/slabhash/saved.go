package slabhash

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/structures/internal/typed"
	"github.com/vkds/vkds/vk"
)

// savedLoad is what is kept of a table beside its pairs.
var savedLoad = transfer.Parameter{Structure: "slabhash", Name: "load", Option: "Load"}

func (t *table[W]) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.enterShared(ctx); err != nil {
		return 0, err
	}
	defer t.leaveShared()
	if err := t.changes.Rest(ctx); err != nil {
		return 0, err
	}
	pairs, err := t.count(ctx)
	if err != nil {
		return 0, err
	}
	return transfer.Save(ctx, t.gate, w, savedLoad.Header(t.o.Load, pairs), t.columns, t.chunks(ctx, true))
}

func (t *table[W]) WriteTo(w io.Writer) (int64, error) { return t.Save(context.Background(), w) }

// Load makes a map of what any structure has saved, or vkds has, to the end of r: of the types that were saved, or of
// wider ones (structures.TypeError). An Options.Load of 0 is what a saved map had; the values of a set are 0. Where
// keys have several values, these come in any order. Errors: *structures.SavedError; r's own; those of New and of
// Insert, without the PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Map[K, V], error) {
	columns := saved.Pairs[K, V]()
	if typed.Wide[K, V]() {
		return mapOverTable[K, V](load[uint64](ctx, d, r, o, columns))
	}
	return mapOverTable[K, V](load[uint32](ctx, d, r, o, columns))
}

// LoadSet is Load for a set: of the keys alone.
func LoadSet[K structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Set[K], error) {
	columns := saved.Set[K]()
	if structures.WidthOf[K]() == structures.Bits64 {
		return setOverTable[K](load[uint64](ctx, d, r, o, columns))
	}
	return setOverTable[K](load[uint32](ctx, d, r, o, columns))
}

// load makes a table of what was saved, of the keys alone or of pairs.
func load[W structures.Word](ctx context.Context, d *vk.Device, r io.Reader, o Options,
	columns saved.Columns) (*table[W], error) {
	l := transfer.Loader[W, *table[W]]{
		Columns: columns,
		New: func(h saved.Header, pairs int) (*table[W], error) {
			sized := o.sizedFor(pairs)
			t, err := transfer.Made(h, savedLoad, &sized.Load, func() (*table[W], error) {
				return newTable[W](ctx, d, sized, columns.KeysOnly)
			})
			return t, o.asked(err)
		},
		Reserve: (*table[W]).Reserve,
		Insert: func(t *table[W], ctx context.Context, keys, values []W) ([]structures.Status, error) {
			if t.keys {
				values = nil
			}
			return t.update(ctx, structures.InsertDuplicate, keys, values)
		},
	}
	return l.Load(ctx, r)
}
