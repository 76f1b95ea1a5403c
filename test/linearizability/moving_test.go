package linearizability

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

type movingPush struct {
	Tree                         btree.Description
	Operations, Outcomes, Ticket uint64
	Keys, Values                 uint64
	Programs, Length, Rounds     uint32
}

// movingOf is a tree on which kernels take snapshots.
type movingOf[W structures.Word] struct {
	treeOf[W]
	on func(*vk.Stream, btree.Moving, func(btree.Description) error) error
}

func openMoving[W structures.Word](r *rig) movingTree {
	tree, err := btree.New[W, W](r.Context(), r.d, btree.Options{Tile: r.width})
	require.NoError(r, err)
	return movingOf[W]{treeOf[W]{tree}, tree.InShaders().On}
}

type movingTree interface {
	tree
	moving() func(*vk.Stream, btree.Moving, func(btree.Description) error) error
}

func (t movingOf[W]) moving() func(*vk.Stream, btree.Moving, func(btree.Description) error) error {
	return t.on
}

// movingRig is such a tree, with the kernel that does programs of operations on it.
type movingRig struct {
	treeRig
	tree         movingTree
	k            *vk.Kernel[movingPush]
	s            *vk.Stream
	keys, values *vk.Buffer[uint32] // that ranges have found
}

// movingOperation is an operation on a group, or (beside) on another key among its own.
type movingOperation struct {
	rangeOf
	group  int
	beside bool
}

// eachMoving runs a test on an empty tree, at each width of keys and of tiles, or at the narrowest alone. Its programs
// have up to so many operations.
func eachMoving(t *testing.T, narrow bool, operations int, test func(r *movingRig)) {
	each(t, protocols[:3], func(r *rig) {
		if narrow && r.width != 1 || testing.Short() && r.width == 1 {
			return // SwiftShader compiles the kernel for a minute
		}
		r.onceDelayed()
		open, module := openMoving[uint32], "test/btree_clock_program.k32v32"
		if r.wide {
			open, module = openMoving[uint64], "test/btree_clock_program.k64v64"
		}
		tree := open(r)
		defer func() { require.NoError(r, tree.Close()) }()
		m, err := kernels.Load(module)
		require.NoError(r, err)
		constants := tree.InShaders().Constants()
		constants["POOL_LIGHT"] = 0 // it may grow
		k, err := vk.NewKernel[movingPush](r.d, m, vk.KernelOptions{Constants: constants})
		require.NoError(r, err)
		defer k.Free()
		room := make([]uint64, 2*groupKeys*operations)
		keys, values := r.put(room), r.put(room)
		defer keys.Free()
		defer values.Free()
		test(&movingRig{treeRig{*r, tree}, tree, k, testdevice.Stream(r, r.d), keys, values})
	})
}

// words are an operation as shaders/test/btree_clock_program.comp has it.
func (r *movingRig) words(o movingOperation) []uint32 {
	value := o.value
	if o.kind == structures.FindRange {
		value = r.keyOf(o.group, groupKeys-1)
	}
	return operation{o.kind, r.keyOf(o.group, o.which), value}.words()
}

// dispatch has programs of so many operations each done, and returns what comes of them.
func (r *movingRig) dispatch(words []uint32, length int, most btree.Moving) []uint32 {
	in, out, ticket := put(&r.rig, words), put(&r.rig, make([]uint32, len(words))), put(&r.rig, []uint32{0})
	defer in.Free()
	defer out.Free()
	defer ticket.Free()
	programs := len(words) / 8 / length
	require.NoError(r, r.tree.moving()(r.s, most, func(d btree.Description) error {
		r.k.Dispatch(r.s, (programs+r.k.Workgroup()-1)/r.k.Workgroup(), movingPush{d, in.Address(), out.Address(),
			ticket.Address(), r.keys.Address(), r.values.Address(), uint32(programs), uint32(length), mostRounds})
		return nil
	}))
	require.NoError(r, r.s.Wait(r.Context()))
	outcomes := get(&r.rig, out)
	r.requireHeld(words, outcomes)
	return outcomes
}

// requireHeld compares what ranges found when their snapshots were taken and at the program's end.
func (r *movingRig) requireHeld(words, outcomes []uint32) {
	keys, values := r.get(r.keys), r.get(r.values)
	operations := len(words) / 8
	for i := range operations {
		w := outcomes[8*i:][:8]
		if words[8*i] != uint32(structures.FindRange) || w[0] == uint32(structures.Pending) {
			continue
		}
		require.Equal(r, []uint32{w[0], w[4]}, w[6:], "operation %d: status and count at time %d", i, w[1])
		first, count := groupKeys*i, int(w[4])
		second := first + groupKeys*operations
		require.Equal(r, keys[first:][:count], keys[second:][:count], "operation %d: keys at time %d", i, w[1])
		require.Equal(r, values[first:][:count], values[second:][:count], "operation %d: values at time %d", i, w[1])
	}
}

// history adds to the groups' histories what has come of programs.
func (r *movingRig) history(operations []movingOperation, out []uint32, history [][]porcupine.Operation) {
	keys, values := r.get(r.keys), r.get(r.values)
	for i, o := range operations {
		w := out[8*i:]
		s := seen{status: structures.Status(w[0])}
		require.NotEqual(r, structures.Pending, s.status, "what was asked at one snapshot fits")
		if o.beside {
			continue
		}
		value := numbers.From[uint64](w[4:6])[0] & r.ones()
		switch {
		case o.kind == structures.Find && s.status == structures.Found:
			s.held[o.which] = value
		case o.kind == structures.FindRange:
			for j := range int(value) {
				for which := range groupKeys {
					if keys[groupKeys*i+j] == r.keyOf(o.group, which) {
						s.held[which] = values[groupKeys*i+j]
					}
				}
			}
		}
		history[o.group] = append(history[o.group], porcupine.Operation{Input: o.rangeOf, Output: s, Call: int64(w[2]),
			Return: int64(w[3])})
	}
}

