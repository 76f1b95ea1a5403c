package alloc

import (
	"context"

	"github.com/vkds/vkds/vk"
)

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
		k, err := kernel[occupyPush](p, "occupy")
		if err != nil {
			return err
		}
		words := p.blocks() * bitmapWords
		k.Dispatch(s, (words+k.Workgroup()-1)/k.Workgroup(), occupyPush{p.Device(), count})
		return nil
	})
}
