package linearizability

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

var treeMixes = map[string][]structures.Kind{
	"all":    {structures.Insert, structures.InsertUnique, structures.Delete, structures.Find},
	"assign": {structures.Insert, structures.Find},
	"churn":  {structures.InsertUnique, structures.Delete, structures.Find},
	"in place": {structures.Insert, structures.InsertAdd, structures.InsertAdd, structures.InsertMin,
		structures.InsertMax, structures.Delete, structures.Find},
}

// inOrder are the mixes by their names: those without updates in place first, for a tree that once had some takes
// assignments in another way.
func inOrder(mixes map[string][]structures.Kind) []string { return slices.Sorted(maps.Keys(mixes)) }

// orderedMix has queries for order and updates. Of the one key that each is about, it says what a lookup says: whether
// it was there, and its value.
var orderedMix = []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd, structures.Delete,
	structures.Find, structures.FindCeil, structures.FindFloor, structures.FindRange}

// treeRig is a B-link-tree on an open device.
type treeRig struct {
	rig
	tree tree
}

// tree is a btree.Tree of either width.
type tree interface {
	On(*vk.Stream) btree.OnStream
	Clear(ctx) error
	Compact(c ctx, fill float64) error
	Inspect() btree.Inspection
	Close() error
	InShaders() btree.InShaders
	insert(c ctx, keys []uint64) error // as their own values
	find(c ctx, keys []uint64) (values []uint64, found []bool, err error)
}

type treeOf[W structures.Word] struct{ *btree.Tree[W, W] }

func openTree[W structures.Word](r *rig) tree {
	tree, err := btree.New[W, W](r.Context(), r.d, btree.Options{Tile: r.width})
	require.NoError(r, err)
	return treeOf[W]{tree}
}

func word[W structures.Word](n uint64) W { return W(n) }

func (t treeOf[W]) insert(c ctx, keys []uint64) error {
	words := numbers.Each(keys, word[W])
	_, err := t.Insert(c, words, words)
	return err
}

func (t treeOf[W]) find(c ctx, keys []uint64) ([]uint64, []bool, error) {
	values, found, err := t.Find(c, numbers.Each(keys, word[W]))
	return numbers.Each(values, func(v W) uint64 { return uint64(v) }), found, err
}

// eachTree runs a test on an empty tree under each protocol, with narrow and with wide tiles.
func eachTree(t *testing.T, test func(r *treeRig)) {
	each(t, protocols[:4], func(r *rig) {
		r.onceDelayed()
		open := openTree[uint32]
		if r.wide {
			open = openTree[uint64]
		}
		tree := open(r)
		defer func() { require.NoError(r, tree.Close()) }()
		test(&treeRig{*r, tree})
	})
}

// onceDelayed leaves trees of wide keys to one device and one width of tiles, if kernels have delays. All devices have
// the same protocol for them, and so have 32 bits without 64-bit atomics, at each width.
func (r *rig) onceDelayed() {
	if pass.Delayed() && r.wide && (r.width == 1 || !r.d.Has(vk.Int64Atomics)) {
		r.Skip("trees of 32 bits without 64-bit atomics have this protocol; make stress has all widths with delays")
	}
}

// held adds to a history what the tree holds at last, and looks whether it is a tree.
func (r *treeRig) held(history []porcupine.Operation, keys []uint64, end int64) []porcupine.Operation {
	require.NoError(r, r.tree.Inspect().Check(r.Context()))
	values, found, err := r.tree.find(r.Context(), keys)
	require.NoError(r, err)
	for i, key := range keys {
		out := outcome{status: structures.Absent}
		if found[i] {
			out = outcome{status: structures.Found, value: values[i]}
		}
		history = append(history, porcupine.Operation{Input: operation{structures.Find, key, 0}, Output: out, Call: end,
			Return: end + 1})
	}
	return history
}

