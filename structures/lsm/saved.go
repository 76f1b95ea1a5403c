package lsm

import (
	"context"
	"io"
	"math/bits"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedBatch is what is kept of an LSM beside its pairs.
var savedBatch = transfer.Parameter{Structure: "lsm", Name: "batch", Option: "Batch"}

// Save writes all pairs and Options.Batch to w, so that Load makes such an LSM of them, and returns how many bytes w
// took. It is one call: what changes the LSM waits until it ends; w must not use the LSM, but for its queries on
// streams. Errors: w's, structures.ErrChanged where streams have changed the LSM meanwhile, the context's, what Chunks
// ends with.
func (l *lsm[W]) Save(ctx context.Context, w io.Writer) (int64, error) {
	if err := l.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer l.core.LeaveShared()
	pairs, err := l.count(ctx)
	if err != nil {
		return 0, err
	}
	h := savedBatch.Header(float64(l.o.Batch), pairs)
	return transfer.Save(ctx, &l.core, w, h, l.core.Columns, l.core.Inside().Chunks(ctx))
}

// WriteTo is Save without a context: io.WriterTo.
func (l *lsm[W]) WriteTo(w io.Writer) (int64, error) { return l.Save(context.Background(), w) }

// load makes one of what was saved.
func load[W structures.Word](ctx context.Context, d *vk.Device, r io.Reader, o Options,
	columns saved.Columns) (*lsm[W], error) {
	l := transfer.Loader[W, *lsm[W]]{
		Columns: columns,
		New: func(h saved.Header, pairs int) (*lsm[W], error) {
			o := o
			o.Capacity = max(o.Capacity, pairs)
			const least, most = DefaultBatch, MaxPairs / 2
			if b := int(max(0, min(h.Parameters[savedBatch.Name], most))); o.Batch == 0 && b > least {
				// A level of Batch pairs is made for the first of them: a file is believed as far as it has pairs.
				h.Parameters[savedBatch.Name] = float64(transfer.Believed(b, 1<<bits.Len(uint(pairs)), least))
			}
			return transfer.Made(h, savedBatch, &o.Batch, func() (*lsm[W], error) { return newLSM[W](ctx, d, o) })
		},
		Reserve: (*lsm[W]).Reserve,
		Insert:  (*lsm[W]).Insert,
	}
	return l.Load(ctx, r)
}
