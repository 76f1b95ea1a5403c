// Reads a block of 32 bytes at a random place in each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 blocks;
    uvec2 sums;    // output: for each subgroup, all words that it has read, by exclusive or
    uint within;   // blocks
    uint count;    // reads
};

void main() {
    uint i = invocation_index();
    uint sum = 0u;
    if (i < count) {
        uvec2 block = address_at(blocks, hash_reduce(hash_mix(i), within), 5u);
        uvec4 both = plain_load4(block) ^ plain_load4(address_add(block, 16u));
        sum = both.x ^ both.y ^ both.z ^ both.w;
    }
    sum = subgroupXor(sum);
    // A large dispatch has more invocations than reads.
    if (i < count && gl_SubgroupInvocationID == 0u) plain_store(address_at(sums, i / gl_SubgroupSize, 2u), sum);
}
