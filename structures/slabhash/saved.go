package slabhash

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// savedLoad is the option that is saved with a table's pairs.
var savedLoad = transfer.Parameter{Structure: "slabhash", Name: "load", Option: "Load"}

func (t *table) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer t.LeaveShared()
	pairs, err := t.count(ctx)
	if err != nil {
		return 0, err
	}
	words := chunks[uint64, uint64](ctx, t, true)
	return transfer.Save(ctx, w, savedLoad.Header(t.o.Load, pairs), t.columns, words)
}

// Load makes a map from the file of any structure or of the command vkds. It reads r to its end. The types of keys and
// values must be those of the file, or wider (structures.TypeError). An Options.Load of 0 is the Load of the saved map.
// The values of a set become 0. Several values of a key come in any order. Errors: *structures.SavedError; r's own;
// those of New and of Insert, without the PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Map[K, V], error) {
	return mapOf[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// LoadSet is Load for a set. It ignores values.
func LoadSet[K structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Set[K], error) {
	return setOf[K](load(ctx, d, r, saved.Set[K](), o))
}

// load makes a table of saved keys or pairs.
func load(ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns, o Options) (*table, error) {
	return transfer.Loader[*table]{
		Columns: columns,
		New: func(h saved.Header, pairs int) (*table, error) {
			sized := o.sizedFor(pairs)
			t, err := transfer.Made(h, savedLoad, &sized.Load, func() (*table, error) {
				return newTable(ctx, d, columns, sized)
			})
			return t, o.asked(err)
		},
		Reserve: (*table).Reserve,
		Insert: func(t *table, ctx context.Context, pairs pipeline.Operations) error {
			if pairs.Kind = structures.InsertDuplicate; t.keys {
				pairs.Values = pipeline.Column{}
			}
			return t.do(ctx, pairs)
		},
	}.Load(ctx, r)
}
