package slabs

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

// The kernels of shaders/alloc, specialized for the size of the pool's super blocks.
func (p *Pool) countKernel() recording.Spec[countPush]     { return of[countPush](p, "count") }
func (p *Pool) occupyKernel() recording.Spec[occupyPush]   { return of[occupyPush](p, "occupy") }
func (p *Pool) reclaimKernel() recording.Spec[reclaimPush] { return of[reclaimPush](p, "reclaim") }

func of[P any](p *Pool, module string) recording.Spec[P] {
	return recording.Of[P]("alloc/"+module, 0, recording.OverPool(p.form(false))...)
}

func kernel[P any](p *Pool, of recording.Spec[P]) (*vk.Kernel[P], error) {
	return of.Kernel(recording.NewKernels(p.d), nil)
}

// Kernels lists the kernels of Stats and Occupy. The caller need not have entered.
func (p *Pool) Kernels() recording.Table { return recording.Table{p.countKernel(), p.occupyKernel()} }
