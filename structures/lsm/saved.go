package lsm

import (
	"context"
	"io"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/vk"
)

// savedBatch is the option that is saved with the pairs.
var savedBatch = transfer.Parameter{Structure: "lsm", Name: "batch", Option: "Batch"}

func (l *lsm) save(ctx context.Context, w io.Writer) (int64, error) {
	if err := l.core.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer l.core.LeaveShared()
	pairs, err := l.count(ctx)
	if err != nil {
		return 0, err
	}
	h := savedBatch.Header(float64(l.o.Batch), pairs)
	return l.core.Inside().Save(ctx, w, h, l.core.Columns)
}

// load makes an LSM of a saved structure.
func load(ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns, o Options) (*lsm, error) {
	return transfer.Loader[*lsm]{
		Columns: columns,
		New:     func(h saved.Header, pairs int) (*lsm, error) { return newAsSaved(ctx, d, columns, o, h, pairs) },
		Reserve: (*lsm).reserve,
		Insert:  (*lsm).update,
	}.Load(ctx, r)
}

// newAsSaved makes an empty LSM with the saved options and room for that many pairs.
func newAsSaved(ctx context.Context, d *vk.Device, columns saved.Columns, o Options, h saved.Header,
	pairs int) (*lsm, error) {
	o.Capacity = max(o.Capacity, pairs)
	const least, most = DefaultBatch, MaxPairs / 2
	if b := int(max(0, min(h.Parameters[savedBatch.Name], most))); o.Batch == 0 && b > least {
		// The first level takes Batch pairs, so a Batch that is read from a file is limited by the number of its pairs.
		h.Parameters[savedBatch.Name] = float64(transfer.Believed(b, 1<<bits.Len(uint(pairs)), least))
	}
	return transfer.Made(h, savedBatch, &o.Batch, func() (*lsm, error) { return newLSM(ctx, d, columns, o) })
}
