package linearizability

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

const groupKeys = 4

// held are the values of a group's keys, all of which a range may ask for: an update of one of them and what ranges
// list are seen as operations on one object. 0: the key isn't there.
type held [groupKeys]uint64

// rangeOf is an operation on a group: on one of its keys, or (FindRange) on all from there on.
type rangeOf struct {
	kind  structures.Kind
	which int
	value uint64
}

// seen is what it answered; of a range and a find, what there is.
type seen struct {
	status structures.Status
	held   held
}

// stepRange is the sequential group.
func stepRange(state, in, out any) (bool, any) {
	h, o, s := state.(held), in.(rangeOf), out.(seen)
	there := h[o.which] != 0
	switch o.kind {
	case structures.Insert:
		h[o.which] = o.value
		if there {
			return s.status == structures.Assigned, h
		}
		return s.status == structures.Inserted, h
	case structures.Delete:
		h[o.which] = 0
		if there {
			return s.status == structures.Deleted, h
		}
		return s.status == structures.Absent, h
	case structures.Find:
		return s.held[o.which] == h[o.which], h
	}
	want := h
	clear(want[:o.which])
	return s.held == want, h
}

var groupModel = porcupine.Model{
	Init: func() any { return held{} }, Step: stepRange,
	DescribeOperation: func(in, out any) string {
		o, s := in.(rangeOf), out.(seen)
		return fmt.Sprintf("%v(%d, %d) = %v %v", o.kind, o.which, o.value, s.status, s.held)
	},
}

// The model takes what was there before or behind an update, and nothing of both.
func TestGroupModel(t *testing.T) {
	insert := func(which int) porcupine.Operation {
		return porcupine.Operation{Input: rangeOf{structures.Insert, which, 7},
			Output: seen{status: structures.Inserted}, Call: 0, Return: 1}
	}
	sees := func(h held) porcupine.Operation {
		return porcupine.Operation{Input: rangeOf{kind: structures.FindRange}, Output: seen{held: h}, Return: 1}
	}
	for _, c := range []struct {
		sights []held
		right  bool
	}{
		{[]held{{}, {7}, {7, 7}}, true}, {[]held{{}, {0, 7}}, true}, {[]held{{7}, {0, 7}}, false}, {[]held{{8}}, false},
	} {
		history := []porcupine.Operation{insert(0), insert(1)}
		for _, h := range c.sights {
			history = append(history, sees(h))
		}
		require.Equal(t, c.right, porcupine.CheckOperations(groupModel, history), "%v", c.sights)
	}
}

// openVersioned opens a tree with snapshots.
func openVersioned[W structures.Word](r *rig) tree {
	tree, err := btree.New[W, W](r.Context(), r.d, btree.Options{Tile: r.width})
	require.NoError(r, err)
	return treeOf[W]{tree}
}

// Groups of neighbouring keys that are inserted and deleted while ranges list them, by mixed batches on two streams at
// a time, among as many other keys as it takes to split the leaves: of each group, updates and ranges are those of some
// sequential order, whether ranges see what was there before their batch or moments of their own. CPU drivers do one
// dispatch after the other; that more of them than one are not beside each other, as they might be elsewhere,
// TestMixedBatchesOnStreams of package snapshots finds.
func TestRangesAreMoments(t *testing.T) {
	const groups, perGroup, others, dispatches, streams = 40, 5, 300, 3, 2
	each(t, protocols[:3], func(r *rig) {
		open := openVersioned[uint32]
		if r.wide {
			open = openVersioned[uint64]
		}
		of := &treeRig{*r, open(r)}
		defer func() { require.NoError(r, of.tree.Close()) }()
		r.rounds(func(seed uint64) {
			rng := rand.New(rand.NewPCG(seed, 7))
			require.NoError(r, of.tree.Clear(r.Context()))
			history := make([][]porcupine.Operation, groups)
			for phase := range int64(dispatches) {
				var batches []*groupBatch
				for range streams {
					b := of.groupBatch(rng, groups, perGroup, others)
					b.on.OwnMoments = seed%2 == 1
					batches = append(batches, b)
					require.NoError(r, of.tree.On(b.s).Apply(structures.Mixed, b.on))
					_, err := b.s.Submit()
					require.NoError(r, err)
				}
				for _, b := range batches {
					require.NoError(r, of.tree.On(b.s).Finish(r.Context(), structures.Mixed, b.on))
				}
				for _, b := range batches {
					of.answers(b, phase, history)
				}
			}
			require.NoError(r, of.tree.Inspect().Check(r.Context()))
			r.checkGroups(seed, history)
		})
	})
}

// groupBatch is a batch of operations on groups.
type groupBatch struct {
	*batch
	operations []rangeOf
	group      []int // of each operation; -1: another key
	on         structures.DeviceBatch
}

// keyOf is a key of a group, or of many others between them.
func (r *treeRig) keyOf(group, which int) uint64 { return r.key(uint32(group*1000 + which)) }

// groupBatch makes a batch of so many operations a group, half of them ranges, in any order.
func (r *treeRig) groupBatch(rng *rand.Rand, groups, perGroup, others int) *groupBatch {
	b := &groupBatch{}
	for i := range groups * perGroup {
		kinds := []structures.Kind{structures.Insert, structures.Delete, structures.FindRange, structures.FindRange,
			structures.Find}
		b.operations = append(b.operations, rangeOf{kinds[rng.IntN(5)], rng.IntN(groupKeys), 1 + rng.Uint64N(1<<20)})
		b.group = append(b.group, i%groups)
	}
	for range others {
		b.operations = append(b.operations, rangeOf{structures.Insert, groupKeys + rng.IntN(900), 1})
		b.group = append(b.group, -1-rng.IntN(groups))
	}
	rng.Shuffle(len(b.group), func(i, j int) {
		b.operations[i], b.operations[j] = b.operations[j], b.operations[i]
		b.group[i], b.group[j] = b.group[j], b.group[i]
	})
	var all []operation
	highs := make([]uint64, len(b.group))
	for i, o := range b.operations {
		group := b.group[i]
		if group < 0 {
			group = -1 - group
		}
		all = append(all, operation{o.kind, r.keyOf(group, o.which), o.value})
		highs[i] = r.keyOf(group, groupKeys-1)
	}
	b.batch = r.batch(all)
	b.on = b.batch.on
	b.on.Width, b.on.Highs = groupKeys, r.put(highs)
	room := make([]uint64, groupKeys*len(all))
	b.on.OutKeys, b.on.OutValues = r.put(room), r.put(room)
	return b
}

// answers adds what has come of a batch to the groups' histories.
func (r *treeRig) answers(b *groupBatch, phase int64, history [][]porcupine.Operation) {
	outcomes, keys, values := r.outcomes(b.batch), r.get(b.on.OutKeys), r.get(b.on.OutValues)
	for i, o := range b.operations {
		group := b.group[i]
		if group < 0 {
			continue
		}
		s := seen{status: outcomes[i].status}
		require.NotEqual(r, structures.Pending, s.status)
		switch o.kind {
		case structures.Find:
			s.held[o.which] = outcomes[i].value
		case structures.FindRange:
			for j := range int(outcomes[i].value) {
				for which := range groupKeys {
					if keys[groupKeys*i+j] == r.keyOf(group, which) {
						s.held[which] = values[groupKeys*i+j]
					}
				}
			}
		}
		history[group] = append(history[group], porcupine.Operation{Input: o, Output: s, Call: 2 * phase,
			Return: 2*phase + 1})
	}
	r.free(b.batch)
	b.on.Highs.Free()
	b.on.OutKeys.Free()
	b.on.OutValues.Free()
}
