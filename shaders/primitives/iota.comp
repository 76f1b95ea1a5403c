// Writes 0, 1, 2, …: the indices of elements before a sort.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 indices;
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i < count) plain_store(address_at(indices, i, 2u), i);
}
