// For test/shader: each workgroup copies its part of an array, and writes the sum before each quad.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SUM_BITS VKDS_KEY_BITS
#include "../primitives/segment.glsl"
#include "../primitives/workgroup_sum.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 source;
    uvec2 target;
    uvec2 before;   // one sum per quad: of the part's keys before it
    uvec2 totals;   // one sum per part
    uint n;         // the number of keys of source and target
    uint beyond;    // replaces keys from n on, in each of their words
};

void main() {
    uvec4 v[QUADS];
    uint first = segment_of(workgroup_index());
    segment_load(source, first, n, K(beyond), v);
    segment_store(target, first, n, v);
    S quad[QUADS], in_segment[QUADS];
    for (uint q = 0u; q < QUADS; q++) quad[q] = QUAD_SUM(v[q]);
    S sum = segment_scan(quad, in_segment);
    S total;
    S in_part = workgroup_before(sum, total);
    for (uint q = 0u; q < QUADS; q++)
        SUM_STORE(address_at(before, (first + segment_key(q)) / QUAD_KEYS, SUM_SHIFT),
                  number_add(in_part, in_segment[q]));
    if (workgroup_lane() == 0u) SUM_STORE(address_at(totals, workgroup_index(), SUM_SHIFT), total);
}
