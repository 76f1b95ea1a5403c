// Counts the bits that are set, in as many parts as there are sums, so that none of these overflows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 blocks;
    uvec2 sums;   // output: SUMS words, at first 0
    uint count;   // blocks
};

const uint SUMS = 1024u;

void main() {
    uint i = invocation_index();
    uint bits = 0u;
    if (i < count) {
        uvec2 block = address_at(blocks, i, 5u);
        ivec4 set = bitCount(plain_load4(block)) + bitCount(plain_load4(address_add(block, 16u)));
        bits = uint(set.x + set.y + set.z + set.w);
    }
    bits = subgroupAdd(bits);
    if (gl_SubgroupInvocationID == 0u) atomic_add(address_at(sums, i / WORKGROUP % SUMS, 2u), bits);
}
