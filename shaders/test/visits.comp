// For the watchdog's test: measures how long invocations take to read a slab each, at random places.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "hash.glsl"
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 slabs;
    uvec2 sums;    // one word per invocation
    uint count;    // the number of invocations
    uint mask;     // the number of slabs minus 1; the number is a power of two
};

void main() {
    uint i = invocation_index();
    if (i >= count) return;
    uvec2 slab = address_at(slabs, hash_mix(i) & mask, 7u);
    uvec4 sum = uvec4(0u);
    for (uint q = 0u; q < 8u; q++) sum += plain_load4(address_add(slab, 16u * q));
    plain_store_at(sums, i, sum.x + sum.y + sum.z + sum.w);
}
