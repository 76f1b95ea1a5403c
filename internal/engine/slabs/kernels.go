package slabs

import (
	"sync"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// kernelKey is a module of shaders/alloc and the size of the super blocks that it is specialized for. A device keeps a
// kernel for each key.
type kernelKey struct {
	module string
	shift  int
}

// kept holds a kernel, or nil until the kernel was made.
type kept[P any] struct {
	mu     sync.Mutex
	kernel *vk.Kernel[P]
}

// kernel returns a kernel that all pools of a device share. The first call makes it.
func kernel[P any](p *Pool, module string) (*vk.Kernel[P], error) {
	k := p.d.Attached(kernelKey{module, p.shift}, func() any { return &kept[P]{} }).(*kept[P])
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kernel != nil {
		return k.kernel, nil
	}
	m, err := shaders.Load("alloc/" + module)
	if err != nil {
		return nil, err
	}
	o := vk.KernelOptions{Constants: p.constants(false)}
	k.kernel, err = vk.NewKernel[P](p.d, m, o)
	return k.kernel, err
}
