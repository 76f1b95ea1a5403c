// For the doctor: the words of a buffer of more than 4 GiB.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 base;
    uvec2 answers;   // one word per invocation
    uint count;
    uint writes;     // 1: store, 0: load
};

// The word of invocation i is at base + i * 2^30 bytes.
void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec2 at = address_at(base, FAULT == 0u ? i : i & 3u, 30u);
    if (writes != 0u) plain_store(at, hash_mix(i));
    else plain_store(address_at(answers, i, 2u), plain_load(at));
}
