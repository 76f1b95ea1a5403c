// For test/slabcheck: copies words from anywhere in device memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 from;
    uvec2 to;
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i < count) plain_store(address_at(to, i, 2u), plain_load(address_at(from, i, 2u)));
}
