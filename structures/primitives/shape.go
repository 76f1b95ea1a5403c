package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// shape is the division of an array among workgroups, in the terms of segment.glsl and chunk.glsl.
type shape struct {
	workgroup int // invocations
	quads     int // units of 16 bytes that an invocation has of a part
	chunks    int // the most chunks, in operations that divide an array into chunks
}

// part returns the number of elements that a workgroup has at a time.
func (s shape) part(w structures.Width) int { return s.workgroup * s.quads * 16 / w.Bytes() }

// chunksOf returns the number of chunks of an array of n elements, at least one.
func (s shape) chunksOf(n int, w structures.Width) int {
	return max(1, min(groups(n, s.part(w)), s.chunks))
}

// states returns the bytes that the states of look_back.glsl take for an array of n elements.
func (s shape) states(n int, w structures.Width) int {
	return 2 * w.Bytes() * max(1, groups(n, s.part(w)))
}

// constant returns QUADS of segment.glsl.
func (s shape) constant() recording.Specialization {
	return recording.Constant("QUADS", uint32(s.quads))
}

// clear records that bytes, a multiple of 4, are set to 0.
func (p *Primitives) clear(s *vk.Stream, target uint64, bytes int) error {
	return recording.Clear(p.kernels, s, target, bytes/4)
}
