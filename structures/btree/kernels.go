package btree

import (
	"slices"

	"github.com/vkds/vkds/internal/engine/fold"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// withoutTree describes a kernel of shaders/btree that uses no tree.
func withoutTree[P any](module string, workgroup int) recording.Spec[P] {
	return recording.Of[P]("btree/"+module, workgroup)
}

// overTree describes a kernel of shaders/btree over trees.
func overTree[P any](module string, tile int, own ...recording.Specialization) recording.Spec[P] {
	return recording.OfPool[P]("btree/"+module, workgroup, own...).With(recording.Constant("TILE", uint32(tile)))
}

// reading returns the name of the module of a kernel that reads leaves. past says that they may have changed since the
// snapshot that is read.
func (t *tree) reading(module string, past bool) string {
	module = t.sized(module)
	if past {
		module += "then"
	}
	return module
}

// keeping returns the name of the module of a kernel that may split leaves. keeps says that a snapshot is open.
func keeping(module string, keeps bool) string {
	if keeps {
		module += "kept"
	}
	return module
}

func (t *tree) findKernel(past bool) recording.Spec[findPush] {
	return overTree[findPush](t.reading("find", past), t.queries.find, t.queries.constant())
}

func (t *tree) neighborKernel(past, upward bool) recording.Spec[neighborPush] {
	return overTree[neighborPush](t.reading("neighbor", past), t.queries.find,
		recording.Constant("UPWARD", word(upward)), t.queries.constant())
}

func (t *tree) countKernel(past bool) recording.Spec[countPush] {
	return overTree[countPush](t.reading("range_count", past), t.queries.walk)
}

func (t *tree) writeKernel(past bool) recording.Spec[writePush] {
	return overTree[writePush](t.reading("range_write", past), t.queries.walk)
}

func (t *tree) windowKernel(past, numbered bool) recording.Spec[windowPush] {
	return overTree[windowPush](t.reading("range_window", past), t.queries.walk,
		recording.Constant("NUMBERED", word(numbered)))
}

func (t *tree) rankKernel(past bool) recording.Spec[rankPush] {
	return overTree[rankPush](t.reading("rank", past), 1)
}

func (t *tree) selectKernel(past bool) recording.Spec[selectPush] {
	return overTree[selectPush](t.reading("select", past), 1)
}

func (t *tree) exportKernel(past, countAlone bool) recording.Spec[exportPush] {
	return overTree[exportPush](t.reading("export", past), t.tiles.walk,
		recording.Constant("COUNT_ALONE", word(countAlone)))
}

func (t *tree) seekKernel() recording.Spec[seekPush] {
	return overTree[seekPush](t.sized("seek"), t.queries.seek)
}

func (t *tree) offsetsKernel() recording.Spec[rangeOffsetsPush] {
	return withoutTree[rangeOffsetsPush]("range_offsets", workgroup)
}

func (t *tree) fetchKernel(w structures.Width) recording.Spec[fetchPush] {
	return withoutTree[fetchPush](recording.OfKeys("fetch", w), min(fetchWorkgroup, t.Device.Info().MaxWorkgroup))
}

func (t *tree) prefixesKernel() recording.Spec[rangePush] {
	return withoutTree[rangePush](t.sized("prefix_range"), min(rangeWorkgroup, t.Device.Info().MaxWorkgroup))
}

// The modules of prefix indices: of a tree that doesn't change, and of one that may.
const (
	indexModule           = "prefix_index"
	concurrentIndexModule = "prefix_index_concurrent"
)

func (t *tree) indexKernel(module string) recording.Spec[indexPush] {
	return overTree[indexPush](t.sized(module), 1)
}

func (t *tree) listKernel(anything bool) recording.Spec[listPush] {
	return overTree[listPush](t.sized("list"), 1, recording.Constant("ANY", word(anything)))
}

func (t *tree) surveyKernel() recording.Spec[surveyPush] {
	return overTree[surveyPush](t.sized("survey"), 1)
}

func (t *tree) nodesKernel() recording.Spec[nodesPush] { return overTree[nodesPush]("nodes", 1) }

func (t *tree) checkKernel(pass uint32) recording.Spec[checkPush] {
	return overTree[checkPush](t.sized("check"), 1, recording.Constant("MARKS", pass))
}

func (t *tree) takeKernel(does taking) recording.Spec[takePush] {
	return overTree[takePush]("take", 1, recording.Constant("FREE", word(does != allocates)),
		recording.Constant("CLEARS", word(does == clears)))
}

func (t *tree) repairPlanKernel() recording.Spec[repairPlanPush] {
	return withoutTree[repairPlanPush]("repair_plan", workgroup)
}

func (t *tree) repairNodesKernel() recording.Spec[repairNodesPush] {
	return overTree[repairNodesPush](t.sized("repair_nodes"), 1)
}

func (t *tree) buildOrderKernel() recording.Spec[buildOrderPush] {
	return withoutTree[buildOrderPush](t.sized("build_order"), min(256, t.Device.Info().MaxWorkgroup))
}

func (t *tree) buildPlanKernel() recording.Spec[buildPlanPush] {
	return withoutTree[buildPlanPush](t.sized("build_plan"), workgroup)
}

func (t *tree) buildNodesKernel() recording.Spec[buildNodesPush] {
	return overTree[buildNodesPush](t.sized("build_nodes"), t.tiles.walk, recording.Constant("SHARED", word(t.Shares)))
}

func (t *tree) locateKernel() recording.Spec[locatePush] {
	return overTree[locatePush](t.sized("locate"), t.queries.seek, t.queries.constant())
}

func (t *tree) applyKernel(kind structures.Kind, keeps bool) recording.Spec[applyPush] {
	return overTree[applyPush](recording.ByLoops(t.Device, keeping(t.protocol("apply"), keeps)), t.tiles.update,
		recording.Constant("KIND", uint32(kind)), recording.Torn(t.Device, "BTREE_TORN"), t.shares(),
		t.queries.constant())
}

// shares returns the constant that says whether other structures may use the tree's pool.
func (t *tree) shares() recording.Specialization {
	return recording.Constant("BTREE_SHARES", word(t.Shares))
}

// mixedKernels describes the kernels for the ordered queries of a batch, and the kernel for its other operations, or
// nil.
func (t *tree) mixedKernels(kind structures.Kind, b operands,
	keeps bool) (queries []recording.Spec[mixedPush], update *recording.Spec[mixedPush]) {
	ofKind := recording.Constant("KIND", uint32(kind))
	beside := func(module string, own ...recording.Specialization) recording.Spec[mixedPush] {
		own = append(own, ofKind, recording.Torn(t.Device, "BTREE_TORN"), t.shares())
		return overTree[mixedPush](module, t.tiles.update, own...)
	}
	updates := func(module string) *recording.Spec[mixedPush] {
		module, own := recording.OfValues(module, kind, t.typeOf(b))
		spec := beside(recording.ByLoops(t.Device, module), own...)
		return &spec
	}
	walk, near := t.sized("mixed_walk"), t.sized("mixed_near")
	if b.moments { // each ordered query sees a moment of its own
		return []recording.Spec[mixedPush]{beside(walk + "clock"), beside(near + "clock")},
			updates(t.sized("mixed_apply") + "clock")
	}
	if b.ordered { // nothing changes the tree meanwhile
		walks := kind == structures.FindRange || kind == structures.CountRange
		if kind == structures.Mixed || walks {
			queries = append(queries, overTree[mixedPush](walk, t.queries.walk, t.queries.constant(), ofKind))
		}
		if kind == structures.Mixed || !walks {
			queries = append(queries, overTree[mixedPush](near, t.queries.find, t.queries.constant(), ofKind))
		}
	}
	if kind == structures.Mixed || !b.ordered {
		update = updates(keeping(t.protocol("mixed_apply"), keeps))
	}
	return queries, update
}

func (t *tree) relinkKernel() recording.Spec[relinkPush] {
	return withoutTree[relinkPush]("version_relink", workgroup)
}

func (t *tree) freeKernel() recording.Spec[freePush] {
	return withoutTree[freePush]("version_free", workgroup)
}

func (t *tree) moreKernel() recording.Spec[morePush] {
	return withoutTree[morePush]("version_more", workgroup)
}

func (t *tree) clockKernel() recording.Spec[clockPush] {
	return withoutTree[clockPush]("clock_begin", workgroup)
}

func (t *tree) keepKernel() recording.Spec[keepPush] {
	tile := min(maxTile, t.Device.SubgroupSize())
	if t.Device.Info().Type == vk.CPU {
		tile = t.tiles.update
	}
	return overTree[keepPush](t.sized("version_keep"), tile)
}

func (t *tree) changedKernel() recording.Spec[changedPush] {
	return overTree[changedPush](t.sized("version_list"), 1)
}

func (t *tree) diffKernel(countAlone bool) recording.Spec[diffPush] {
	return overTree[diffPush](t.sized("version_diff"), t.tiles.walk,
		recording.Constant("COUNT_ALONE", word(countAlone)))
}

func (t *tree) versionCheckKernel(pass uint32) recording.Spec[versionCheckPush] {
	return overTree[versionCheckPush](t.sized("version_check"), 1, recording.Constant("MARKS", pass))
}

func packKernel() recording.Spec[batchPackPush] { return recording.Of[batchPackPush]("runs/pack", 256) }

// all lists the kernels that calls on the tree may need.
func (t *tree) all() recording.Table {
	all := recording.Table{t.seekKernel(), t.offsetsKernel(), t.fetchKernel(t.width),
		t.indexKernel(indexModule), t.indexKernel(concurrentIndexModule), t.listKernel(false),
		t.listKernel(true), t.surveyKernel(), t.nodesKernel(), t.checkKernel(0), t.checkKernel(1),
		t.takeKernel(allocates), t.takeKernel(frees), t.takeKernel(t.old()), t.repairPlanKernel(),
		t.repairNodesKernel(), t.buildOrderKernel(), t.buildPlanKernel(), t.buildNodesKernel(), t.locateKernel(),
		t.relinkKernel(), t.freeKernel(), t.moreKernel(), t.clockKernel(), t.keepKernel(), t.changedKernel(),
		t.diffKernel(true), t.diffKernel(false), t.versionCheckKernel(0), t.versionCheckKernel(1), packKernel()}
	if t.width == structures.Bits64 {
		all = append(all, t.prefixesKernel())
	}
	for _, past := range []bool{false, true} {
		all = append(all, t.findKernel(past), t.neighborKernel(past, false), t.neighborKernel(past, true),
			t.countKernel(past), t.writeKernel(past), t.windowKernel(past, false), t.rankKernel(past),
			t.selectKernel(past), t.exportKernel(past, true), t.exportKernel(past, false))
		if t.Device.Info().Type != vk.CPU { // elsewhere ranges are never in order
			all = append(all, t.windowKernel(past, true), t.fetchKernel(structures.Bits32))
		}
	}
	for kind := range structures.CountRange + 1 { // Mixed is the first
		if kind == structures.Mixed || does(kind) {
			all = append(all, t.concurrentKernels(kind)...)
		}
	}
	return slices.Concat(all, t.stages(), sequential.Kernels(t.width), t.Own.FindKernels(), t.Own.BatchKernels(),
		t.Pool.Kernels(), recording.KernelsOf[primitives.Operation](t.primitives, primitives.ScanArgs{},
			primitives.PartitionArgs{Width: t.width},
			primitives.CompactArgs{Widths: t.widths()},
			primitives.CompactArgs{Widths: t.widths(), Values: recording.Align},
			primitives.SortArgs{Widths: t.widths(), Length: primitives.Length{N: maxBatch}},
			primitives.SortArgs{Widths: t.widths(), Values: recording.Align},
			primitives.SortArgs{Widths: primitives.Widths{Key: t.width}, Values: recording.Align}))
}

// concurrentKernels lists the kernels of concurrent operations of a kind.
func (t *tree) concurrentKernels(kind structures.Kind) (all recording.Table) {
	mixed := func(b operands, keeps bool) {
		queries, update := t.mixedKernels(kind, b, keeps)
		for _, q := range queries {
			all = append(all, q)
		}
		if update != nil {
			all = append(all, *update)
		}
	}
	batches := []operands{{}}
	if kind == structures.Mixed {
		batches = append(batches, operands{plain: true})
	}
	for _, keeps := range []bool{false, true} {
		for _, b := range batches {
			if kind.Ordered() || kind == structures.Mixed {
				ordered := b
				ordered.ordered = true
				mixed(ordered, keeps)
			}
			switch {
			case kind.Ordered():
			case recording.ByType(kind, t.typeOf(b)):
				mixed(b, keeps)
			default:
				all = append(all, t.applyKernel(kind, keeps))
			}
			if kind == structures.Mixed {
				b.ordered, b.moments = true, true
				mixed(b, keeps)
			}
		}
	}
	return all
}

// stages lists the kernels of batches on the batched path.
func (t *tree) stages() (all recording.Table) {
	for _, keeps := range []bool{false, true} {
		r := stager{width: t.width, device: t.Device, shared: t.Shares, shape: t.batchShape(), keeps: keeps}
		all = append(all, stageCount.spec(&r), stageMeet.spec(&r))
		for kind := structures.Mixed; kind <= structures.Delete; kind++ {
			if kind == structures.Mixed || updates(kind) && !kind.UpdatesInPlace() {
				all = append(all, r.always(kind, false)...)
				all = append(all, r.always(kind, true)...)
			}
		}
	}
	for kind := structures.Mixed; kind <= structures.InsertMax; kind++ {
		if kind == structures.Mixed || kind.UpdatesInPlace() {
			all = append(all, fold.Kernels(t.width, kind, t.columns.Values.Type)...)
		}
	}
	return all
}

// always lists the stages of every batch of a kind, with or without statuses.
func (r *stager) always(kind structures.Kind, statuses bool) recording.Table {
	r.batch.How = uint32(kind)
	all := recording.Table{stageBegin.spec(r), stageApplyLeaves.spec(r), stageSumLeaves.spec(r)}
	if statuses {
		all = append(all, stageLocateStatuses.spec(r), packKernel())
	} else {
		all = append(all, stageLocateLeaves.spec(r))
	}
	if !r.shared {
		all = append(all, stageSumFree.spec(r))
	}
	if kind == structures.Delete || kind == structures.Mixed {
		all = append(all, stageUnlink.spec(r))
	}
	if kind != structures.Delete {
		all = append(all, stageMark.spec(r), stageSumMarks.spec(r), stageSplitLeaves.spec(r), stageApplyInner.spec(r),
			stageFinish.spec(r), stageSplitInner.spec(r), stageEnd.spec(r))
	}
	return all
}

// needs lists the kernels that a batch on the batched path may need, without those that sort it, which Sort begins to
// make.
func (r *batchRecorder) needs() recording.Table {
	t, stages, kind := r.t, r.stager, r.b.Kind
	all := recording.Table{t.indexKernel(indexModule)}
	if t.width == structures.Bits64 {
		all = append(all, t.prefixesKernel())
	}
	if r.b.Folds {
		all = append(all, stageMeet.spec(&stages))
		all = append(all, fold.Kernels(t.width, kind, t.columns.Values.Type)...)
		if kind != structures.Mixed {
			kind = structures.Insert // as fold says
		}
	}
	return append(all, stages.always(kind, r.b.Statuses != 0)...)
}
