// For test/shader: a workgroup copies its part of an array, and says what was before each quad of it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../primitives/segment.glsl"
#include "../primitives/workgroup_sum.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;
    uvec2 before;   // a word a quad: the sum of the part's words before it
    uvec2 totals;   // a word a part: the sum of its words
    uint n;         // of source and target
    uint beyond;    // stands for words from n on
};

void main() {
    uvec4 v[QUADS];
    uint first = segment_of(workgroup_index());
    segment_load(source, first, n, beyond, v);
    segment_store(target, first, n, v);
    uint quad[QUADS], in_segment[QUADS];
    for (uint q = 0u; q < QUADS; q++) quad[q] = v[q].x + v[q].y + v[q].z + v[q].w;
    uint sum = segment_scan(quad, in_segment);
    uint total;
    uint in_part = workgroup_before(sum, total);
    for (uint q = 0u; q < QUADS; q++)
        plain_store(address_at(before, (first + segment_word(q)) / 4u, 2u), in_part + in_segment[q]);
    if (workgroup_lane() == 0u) plain_store(address_at(totals, workgroup_index(), 2u), total);
}
