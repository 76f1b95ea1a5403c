// For test/shader: hash.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 inputs;    // an invocation: a word to mix, a hash, what to reduce it to, 0
    uvec2 outputs;   // an invocation: the mix, the reduction
    uint count;
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec4 q = plain_load4(address_at(inputs, i, 4u));
    plain_store2(address_at(outputs, i, 3u), uvec2(hash_mix(q.x), hash_reduce(q.y, q.z)));
}
