// Bitmap: one bit for each element that a workgroup has, collected in shared memory.
//
// Subgroups may be smaller than 32 lanes, so several subgroups may have parts of one word.
#ifndef VKDS_BITMAP_GLSL
#define VKDS_BITMAP_GLSL

#include "workgroup.glsl"

// Define BITMAP_BITS as how many bits a workgroup has, a multiple of 32, before this header.
shared uint bitmap_words[BITMAP_BITS / 32u];

// All bits to 0. Collective over the workgroup; between this and bits that are set lies a barrier.
void bitmap_clear() {
    for (uint i = workgroup_lane(); i < BITMAP_BITS / 32u; i += WORKGROUP) bitmap_words[i] = 0u;
}

// Sets bit i.
void bitmap_set(uint i) { atomicOr(bitmap_words[i >> 5], 1u << (i & 31u)); }

// Sets each lane's bit i where the condition holds; lanes of a subgroup have consecutive bits, the first lane's a
// multiple of the subgroup's size. Collective over the subgroup.
void bitmap_set_all(uint i, bool condition) {
    uvec4 ballot = subgroupBallot(condition);
    uint lane = gl_SubgroupInvocationID;
    uint word = lane < 32u ? ballot.x : lane < 64u ? ballot.y : lane < 96u ? ballot.z : ballot.w;
    if ((lane & 31u) == 0u) atomicOr(bitmap_words[i >> 5], word << (i & 31u));
}

// Writes the words of the first n bits; `at` is the workgroup's first word in memory. Collective over the workgroup;
// between bits that are set and this lies a barrier.
void bitmap_store(uvec2 at, uint n) {
    for (uint i = workgroup_lane(); i < (n + 31u) / 32u; i += WORKGROUP)
        plain_store(address_at(at, i, 2u), bitmap_words[i]);
}

#endif
