// For test/shader: the workgroups of some parts look back, while those of other parts never run.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SUM_BITS VKDS_KEY_BITS
#include "workgroup.glsl"
#include "../primitives/look_back.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 sums;     // one number per part
    uvec2 states;   // two numbers per part, 0 before the dispatch
    uvec2 before;   // output, one number per part: the sum of the parts before
    uint parts;
    uint every;     // only the parts whose number is a multiple of this run
};

S sum_of(uint part) { return SUM_LOAD(address_at(sums, part, SUM_SHIFT)); }

void main() {
    uint part = workgroup_index();
    if (part >= parts || part % every != 0u || gl_SubgroupID != 0u) return;
    S sum = look_back(states, part, sum_of(part));
    if (gl_SubgroupInvocationID == 0u) SUM_STORE(address_at(before, part, SUM_SHIFT), sum);
}
