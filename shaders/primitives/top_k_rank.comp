// Counts, in each chunk, the keys before the k-th one and those that are equal to it, which it finds the last digit of.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "top_k.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 keys;
    uvec2 counts;      // of the last digit
    uvec2 known;       // a TopK: before the last digit
    uvec2 bound;       // a TopK, out: the k-th key itself, and how many of its equals are wanted
    uvec2 less;        // a word a chunk, out
    uvec2 equals;      // the same
    uvec2 taken;       // a word, out: how many keys are wanted, k or all that there are
    uvec2 out_count;   // 0, or the same
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
