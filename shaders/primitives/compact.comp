// Writes the elements whose flags are set, in their order. compact_count has counted those of each chunk.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "pack.glsl"

layout(constant_id = 17) const uint PAIRS = 0;   // 1: elements have values

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 values;      // as wide as the keys
    uvec2 flags;       // one bit per element
    uvec2 out_keys;
    uvec2 out_values;
    uvec2 out_count;   // 0, or the address for the number of elements written
    uvec2 counts;      // the number of set flags of each chunk
    Length length;
};

// The flags of the quad whose first element has the index `at`.
uint quad_flags(uint at, uint n) {
    if (at >= n) return 0u;
    return pack_below(plain_load(address_at(flags, at / 32u, 2u)) >> (at & 31u) & QUAD_ALL, at, n);
}

void main() {
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    // No more elements can have been written than there are before this chunk. So nothing is written outside of the
    // array, whatever counts say.
    uint end = min(chunk_sum(counts, gl_WorkGroupID.x), chunk.part * PART);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uint first = segment_of(part);
        uint set[QUADS], rank[QUADS];
        [[unroll]] for (uint q = 0u; q < QUADS; q++) set[q] = quad_flags(first + segment_key(q), n);
        uvec4 key[QUADS], value[QUADS];
        segment_load(keys, first, n, KEY_LEAST, key);
        if (PAIRS != 0u) segment_load(values, first, n, KEY_LEAST, value);
        barrier();   // the previous round may still be reading shared memory
        uint count = pack_ranks(set, rank);
        pack_keys(set, rank, key);
        barrier();
        pack_store(out_keys, end, count);
        if (PAIRS != 0u) {
            barrier();
            pack_keys(set, rank, value);
            barrier();
            pack_store(out_values, end, count);
        }
        end += count;
    }
    bool last = gl_WorkGroupID.x == gl_NumWorkGroups.x - 1u;
    if (last && (out_count.x | out_count.y) != 0u && gl_SubgroupID == 0u && subgroupElect())
        plain_store(out_count, end);
}
