package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// EncodeArgs are the operands of EncodeKeys and DecodeKeys.
type EncodeArgs struct {
	In     uint64 // numbers, or words for DecodeKeys, of the width of their type
	Out    uint64 // the results; may be In
	Length Length
}

type encodePush struct {
	In, Out            uint64
	Length             length
	FlipSet, FlipClear uint64
}

// EncodeKeys records the conversion of keys of a type to the words that calls on device buffers take, as the table of
// structures.Code says. It also converts float values; integer values need no encoding. A word has the width of the
// type: beside numbers of 64 bits, put numbers of 32 bits into their half of a word yourself.
//
// Errors: *structures.CountError, ErrNoMemory, and those of making a kernel.
func EncodeKeys[K structures.Number](p *Primitives, s *vk.Stream, a EncodeArgs) error {
	negative, positive := structures.KeyCode[K]().Flips()
	return p.encode(s, structures.WidthOf[K](), a, negative, positive)
}

// DecodeKeys records the conversion of words back to numbers of a type. Errors: those of EncodeKeys.
func DecodeKeys[K structures.Number](p *Primitives, s *vk.Stream, a EncodeArgs) error {
	negative, positive := structures.KeyCode[K]().Flips()
	return p.encode(s, structures.WidthOf[K](), a, positive, negative) // a positive number's word has the sign bit set
}

func (p *Primitives) encode(s *vk.Stream, w structures.Width, a EncodeArgs, flipSet, flipClear uint64) error {
	if err := a.Length.check(); err != nil || a.Length.N == 0 {
		return err
	}
	if a.In == 0 || a.Out == 0 {
		return ErrNoMemory
	}
	return p.whole(s, func() error {
		k, err := recording.Kernel[encodePush](p.kernels, s, recording.OfKeys("primitives/encode", w), 256)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(a.Length.N, k.Workgroup()), encodePush{
			In: a.In, Out: a.Out, Length: a.Length.device(), FlipSet: flipSet, FlipClear: flipClear,
		})
		return nil
	})
}
