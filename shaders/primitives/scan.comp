// Prefix sums of an array of numbers.
//
// In a single pass, each workgroup has a part, and looks back for the sum of the parts before it. Otherwise it has a
// chunk, and gets the sums of the chunks before it from an earlier dispatch.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SUM_BITS VKDS_KEY_BITS
#include "length.glsl"
#include "chunk.glsl"
#include "look_back.glsl"
#include "summand.glsl"

layout(constant_id = 17) const uint SINGLE_PASS = 0;
layout(constant_id = 19) const uint INCLUSIVE = 0;

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;   // may be the source, unless in a single pass
    uvec2 total;    // 0, or the address for the sum of all numbers
    uvec2 before;   // the sums of the chunks, or the states of the parts
    Length length;
    uint chunks;    // the number of chunks or parts that have a workgroup
};

shared S part_begin;   // the sum of the parts before this one

S sum_of(uint part) {
    S sum = S(0u);
    for (uint s = 0u; s < gl_NumSubgroups; s++) {
        uvec4 v[QUADS];
        summand_load(source, part * PART + s * segment_keys(), length_of(length), S(0u), v);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) SUM_ADD(sum, QUAD_SUM(v[q]));
    }
    return SUM_SUBGROUP(sum);
}

void main() {
    uint group = workgroup_index();
    if (group >= chunks) return;
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, group, chunks);
    if (SINGLE_PASS != 0u) chunk = Chunk(group, min(group + 1u, (n + PART - 1u) / PART));

    S begin = S(0u);
    if (SINGLE_PASS == 0u) begin = chunk_sum(before, group);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 v[QUADS];
        summand_load(source, segment_of(part), n, S(0u), v);
        S quad[QUADS], in_segment[QUADS];
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            QUAD_SUM_UP(v[q]);
            quad[q] = QUAD_LAST(v[q]);
        }
        S segment = segment_scan(quad, in_segment);
        barrier();   // the previous round may still be reading shared memory
        S sum;
        S in_part = workgroup_before(segment, sum);
        if (SINGLE_PASS != 0u) {
            if (gl_SubgroupID == 0u) {
                S looked = look_back(before, part, sum);
                if (gl_SubgroupInvocationID == 0u) part_begin = looked;
            }
            barrier();
            begin = part_begin;
        }
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uvec4 sums = INCLUSIVE != 0u ? v[q] : QUAD_BEHIND(v[q]);
            v[q] = QUAD_ADD(sums, SUM_PLUS(SUM_PLUS(begin, in_part), in_segment[q]));
        }
        segment_store(target, segment_of(part), n, v);
        SUM_ADD(begin, sum);
    }
    // The last chunk or part that has numbers; in an empty array the first one.
    bool ends = chunk.end * PART >= n && (chunk.part < chunk.end || n == 0u && group == 0u);
    if (ends && (total.x | total.y) != 0u && gl_SubgroupID == 0u && subgroupElect()) SUM_STORE(total, begin);
}