// history are the operations of a batch that was done, with what came of them.
func (r *treeRig) history(b *batch, on structures.DeviceBatch, phase int64) (history []porcupine.Operation) {
	outcomes := r.outcomes(b)
	var keys, values []uint64
	if on.Width != 0 {
		keys, values = r.get(on.OutKeys), r.get(on.OutValues)
		defer on.OutKeys.Free()
		defer on.OutValues.Free()
	}
	for i, o := range b.operations {
		out := outcomes[i]
		if o.kind.Ordered() {
			out = outcome{status: structures.Absent}
			if outcomes[i].status == structures.Found && keys[i] == o.key {
				out = outcome{status: structures.Found, value: values[i]}
			}
			o = operation{structures.Find, o.key, 0}
		}
		history = append(history, porcupine.Operation{Input: o, Output: out, Call: 2 * phase, Return: 2*phase + 1})
	}
	return history
}

// Few keys, which are inserted and deleted again and again: leaves are split, filled with erased slots and cleaned
// while others look for their keys in them. Operations of one dispatch overlap, as do those of dispatches on two
// streams.
func TestTreeMixedBatches(t *testing.T) {
	const keys, perKey, dispatches, streams = 60, 8, 3, 2
	eachTree(t, func(r *treeRig) {
		names := make([]uint64, keys)
		for i := range names {
			names[i] = r.key([]uint32{uint32(i), ^uint32(i), uint32(i) << 26}[i%3])
		}
		mixes := maps.Clone(treeMixes)
		mixes["ordered"] = orderedMix
		for _, mix := range inOrder(mixes) {
			kinds := mixes[mix]
			r.Run(mix, func(t *testing.T) {
				r := &treeRig{rig{T: t, d: r.d, form: r.form, width: r.width}, r.tree}
				r.rounds(func(seed uint64) {
					rng := rand.New(rand.NewPCG(seed, 4))
					require.NoError(r, r.tree.Clear(r.Context()))
					var history []porcupine.Operation
					for phase := range int64(dispatches) {
						batches := r.spread(rng, kinds, perKey, names, streams)
						on := make([]structures.DeviceBatch, len(batches))
						for i, b := range batches {
							on[i] = structures.DeviceBatch{Count: b.on.Count, Keys: b.on.Keys, Values: b.on.Values,
								Kinds: b.on.Kinds, Status: b.on.Status, Left: b.on.Left}
							if mix == "ordered" {
								on[i].Width, on[i].Highs = 1, b.on.Keys
								room := make([]uint64, b.on.Count)
								on[i].OutKeys, on[i].OutValues = r.put(room), r.put(room)
							}
							require.NoError(r, r.tree.On(b.s).Apply(structures.Mixed, on[i]))
							_, err := b.s.Submit()
							require.NoError(r, err)
						}
						for _, b := range batches {
							require.NoError(r, b.s.Wait(r.Context()))
						}
						for i, b := range batches {
							require.NoError(r, r.tree.On(b.s).Finish(r.Context(), structures.Mixed, on[i]))
							history = append(history, r.history(b, on[i], phase)...)
							r.free(b)
						}
					}
					check(r.T, r.form, r.held(history, names, 2*dispatches))
				})
			})
		}
	})
}

type treeProgramPush struct {
	Tree       btree.Description
	Operations uint64
	Outcomes   uint64
	Ticket     uint64
	Programs   uint32
	Length     uint32
	Rounds     uint32
}

// programs compiles the kernel that does programs of operations on the tree, until the test's end.
func (r *treeRig) programs() (dispatch func(operations, outcomes, ticket uint64, programs, length int)) {
	module := "a32"
	if r.wide {
		module = "k64v64" // by either protocol
	} else if r.d.Has(vk.Int64Atomics) {
		module = "a64"
	}
	m, err := kernels.Load("test/btree_program." + module)
	require.NoError(r, err)
	constants := r.tree.InShaders().Constants()
	constants["BTREE_TORN"] = 1
	k, err := vk.NewKernel[treeProgramPush](r.d, m, vk.KernelOptions{Constants: constants})
	require.NoError(r, err)
	r.Cleanup(k.Free)
	s := testdevice.Stream(r, r.d)
	return func(operations, outcomes, ticket uint64, programs, length int) {
		k.Dispatch(s, (programs+k.Workgroup()-1)/k.Workgroup(), treeProgramPush{
			r.tree.InShaders().Description(), operations, outcomes, ticket, uint32(programs), uint32(length),
			mostRounds,
		})
		require.NoError(r, s.Wait(r.Context()))
	}
}

