// For test/shader: counts how many invocations have each index.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 counts;   // input and output: one counter per index
    uvec2 beyond;   // input and output: a counter of indices from `count` on
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i < count) atomic_add(address_at(counts, i, 2u), 1u);
    else atomic_add(beyond, 1u);
}
