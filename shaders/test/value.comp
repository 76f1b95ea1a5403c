// For test/shader: value.glsl and float.glsl, at both widths, and value_subgroup.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "key.glsl"
#include "value_subgroup.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 a;         // one value per invocation
    uvec2 b;         // another value per invocation
    uvec2 answers;   // output: ANSWERS per invocation
    uvec2 below;     // output, one word per invocation: whether a is below b
    uint count;      // a multiple of the workgroup size
};

const uint ANSWERS = 9u;

void main() {
    if (workgroup_index() * WORKGROUP >= count) return;   // the whole workgroup
    uint i = workgroup_index() * WORKGROUP + workgroup_lane();
    V x = value_load_at(a, i), y = value_load_at(b, i);
    uint first = i * ANSWERS;
    value_store_at(answers, first, value_add(x, y));
    value_store_at(answers, first + 1u, value_min(x, y));
    value_store_at(answers, first + 2u, value_max(x, y));
    value_store_at(answers, first + 3u, value_subgroup_add(x));
    value_store_at(answers, first + 4u, value_subgroup_min(x));
    value_store_at(answers, first + 5u, value_subgroup_max(x));
    value_store_at(answers, first + 6u, value_zero());
    value_store_at(answers, first + 7u, value_least());
    value_store_at(answers, first + 8u, value_greatest());
    plain_store_near(below, i, value_below(x, y) ? 1u : 0u);
}
