package btree

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/vk"
)

// savedFill is the parameter that is saved with the pairs.
var savedFill = transfer.Parameter{Structure: "btree", Name: "fill", Option: "Fill"}

// Save writes all pairs and Options.Fill to w, from which Load makes an equal tree, and returns how many bytes w took.
// It is one call: calls that change the tree wait until it ends. w must not use the tree, except for queries on
// streams. Errors: w's, structures.ErrChanged if streams have changed the tree meanwhile, the context's, those of
// Chunks.
func (t *tree) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.EnterAfter(ctx); err != nil {
		return 0, err
	}
	defer t.Leave()
	v, err := t.survey(ctx)
	if err != nil {
		return 0, err
	}
	h := savedFill.Header(t.o.Fill, uint64(v.levels[0].Slots))
	return t.reader.Inside().Save(ctx, w, h, t.columns)
}

// load makes a tree from a file.
func load(ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns, o Options) (*tree, error) {
	return transfer.Loader[*tree]{
		Columns: columns,
		New:     func(h saved.Header, pairs int) (*tree, error) { return newAsSaved(ctx, d, columns, o, h, pairs) },
		Reserve: (*tree).Reserve,
		Insert:  (*tree).insert,
	}.Load(ctx, r)
}

func (t *tree) insert(ctx context.Context, pairs pipeline.Operations) error {
	return t.update(ctx, request{Operations: pairs})
}

// newAsSaved makes an empty tree with the saved options, and room for so many pairs.
func newAsSaved(ctx context.Context, d *vk.Device, columns saved.Columns, o Options, h saved.Header,
	pairs int) (*tree, error) {
	o.Capacity = max(o.Capacity, pairs)
	return transfer.Made(h, savedFill, &o.Fill, func() (*tree, error) { return makeTree(ctx, d, columns, o) })
}
