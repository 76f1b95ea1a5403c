package primitives

import (
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

type numberPush struct {
	Numbers uint64
	Count   uint32
}

// Number records the writing of 0, 1, 2, … to n words: the places of elements that are to be sorted with them.
//
// Errors: *structures.CountError, ErrNoMemory, vk.ErrClosed.
func (p *Primitives) Number(s *vk.Stream, out uint64, n int) error {
	if err := (Length{N: n}).check(); err != nil || n == 0 {
		return err
	}
	if out == 0 {
		return ErrNoMemory
	}
	return s.Whole(func() error {
		k, err := recording.Kernel[numberPush](p.kernels, s, "primitives/number", 256)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(n, k.Workgroup()), numberPush{out, uint32(n)})
		return nil
	})
}
