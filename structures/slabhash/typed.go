package slabhash

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/transfer"
	"github.com/vkds/vkds/structures/internal/typed"
	"github.com/vkds/vkds/vk"
)

// anyTable is a table of words of any width: what maps and sets do alike.
type anyTable interface {
	structures.ConcurrentOnStream
	structures.InShaders[Device]
	io.WriterTo
	Len(ctx context.Context) (uint64, error)
	Stats(ctx context.Context) (Stats, error)
	Metrics() structures.Metrics
	Loads(ctx context.Context) iter.Seq2[BucketLoad, error]
	Clear(ctx context.Context) error
	Reserve(ctx context.Context, n int) error
	Flush(ctx context.Context) error
	Rehash(ctx context.Context, buckets int) error
	Save(ctx context.Context, w io.Writer) (int64, error)
	Prepare(ctx context.Context) error
	Timings() []vk.Timing
	Close() error
}

// mapOf is a map without what all tables do, and setOf a set: by users' types.
type mapOf[K, V structures.Number] interface {
	structures.Dictionary[K, V]
	InsertDuplicate(ctx context.Context, keys []K, values []V) ([]structures.Status, error)
	DeleteAll(ctx context.Context, keys []K) ([]uint32, error)
	CountAll(ctx context.Context, keys []K) ([]uint32, error)
	FindAll(ctx context.Context, keys []K) (offsets []int, values []V, err error)
	Export(ctx context.Context) (keys []K, values []V, err error)
}

type setOf[K structures.Number] interface {
	update(ctx context.Context, kind structures.Kind, keys []K) ([]structures.Status, error)
	updateInto(ctx context.Context, kind structures.Kind, keys []K, status []structures.Status) error
	deleteAll(ctx context.Context, keys []K) ([]uint32, error)
	countAll(ctx context.Context, keys []K) ([]uint32, error)
	containsInto(ctx context.Context, keys []K, found []bool) error
	apply(ctx context.Context, b structures.Batch[K, uint32]) (structures.Results[K, uint32], error)
	applyInto(ctx context.Context, b structures.Batch[K, uint32], into *structures.Results[K, uint32]) error
	export(ctx context.Context) ([]K, error)
	all(ctx context.Context) iter.Seq2[K, error]
	chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, uint32], error]
}

// dictionary is a map of words.
type dictionary[W structures.Word] struct {
	structures.Updates[W, W]
	*table[W]
}

var _ structures.Dictionary[uint32, uint32] = dictionary[uint32]{}

func dictionaryOf[W structures.Word](t *table[W]) dictionary[W] {
	return dictionary[W]{pipeline.Updates[W](t.updateInto), t}
}

func (x dictionary[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W,
	status []structures.Status) error {
	return x.updateInto(ctx, kind, keys, values, status)
}

func (x dictionary[W]) Find(ctx context.Context, keys []W) ([]W, []bool, error) {
	values, found := make([]W, len(keys)), make([]bool, len(keys))
	return values, found, x.FindInto(ctx, keys, values, found)
}

func (x dictionary[W]) FindInto(ctx context.Context, keys, values []W, found []bool) error {
	return x.findInto(ctx, keys, values, found)
}

func (x dictionary[W]) Apply(ctx context.Context, b structures.Batch[W, W]) (structures.Results[W, W], error) {
	return x.mixed(ctx, b)
}

func (x dictionary[W]) ApplyInto(ctx context.Context, b structures.Batch[W, W], into *structures.Results[W, W]) error {
	return x.mixedInto(ctx, b, into)
}

func (x dictionary[W]) All(ctx context.Context) iter.Seq2[structures.Pair[W, W], error] {
	return transfer.Pairs(x.chunks(ctx, false), false)
}

func (x dictionary[W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[W, W], error] {
	return x.chunks(ctx, false)
}

// mapOver is a map of a user's types over a table of words.
type mapOver[K, V structures.Number, W structures.Word] struct {
	structures.Dictionary[K, V]
	t *table[W]
}

func (m mapOver[K, V, W]) InsertDuplicate(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return m.t.update(ctx, structures.InsertDuplicate, typed.Keys[W](keys), typed.Values[W](values))
}

func (m mapOver[K, V, W]) DeleteAll(ctx context.Context, keys []K) ([]uint32, error) {
	return m.t.deleteAll(ctx, typed.Keys[W](keys))
}

func (m mapOver[K, V, W]) CountAll(ctx context.Context, keys []K) ([]uint32, error) {
	return m.t.countAll(ctx, typed.Keys[W](keys))
}

func (m mapOver[K, V, W]) FindAll(ctx context.Context, keys []K) ([]int, []V, error) {
	offsets, values, err := m.t.findAll(ctx, typed.Keys[W](keys))
	return offsets, typed.ValuesOf[V](values), err
}

func (m mapOver[K, V, W]) Export(ctx context.Context) ([]K, []V, error) {
	keys, values, err := m.t.export(ctx)
	return typed.KeysOf[K](keys), typed.ValuesOf[V](values), err
}

// setOver is a set of a user's type over a table of words.
type setOver[K structures.Number, W structures.Word] struct{ t *table[W] }

func (s setOver[K, W]) update(ctx context.Context, kind structures.Kind, keys []K) ([]structures.Status, error) {
	return s.t.update(ctx, kind, typed.Keys[W](keys), nil)
}

func (s setOver[K, W]) updateInto(ctx context.Context, kind structures.Kind, keys []K,
	status []structures.Status) error {
	return s.t.updateInto(ctx, kind, typed.Keys[W](keys), nil, status)
}

func (s setOver[K, W]) deleteAll(ctx context.Context, keys []K) ([]uint32, error) {
	return s.t.deleteAll(ctx, typed.Keys[W](keys))
}

func (s setOver[K, W]) countAll(ctx context.Context, keys []K) ([]uint32, error) {
	return s.t.countAll(ctx, typed.Keys[W](keys))
}

func (s setOver[K, W]) containsInto(ctx context.Context, keys []K, found []bool) error {
	return s.t.findInto(ctx, typed.Keys[W](keys), nil, found)
}

func (s setOver[K, W]) apply(ctx context.Context,
	b structures.Batch[K, uint32]) (structures.Results[K, uint32], error) {
	return typed.Apply[K, uint32, W](ctx, b, s.t.mixed)
}

func (s setOver[K, W]) applyInto(ctx context.Context, b structures.Batch[K, uint32],
	into *structures.Results[K, uint32]) error {
	return typed.ApplyInto[K, uint32, W](ctx, b, into, s.t.mixedInto)
}

func (s setOver[K, W]) export(ctx context.Context) ([]K, error) {
	keys, _, err := s.t.export(ctx)
	return typed.KeysOf[K](keys), err
}

func (s setOver[K, W]) all(ctx context.Context) iter.Seq2[K, error] {
	code := structures.KeyCode[K]()
	return func(yield func(K, error) bool) {
		for word, err := range transfer.Keys(s.t.chunks(ctx, false)) {
			key := *new(K)
			if err == nil {
				key = code.Of(uint64(word))
			}
			if !yield(key, err) {
				return
			}
		}
	}
}

func (s setOver[K, W]) chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, uint32], error] {
	return typed.Chunks[K, uint32](s.t.chunks(ctx, false))
}
