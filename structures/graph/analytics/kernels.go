package analytics

import (
	"slices"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// overArrays describes a kernel that does not read the graph.
func overArrays[P any](kernel string, workgroup int) recording.Spec[P] {
	return recording.Of[P]("analytics/"+kernel, workgroup)
}

// overRows describes a kernel over the rows of the graph, compressed or live. loops is set for a kernel that has
// variants with rolled and unrolled loops.
func overRows[P any](a *Analyzer, kernel string, loops bool, workgroup int,
	own ...recording.Specialization) recording.Spec[P] {
	module := "analytics/" + kernel + ".csr"
	if a.on != nil {
		module = "analytics/" + kernel + ".live"
	}
	if loops {
		module = recording.ByLoops(a.d, module)
	}
	if a.on == nil {
		return recording.Of[P](module, workgroup, own...)
	}
	return recording.OfPool[P](module, workgroup, own...).With(a.weightedConstant())
}

// overEdges describes a kernel that looks edges up in a live graph.
func overEdges[P any](a *Analyzer, kernel string, workgroup int,
	own ...recording.Specialization) recording.Spec[P] {
	find, _, _ := slabhash.Tiles(a.d)
	module := recording.OfColumns("analytics/"+kernel, structures.Bits32, !a.weighted())
	return recording.OfPool[P](module, workgroup, append(own, recording.Constant("TILE", uint32(find)))...)
}

// weightedConstant sets WEIGHTED of shaders/analytics/neighbors_live.glsl.
func (a *Analyzer) weightedConstant() recording.Specialization {
	return recording.Constant("WEIGHTED", word(a.weighted()))
}

// floatsConstant sets FLOATS of shaders/analytics/weights.glsl.
func floatsConstant(floats bool) recording.Specialization {
	return recording.Constant("FLOATS", word(floats))
}

const vendorGoogle = 0x1ae0 // SwiftShader's

// exactMin sets EXACT_MIN of shaders/analytics/traversal.glsl.
func (a *Analyzer) exactMin() recording.Specialization {
	return recording.Constant("EXACT_MIN", word(a.d.Info().VendorID != vendorGoogle))
}

func (a *Analyzer) measureKernel() recording.Spec[traversalPush] {
	return overRows[traversalPush](a, "live_measure", false, largeGroup)
}

// The kernels of a traversal: one to begin it, one for small rounds (one workgroup), and one for large rounds.
func (a *Analyzer) beginKernel() recording.Spec[traversalPush] {
	return overRows[traversalPush](a, "traversal_begin", false, largeGroup)
}

func (a *Analyzer) coresBeginKernel() recording.Spec[traversalPush] {
	return overRows[traversalPush](a, "cores_begin", false, largeGroup)
}

func (a *Analyzer) strongBeginKernel() recording.Spec[traversalPush] {
	return overRows[traversalPush](a, "scc_begin", false, largeGroup)
}

func (a *Analyzer) smallKernel(traversal string, own ...recording.Specialization) recording.Spec[traversalPush] {
	return overRows[traversalPush](a, traversal+".small", true, a.group, append(own, a.exactMin())...)
}

func (a *Analyzer) largeKernel(traversal string, own ...recording.Specialization) recording.Spec[traversalPush] {
	return overRows[traversalPush](a, traversal+".large", true, largeGroup, append(own, a.exactMin())...)
}

func (a *Analyzer) parentsKernel(floats bool) recording.Spec[parentsPush] {
	return overRows[parentsPush](a, "sssp_parents", false, linkGroup, floatsConstant(floats))
}

func (a *Analyzer) sampleKernel() recording.Spec[samplePush] {
	return overRows[samplePush](a, "weight_sample", false, linkGroup)
}

// ssspKernels lists the kernels of SSSP, except the first one.
func (a *Analyzer) ssspKernels() recording.Table {
	var all recording.Table
	for _, floats := range []bool{false, true} {
		if !floats || a.weighted() {
			of := floatsConstant(floats)
			all = append(all, a.smallKernel("sssp", of), a.largeKernel("sssp", of), a.parentsKernel(floats))
		}
	}
	if a.weighted() {
		all = append(all, a.sampleKernel())
	}
	return all
}

// The kernels of components.
func forestKernel() recording.Spec[componentsPush] {
	return overArrays[componentsPush]("components_begin", linkGroup)
}

func compressKernel() recording.Spec[compressPush] {
	return overArrays[compressPush]("components_compress", linkGroup)
}

func frequentKernel() recording.Spec[frequentPush] {
	return overArrays[frequentPush]("components_frequent", linkGroup)
}

func insertKernel() recording.Spec[insertPush] {
	return overArrays[insertPush]("components_insert", linkGroup)
}

func (a *Analyzer) linkKernel() recording.Spec[linkPush] {
	return overRows[linkPush](a, "components_link", false, linkGroup)
}

// The kernels of communities.
func gatherKernel() recording.Spec[gatherPush] {
	return overArrays[gatherPush]("label_gather", linkGroup)
}

func pickKernel() recording.Spec[pickPush] {
	return overArrays[pickPush]("label_pick", linkGroup)
}

// The kernels of PageRank, which reads compressed rows alone.
func classKernel() recording.Spec[classPush] {
	return recording.Of[classPush]("analytics/pagerank_class", rankGroup)
}

func rankBeginKernel() recording.Spec[rankBeginPush] {
	return recording.Of[rankBeginPush]("analytics/pagerank_begin", rankGroup)
}

func (a *Analyzer) rankSumKernel() recording.Spec[rankSumPush] {
	return overArrays[rankSumPush]("pagerank_sum", a.group)
}

// rankKernel describes the kernel of an iteration. short: all rows are short.
func (a *Analyzer) rankKernel(short bool) recording.Spec[rankPush] {
	return recording.Of[rankPush]("analytics/pagerank", rankGroup, recording.Constant("TILE", uint32(a.rankTile())),
		recording.Constant("SHORT", word(short)))
}

// The kernels of triangles.
func orientKernel() recording.Spec[orientPush] {
	return overArrays[orientPush]("orient", triangleGroup)
}

func orientedRowsKernel() recording.Spec[orientedRowsPush] {
	return overArrays[orientedRowsPush]("oriented_rows", triangleGroup)
}

func trianglesKernel() recording.Spec[trianglesPush] {
	return overArrays[trianglesPush]("triangles", triangleGroup)
}

func (a *Analyzer) liveOrientKernel() recording.Spec[traversalPush] {
	return overRows[traversalPush](a, "live_orient", false, largeGroup, a.exactMin())
}

func (a *Analyzer) trianglesEdgesKernel() recording.Spec[triangleEdgesPush] {
	return overEdges[triangleEdgesPush](a, "triangles_edges", triangleGroup)
}

func filterKernel() recording.Spec[batchFilterPush] {
	return overArrays[batchFilterPush]("batch_filter", triangleGroup)
}

func (a *Analyzer) throughRowsKernel() recording.Spec[trianglesRowsPush] {
	return overRows[trianglesRowsPush](a, "triangles_through", false, a.group)
}

func (a *Analyzer) throughEdgesKernel() recording.Spec[trianglesThroughPush] {
	return overEdges[trianglesThroughPush](a, "triangles_through", a.group, a.weightedConstant())
}

// all lists the kernels that calls may need, except those of the live graph itself.
func (a *Analyzer) all() recording.Table {
	all := append(a.ssspKernels(), a.beginKernel(), forestKernel(), compressKernel(), frequentKernel(), a.linkKernel())
	traversals := []string{"bfs"}
	if !a.directed() {
		all = append(append(all, gatherKernel(), pickKernel()),
			recording.KernelsOf[primitives.Operation](a.bulk, primitives.SegmentedSortArgs{})...)
		traversals = append(traversals, "cores")
		all = append(all, a.coresBeginKernel())
	}
	for _, t := range traversals {
		all = append(all, a.smallKernel(t), a.largeKernel(t))
	}
	all = append(all, recording.ClearKernel())
	if a.on != nil {
		all = append(all, a.measureKernel())
	}
	switch {
	case !a.directed():
		return slices.Concat(all, a.pageRankKernels(), a.trianglesKernels())
	case a.on == nil:
		return slices.Concat(all, a.incomingKernels(a.weighted()))
	}
	return slices.Concat(all, newAnalyzer(a.d).incomingKernels(a.weighted()))
}

// incomingKernels lists the kernels of algorithms that need the incoming arcs of rows.
func (a *Analyzer) incomingKernels(weighted bool) recording.Table {
	return slices.Concat(a.pageRankKernels(), rows.TransposeKernels(a.d, weighted),
		recording.Table{a.strongBeginKernel(), a.smallKernel("scc"), a.largeKernel("scc")})
}

func (a *Analyzer) pageRankKernels() recording.Table {
	return append(recording.KernelsOf[primitives.Operation](a.bulk, primitives.HistogramArgs{Bits: classBits},
		primitives.SortArgs{Values: recording.Align, Bits: classBits}),
		classKernel(), rankBeginKernel(), a.rankSumKernel(), a.rankKernel(false), a.rankKernel(true))
}

func (a *Analyzer) trianglesKernels() recording.Table {
	all := append(recording.KernelsOf[primitives.Operation](a.bulk, primitives.ScanArgs{},
		primitives.SortArgs{Widths: batchWidths}), filterKernel())
	if a.on != nil {
		return append(all, a.liveOrientKernel(), a.trianglesEdgesKernel(), a.throughEdgesKernel())
	}
	return slices.Concat(all, recording.KernelsOf[primitives.Operation](a.bulk, primitives.CompactArgs{}),
		recording.Table{orientKernel(),
			orientedRowsKernel(), trianglesKernel(), a.throughRowsKernel()})
}

func word(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

// dispatch records a kernel.
func dispatch[P any](w *workspace, of recording.Spec[P], groups int, push P) error {
	return of.Dispatch(w.kernels, w.s, groups, push)
}

// dispatched tells a kernel which of several dispatches it is in (shaders/analytics/dispatches.glsl).
type dispatched struct{ Dispatch, Dispatches uint32 }

// inDispatches divides workgroups of a kernel into several dispatches, which run concurrently. push returns the push
// constants of each.
func inDispatches[P any](w *workspace, of recording.Spec[P], all, dispatches int, push func(dispatched) P) error {
	k, err := of.Kernel(w.kernels, w.s)
	if err == nil {
		share(w, k, all, dispatches, push)
	}
	return err
}

// shareIndirect is share for numbers of workgroups that the device reads from args, from word at on.
func shareIndirect[P any](w *workspace, k *vk.Kernel[P], args *vk.Buffer[uint32], at, dispatches int,
	push func(dispatched) P) {
	w.s.Concurrent(func() {
		for i := range dispatches {
			k.DispatchIndirect(w.s, args, at, push(dispatched{uint32(i), uint32(dispatches)}))
		}
	})
}

// share records the dispatches of inDispatches.
func share[P any](w *workspace, k *vk.Kernel[P], all, dispatches int, push func(dispatched) P) {
	w.s.Concurrent(func() {
		for i := range dispatches {
			k.Dispatch(w.s, groups(all, dispatches), push(dispatched{uint32(i), uint32(dispatches)}))
		}
	})
}
