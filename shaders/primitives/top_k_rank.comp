// Finds the last digit of the k-th key, and counts in each chunk the keys that are less than it and those equal to it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "top_k.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;      // of the last digit
    uvec2 known;       // a TopK: what was known before the last digit
    uvec2 bound;       // output, a TopK: the k-th key, and the number of keys equal to it that are wanted
    uvec2 less;        // output: one word per chunk
    uvec2 equals;      // output: one word per chunk
    uvec2 taken;       // output: a word, the number of keys that are wanted: k, or all if there are fewer
    uvec2 out_count;   // 0, or output: the same number
    Length length;
    uint k;
    uint flip;
};

void main() {
    uint n = length_of(length), self = gl_WorkGroupID.x;
    TopK at = top_k_next(top_k_load(known), counts, 0u);
    if (self == 0u && workgroup_lane() == 0u) {
        top_k_store(bound, at);
        plain_store(taken, min(k, n));
        if ((out_count.x | out_count.y) != 0u) plain_store(out_count, min(k, n));
    }
    Chunk chunk = chunk_of(n, self, gl_NumWorkGroups.x);
    uint before = 0u, same = 0u, total_less, total_equal;
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 key[QUADS];
        segment_load(keys, segment_of(part), n, KEY_LEAST, key);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uint first = segment_of(part) + segment_key(q);
            before += uint(bitCount(top_k_less(key[q] ^ flip, at.key, first, n)));
            same += uint(bitCount(top_k_equal(key[q] ^ flip, at.key, first, n)));
        }
    }
    workgroup_before(subgroupAdd(before), total_less);
    barrier();
    workgroup_before(subgroupAdd(same), total_equal);
    if (workgroup_lane() == 0u) {
        plain_store_at(less, self, total_less);
        plain_store_at(equals, self, total_equal);
    }
}
