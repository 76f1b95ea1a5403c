package recording

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/vk"
)

// Ahead says for which forms of an operation the making of its kernels has begun.
type Ahead struct{ begun atomic.Uint64 }

// Begin begins to make the kernels of form i of an operation, which is below 64, all at the same time. It doesn't
// wait: Spec.Kernel waits for the kernel that it is asked for, and returns the error if that can't be made. So a first
// batch takes as long as its slowest kernel, not as long as all of them. Begin makes nothing if form i was begun
// before, nor for drivers of CPUs, which compile a kernel when it is dispatched.
func (a *Ahead) Begin(k *Kernels, i int, kernels func() Table) {
	form := uint64(1) << i
	if a.begun.Load()&form != 0 || a.begun.Or(form)&form != 0 || k.Err() != nil {
		return
	}
	if k.d.Info().Type == vk.CPU && !aheadOnCPU {
		return
	}
	var forms []Form
	if k.form != nil {
		forms = []Form{k.form()}
	}
	p := &preparation{ctx: context.Background(), d: k.d}
	for _, one := range kernels().distinct(forms) {
		go func() { _ = one.entry.prepare(p, one.spec) }()
	}
}
