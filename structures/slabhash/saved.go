package slabhash

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/vk"
)

// savedLoad is what is kept of a table beside its pairs.
var savedLoad = transfer.Parameter{Structure: "slabhash", Name: "load", Option: "Load"}

func (t *table) save(ctx context.Context, w io.Writer) (int64, error) {
	if err := t.enterShared(ctx); err != nil {
		return 0, err
	}
	defer t.leaveShared()
	pairs, err := t.count(ctx)
	if err != nil {
		return 0, err
	}
	h := savedLoad.Header(t.o.Load, pairs)
	h.KeysOnly = t.keys
	return transfer.Save(ctx, t.gate, w, h, t.chunks(ctx, true))
}

// Load makes a map of what any structure has saved, or vkds has, to the end of r. An Options.Load of 0 is what a saved
// map had; the values of a set are 0. Where keys have several values, these come in any order. Errors:
// *structures.SavedError; r's own; those of New and of Insert, without the PendingError around them.
func Load(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Map, error) {
	l := transfer.Loader[*Map]{New: loading(ctx, d, o, New), Reserve: (*Map).Reserve, Insert: (*Map).InsertDuplicate}
	return l.Load(ctx, r)
}

// LoadSet is Load for a set: of the keys alone.
func LoadSet(ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Set, error) {
	insert := func(s *Set, ctx context.Context, keys, _ []uint32) ([]structures.Status, error) {
		return s.InsertDuplicate(ctx, keys)
	}
	l := transfer.Loader[*Set]{New: loading(ctx, d, o, NewSet), Reserve: (*Set).Reserve, Insert: insert}
	return l.Load(ctx, r)
}

// loading is New by the header of what was saved.
func loading[T any](ctx context.Context, d *vk.Device, o Options,
	open func(context.Context, *vk.Device, Options) (T, error)) func(saved.Header, int) (T, error) {
	return func(h saved.Header, pairs int) (T, error) {
		sized := o.sizedFor(pairs)
		s, err := transfer.Made(h, savedLoad, &sized.Load, func() (T, error) { return open(ctx, d, sized) })
		return s, o.asked(err)
	}
}
