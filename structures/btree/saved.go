package btree

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedFill is what is kept of a tree beside its pairs.
var savedFill = transfer.Parameter{Structure: "btree", Name: "fill", Option: "Fill"}

// Save writes all pairs and Options.Fill to w, so that Load makes such a tree of them, and returns how many bytes w
// took. It is one call: what changes the tree waits until it ends; w must not use the tree, but for its queries on
// streams. Errors: w's, structures.ErrChanged where streams have changed the tree meanwhile, the context's, what Chunks
// ends with.
func (t *Tree) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return 0, err
	}
	defer t.gate.Leave()
	v, err := t.survey(ctx)
	if err != nil {
		return 0, err
	}
	h := savedFill.Header(t.o.Fill, uint64(v.levels[0].Slots))
	return transfer.Save(ctx, t.gate, w, h, t.reader.Inside().Chunks(ctx))
}

// WriteTo is Save without a context: io.WriterTo.
func (t *Tree) WriteTo(w io.Writer) (int64, error) { return t.Save(context.Background(), w) }

// Load makes a tree of what any structure has saved, or vkds has, to the end of r. An Options.Fill of 0 is what a saved
// tree had; the values of a set are 0. Errors: *structures.SavedError, also where keys have several values; r's own;
// those of New and of Insert, without the PendingError around them.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Tree, error) {
	l := transfer.Loader[*Tree]{
		New: func(h saved.Header, pairs int) (*Tree, error) {
			o := o
			o.Capacity = max(o.Capacity, pairs)
			return transfer.Made(h, savedFill, &o.Fill, func() (*Tree, error) { return New(ctx, d, o) })
		},
		Reserve: (*Tree).Reserve,
		Insert:  (*Tree).Insert,
	}
	return l.Load(ctx, r)
}
