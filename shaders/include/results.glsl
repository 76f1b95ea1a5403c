// Results: one status byte per operation. Neighbouring lanes pack four of them into a word.
//
// The codes are those of structures.Status in Go. A PENDING operation is not done, because the pool was
// full or its visit budget was used up. A later dispatch over the same batch does it.
#ifndef VKDS_RESULTS_GLSL
#define VKDS_RESULTS_GLSL

#include "memory.glsl"

const uint STATUS_PENDING = 0u;
const uint STATUS_INSERTED = 1u;
const uint STATUS_ASSIGNED = 2u;
const uint STATUS_FOUND = 3u;
const uint STATUS_DELETED = 4u;
const uint STATUS_ABSENT = 5u;

// Byte i of an array of bytes whose length is padded to a multiple of 4.
uint byte_load(uvec2 bytes, uint i) {
    return (plain_load(address_add(bytes, i & ~3u)) >> (8u * (i & 3u))) & 0xffu;
}

// Stores every lane's byte at its index i, if i < n. Lanes must have consecutive indices, and the first lane's
// must be a multiple of 4. Padding up to a multiple of 4 is set to 0. Collective over the subgroup.
void byte_store(uvec2 bytes, uint i, uint n, uint value) {
    uint first = gl_SubgroupInvocationID & ~3u;
    uint mine = i < n ? value & 0xffu : 0u;
    uint word = subgroupShuffle(mine, first);
    word |= subgroupShuffle(mine, first + 1u) << 8;
    word |= subgroupShuffle(mine, first + 2u) << 16;
    word |= subgroupShuffle(mine, first + 3u) << 24;
    if ((i & 3u) == 0u && i < n) plain_store(address_add(bytes, i), word);
}

#endif
