// Chunks: divides an array among the workgroups of a dispatch. Each workgroup goes through its chunk part by part.
//
// One dispatch computes the sum of each chunk, and the next one needs the sums of earlier chunks. There are few chunks,
// so each workgroup adds up those sums itself.
#ifndef VKDS_CHUNK_GLSL
#define VKDS_CHUNK_GLSL

#include "segment.glsl"
#include "workgroup_sum.glsl"

struct Chunk { uint part, end; };   // its first part, and the part after its last one

// A chunk of an array of n keys. The last chunks may have no parts.
Chunk chunk_of(uint n, uint chunk, uint chunks) {
    uint parts = (n + PART - 1u) / PART;
    uint each = (parts + chunks - 1u) / chunks;
    return Chunk(min(chunk * each, parts), min(chunk * each + each, parts));
}

// The sum of sums 0 … count-1. Collective over the workgroup. A barrier must separate it from workgroup_before.
S chunk_sum(uvec2 sums, uint count) {
    S sum = S(0u);
    for (uint i = workgroup_lane(); i < count; i += WORKGROUP)
        SUM_ADD(sum, SUM_LOAD(address_at(sums, i, SUM_SHIFT)));
    S total;
    workgroup_before(SUM_SUBGROUP(sum), total);
    return total;
}

#endif
