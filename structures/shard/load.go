package shard

import (
	"cmp"
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// load inserts the pairs of a saved dictionary into an empty one.
func (d *dictionary[K, V]) load(ctx context.Context, r io.Reader) error {
	ctx, leave, err := d.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if r == nil {
		return &vk.OptionError{Option: "io.Reader", Reason: "nil"}
	}
	if err := d.tidyInside(ctx); err != nil {
		return err
	}
	lens, err := d.lens(ctx)
	if err = cmp.Or(err, empty(lens)); err != nil {
		return err
	}
	in, err := saved.NewReader(r)
	if err == nil {
		err = in.As(saved.Pairs[K, V]())
	}
	if err != nil {
		return err
	}
	l := &loading[K, V]{dictionary: d, kind: structures.Insert, total: uint64(in.Header().Pairs),
		ascending: d.trees != nil}
	if d.trees == nil && d.updates(structures.InsertDuplicate) {
		l.kind = structures.InsertDuplicate
	}
	return l.fill(ctx, in)
}

// loading fills a dictionary. While the keys for a tree ascend, as those of saved trees do, it knows their ranks, so
// the split points are exact. Otherwise it does what insertions do.
type loading[K, V structures.Number] struct {
	*dictionary[K, V]
	kind        structures.Kind
	total, read uint64 // pairs
	last        uint64 // the word of the last key
	ascending   bool
}

func (l *loading[K, V]) fill(ctx context.Context, in *saved.Reader) error {
	const atOnce = 1 << 20
	keyWords, valueWords := make([]uint64, atOnce), make([]uint64, atOnce)
	keys, values, status := make([]K, atOnce), make([]V, atOnce), make([]structures.Status, atOnce)
	key, value := structures.KeyCode[K](), structures.ValueCode[K, V]()
	again := 0
	for {
		n, err := saved.ReadWords(in, keyWords, valueWords)
		switch {
		case err == io.EOF:
			return in.Repeated(again)
		case err != nil:
			return err
		}
		for i := range n {
			keys[i], values[i] = key.Of(keyWords[i]), value.Of(valueWords[i])
		}
		if err := l.insert(ctx, keys[:n], values[:n], status[:n]); err != nil {
			return pipeline.Cause(err)
		}
		for _, s := range status[:n] {
			if s == structures.Assigned {
				again++
			}
		}
	}
}

func (l *loading[K, V]) insert(ctx context.Context, keys []K, values []V, status []structures.Status) error {
	code := structures.KeyCode[K]()
	for i, key := range keys {
		word := code.Word(key)
		l.ascending = l.ascending && (l.read+uint64(i) == 0 || word > l.last)
		l.last = word
	}
	if !l.ascending {
		return l.updateInside(ctx, l.kind, keys, values, status)
	}
	p, end := &l.place, l.read+uint64(len(keys))
	if l.read == 0 {
		p.splits = []uint64{} // the tree is empty; until the next split point is known, all keys go to one shard
	}
	share := l.total / uint64(p.shards)
	for s := uint64(len(p.splits)) + 1; s < uint64(p.shards) && share*s < end; s++ {
		p.splits = append(p.splits, code.Word(keys[max(share*s, l.read)-l.read]))
	}
	l.read, l.inserted = end, l.inserted+uint64(len(keys))
	return l.updateShards(ctx, l.kind, keys, values, status)
}