// Each invocation does several operations in turn, in one dispatch, by the functions of btree.glsl; the tickets that it
// took before and after each say which of the others' operations came wholly before or after.
func TestTreePrograms(t *testing.T) {
	eachTree(t, func(r *treeRig) {
		names := make([]uint64, someKeys+3)
		for i := range names {
			names[i] = r.programKey(i)
		}
		dispatch := r.programs()
		mixes := maps.Clone(treeMixes)
		mixes["ordered"] = []structures.Kind{structures.Insert, structures.InsertUnique, structures.Delete,
			structures.FindCeil, structures.FindFloor}
		for _, mix := range inOrder(mixes) {
			kinds := mixes[mix]
			r.rounds(func(seed uint64) {
				rng := rand.New(rand.NewPCG(seed, 5))
				require.NoError(r, r.tree.Clear(r.Context()))
				history, end := r.runPrograms(rng, kinds, func(operations, outcomes, ticket uint64) {
					dispatch(operations, outcomes, ticket, programs, length)
				})
				check(r.T, r.form, r.held(history, names, end))
			})
		}
	})
}

// Neighbours are asked for, all in one dispatch, with insertions that split the leaves and the root, and deletions of
// what was inserted. None is farther away than the nearest key that is there all the time.
func TestNeighborsWithRootSplits(t *testing.T) {
	const stay, gap, operations = 96, 10, 2048
	eachTree(t, func(r *treeRig) {
		stays := make([]uint64, stay)
		for i := range stays {
			stays[i] = r.key(uint32(i)*gap + gap/2)
		}
		dispatch := r.programs()
		r.rounds(func(seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 6))
			require.NoError(r, r.tree.Clear(r.Context()))
			require.NoError(r, r.tree.insert(r.Context(), stays))
			require.NoError(r, r.tree.Compact(r.Context(), 1)) // the root has few children, and no leaf has room
			words, asked := make([]uint32, 0, 8*operations), make([]uint32, operations)
			for i := range operations {
				kind := []structures.Kind{structures.FindCeil, structures.FindFloor}[rng.IntN(2)]
				n := gap/2 + rng.Uint32N(gap*(stay-1)+1)
				if i/64%8 == 3 && i%4 == 0 {
					if kind = structures.Insert; rng.IntN(8) == 0 {
						kind = structures.Delete
					}
					if n%gap == gap/2 {
						n++
					}
				}
				asked[i] = n
				words = append(words, operation{kind, r.key(n), r.key(n)}.words()...)
			}
			in, out, ticket := put(&r.rig, words), put(&r.rig, make([]uint32, len(words))), put(&r.rig, []uint32{0})
			dispatch(in.Address(), out.Address(), ticket.Address(), operations, 1)
			for i, got := range slices.Collect(slices.Chunk(get(&r.rig, out), 8)) {
				// The value of the pair found is its key.
				kind, key, found := structures.Kind(words[8*i]), r.key(asked[i]), numbers.From[uint64](got[4:6])[0]
				at := (asked[i] + gap/2 - 1) / gap
				require.NotEqual(r, structures.Pending, structures.Status(got[0]))
				if kind == structures.FindCeil && (found < key || found > stays[at]) {
					r.Fatalf("round %d: the least key from %#x on is %#x, and %#x is there all the time", seed, key,
						found, stays[at])
				}
				if at = (asked[i] - gap/2) / gap; kind == structures.FindFloor && (found > key || found < stays[at]) {
					r.Fatalf("round %d: the greatest key up to %#x is %#x, and %#x is there all the time", seed, key,
						found, stays[at])
				}
			}
			in.Free()
			out.Free()
			ticket.Free()
			require.NoError(r, r.tree.Inspect().Check(r.Context()))
		})
	})
}
