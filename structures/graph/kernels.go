package graph

import (
	"slices"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
)

// overPool describes a kernel of shaders/graph over the pool of slabs.
func overPool[P any](module string, own ...recording.Specialization) recording.Spec[P] {
	return recording.OfPool[P]("graph/"+module, workgroup, own...)
}

// walking describes a kernel that goes over whole buckets.
func walking[P any](g *Graph, module string, own ...recording.Specialization) recording.Spec[P] {
	return overPool[P](g.variant(module), own...).With(tile(g.tiles.walk))
}

func tile(lanes int) recording.Specialization { return recording.Constant("TILE", uint32(lanes)) }

// variant returns the name of a kernel's module for graphs with or without weights.
func (g *Graph) variant(kernel string) string {
	return recording.OfColumns(kernel, structures.Bits32, !g.o.Weighted)
}

// shared returns the constant of kernels that free slabs: whether other structures use the pool at the same time.
func (g *Graph) shared() recording.Specialization {
	return recording.Constant("SHARED", word(g.h.Shares))
}

func freshKernel() recording.Spec[freshPush] {
	return recording.Of[freshPush]("graph/fresh", workgroup)
}

func planKernel() recording.Spec[planPush]       { return overPool[planPush]("plan") }
func installKernel() recording.Spec[installPush] { return overPool[installPush]("install") }
func degreesKernel() recording.Spec[degreesPush] { return overPool[degreesPush]("degrees") }

func verticesKernel(deletes bool) recording.Spec[verticesPush] {
	return overPool[verticesPush]("vertices", recording.Constant("DELETES", word(deletes)))
}

// applyKernel describes the kernel of updates of a kind, as Rules.Kind returns it.
func (g *Graph) applyKernel(kind structures.Kind, arcs uint32) recording.Spec[applyPush] {
	return overPool[applyPush](recording.Protocol(g.h.Device, "apply", structures.Bits32, !g.o.Weighted),
		tile(g.tiles.update), recording.Constant("KIND", uint32(kind)), recording.Constant("ARCS", arcs),
		recording.Constant("LOOPS", word(g.o.SelfLoops || !kind.Inserts())))
}

func (g *Graph) findKernel() recording.Spec[findPush] {
	return overPool[findPush](g.variant("find"), tile(g.tiles.find))
}

func (g *Graph) collectKernel() recording.Spec[collectPush] {
	return walking[collectPush](g, "collect")
}
func (g *Graph) moveKernel() recording.Spec[movePush]     { return walking[movePush](g, "move") }
func (g *Graph) surveyKernel() recording.Spec[surveyPush] { return walking[surveyPush](g, "survey") }

func (g *Graph) flushKernel() recording.Spec[bucketsPush] {
	return walking[bucketsPush](g, "flush", g.shared())
}

func (g *Graph) releaseKernel() recording.Spec[releasePush] {
	return overPool[releasePush]("release", tile(g.tiles.walk), g.shared())
}

func (g *Graph) sweepKernel(buries bool) recording.Spec[sweepPush] {
	return walking[sweepPush](g, "sweep", g.shared(), recording.Constant("BURIES", word(buries)))
}

func (g *Graph) checkKernel(phase uint32) recording.Spec[checkPush] {
	return walking[checkPush](g, "check", recording.Constant("PHASE", phase),
		recording.Constant("SYMMETRIC", word(!g.o.Directed)))
}

// The kernels of Build.
func buildDegreesKernel() recording.Spec[buildDegreesPush] {
	return recording.Of[buildDegreesPush]("graph/build_degrees", workgroup)
}
func buildNeedsKernel() recording.Spec[buildNeedsPush] {
	return recording.Of[buildNeedsPush]("graph/build_needs", workgroup)
}
func buildKeysKernel() recording.Spec[buildKeysPush] {
	return recording.Of[buildKeysPush]("graph/build_keys", workgroup)
}
func buildOrderKernel() recording.Spec[buildOrderPush] {
	return recording.Of[buildOrderPush]("graph/build_order", workgroup)
}
func buildRunsKernel() recording.Spec[buildRunsPush] {
	return recording.Of[buildRunsPush]("graph/build_runs", workgroup)
}
func buildExtraKernel() recording.Spec[buildExtraPush] {
	return recording.Of[buildExtraPush]("graph/build_extra", workgroup)
}
func (g *Graph) buildSampleKernel() recording.Spec[buildSamplePush] {
	return recording.Of[buildSamplePush]("graph/build_sample", workgroup, tile(g.tiles.walk))
}
func (g *Graph) buildFillKernel(unique bool) recording.Spec[buildFillPush] {
	return walking[buildFillPush](g, "build_fill", recording.Constant("UNIQUE", word(unique)))
}
func buildEndKernel() recording.Spec[buildEndPush] { return overPool[buildEndPush]("build_end") }

// all lists the kernels that calls on the graph may need, except those of Build.
func (g *Graph) all() recording.Table {
	all := recording.Table{freshKernel(), planKernel(), installKernel(), degreesKernel(), verticesKernel(false),
		verticesKernel(true), g.findKernel(), g.collectKernel(), g.moveKernel(), g.surveyKernel(), g.flushKernel(),
		g.releaseKernel(), g.sweepKernel(false), g.sweepKernel(true), g.applyKernel(structures.Delete, 1)} // repair
	for phase := range uint32(checkPhases) {
		all = append(all, g.checkKernel(phase))
	}
	for kind := structures.Insert; kind <= structures.Delete; kind++ {
		if g.o.rules().Does(kind) {
			all = append(all, g.applyKernel(g.o.rules().Kind(kind), g.arcs()))
		}
	}
	rows := primitives.SegmentedSortArgs{}
	if g.o.Weighted {
		rows.Values = recording.Align
	}
	return slices.Concat(all, sequential.Kernels(structures.Bits64), g.h.Own.BatchKernels(), g.h.Pool.Kernels(),
		recording.KernelsOf[primitives.Operation](g.bulk, primitives.ScanArgs{},
			primitives.ReduceArgs{Sums: structures.Bits64}, rows))
}

func word(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}
