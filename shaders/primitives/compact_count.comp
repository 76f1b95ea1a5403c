// Counts the flags that are set in each chunk of an array.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "length.glsl"
#include "chunk.glsl"

layout(push_constant, std430) uniform Push {
    uvec2 flags;    // one bit per element
    uvec2 counts;   // output: one word per chunk
    Length length;
};

void main() {
    uint n = length_of(length);
    Chunk chunk = chunk_of(n, gl_WorkGroupID.x, gl_NumWorkGroups.x);
    uint end = min(chunk.end * PART, n);
    uint count = 0u;
    for (uint at = chunk.part * PART + 32u * workgroup_lane(); at < end; at += 32u * WORKGROUP) {
        uint word = plain_load(address_at(flags, at / 32u, 2u));
        if (end - at < 32u) word &= (1u << (end - at)) - 1u;
        count += uint(bitCount(word));
    }
    uint total;
    workgroup_before(subgroupAdd(count), total);
    if (gl_SubgroupID == 0u && subgroupElect()) plain_store(address_at(counts, gl_WorkGroupID.x, 2u), total);
}
