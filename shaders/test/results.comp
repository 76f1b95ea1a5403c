// For test/shader: results.glsl. Copies bytes by byte_load and byte_store.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "results.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 from;
    uvec2 to;
    uint count;   // bytes
    uint high;    // what is added to each above its 8 bits, which must not come through
};

void main() {
    uint i = invocation_index();
    uint value = ~0u;   // of padding, which shall come out as 0
    if (i < count) value = byte_load(from, i);
    byte_store(to, i, count, value + high);
}
