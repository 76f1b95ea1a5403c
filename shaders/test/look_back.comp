// For test/shader: parts whose workgroups look back, while those of other parts never come.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SUM_BITS VKDS_KEY_BITS
#include "workgroup.glsl"
#include "../primitives/look_back.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 sums;     // a number a part
    uvec2 states;   // two of its size a part, 0 before the dispatch
    uvec2 before;   // a number a part: the sum of those before
    uint parts;
    uint every;     // the parts whose number this divides are there
};

S sum_of(uint part) { return SUM_LOAD(address_at(sums, part, SUM_SHIFT)); }

void main() {
    uint part = workgroup_index();
    if (part >= parts || part % every != 0u || gl_SubgroupID != 0u) return;
    S sum = look_back(states, part, sum_of(part));
    if (gl_SubgroupInvocationID == 0u) SUM_STORE(address_at(before, part, SUM_SHIFT), sum);
}
