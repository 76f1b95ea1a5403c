package replica

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/tidwall/btree"
	"github.com/vkds/vkds/structures"
	tree "github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/vk"
)

// dictionary has the pairs, as words, in a device's memory or in the host's.
type dictionary interface {
	structures.Ordered[uint64, uint64]
	snapshot(ctx context.Context) (frozen, error)
}

// frozen is a dictionary at one moment.
type frozen interface {
	Len(ctx context.Context) (uint64, error)
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error]
	Save(ctx context.Context, w io.Writer) (int64, error)
	Close() error
}

type onDevice struct{ *tree.Tree[uint64, uint64] }

func (d onDevice) snapshot(ctx context.Context) (frozen, error) { return d.Snapshot(ctx) }

// onHost is a dictionary in the host's memory. Beside the tree, a hash table has the same pairs: it finds a key among
// millions in a quarter of the time. Of the methods that change pairs, UpdateInto alone changes both.
type onHost struct {
	*host.Tree[uint64, uint64]
	hashed *host.Map[uint64, uint64]
}

// hashed returns a dictionary with the pairs of a tree, of which it takes possession.
func hashed(ctx context.Context, t *host.Tree[uint64, uint64]) (dictionary, error) {
	d := onHost{t, host.NewMap[uint64, uint64]()}
	for pairs, err := range t.Chunks(ctx) {
		if err == nil {
			err = d.hashed.UpdateInto(ctx, structures.Insert, pairs.Keys, pairs.Values, nil)
		}
		if err != nil {
			_ = d.Close()
			return nil, err
		}
	}
	return d, nil
}

func (d onHost) snapshot(ctx context.Context) (frozen, error) { return d.Copy(ctx) }

// FindInto finds keys by the hash table.
func (d onHost) FindInto(ctx context.Context, keys, values []uint64, found []bool) error {
	return d.hashed.FindInto(ctx, keys, values, found)
}

// UpdateInto updates both.
func (d onHost) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint64,
	status []structures.Status) error {
	if err := d.hashed.UpdateInto(ctx, kind, keys, values, nil); err != nil {
		return err
	}
	return d.Tree.UpdateInto(ctx, kind, keys, values, status)
}

// Close ends both.
func (d onHost) Close() error { return errors.Join(d.hashed.Close(), d.Tree.Close()) }

// Snapshot has all pairs at one moment. It doesn't change. Close it.
type Snapshot struct {
	frozen
	texts *btree.Map[uint64, Record] // nil: keys and values are no texts
}

// Record returns what of a key's pair is text.
func (x Snapshot) Record(key uint64) Record {
	if x.texts == nil {
		return Record{}
	}
	r, _ := x.texts.Get(key)
	return r
}

// empty makes a dictionary without pairs, in the host's memory if d is nil.
func empty(ctx context.Context, d *vk.Device) (dictionary, error) {
	if d == nil {
		return hashed(ctx, host.NewTree[uint64, uint64]())
	}
	t, err := tree.New[uint64, uint64](ctx, d, tree.Options{Path: tree.Batched})
	return onDevice{t}, err
}

// load makes a dictionary of a saved one.
func load(ctx context.Context, d *vk.Device, r io.Reader) (dictionary, error) {
	if d == nil {
		t, err := host.LoadTree[uint64, uint64](ctx, r)
		if err != nil {
			return nil, err
		}
		return hashed(ctx, t)
	}
	t, err := tree.Load[uint64, uint64](ctx, d, r, tree.Options{Path: tree.Batched})
	return onDevice{t}, err
}
