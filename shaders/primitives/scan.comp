// Prefix sums of an array of words.
//
// In a single pass each workgroup has a part, and looks back for what the parts before it sum up to. Otherwise it has
// a chunk, and sums says what each chunk sums up to.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"
#include "look_back.glsl"

layout(constant_id = 17) const uint SINGLE_PASS = 0;
layout(constant_id = 19) const uint INCLUSIVE = 0;

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;   // may be source, unless in a single pass
    uvec2 total;    // 0, or where the sum of all goes
    uvec2 before;   // sums of the chunks, or states of the parts
    Length length;
    uint chunks;    // or parts: those that have a workgroup
};

shared uint part_begin;   // the sum of the parts before this one

uint sum_of(uint part) {
    uint sum = 0u;
    for (uint s = 0u; s < gl_NumSubgroups; s++) {
        uvec4 v[QUADS];
        segment_load(source, part * PART + s * segment_words(), length_of(length), 0u, v);
        [[unroll]] for (uint q = 0u; q < QUADS; q++) sum += v[q].x + v[q].y + v[q].z + v[q].w;
    }
    return subgroupAdd(sum);
}

void main() {
    uint group = workgroup_index();
    if (group >= chunks) return;
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, group, chunks);
    if (SINGLE_PASS != 0u) chunk = Chunk(group, min(group + 1u, (n + PART - 1u) / PART));

    uint begin = 0u;
    if (SINGLE_PASS == 0u) begin = chunk_sum(before, group);
    for (uint part = chunk.part; part < chunk.end; part++) {
        uvec4 v[QUADS];
        segment_load(source, segment_of(part), n, 0u, v);
        uint quad[QUADS], in_segment[QUADS];
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            v[q].y += v[q].x;
            v[q].z += v[q].y;
            v[q].w += v[q].z;
            quad[q] = v[q].w;
        }
        uint segment = segment_scan(quad, in_segment);
        barrier();   // for the shared words of the round before
        uint sum;
        uint in_part = workgroup_before(segment, sum);
        if (SINGLE_PASS != 0u) {
            if (gl_SubgroupID == 0u) {
                uint looked = look_back(before, part, sum);
                if (gl_SubgroupInvocationID == 0u) part_begin = looked;
            }
            barrier();
            begin = part_begin;
        }
        [[unroll]] for (uint q = 0u; q < QUADS; q++) {
            uvec4 sums = INCLUSIVE != 0u ? v[q] : uvec4(0u, v[q].xyz);
            v[q] = sums + (begin + in_part + in_segment[q]);
        }
        segment_store(target, segment_of(part), n, v);
        begin += sum;
    }
    // The last chunk, or part, that has something; of an empty array the first.
    bool ends = chunk.end * PART >= n && (chunk.part < chunk.end || n == 0u && group == 0u);
    if (ends && (total.x | total.y) != 0u && gl_SubgroupID == 0u && subgroupElect()) plain_store(total, begin);
}
