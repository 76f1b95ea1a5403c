package linearizability

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/vk"
)

type ctx = context.Context

// batch is a batch in device memory, on a stream.
type batch struct {
	s          *vk.Stream
	operations []operation
	on         structures.DeviceBatch
}

func (r *rig) batch(operations []operation) *batch {
	b := &batch{operations: operations}
	n := len(operations)
	var err error
	b.s, err = r.d.NewStream()
	require.NoError(r, err)
	keys, vals, kinds := make([]uint64, n), make([]uint64, n), make([]uint8, n)
	for i, o := range operations {
		keys[i], vals[i], kinds[i] = o.key, o.value, uint8(o.kind)
	}
	b.on = structures.DeviceBatch{
		Count: n, Keys: r.put(keys), Values: r.put(vals), Kinds: put(r, kinds),
		Status: put(r, make([]uint8, (n+3)&^3)), Left: put(r, make([]uint32, 1)),
	}
	return b
}

func put[T vk.Element](r *rig, data []T) *vk.Buffer[T] {
	b, err := vk.NewBuffer[T](r.d, len(data))
	require.NoError(r, err)
	require.NoError(r, b.Upload(r.Context(), 0, data))
	return b
}

// put makes a buffer of keys or values, and get reads one.
func (r *rig) put(some []uint64) *vk.Buffer[uint32] {
	if r.wide {
		return put(r, numbers.Words(some))
	}
	return put(r, numbers.Each(some, func(n uint64) uint32 { return uint32(n) }))
}

func (r *rig) get(b *vk.Buffer[uint32]) []uint64 {
	if r.wide {
		return numbers.From[uint64](get(r, b))
	}
	return numbers.Each(get(r, b), func(n uint32) uint64 { return uint64(n) })
}

func get[T vk.Element](r *rig, b *vk.Buffer[T]) []T {
	data := make([]T, b.Len())
	require.NoError(r, b.Download(r.Context(), 0, data))
	return data
}

func (r *rig) free(b *batch) {
	require.NoError(r, b.s.Close())
	b.on.Keys.Free()
	b.on.Values.Free()
	b.on.Kinds.Free()
	b.on.Status.Free()
	b.on.Left.Free()
}

// outcomes are what the operations of a batch answered; numbers where they are no part of the answer are 0.
func (r *rig) outcomes(b *batch) []outcome {
	status, vals := get(r, b.on.Status), r.get(b.on.Values)
	out := make([]outcome, len(b.operations))
	for i, o := range b.operations {
		out[i].status = structures.Status(status[i])
		if o.kind > structures.Delete && !(r.set && o.kind == structures.Find) {
			out[i].value = vals[i]
		}
	}
	return out
}

// dispatch does batches at the same time, one a stream, and finishes them one after another.
func (r *rig) dispatch(kind structures.Kind, batches ...*batch) {
	for _, b := range batches {
		require.NoError(r, r.table.On(b.s).Apply(kind, b.on))
		_, err := b.s.Submit()
		require.NoError(r, err)
	}
	for _, b := range batches {
		require.NoError(r, b.s.Wait(r.Context()))
	}
	for _, b := range batches {
		require.NoError(r, r.table.On(b.s).Finish(r.Context(), kind, b.on))
	}
}

var mixes = map[string][]structures.Kind{
	// A key has one pair at most.
	"unique": {structures.Insert, structures.InsertUnique, structures.InsertAdd, structures.InsertMin,
		structures.InsertMax, structures.Delete, structures.Find},
	// Deletions among assignments only.
	"assign": {structures.Insert, structures.InsertAdd, structures.Find},
	"churn":  {structures.InsertUnique, structures.Delete, structures.Find},
}

func (f form) random(rng *rand.Rand, kinds []structures.Kind, key uint64) operation {
	value := rng.Uint64()
	if rng.IntN(4) == 0 {
		value = []uint64{0, ^uint64(0), 1, ^uint64(1), math.MaxUint32, math.MaxUint32 << 32}[rng.IntN(6)]
	}
	return operation{kinds[rng.IntN(len(kinds))], key, value & f.ones()}
}

// spread makes random operations on keys, each as often and mostly in neighbours, so that those on one key meet, and
// divides them over streams, which come by the same keys at about the same time.
func (r *rig) spread(rng *rand.Rand, kinds []structures.Kind, perKey int, keys []uint64,
	streams int) (batches []*batch) {
	var operations []operation
	for i := range len(keys) * perKey {
		operations = append(operations, r.random(rng, kinds, keys[i/perKey]))
	}
	for range len(operations) / 4 {
		i, j := rng.IntN(len(operations)), rng.IntN(len(operations))
		operations[i], operations[j] = operations[j], operations[i]
	}
	for i := range streams {
		var part []operation
		for at := i; at < len(operations); at += streams {
			part = append(part, operations[at])
		}
		batches = append(batches, r.batch(part))
	}
	return batches
}

// Operations of one dispatch overlap, as do those of dispatches on several streams; dispatches that were waited for
// come before those submitted afterwards.
func TestMixedBatches(t *testing.T) {
	const keys, perKey, dispatches, streams = 40, 8, 3, 2
	for mix, kinds := range mixes {
		t.Run(mix, func(t *testing.T) {
			eachTable(t, slabhash.Options{Buckets: 4}, func(r *rig) {
				r.rounds(func(seed uint64) {
					rng := rand.New(rand.NewPCG(seed, 1))
					require.NoError(r, r.table.Clear(r.Context()))
					mask := uint64(r.table.InShaders().Description().Mask)
					mask = (mask | mask<<32) & r.ones()
					special := []uint64{0, r.ones(), mask, mask ^ r.ones()}
					names := make([]uint64, keys)
					for i := range names {
						names[i] = r.key(uint32(i) * 77)
					}
					copy(names, special)
					var history []porcupine.Operation
					for phase := range int64(dispatches) {
						batches := r.spread(rng, kinds, perKey, names, streams)
						r.dispatch(structures.Mixed, batches...)
						for _, b := range batches {
							for i, out := range r.outcomes(b) {
								history = append(history,
									porcupine.Operation{Input: b.operations[i], Output: out, Call: 2 * phase,
										Return: 2*phase + 1})
							}
							r.free(b)
						}
					}
					// What the table holds at last is read as well.
					held := map[uint64]uint64{}
					for _, p := range slabcheck.Check(r, r.d, slabcheck.Expect{}, r.table)[0] {
						held[p.Key] = p.Value
					}
					for i := range keys {
						out := outcome{status: structures.Absent}
						if v, ok := held[names[i]]; ok {
							out = outcome{status: structures.Found, value: v}
						}
						history = append(history, porcupine.Operation{Input: operation{structures.Find, names[i], 0},
							Output: out, Call: 2 * dispatches, Return: 2*dispatches + 1})
					}
					check(r.T, r.form, history)
				})
			})
		})
	}
}
