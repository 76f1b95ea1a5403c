package linearizability

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/mvbtree"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

type movingPush struct {
	Tree                         btree.Device
	Operations, Outcomes, Ticket uint64
	Keys, Values                 uint64
	Programs, Length, Rounds     uint32
}

// movingOf is a tree on which kernels take snapshots.
type movingOf[W structures.Word] struct {
	treeOf[W]
	on func(*vk.Stream, mvbtree.Moving, func(btree.Device) error) error
}

func openMoving[W structures.Word](r *rig) movingTree {
	tree, err := mvbtree.New[W, W](r.Context(), r.d, mvbtree.Options{Tile: r.width})
	require.NoError(r, err)
	return movingOf[W]{treeOf[W]{tree.Tree}, tree.On}
}

type movingTree interface {
	tree
	moving() func(*vk.Stream, mvbtree.Moving, func(btree.Device) error) error
	Grow(c ctx, nodes int) error
}

func (t movingOf[W]) moving() func(*vk.Stream, mvbtree.Moving, func(btree.Device) error) error {
	return t.on
}

// Each invocation does several operations in turn, in one dispatch, by the functions of btree_clock.glsl; ranges list
// a group's keys, as of a snapshot that the kernel takes, while others insert and delete them and split their leaves.
// The tickets taken before and after each say which of the others' operations came wholly before or after.
func TestMovingClock(t *testing.T) {
	const groups, programs, length, others = 24, 256, 6, 3
	each(t, protocols[:4], func(r *rig) {
		open, module := openMoving[uint32], "test/btree_clock_program.k32v32"
		if r.wide {
			open, module = openMoving[uint64], "test/btree_clock_program.k64v64"
		}
		tree := open(r)
		defer func() { require.NoError(r, tree.Close()) }()
		of := &treeRig{*r, tree}
		m, err := shaders.Load(module)
		require.NoError(r, err)
		k, err := vk.NewKernel[movingPush](r.d, m, vk.KernelOptions{Constants: tree.Constants()})
		require.NoError(r, err)
		defer k.Free()
		s := testdevice.Stream(r, r.d)
		room := make([]uint64, groupKeys*programs*length)
		keys, values := r.put(room), r.put(room)
		defer keys.Free()
		defer values.Free()
		r.rounds(func(seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 8))
			require.NoError(r, tree.Clear(r.Context()))
			require.NoError(r, tree.Grow(r.Context(), 2*programs*length))
			if seed%2 == 1 { // leaves as kernels without a latch leave them
				of.churn(rng, groups)
			}
			operations, group := make([]rangeOf, programs*length), make([]int, programs*length)
			var words []uint32
			kinds := []structures.Kind{structures.Insert, structures.Insert, structures.Delete, structures.FindRange,
				structures.FindRange, structures.Find}
			for i := range operations {
				group[i] = i / length % groups
				o := rangeOf{kinds[rng.IntN(len(kinds))], rng.IntN(groupKeys), 1 + rng.Uint64N(1<<20)}
				if rng.IntN(others) == 0 {
					o, group[i] = rangeOf{structures.Insert, groupKeys + rng.IntN(900), 1}, -1-group[i]
				}
				operations[i] = o
				at, value := max(group[i], -1-group[i]), o.value
				if o.kind == structures.FindRange {
					value = of.keyOf(at, groupKeys-1)
				}
				words = append(words, operation{o.kind, of.keyOf(at, o.which), value}.words()...)
			}
			in, out, ticket := put(r, words), put(r, make([]uint32, len(words))), put(r, []uint32{0})
			n := mvbtree.Moving{Updates: len(operations), Snapshots: len(operations)}
			require.NoError(r, tree.moving()(s, n, func(d btree.Device) error {
				k.Dispatch(s, (programs+k.Workgroup()-1)/k.Workgroup(), movingPush{d, in.Address(), out.Address(),
					ticket.Address(), keys.Address(), values.Address(), programs, length, mostRounds})
				return nil
			}))
			require.NoError(r, s.Wait(r.Context()))
			words = get(r, out)
			in.Free()
			out.Free()
			ticket.Free()
			foundKeys, foundValues := r.get(keys), r.get(values)
			history := make([][]porcupine.Operation, groups)
			for i, o := range operations {
				w := words[8*i:]
				require.NotEqual(r, structures.Pending, structures.Status(w[0]), "what was asked at one snapshot fits")
				if group[i] < 0 {
					continue
				}
				s := seen{status: structures.Status(w[0])}
				value := numbers.From[uint64](w[4:6])[0] & r.ones()
				switch {
				case o.kind == structures.Find && s.status == structures.Found:
					s.held[o.which] = value
				case o.kind == structures.FindRange:
					for j := range int(value) {
						for which := range groupKeys {
							if foundKeys[groupKeys*i+j] == of.keyOf(group[i], which) {
								s.held[which] = foundValues[groupKeys*i+j]
							}
						}
					}
				}
				history[group[i]] = append(history[group[i]], porcupine.Operation{Input: o, Output: s,
					Call: int64(w[2]), Return: int64(w[3])})
			}
			require.NoError(r, tree.Check(r.Context()))
			r.checkGroups(seed, history)
		})
	})
}

// churn inserts and deletes keys beside those of groups by concurrent batches, so that leaves have erased slots, and
// empty ones of several versions.
func (r *treeRig) churn(rng *rand.Rand, groups int) {
	for range 3 {
		var all []operation
		for range 600 {
			kind := []structures.Kind{structures.Insert, structures.Delete}[rng.IntN(2)]
			all = append(all, operation{kind, r.key(uint32(rng.IntN(groups)*1000 + groupKeys + rng.IntN(40))), 1})
		}
		b := r.batch(all)
		require.NoError(r, r.tree.ApplyOn(b.s, structures.Mixed, b.on))
		require.NoError(r, r.tree.Finish(r.Context(), b.s, structures.Mixed, b.on))
		r.free(b)
	}
}

// checkGroups looks for a sequential order of the operations on each group.
func (r *rig) checkGroups(seed uint64, history [][]porcupine.Operation) {
	for group, h := range history {
		if porcupine.CheckOperationsTimeout(groupModel, h, 20*time.Second) != porcupine.Ok {
			slices.SortFunc(h, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
			for _, o := range h {
				r.Logf("%d to %d: %s", o.Call, o.Return, groupModel.DescribeOperation(o.Input, o.Output))
			}
			r.Fatalf("round %d: no sequential order of the operations on group %d has these outcomes", seed, group)
		}
	}
}
