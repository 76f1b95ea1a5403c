package alloc

import (
	"context"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// occupier is the kernel that lays out many slabs at once.
type occupier struct{ kernel *vk.Kernel[occupyPush] }

type occupyPush struct {
	Pool  DevicePool
	Count uint64
}

func (b backstage) Occupy(s *vk.Stream, count uint64) error {
	p := b.pool
	leave, err := p.enter(context.Background())
	if err != nil {
		return err
	}
	defer leave()
	if err := p.d.Accept("stream", s); err != nil {
		return err
	}
	return s.Whole(func() error {
		k, err := p.occupying()
		if err != nil {
			return err
		}
		words := p.blocks() * bitmapWords
		k.Dispatch(s, (words+k.Workgroup()-1)/k.Workgroup(), occupyPush{p.Device(), count})
		return nil
	})
}

// occupying returns the kernel, which is made when it is needed first.
func (p *SlabPool) occupying() (*vk.Kernel[occupyPush], error) {
	if p.occupier.kernel != nil {
		return p.occupier.kernel, nil
	}
	m, err := shaders.Load("alloc/occupy")
	if err != nil {
		return nil, err
	}
	o := vk.KernelOptions{Constants: map[string]uint32{"POOL_SUPER_SHIFT": uint32(p.shift)}}
	p.occupier.kernel, err = vk.NewKernel[occupyPush](p.d, m, o)
	return p.occupier.kernel, err
}

func (o *occupier) free() {
	if o.kernel != nil {
		o.kernel.Free()
		*o = occupier{}
	}
}
