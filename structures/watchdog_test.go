package structures_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

const (
	watchdog = 2 * time.Second // the time limit of a dispatch on desktops

	// mostVisits is how long an operation may take, in units of the time in which the device reads a slab of 128 bytes
	// at a random place. With chunks of 2^21 operations, a device that reads 2^27 slabs a second (17 GB/s, less than a
	// laptop's memory) then keeps each dispatch below half of the watchdog's limit.
	mostVisits = 64
	slowest    = 1 << 27 // slabs a second

	// mostTurns is how long the operation of each subgroup may take if operations wait for each other at one key, one
	// latch, or the end of one list. The unit is the time in which the device changes a word that all subgroups change.
	mostTurns = 4
)

// The calculation above, and the size of a GPU's chunks.
func TestChunksForSlowDevices(t *testing.T) {
	pass.OneWidth(t, "it computes with constants")
	const gpuChunk = 1 << 21
	require.LessOrEqual(t, gpuChunk*mostVisits/slowest*time.Second, watchdog/2)
	if d := testdevice.Open(t); d.Info().Type != vk.CPU {
		require.LessOrEqual(t, pipeline.NewPool(d).Chunk(), gpuChunk)
	}
}

// Each structure does batches of the largest chunk's size, with keys in random order and with one key only. No dispatch
// takes longer than the device's speed allows.
func TestLargestChunksStayBelowWatchdog(t *testing.T) {
	pass.OneWidth(t, "it measures visits in the time of a dispatch")
	d := testdevice.Open(t, vk.Options{TimeDispatches: true})
	if !d.Has(vk.Timestamps) {
		t.Skip("a device without timestamps does not tell how long its dispatches take")
	}
	n := pipeline.NewPool(d).Chunk()
	visit := timeOfVisit(t, d, n)
	bound := time.Duration(float64(n) * mostVisits * visit)
	inTurn := max(bound, mostTurns*timeOfTurns(t, d, n))
	t.Logf("%v: %.1f ns to read a slab, %d operations a chunk, at most %v, and %v one after the other", d.Info(), visit,
		n, bound, inTurn)
	if d.Info().Type == vk.CPU {
		bound, inTurn = 4*bound, 4*inTurn // a CPU has no watchdog, and other processes use its cores
	} else {
		require.Less(t, inTurn, watchdog)
	}

	keys := rand.New(rand.NewPCG(1, 2)).Perm(n)
	spread, one := make([]uint32, n), make([]uint32, n)
	for i, k := range keys {
		spread[i], one[i] = uint32(k), 7
	}
	for name, open := range watched {
		t.Run(name, func(t *testing.T) {
			of, kinds := open(t, d)
			_, concurrent := of.(applied) // in a tree without room, all operations wait for the latches of a few leaves
			_, lists := of.(edges)
			for i, keys := range [][]uint32{spread, one} {
				w := watchedBatch{of: of, s: testdevice.Stream(t, d), n: n,
					keys: testdevice.Upload(t, d, keys), values: testdevice.Upload(t, d, spread),
					left: testdevice.Upload(t, d, []uint32{0}), found: testdevice.Room[uint8](t, d, (n+3)&^3)}
				most := bound
				if concurrent || lists && i == 1 {
					most = inTurn
				}
				for _, kind := range kinds {
					longest := w.run(t, kind)
					t.Logf("%v of keys %d: %s %v, %.1f visits", kind, keys[:3], longest.Label, longest.Duration,
						float64(longest.Duration)/float64(n)/visit)
					assert.LessOrEqual(t, longest.Duration, most, "%s in %v of keys %d", longest.Label, kind, keys[:3])
				}
			}
		})
	}
}

// timeOfVisit returns how many nanoseconds the device takes to read a slab at a random place in 64 MiB.
func timeOfVisit(t *testing.T, d *vk.Device, n int) float64 {
	const slabs, slabWords = 1 << 19, 32
	m, err := kernels.Load("test/visits")
	require.NoError(t, err)
	k, err := vk.NewKernel[visitsPush](d, m, vk.KernelOptions{})
	require.NoError(t, err)
	defer k.Free()
	memory := testdevice.Room[uint32](t, d, slabs*slabWords)
	sums := testdevice.Room[uint32](t, d, n)
	s := testdevice.Stream(t, d)
	s.Fill(memory, 0, slabs*slabWords, 3)
	for range 5 {
		push := visitsPush{memory.Address(), sums.Address(), uint32(n), slabs - 1}
		k.Dispatch(s, (n+k.Workgroup()-1)/k.Workgroup(), push)
	}
	require.NoError(t, s.Wait(t.Context()))
	times := s.Timings()
	slices.SortFunc(times, func(a, b vk.Timing) int { return cmp.Compare(a.Duration, b.Duration) })
	for _, sum := range testdevice.Download(t, sums, n) {
		require.EqualValues(t, 3*slabWords, sum)
	}
	return float64(times[len(times)/2].Duration) / float64(n)
}

