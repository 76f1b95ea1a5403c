// Adds up the sums of the previous kernel's workgroups. A single workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "pagerank.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 partials;
    uvec2 control;
    uint count;        // the number of workgroups
    uint iteration;    // 1: they are the sums of an iteration; 0: of pagerank_begin
    float tolerance;
};

void main() {
    if (plain_load_at(control, RANK_ENOUGH) != 0u) return;
    vec2 sum = vec2(0.0);
    for (uint i = workgroup_lane(); i < count; i += WORKGROUP)
        sum += uintBitsToFloat(plain_load2(address_at(partials, i, 3u)));
    sum = workgroup_total(sum);
    if (workgroup_lane() != 0u) return;
    float_store_at(control, RANK_DANGLING, sum.x);
    if (iteration == 0u) return;
    float_store_at(control, RANK_CHANGE, sum.y);
    plain_store_at(control, RANK_DONE, plain_load_at(control, RANK_DONE) + 1u);
    if (sum.y <= tolerance) plain_store_at(control, RANK_ENOUGH, 1u);
}
