// Finds the most frequent label in a sample of vertices, one for each invocation of a single workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "workgroup.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 labels;
    uvec2 frequent;   // output: a word
    uint vertices;
};

shared uint sampled[WORKGROUP];
shared uint counts[WORKGROUP];

void main() {
    uint me = workgroup_lane();
    // The sample is spread over all vertices. Their number may be anything below 2^32.
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