// Each invocation does several operations in turn, in one dispatch, by the functions of btree_clock.glsl; ranges list
// a group's keys, as of a snapshot that the kernel takes, while others insert and delete them and split their leaves.
// The tickets taken before and after each say which of the others' operations came wholly before or after.
func TestMovingClock(t *testing.T) {
	const groups, programs, length, others = 24, 256, 6, 3
	kinds := []structures.Kind{structures.Insert, structures.Insert, structures.Delete, structures.FindRange,
		structures.FindRange, structures.Find}
	eachMoving(t, false, programs*length, func(r *movingRig) {
		r.rounds(func(seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 8))
			require.NoError(r, r.tree.Clear(r.Context()))
			require.NoError(r, r.tree.InShaders().Grow(r.Context(), 2*programs*length))
			if seed%2 == 1 { // leaves as kernels without a latch leave them
				r.churn(rng, groups)
			}
			operations := make([]movingOperation, programs*length)
			var words []uint32
			for i := range operations {
				o := rangeOf{kinds[rng.IntN(len(kinds))], rng.IntN(groupKeys), 1 + rng.Uint64N(1<<20)}
				beside := rng.IntN(others) == 0
				if beside {
					o = rangeOf{structures.Insert, groupKeys + rng.IntN(900), 1}
				}
				operations[i] = movingOperation{o, i / length % groups, beside}
				words = append(words, r.words(operations[i])...)
			}
			history := make([][]porcupine.Operation, groups)
			most := btree.Moving{Updates: len(operations), Snapshots: len(operations)}
			r.history(operations, r.dispatch(words, length, most), history)
			require.NoError(r, r.tree.Inspect().Check(r.Context()))
			r.checkGroups(seed, history)
		})
	})
}

// One program changes a leaf and takes snapshots in turn, holds all of them, and asks them again at its end.
func TestHeldSnapshots(t *testing.T) {
	const length = 64
	eachMoving(t, false, length, func(r *movingRig) {
		var words []uint32
		var group [groupKeys]uint64
		want := map[int][]uint64{} // values of the group's keys, by the range that finds them
		for i := range length {
			o := movingOperation{rangeOf: rangeOf{kind: structures.FindRange}}
			if i%2 == 0 {
				o.kind, o.which, o.value = structures.Insert, i/2%groupKeys, uint64(100+i)
				if i%10 == 8 {
					o.kind, o.value = structures.Delete, 0
				}
				group[o.which] = o.value
			}
			words = append(words, r.words(o)...)
			want[i] = slices.DeleteFunc(slices.Clone(group[:]), func(value uint64) bool { return value == 0 })
		}
		out := r.dispatch(words, length, btree.Moving{Updates: length, Snapshots: length})
		values := r.get(r.values)
		for i := 1; i < length; i += 2 {
			require.EqualValues(r, len(want[i]), out[8*i+4], "pairs at snapshot %d, of time %d", i, out[8*i+1])
			require.Equal(r, want[i], values[groupKeys*i:][:len(want[i])], "at snapshot %d, of time %d", i, out[8*i+1])
		}
		require.NoError(r, r.tree.Inspect().Check(r.Context()))
	})
}

// Where there are too few versions, times and slabs, operations are left pending, and nothing is lost: done again and
// again, with as few, all of them get done, whatever ranges ask meanwhile.
func TestMovingWithoutRoom(t *testing.T) {
	const programs, length, versions = 1024, 14, 1500
	eachMoving(t, true, programs*length, func(r *movingRig) {
		rng := rand.New(rand.NewPCG(9, 9))
		var words []uint32
		var keys []uint64
		for i := range programs * length {
			o := movingOperation{rangeOf{structures.Insert, i % 1000, 1}, i / 1000, true}
			if rng.IntN(4) == 0 {
				o.kind = structures.FindRange
			} else {
				keys = append(keys, r.keyOf(o.group, o.which))
			}
			words = append(words, r.words(o)...)
		}
		var left []int
		for last := 0; len(left) == 0 || left[len(left)-1] != 0; {
			out := r.dispatch(words, length, btree.Moving{Updates: versions, Snapshots: 20})
			pending := 0
			for i := range programs * length {
				switch kind := &words[8*i]; {
				case *kind == uint32(structures.Mixed):
				case out[8*i] != uint32(structures.Pending):
					*kind = uint32(structures.Mixed) // it is done
				default:
					pending++
				}
			}
			left = append(left, pending)
			require.Less(r, len(left), 100)
			if pending == last {
				require.NoError(r, r.tree.InShaders().Grow(r.Context(), 500))
			}
			last = pending
		}
		require.NotZero(r, left[0], "there was too little")
		require.NoError(r, r.tree.Inspect().Check(r.Context()))
		_, found, err := r.tree.find(r.Context(), keys)
		require.NoError(r, err)
		require.NotContains(r, found, false)
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
		require.NoError(r, r.tree.On(b.s).Apply(structures.Mixed, b.on))
		require.NoError(r, r.tree.On(b.s).Finish(r.Context(), structures.Mixed, b.on))
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
