package shard

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
)

// read is what the queries of any dictionary and of a snapshot have in common.
type read[K, V structures.Number] interface {
	FindInto(ctx context.Context, keys []K, values []V, found []bool) error
	Get(ctx context.Context, key K) (value V, found bool, err error)
	Len(ctx context.Context) (uint64, error)
	Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error]
}

// reader answers the queries of a Map, a Tree or a Snapshot.
type reader[K, V structures.Number] struct {
	*core
	reads []read[K, V]               // the shards
	asks  []structures.Queries[K, V] // the same if they are ordered
}

// opened returns the reader, or one that is not open.
func (r *reader[K, V]) opened() *reader[K, V] {
	if r == nil {
		return &reader[K, V]{core: &core{}}
	}
	return r
}

// all returns the numbers of all shards.
func (c *core) all() []int {
	all := make([]int, c.place.shards)
	for s := range all {
		all[s] = s
	}
	return all
}

func (r *reader[K, V]) findInto(ctx context.Context, keys []K, values []V, found []bool) error {
	err := cmp.Or(r.gate.Err(), pipeline.Fits(len(keys), "values", values), pipeline.Fits(len(keys), "found", found))
	if err != nil {
		return err
	}
	ctx, leave, err := r.beside(ctx)
	if err != nil {
		return err
	}
	defer leave()
	_, err = r.run(ctx, &batch{
		n: len(keys), keys: columnOf(keys), in: []column{columnOf(keys), {}}, lanes: 2,
		out: []column{columnOf(values), columnOf(found)},
		do: func(ctx context.Context, s int, p part) error {
			return r.reads[s].FindInto(ctx, typed[K](p.in[0]), typed[V](p.out[0]), typed[bool](p.out[1]))
		},
	})
	return err
}

// find returns also after an error what the shards have found that did not fail.
func (r *reader[K, V]) find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	values, found = make([]V, len(keys)), make([]bool, len(keys))
	err = r.findInto(ctx, keys, values, found)
	return values, found, err
}

func (r *reader[K, V]) get(ctx context.Context, key K) (value V, found bool, err error) {
	ctx, leave, err := r.beside(ctx)
	if err != nil {
		return 0, false, err
	}
	defer leave()
	s := shardOf(&r.place, key)
	value, found, err = r.reads[s].Get(ctx, key)
	return value, found, wrapped(ctx, s, err)
}

// lens returns the number of pairs of each shard.
func (r *reader[K, V]) lens(ctx context.Context) ([]uint64, error) {
	lens := make([]uint64, len(r.reads))
	return lens, each(ctx, r.all(), func(s int) (err error) {
		lens[s], err = r.reads[s].Len(ctx)
		return err
	})
}

func (r *reader[K, V]) len(ctx context.Context) (uint64, error) {
	ctx, leave, err := r.whole(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	lens, err := r.lens(ctx)
	return sumOf(lens), err
}

// chunks returns the pairs of all shards, one shard after the other.
func (r *reader[K, V]) chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	return chained(iteration{ctx, r.core, r.whole}, r.all, r.chunksOf(ctx))
}

func (r *reader[K, V]) chunksOf(ctx context.Context) func(s int) iter.Seq2[structures.Pairs[K, V], error] {
	return func(s int) iter.Seq2[structures.Pairs[K, V], error] { return r.reads[s].Chunks(ctx) }
}

func (r *reader[K, V]) pairs(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	return transfer.Pairs(r.chunks(ctx), false)
}

// save writes all pairs as those of one structure.
func (r *reader[K, V]) save(ctx context.Context, w io.Writer, structure string) (int64, error) {
	ctx, leave, err := r.whole(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	lens, err := r.lens(ctx)
	if err != nil {
		return 0, err
	}
	chunks := chained(iteration{ctx: ctx}, r.all, r.chunksOf(ctx)) // the call has entered, so nothing changes
	h := saved.Header{Structure: structure, Pairs: int64(sumOf(lens))}
	return transfer.Save(ctx, w, h, saved.Pairs[K, V](), words(chunks))
}

// words returns chunks as words.
func words[K, V structures.Number](
	chunks iter.Seq2[structures.Pairs[K, V], error]) iter.Seq2[structures.Pairs[uint64, uint64], error] {
	return func(yield func(structures.Pairs[uint64, uint64], error) bool) {
		keys, values := structures.KeyCode[K](), structures.ValueCode[K, V]()
		for chunk, err := range chunks {
			w := structures.Pairs[uint64, uint64]{
				Keys: make([]uint64, len(chunk.Keys)), Values: make([]uint64, len(chunk.Keys)),
			}
			for i, k := range chunk.Keys {
				w.Keys[i], w.Values[i] = keys.Word(k), values.Word(chunk.Values[i])
			}
			if !yield(w, err) {
				return
			}
		}
	}
}
