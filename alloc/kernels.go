package alloc

import (
	"sync"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// kernelKey is a module of shaders/alloc for super blocks of some size: what a device keeps its kernel under.
type kernelKey struct {
	module string
	shift  int
}

// kept is a kernel; nil until it could be made.
type kept[P any] struct {
	mu     sync.Mutex
	kernel *vk.Kernel[P]
}

// kernel returns a kernel that pools of a device share, and that is made when it is needed first.
func kernel[P any](p *SlabPool, module string) (*vk.Kernel[P], error) {
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
