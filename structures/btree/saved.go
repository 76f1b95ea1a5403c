package btree

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedFill is what is kept of a tree beside its pairs.
var savedFill = transfer.Parameter{Structure: "btree", Name: "fill", Option: "Fill"}

// Save writes all pairs and Options.Fill to w, so that Load makes such a tree of them, and returns how many bytes w
// took. It is one call: what changes the tree waits until it ends; w must not use the tree, but for its queries on
// streams. Errors: w's, structures.ErrChanged where streams have changed the tree meanwhile, the context's, what Chunks
// ends with.
func (t *tree[W]) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return 0, err
	}
	defer t.gate.Leave()
	if err := t.versions.writes.Rest(ctx); err != nil {
		return 0, err
	}
	v, err := t.survey(ctx)
	if err != nil {
		return 0, err
	}
	h := savedFill.Header(t.o.Fill, uint64(v.levels[0].Slots))
	return transfer.Save(ctx, t.gate, w, h, t.columns, ordered.Queries[W, W]{Reader: t.reader.Inside()}.Chunks(ctx))
}

// WriteTo is Save without a context: io.WriterTo.
func (t *tree[W]) WriteTo(w io.Writer) (int64, error) { return t.Save(context.Background(), w) }

// load makes a tree of what was saved.
func load[W structures.Word](ctx context.Context, d *vk.Device, r io.Reader, o Options,
	columns saved.Columns) (*tree[W], error) {
	l := transfer.Loader[W, *tree[W]]{
		Columns: columns,
		New: func(h saved.Header, pairs int) (*tree[W], error) {
			o := o
			o.Capacity = max(o.Capacity, pairs)
			return transfer.Made(h, savedFill, &o.Fill, func() (*tree[W], error) { return makeTree[W](ctx, d, o) })
		},
		Reserve: (*tree[W]).Reserve,
		Insert:  (*tree[W]).Insert,
	}
	return l.Load(ctx, r)
}
