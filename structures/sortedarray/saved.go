package sortedarray

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/vk"
)

// savedName is the name of the structure in a saved array.
const savedName = "sortedarray"

func (a *array) save(ctx context.Context, w io.Writer) (int64, error) {
	if err := a.core.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
	return a.core.Inside().Save(ctx, w, saved.Header{Structure: savedName, Pairs: int64(a.n)}, a.core.Columns)
}

// load makes an array of a saved structure.
func load(ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns, o Options) (*array, error) {
	return transfer.Loader[*array]{
		Columns: columns,
		New: func(_ saved.Header, pairs int) (*array, error) {
			kept := o
			kept.Capacity = max(o.Capacity, pairs)
			return newArray(ctx, d, columns, kept)
		},
		Reserve: (*array).reserve,
		Insert:  (*array).update,
	}.Load(ctx, r)
}
