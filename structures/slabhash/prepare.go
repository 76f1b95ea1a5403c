package slabhash

import (
	"context"
	"slices"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
)

func (t *table) Prepare(ctx context.Context) error { return t.Handle.Prepare(ctx, t.all) }

// overPool describes a kernel of shaders/slabhash. module is its name with its variant.
func overPool[P any](t *table, module string, tile int, own ...recording.Specialization) recording.Spec[P] {
	k := recording.OfPool[P]("slabhash/"+module, workgroup, own...).With(recording.Constant("TILE", uint32(tile)))
	if t.o.shared() {
		k = k.With(recording.Constant("SLAB_SHARED", uint32(1)))
	}
	return k
}

func (t *table) findKernel() recording.Spec[findPush] {
	return overPool[findPush](t, t.variant("find"), t.tiles.find)
}

func (t *table) exportKernel() recording.Spec[exportPush] {
	return overPool[exportPush](t, t.variant("export"), t.tiles.walk)
}

func (t *table) collectKernel() recording.Spec[collectPush] {
	return overPool[collectPush](t, recording.Sized("collect", t.width), t.tiles.find)
}

func (t *table) surveyKernel(lengths bool) recording.Spec[surveyPush] {
	return overPool[surveyPush](t, t.variant("survey"), t.tiles.walk,
		recording.Constant("WITH_LENGTHS", uint32(when(lengths, 1))))
}

func (t *table) loadsKernel() recording.Spec[surveyPush] {
	return overPool[surveyPush](t, t.variant("loads"), t.tiles.walk)
}

func (t *table) rehashKernel() recording.Spec[rehashPush] {
	kernel := "rehash"
	if t.o.shared() {
		kernel = "regroup"
	}
	return overPool[rehashPush](t, t.variant(kernel), t.tiles.walk)
}

// flushKernel and releaseKernel free slabs.
func (t *table) flushKernel() recording.Spec[bucketsPush] {
	kernel := "flush"
	if t.o.shared() {
		kernel = "flush_groups"
	}
	return t.freeing(t.variant(kernel))
}

func (t *table) releaseKernel() recording.Spec[bucketsPush] { return t.freeing("release") }

func (t *table) freeing(module string) recording.Spec[bucketsPush] {
	return overPool[bucketsPush](t, module, t.tiles.walk, recording.Constant("SHARED", uint32(when(t.Shares, 1))))
}

// all lists the kernels that calls on the table may need.
func (t *table) all() recording.Table {
	all := recording.Table{t.findKernel(), t.exportKernel(), t.surveyKernel(false), t.surveyKernel(true),
		t.loadsKernel(), t.rehashKernel(), t.flushKernel(), t.releaseKernel()}
	if !t.keys {
		all = append(all, t.collectKernel())
	}
	for kind := structures.Insert; kind <= structures.CountAll; kind++ {
		all = append(all, t.applyKernel(kind, false, false))
	}
	for _, plain := range []bool{false, true} {
		for _, tails := range []bool{false, true} {
			all = append(all, t.applyKernel(structures.Mixed, plain, tails))
		}
	}
	return slices.Concat(all, sequential.Kernels(t.width), t.Own.FindKernels(), t.Own.BatchKernels(),
		t.Pool.Kernels())
}
