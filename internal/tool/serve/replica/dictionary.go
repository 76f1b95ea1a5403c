package replica

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/vk"
)

// dictionary has the pairs, as words, in a device's memory or in the host's.
type dictionary interface {
	structures.Ordered[uint64, uint64]
	snapshot(ctx context.Context) (Snapshot, error)
}

// Snapshot is a dictionary at one moment. It doesn't change. Close it.
type Snapshot interface {
	Len(ctx context.Context) (uint64, error)
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error]
	Save(ctx context.Context, w io.Writer) (int64, error)
	Close() error
}

type onDevice struct{ *btree.Tree[uint64, uint64] }

func (d onDevice) snapshot(ctx context.Context) (Snapshot, error) { return d.Snapshot(ctx) }

type onHost struct{ *host.Tree[uint64, uint64] }

func (d onHost) snapshot(ctx context.Context) (Snapshot, error) { return d.Copy(ctx) }

// empty makes a dictionary without pairs, in the host's memory if d is nil.
func empty(ctx context.Context, d *vk.Device) (dictionary, error) {
	if d == nil {
		return onHost{host.NewTree[uint64, uint64]()}, nil
	}
	t, err := btree.New[uint64, uint64](ctx, d, btree.Options{Path: btree.Batched})
	return onDevice{t}, err
}

// load makes a dictionary of a saved one.
func load(ctx context.Context, d *vk.Device, r io.Reader) (dictionary, error) {
	if d == nil {
		t, err := host.LoadTree[uint64, uint64](ctx, r)
		return onHost{t}, err
	}
	t, err := btree.Load[uint64, uint64](ctx, d, r, btree.Options{Path: btree.Batched})
	return onDevice{t}, err
}
