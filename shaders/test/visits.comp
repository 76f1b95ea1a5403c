// For the watchdog's test: what a device takes to read slabs that lie anywhere, a slab an invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "hash.glsl"
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;
    uvec2 sums;    // a word an invocation
    uint count;    // of invocations
    uint mask;     // of slabs, a power of two, less one
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec2 slab = address_at(slabs, hash_mix(i) & mask, 7u);
    uvec4 sum = uvec4(0u);
    for (uint q = 0u; q < 8u; q++) sum += plain_load4(address_add(slab, 16u * q));
    plain_store_at(sums, i, sum.x + sum.y + sum.z + sum.w);
}
