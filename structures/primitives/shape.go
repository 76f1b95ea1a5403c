package primitives

import (
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// shape is how an array is laid over workgroups: segment.glsl and chunk.glsl have the words for it.
type shape struct {
	workgroup int // invocations
	quads     int // of 16 bytes, that each has of a part
	chunks    int // at most, in what goes over an array by chunks
}

// part is how many elements a workgroup has at a time.
func (s shape) part(w structures.Width) int { return s.workgroup * s.quads * 16 / w.Bytes() }

// chunksOf is how many chunks an array of n elements has, at least one.
func (s shape) chunksOf(n int, w structures.Width) int {
	return max(1, min(groups(n, s.part(w)), s.chunks))
}

// states is how many bytes the states of look_back.glsl take for an array of n elements.
func (s shape) states(n int, w structures.Width) int {
	return 2 * w.Bytes() * max(1, groups(n, s.part(w)))
}

// constant is QUADS of segment.glsl.
func (s shape) constant() recording.Specialization {
	return recording.Constant("QUADS", uint32(s.quads))
}

// clear records that bytes, a multiple of 4, become 0.
func (p *Primitives) clear(s *vk.Stream, target uint64, bytes int) error {
	return recording.Clear(p.kernels, s, target, bytes/4)
}
