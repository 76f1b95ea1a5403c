package lsm

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedBatch is what is kept of an LSM beside its pairs.
var savedBatch = transfer.Parameter{Structure: "lsm", Name: "batch", Option: "Batch"}

// Save writes all pairs and Options.Batch to w, so that Load makes such an LSM of them, and returns how many bytes w
// took. It is one call: what changes the LSM waits until it ends; w must not use the LSM, but for its queries on
// streams. Errors: w's, structures.ErrChanged where streams have changed the LSM meanwhile, the context's, what Chunks
// ends with.
func (l *LSM) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := l.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer l.core.LeaveShared()
	pairs, err := l.count(ctx)
	if err != nil {
		return 0, err
	}
	return transfer.Save(ctx, &l.core, w, savedBatch.Header(float64(l.o.Batch), pairs), l.core.Inside().Chunks(ctx))
}

// WriteTo is Save without a context: io.WriterTo.
func (l *LSM) WriteTo(w io.Writer) (int64, error) { return l.Save(context.Background(), w) }

// Load makes an LSM of what any structure has saved, or vkds has, to the end of r. An Options.Batch of 0 is what a
// saved LSM had; the values of a set are 0. Errors: *structures.SavedError, also where keys have several values; r's
// own; those of New and of Insert, without the PendingError around them.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*LSM, error) {
	l := transfer.Loader[*LSM]{
		New: func(h saved.Header, pairs int) (*LSM, error) {
			o := o
			o.Capacity = max(o.Capacity, pairs)
			return transfer.Made(h, savedBatch, &o.Batch, func() (*LSM, error) { return New(ctx, d, o) })
		},
		Reserve: (*LSM).Reserve,
		Insert:  (*LSM).Insert,
	}
	return l.Load(ctx, r)
}
