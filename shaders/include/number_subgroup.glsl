// Number subgroup: the sum, minimum and maximum of numbers of 32 and of 64 bits (number.glsl), one per lane. The
// functions are collective over the subgroup, and all its lanes get the same result.
#ifndef VKDS_NUMBER_SUBGROUP_GLSL
#define VKDS_NUMBER_SUBGROUP_GLSL

#include "memory.glsl"
#include "number.glsl"

uint number_subgroup_add(uint a) { return subgroupAdd(a); }
uint number_subgroup_min(uint a) { return subgroupMin(a); }
uint number_subgroup_max(uint a) { return subgroupMax(a); }

// The sum modulo 2^64. In an inclusive sum of the low words over the lanes, the addition of a lane carries if its
// result is less than the lane's low word.
uvec2 number_subgroup_add(uvec2 a) {
    uint low = subgroupInclusiveAdd(a.x);
    uint high = subgroupAdd(a.y + (low < a.x ? 1u : 0u));
    return uvec2(subgroupShuffle(low, gl_SubgroupSize - 1u), high);
}

// Compares the high words first, and then the low words of the lanes with that high word.
uvec2 number_subgroup_min(uvec2 a) {
    uint high = subgroupMin(a.y);
    return uvec2(subgroupMin(a.y == high ? a.x : ~0u), high);
}
uvec2 number_subgroup_max(uvec2 a) {
    uint high = subgroupMax(a.y);
    return uvec2(subgroupMax(a.y == high ? a.x : 0u), high);
}

#endif
