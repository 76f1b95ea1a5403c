// For test/shader: results.glsl. Copies bytes by byte_load and byte_store.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 from;
    uvec2 to;
    uint count;   // the number of bytes
    uint high;    // added to each byte above its 8 bits; must have no effect
};

void main() {
    uint i = invocation_index();
    uint value = ~0u;   // for padding, which must become 0
    if (i < count) value = byte_load(from, i);
    byte_store(to, i, count, value + high);
}
