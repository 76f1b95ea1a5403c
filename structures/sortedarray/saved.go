package sortedarray

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedName is what a saved array says it is.
const savedName = "sortedarray"

// Save writes all pairs to w, so that Load makes such an array of them, and returns how many bytes w took. It is one
// call: what changes the array waits until it ends; w must not use the array, but for its queries on streams. Errors:
// w's, structures.ErrChanged where streams have changed the array meanwhile, the context's, what Chunks ends with.
func (a *array[W]) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
	h := saved.Header{Structure: savedName, Pairs: int64(a.n)}
	return transfer.Save(ctx, &a.core, w, h, a.core.Columns, a.core.Inside().Chunks(ctx))
}

// WriteTo is Save without a context: io.WriterTo.
func (a *array[W]) WriteTo(w io.Writer) (int64, error) { return a.Save(context.Background(), w) }

// load makes one of what was saved.
func load[W structures.Word](ctx context.Context, d *vk.Device, r io.Reader, o Options,
	columns saved.Columns) (*array[W], error) {
	l := transfer.Loader[W, *array[W]]{
		Columns: columns,
		New: func(_ saved.Header, pairs int) (*array[W], error) {
			kept := o
			kept.Capacity = max(o.Capacity, pairs)
			return newArray[W](ctx, d, kept)
		},
		Reserve: (*array[W]).Reserve,
		Insert:  (*array[W]).Insert,
	}
	return l.Load(ctx, r)
}
