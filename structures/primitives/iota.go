package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

type iotaPush struct {
	Indices uint64
	Count   uint32
}

func iotaKernel() recording.Spec[iotaPush] { return recording.Of[iotaPush]("primitives/iota", 256) }

// Iota records the writing of 0, 1, 2, … to n words, for example as indices of elements that are sorted with their
// keys.
//
// Errors: *structures.CountError, ErrNoMemory, vk.ErrClosed.
func (p *Primitives) Iota(s *vk.Stream, out uint64, n int) error {
	if !p.made() {
		return vk.ErrNotOpen
	}
	if err := (Length{N: n}).check(); err != nil || n == 0 {
		return err
	}
	if out == 0 {
		return ErrNoMemory
	}
	return p.whole(s, func() error {
		k, err := iotaKernel().Kernel(p.kernels, s)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(n, k.Workgroup()), iotaPush{out, uint32(n)})
		return nil
	})
}
