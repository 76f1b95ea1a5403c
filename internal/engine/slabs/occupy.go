package slabs

import "github.com/vkds/vkds/vk"

type occupyPush struct {
	Pool  PoolDescription
	Count uint64
}

// Occupy records that the first n slabs of the pool become allocated and all others free, whatever they were before.
// The first n slabs are those whose references pool_slab of slab_alloc.glsl returns for 0 to n-1. n is a word in device
// memory, at the address count; if it exceeds the pool's slabs, all of them become allocated. Callers use it after they
// have placed slabs themselves. Errors: those of making a kernel.
func (p *Pool) Occupy(s *vk.Stream, count uint64) error {
	if err := p.d.Accept("stream", s); err != nil {
		return err
	}
	return s.Whole(func() error {
		k, err := kernel(p, p.occupyKernel())
		if err != nil {
			return err
		}
		words := p.blocks() * bitmapWords
		k.Dispatch(s, (words+k.Workgroup()-1)/k.Workgroup(), occupyPush{p.Description(), count})
		return nil
	})
}