// timeOfTurns returns how long a dispatch takes in which a lane of each subgroup changes one word by compare-and-swap.
func timeOfTurns(t *testing.T, d *vk.Device, n int) time.Duration {
	m, err := kernels.Load("test/turns")
	require.NoError(t, err)
	k, err := vk.NewKernel[turnsPush](d, m, vk.KernelOptions{})
	require.NoError(t, err)
	defer k.Free()
	word := testdevice.Upload(t, d, []uint32{0})
	s := testdevice.Stream(t, d)
	k.Dispatch(s, (n+k.Workgroup()-1)/k.Workgroup(), turnsPush{word.Address(), uint32(n), 0})
	require.NoError(t, s.Wait(t.Context()))
	require.EqualValues(t, n/d.SubgroupSize(), testdevice.Download(t, word, 1)[0])
	return s.Timings()[0].Duration
}

type turnsPush struct {
	Word     uint64
	Count, _ uint32
}

type visitsPush struct {
	Slabs, Sums uint64
	Count, Mask uint32
}

// watchedOn has the calls of a structure on a stream that are watched.
type watchedOn interface {
	UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error
	Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error
	FindOn(s *vk.Stream, l structures.DeviceLookups) error
}

type watchedBatch struct {
	of                 watchedOn
	s                  *vk.Stream
	n                  int
	keys, values, left *vk.Buffer[uint32]
	found              *vk.Buffer[uint8]
}

// run does a batch of a kind, Find by FindOn, and returns its longest dispatch.
func (w watchedBatch) run(t *testing.T, kind structures.Kind) vk.Timing {
	if kind == structures.Find {
		l := structures.DeviceLookups{Count: w.n, Keys: w.keys, Values: w.values, Found: w.found}
		require.NoError(t, w.of.FindOn(w.s, l))
		require.NoError(t, w.s.Wait(t.Context()))
	} else {
		b := structures.DeviceBatch{Count: w.n, Keys: w.keys, Values: w.values, Left: w.left}
		require.NoError(t, w.of.UpdateOn(t.Context(), w.s, kind, b))
		require.NoError(t, w.of.Finish(t.Context(), w.s, kind, b))
	}
	all := w.s.Timings()
	require.NotEmpty(t, all)
	return slices.MaxFunc(all, func(a, b vk.Timing) int { return cmp.Compare(a.Duration, b.Duration) })
}

// onStream has the calls of a dictionary on streams.
type onStream struct{ onstream.Calls }

func (o onStream) FindOn(s *vk.Stream, l structures.DeviceLookups) error { return o.On(s).Find(l) }

func (o onStream) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return o.On(s).Update(ctx, kind, b)
}

func (o onStream) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return o.On(s).Finish(ctx, kind, b)
}

// applied does the updates of a structure by Apply, as concurrent operations.
type applied struct{ onStream }

func (a applied) UpdateOn(_ context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.Concurrent(s).Apply(kind, b)
}

// edges are the edges of a graph: from the key of a pair to a few vertices, so that one key is a hub.
type edges struct {
	*graph.Graph
	to *vk.Buffer[uint32]
}

func (e edges) batch(b structures.DeviceBatch) graph.DeviceBatch {
	return graph.DeviceBatch{Count: b.Count, From: b.Keys, To: e.to, Left: b.Left}
}

func (e edges) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return e.Graph.On(s).Update(ctx, kind, e.batch(b))
}

func (e edges) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return e.Graph.On(s).Finish(ctx, kind, e.batch(b))
}

func (e edges) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	return e.Graph.On(s).Find(graph.DeviceLookups{Count: l.Count, From: l.Keys, To: e.to, Found: l.Found})
}

var (
	updates = []structures.Kind{structures.Insert, structures.Find, structures.InsertAdd, structures.Delete}
	kinds   = []structures.Kind{structures.Insert, structures.Find, structures.Delete}
)

// watched lists the structures, and the kinds of batches that each does.
var watched = map[string]func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind){
	"slab hash": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Capacity: pipeline.NewPool(d).Chunk()})
		return onStream{onstream.Of(closing(t, m, err))}, updates
	},
	"tree": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
		return onStream{onstream.Of(closing(t, m, err))}, updates
	},
	"tree, concurrent": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
		return applied{onStream{onstream.Of(closing(t, m, err))}}, updates
	},
	"tree with snapshots": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
		return onStream{onstream.Of(closing(t, m, err))}, updates
	},
	"LSM": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		m, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{})
		return onStream{onstream.Of(closing(t, m, err))}, updates
	},
	"sorted array": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		m, err := sortedarray.New[uint32, uint32](t.Context(), d, sortedarray.Options{})
		return onStream{onstream.Of(closing(t, m, err))}, updates
	},
	"graph": func(t *testing.T, d *vk.Device) (watchedOn, []structures.Kind) {
		n := pipeline.NewPool(d).Chunk()
		g, err := graph.New(t.Context(), d, graph.Options{Directed: true, SelfLoops: true, Vertices: n})
		to := make([]uint32, n)
		for i := range to {
			to[i] = uint32(i)
		}
		return edges{closing(t, g, err), testdevice.Upload(t, d, to)}, kinds
	},
}

// closing closes a structure at the test's end.
func closing[T interface{ Close() error }](t *testing.T, of T, err error) T {
	require.NoError(t, err, fmt.Sprintf("%T", of))
	t.Cleanup(func() { require.NoError(t, of.Close()) })
	return of
}
