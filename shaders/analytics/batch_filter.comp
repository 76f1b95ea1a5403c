// Enters the edges of a batch into its filter, whose words must be 0 before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "invocation.glsl"
#include "batch_edges.glsl"

layout(push_constant, std430) uniform Push { BatchEdges batch; };

void main() {
    uint i = invocation_index();
    if (i >= batch.count) return;
    uint hash = hash_mix(batch_edge(batch, i));
    atomic_or(filter_word(batch, hash), filter_bit(hash));
}
