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

func (a *array) save(ctx context.Context, w io.Writer) (int64, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
	return a.core.Inside().Save(ctx, &a.core, w, saved.Header{Structure: savedName, Pairs: int64(a.n)}, a.core.Columns)
}

// load makes one of what was saved.
func load(ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns, o Options) (*array, error) {
	if columns.Width() == structures.Bits64 {
		return loadWords[uint64](ctx, d, r, columns, o)
	}
	return loadWords[uint32](ctx, d, r, columns, o)
}

func loadWords[W structures.Word](ctx context.Context, d *vk.Device, r io.Reader, columns saved.Columns,
	o Options) (*array, error) {
	l := transfer.Loader[W, *Array[W, W]]{
		Columns: columns,
		New: func(_ saved.Header, pairs int) (*Array[W, W], error) {
			kept := o
			kept.Capacity = max(o.Capacity, pairs)
			return of[W, W](newArray(ctx, d, columns, kept))
		},
		Reserve: (*Array[W, W]).Reserve,
		Insert:  (*Array[W, W]).Insert,
	}
	a, err := l.Load(ctx, r)
	if err != nil {
		return nil, err
	}
	return a.core, nil
}
