// Bitmap: one bit for each element of a workgroup, collected in shared memory.
//
// Subgroups may be smaller than 32 lanes, so several subgroups may share a word.
#ifndef VKDS_BITMAP_GLSL
#define VKDS_BITMAP_GLSL

#include "workgroup.glsl"

// Before this header, define BITMAP_BITS as the number of bits of a workgroup, a multiple of 32.
shared uint bitmap_words[BITMAP_BITS / 32u];

// Clears all bits. Collective over the workgroup. A barrier must follow before bits are set.
void bitmap_clear() {
    for (uint i = workgroup_lane(); i < BITMAP_BITS / 32u; i += WORKGROUP) bitmap_words[i] = 0u;
}

void bitmap_set(uint i) { atomicOr(bitmap_words[i >> 5], 1u << (i & 31u)); }

// Sets each lane's bit i if the condition holds. The lanes of a subgroup must have consecutive bits, and the first
// lane's must be a multiple of the subgroup size. Collective over the subgroup.
void bitmap_set_all(uint i, bool condition) {
    uvec4 ballot = subgroupBallot(condition);
    uint lane = gl_SubgroupInvocationID;
    uint word = lane < 32u ? ballot.x : lane < 64u ? ballot.y : lane < 96u ? ballot.z : ballot.w;
    if ((lane & 31u) == 0u) atomicOr(bitmap_words[i >> 5], word << (i & 31u));
}

// Writes the words of the first n bits to memory, from `at` on. Collective over the workgroup. A barrier must come
// before, after bits were set.
void bitmap_store(uvec2 at, uint n) {
    for (uint i = workgroup_lane(); i < (n + 31u) / 32u; i += WORKGROUP)
        plain_store(address_at(at, i, 2u), bitmap_words[i]);
}

#endif
