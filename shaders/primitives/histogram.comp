// Counts keys by a field of their bits: each workgroup in shared memory for its chunk, and then all in memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"

layout(constant_id = 17) const uint BITS = 8;

// If there are few bins, each has several copies, so that lanes with equal keys don't contend for one.
const uint BINS = 1u << BITS;
const uint COPIES = BITS < 7u ? 32u : 4096u >> BITS;

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 target;   // BINS words, 0 before the dispatch
    Length length;
    uint shift;
};

shared uint counts[BINS * COPIES];

// The bits of a key from `shift` on. In keys of 64 bits a field may be in both words.
#if VKDS_KEY_BITS == 64
uint field(K key) {
    uint word = number_bits(key, shift, ~0u);
    return shift - 1u < 31u ? word | key.y << (32u - shift) : word;
}
#else
uint field(K key) { return key >> shift; }
#endif

void main() {
    uint me = workgroup_lane();
    for (uint i = me; i < BINS * COPIES; i += WORKGROUP) counts[i] = 0u;
    barrier();

    uint n = length_of(length);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    uint copy = me & (COPIES - 1u);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 key[QUADS];
        segment_load(keys, segment_of(part), n, KEY_LEAST, key);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint first = segment_of(part) + segment_key(q);
            [[unroll]] for (uint c = 0u; c < QUAD_KEYS; c++) {
                uint at = (field(quad_key(key[q], c)) & (BINS - 1u)) * COPIES + copy;
                if (first + c < n) atomicAdd(counts[at], 1u, gl_ScopeWorkgroup, 0, 0);
            }
        }
    }
    barrier();
    for (uint bin = me; bin < BINS; bin += WORKGROUP) {
        uint sum = 0u;
        for (uint i = 0u; i < COPIES; i++) sum += counts[bin * COPIES + i];
        if (sum != 0u) atomic_add(address_at(target, bin, 2u), sum);
    }
}
