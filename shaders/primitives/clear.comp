// Sets words to 0 before an operation adds to them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 target;
    uint n;
};

void main() {
    uint i = invocation_index();
    if (i < n) plain_store(address_at(target, i, 2u), 0u);
}
