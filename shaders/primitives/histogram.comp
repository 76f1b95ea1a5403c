// Counts keys by a field of their bits: in shared memory for a chunk, then added to what the others count.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"

layout(constant_id = 17) const uint BITS = 8;

// Few bins are kept several times over, so that lanes with equal keys don't queue at one.
const uint BINS = 1u << BITS;
const uint COPIES = BITS < 7u ? 32u : 4096u >> BITS;

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 target;   // BINS words, 0 before the dispatch
    Length length;
    uint shift;
};

shared uint counts[BINS * COPIES];

void main() {
    uint me = workgroup_lane();
    for (uint i = me; i < BINS * COPIES; i += WORKGROUP) counts[i] = 0u;
    barrier();

    uint n = length_of(length);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    uint copy = me & (COPIES - 1u);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 key[QUADS];
        segment_load(keys, segment_of(part), n, 0u, key);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uvec4 at = (key[q] >> shift & (BINS - 1u)) * COPIES + copy;
            uint first = segment_of(part) + segment_word(q);
            if (first < n) atomicAdd(counts[at.x], 1u, gl_ScopeWorkgroup, 0, 0);
            if (first + 1u < n) atomicAdd(counts[at.y], 1u, gl_ScopeWorkgroup, 0, 0);
            if (first + 2u < n) atomicAdd(counts[at.z], 1u, gl_ScopeWorkgroup, 0, 0);
            if (first + 3u < n) atomicAdd(counts[at.w], 1u, gl_ScopeWorkgroup, 0, 0);
        }
    }
    barrier();
    for (uint bin = me; bin < BINS; bin += WORKGROUP) {
        uint sum = 0u;
        for (uint i = 0u; i < COPIES; i++) sum += counts[bin * COPIES + i];
        if (sum != 0u) atomic_add(address_at(target, bin, 2u), sum);
    }
}
