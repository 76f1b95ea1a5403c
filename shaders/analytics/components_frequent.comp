// The label that most of some vertices have, one of each invocation of a single workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 labels;
    uvec2 frequent;   // a word, out
    uint vertices;
};

shared uint sampled[WORKGROUP];
shared uint counts[WORKGROUP];

void main() {
    uint me = workgroup_lane();
    // Spread over all vertices, whose number may be any below 2^32.
    uint at = me * (vertices / WORKGROUP) + me * (vertices % WORKGROUP) / WORKGROUP;
    sampled[me] = plain_load_at(labels, min(at, vertices - 1u));
    barrier();
    uint count = 0u;
    for (uint i = 0u; i < WORKGROUP; i++) count += sampled[i] == sampled[me] ? 1u : 0u;
    counts[me] = count;
    barrier();
    if (me != 0u) return;
    uint best = 0u;
    for (uint i = 1u; i < WORKGROUP; i++)
        if (counts[i] > counts[best]) best = i;
    plain_store(frequent, sampled[best]);
}
