package linearizability

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
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
	keys, vals, kinds := make([]uint32, n), make([]uint32, n), make([]uint8, n)
	for i, o := range operations {
		keys[i], vals[i], kinds[i] = o.key, o.value, uint8(o.kind)
	}
	b.on = structures.DeviceBatch{
		Count: n, Keys: put(r, keys), Values: put(r, vals), Kinds: put(r, kinds),
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
	status, vals := get(r, b.on.Status), get(r, b.on.Values)
	out := make([]outcome, len(b.operations))
	for i, o := range b.operations {
		out[i].status = structures.Status(status[i])
		if o.kind > structures.Delete && !(r.set && o.kind == structures.Find) {
			out[i].value = uint64(vals[i])
		}
	}
	return out
}

// dispatch does batches at the same time, one a stream, and finishes them one after another.
func (r *rig) dispatch(kind structures.Kind, batches ...*batch) {
	for _, b := range batches {
		require.NoError(r, r.table.ApplyOn(b.s, kind, b.on))
		_, err := b.s.Submit()
		require.NoError(r, err)
	}
	for _, b := range batches {
		require.NoError(r, b.s.Wait(r.Context()))
	}
	for _, b := range batches {
		require.NoError(r, r.table.Finish(r.Context(), b.s, kind, b.on))
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

func random(rng *rand.Rand, kinds []structures.Kind, key uint32) operation {
	value := rng.Uint32()
	if rng.IntN(4) == 0 {
		value = [...]uint32{0, ^uint32(0), 1, ^uint32(0) - 1}[rng.IntN(4)]
	}
	return operation{kinds[rng.IntN(len(kinds))], key, value}
}

// spread makes random operations on keys, each as often and mostly in neighbours, so that those on one key meet, and
// divides them over streams, which come by the same keys at about the same time.
func (r *rig) spread(rng *rand.Rand, kinds []structures.Kind, perKey int, keys []uint32,
	streams int) (batches []*batch) {
	var operations []operation
	for i := range len(keys) * perKey {
		operations = append(operations, random(rng, kinds, keys[i/perKey]))
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
			each(t, 4, func(r *rig) {
				rounds(func(seed uint64) {
					rng := rand.New(rand.NewPCG(seed, 1))
					require.NoError(r, r.table.Clear(r.Context()))
					special := []uint32{0, ^uint32(0), r.table.Device().Mask, ^r.table.Device().Mask}
					names := make([]uint32, keys)
					for i := range names {
						names[i] = uint32(i) * 77
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
					held := map[uint32]uint32{}
					for _, p := range slabcheck.Check(r, r.d, slabcheck.Expect{}, r.table)[0] {
						held[p.Key] = p.Value
					}
					for i := range keys {
						out := outcome{status: structures.Absent}
						if v, ok := held[names[i]]; ok {
							out = outcome{structures.Found, uint64(v)}
						}
						history = append(history, porcupine.Operation{Input: operation{structures.Find, names[i], 0},
							Output: out, Call: 2 * dispatches, Return: 2*dispatches + 1})
					}
					check(r.T, r.set, history)
				})
			})
		})
	}
}
