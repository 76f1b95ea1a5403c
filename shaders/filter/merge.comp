// Adds the bits of one filter to another, while nothing else uses them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 blocks;
    uvec2 others;
    uint count;   // blocks of each
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec2 to = address_at(blocks, i, 5u), from = address_at(others, i, 5u);
    for (uint offset = 0u; offset < 32u; offset += 16u) {
        uvec2 at = address_add(to, offset);
        plain_store4(at, plain_load4(at) | plain_load4(address_add(from, offset)));
    }
}
