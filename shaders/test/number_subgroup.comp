// For test/shader: number_subgroup.glsl, at both widths.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "number_subgroup.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 numbers;   // one number per invocation
    uvec2 answers;   // output, three per invocation: sum, minimum and maximum over its subgroup
    uint count;      // a multiple of the workgroup size
};

void main() {
    if (workgroup_index() * WORKGROUP >= count) return;   // the whole workgroup
    uint i = workgroup_index() * WORKGROUP + workgroup_lane();
    K own = key_load_at(numbers, i);
    key_store_at(answers, 3u * i, number_subgroup_add(own));
    key_store_at(answers, 3u * i + 1u, number_subgroup_min(own));
    key_store_at(answers, 3u * i + 2u, number_subgroup_max(own));
}
