package primitives

import (
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// shape is how an array is laid over workgroups: segment.glsl and chunk.glsl have the words for it.
type shape struct {
	workgroup int // invocations
	quads     int // of 4 words, that each has of a part
	chunks    int // at most, in what goes over an array by chunks
}

// part is how many words a workgroup has at a time.
func (s shape) part() int { return s.workgroup * s.quads * 4 }

// chunksOf is how many chunks an array of n words has, at least one.
func (s shape) chunksOf(n int) int { return max(1, min(groups(n, s.part()), s.chunks)) }

// states is how many bytes the states of look_back.glsl take for an array of n words.
func (s shape) states(n int) int { return 8 * max(1, groups(n, s.part())) }

// clearing is the push constants of clear.comp.
type clearing struct {
	Target uint64
	N      uint32
}

// clear records that bytes, a multiple of 4, become 0.
func (p *Primitives) clear(s *vk.Stream, target uint64, bytes int) error {
	k, err := recording.Kernel[clearing](p.kernels, s, "primitives/clear", 128)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(bytes/4, 128), clearing{target, uint32(bytes / 4)})
	return nil
}
