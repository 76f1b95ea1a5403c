// For the doctor: more workgroups than one row of a dispatch may have.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 runs;    // a word a workgroup, 0 before: how often its first lane came by
    uint count;    // workgroups
};

void main() {
    uint group = invocation_index() / WORKGROUP;
    uint counted = FAULT == 0u ? group : group & 0xffffu;
    if (group < count && gl_SubgroupID == 0u && gl_SubgroupInvocationID == 0u)
        atomic_add(address_at(runs, counted, 2u), 1u);
}
