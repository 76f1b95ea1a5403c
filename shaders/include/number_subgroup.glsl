// Number, over a subgroup: the sum, the minimum and the maximum of numbers of 32 bits and of 64 (number.glsl), one a
// lane. All are collective over the subgroup, and all its lanes get the same.
#ifndef VKDS_NUMBER_SUBGROUP_GLSL
#define VKDS_NUMBER_SUBGROUP_GLSL

#include "memory.glsl"
#include "number.glsl"

uint number_subgroup_add(uint a) { return subgroupAdd(a); }
uint number_subgroup_min(uint a) { return subgroupMin(a); }
uint number_subgroup_max(uint a) { return subgroupMax(a); }

// Modulo 2^64. Where low words are summed up lane by lane, an addition carries if the result is less than what it
// added.
uvec2 number_subgroup_add(uvec2 a) {
    uint low = subgroupInclusiveAdd(a.x);
    uint high = subgroupAdd(a.y + (low < a.x ? 1u : 0u));
    return uvec2(subgroupShuffle(low, gl_SubgroupSize - 1u), high);
}

// The high words decide, and of lanes whose high words are that, the low ones.
uvec2 number_subgroup_min(uvec2 a) {
    uint high = subgroupMin(a.y);
    return uvec2(subgroupMin(a.y == high ? a.x : ~0u), high);
}
uvec2 number_subgroup_max(uvec2 a) {
    uint high = subgroupMax(a.y);
    return uvec2(subgroupMax(a.y == high ? a.x : 0u), high);
}

#endif
