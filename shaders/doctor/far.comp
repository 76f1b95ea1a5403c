// For the doctor: words of one buffer that lie 4 GiB apart.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "litmus.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 base;
    uvec2 answers;   // a word an invocation
    uint count;
    uint writes;     // 1: store, 0: load
};

// Invocation i's word stands at base + i * 2^30 bytes.
void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec2 at = address_at(base, FAULT == 0u ? i : i & 3u, 30u);
    if (writes != 0u) plain_store(at, hash_mix(i));
    else plain_store(address_at(answers, i, 2u), plain_load(at));
}
