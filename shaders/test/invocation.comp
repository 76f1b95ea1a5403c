// For test/shader: counts how often each index is given to an invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 counts;   // a counter an index, in and out
    uvec2 beyond;   // a counter of indices from count on, in and out
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i < count) atomic_add(address_at(counts, i, 2u), 1u);
    else atomic_add(beyond, 1u);
}
