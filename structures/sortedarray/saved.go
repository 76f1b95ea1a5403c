package sortedarray

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedName is what a saved array says it is.
const savedName = "sortedarray"

// Save writes all pairs to w, so that Load makes such an array of them, and returns how many bytes w took. It is one
// call: what changes the array waits until it ends; w must not use the array, but for its queries on streams. Errors:
// w's, structures.ErrChanged where streams have changed the array meanwhile, the context's, what Chunks ends with.
func (a *Array) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
	h := saved.Header{Structure: savedName, Pairs: int64(a.n)}
	return transfer.Save(ctx, &a.core, w, h, a.core.Inside().Chunks(ctx))
}

// WriteTo is Save without a context: io.WriterTo.
func (a *Array) WriteTo(w io.Writer) (int64, error) { return a.Save(context.Background(), w) }

// Load makes an array of what any structure has saved, or vkds has, to the end of r. The values
// of a set are 0. Errors: *structures.SavedError, also where keys have several values; r's own; those of New and of
// Insert, without the PendingError around them.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Array, error) {
	l := transfer.Loader[*Array]{
		New: func(_ saved.Header, pairs int) (*Array, error) {
			kept := o
			kept.Capacity = max(o.Capacity, pairs)
			return New(ctx, d, kept)
		},
		Reserve: (*Array).Reserve,
		Insert:  (*Array).Insert,
	}
	return l.Load(ctx, r)
}
