package runs

import (
	"slices"

	"github.com/vkds/vkds/internal/engine/fold"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
)

// kernels describes the kernels of this package, for keys and values of one width.
type kernels struct {
	find       recording.Spec[findPush]
	findSorted recording.Spec[findSortedPush]
	answer     recording.Spec[answerPush]
	bounds     recording.Spec[boundsPush]
	count      recording.Spec[countPush]
	place      recording.Spec[placePush]
	flags      recording.Spec[flagsPush]
	write      recording.Spec[writePush]
	copy       recording.Spec[copyPush]
	index      recording.Spec[indexPush]
	valid      recording.Spec[validPairsPush]
	rank       recording.Spec[rankPush]
	selects    recording.Spec[selectPush]
	neighbor   [2]recording.Spec[neighborPush] // downward and upward
	merge      [2][2]recording.Spec[mergePush] // by MARKS and SPLITS
	split      recording.Spec[splitPush]
	mark       recording.Spec[markPush]
	without    recording.Spec[withoutPush]
	outcome    recording.Spec[outcomePush]
	pack       recording.Spec[packPush]
	row        recording.Spec[rowPush]
	survey     recording.Spec[validPush]
}

func (q *Queries) describe() (k kernels) {
	module := func(name string) string { return recording.Sized("runs/"+name, q.w) }
	constant := recording.Constant
	each, sorted, m := q.each, q.sorted, q.merging
	k.find = recording.Of[findPush](module("find"), each.workgroup, constant("TILE", each.tile))
	k.findSorted = recording.Of[findSortedPush](module("find_sorted"), sorted.workgroup, constant("TILE", sorted.tile))
	k.answer = recording.Of[answerPush](module("find_answer"), 256)
	k.bounds = recording.Of[boundsPush](module("range_bounds"), each.workgroup, constant("TILE", each.tile))
	k.count = recording.Of[countPush](module("range_count"), rangeWorkgroup)
	k.place = recording.Of[placePush](module("range_place"), rangeWorkgroup)
	k.flags = recording.Of[flagsPush]("runs/range_flags", rangeWorkgroup)
	k.write = recording.Of[writePush](module("range_write"), rangeWorkgroup)
	k.copy = recording.Of[copyPush](module("range_copy"), rangeWorkgroup)
	k.index = recording.Of[indexPush](module("index"), indexWorkgroup)
	k.valid = recording.Of[validPairsPush](module("valid"), rankWorkgroup)
	k.rank = recording.Of[rankPush](module("rank"), rankWorkgroup)
	k.selects = recording.Of[selectPush](module("select"), rankWorkgroup)
	for i := range uint32(2) {
		k.neighbor[i] = recording.Of[neighborPush](module("neighbor"), neighborWorkgroup, constant("UPWARD", i))
		for j := range uint32(2) {
			k.merge[i][j] = recording.Of[mergePush](module("merge"), m.workgroup,
				constant("MERGE_ITEMS", uint32(m.items)), constant("MARKS", i), constant("SPLITS", j))
		}
	}
	k.split = recording.Of[splitPush](recording.OfKeys("primitives/merge_split", q.w), 0)
	k.mark = recording.Of[markPush](module("mark"), markWorkgroup)
	k.without = recording.Of[withoutPush](module("without"), 128)
	k.outcome = recording.Of[outcomePush](module("outcome"), 256)
	k.pack = recording.Of[packPush]("runs/pack", 256)
	k.row = recording.Of[rowPush]("runs/row", 0)
	k.survey = recording.Of[validPush](module("survey"), 128)
	return k
}

// Kernels lists the kernels that queries and updates may need, for values of a type. unique is as in CountArgs.
func (q *Queries) Kernels(of saved.Type, unique bool) recording.Table {
	k := &q.of
	all := recording.Table{k.find, k.findSorted, k.answer, k.bounds, k.index, k.rank, k.selects, k.neighbor[0],
		k.neighbor[1], k.merge[0][0], k.merge[0][1], k.merge[1][0], k.merge[1][1], k.split, k.mark, k.without,
		k.outcome, k.pack, k.row, k.survey}
	if unique {
		all = append(all, k.copy)
	} else {
		all = append(all, k.count, k.place, k.flags, k.write, k.valid)
	}
	for kind := structures.Mixed; kind <= structures.InsertMax; kind++ {
		if kind == structures.Mixed || kind == structures.InsertUnique || kind.UpdatesInPlace() {
			all = append(all, fold.Kernels(q.w, kind, of)...)
		}
	}
	return slices.Concat(all, recording.KernelsOf[primitives.Operation](q.p, primitives.ScanArgs{},
		primitives.SortArgs{Values: recording.Align, Widths: q.numbered()}))
}
