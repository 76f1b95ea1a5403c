// For test/shader: parts whose workgroups look back, while those of other parts never come.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "workgroup.glsl"
#include "../primitives/look_back.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 sums;     // a word a part
    uvec2 states;   // two words a part, 0 before the dispatch
    uvec2 before;   // a word a part: the sum of those before
    uint parts;
    uint every;     // the parts whose number this divides are there
};

uint sum_of(uint part) { return plain_load(address_at(sums, part, 2u)); }

void main() {
    uint part = workgroup_index();
    if (part >= parts || part % every != 0u || gl_SubgroupID != 0u) return;
    uint sum = look_back(states, part, sum_of(part));
    if (gl_SubgroupInvocationID == 0u) plain_store(address_at(before, part, 2u), sum);
}
