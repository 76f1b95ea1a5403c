// Sum: S, the type of what is summed up: uint, or with SUM_BITS defined as 64 before this header uvec2, the low word
// first. And sums over a subgroup; collective over it.
#ifndef VKDS_SUM_GLSL
#define VKDS_SUM_GLSL

#include "memory.glsl"
#include "number.glsl"

#if SUM_BITS == 64
#define S uvec2
const uint SUM_SHIFT = 3u;   // log2 of a sum's bytes
S sum_load(uvec2 a) { return plain_load2(a); }
void sum_store(uvec2 a, S sum) { plain_store2(a, sum); }
#define SUM_ADD(sum, more) sum = number_add(sum, more)

// Each lane's sum with those of the lanes before it. Of the low words, a lane's addition carries where the result is
// less than what it added.
S sum_through(S own) {
    uint low = subgroupInclusiveAdd(own.x);
    return S(low, subgroupInclusiveAdd(own.y + (low < own.x ? 1u : 0u)));
}
S sum_subgroup(S own) { return subgroupShuffle(sum_through(own), gl_SubgroupSize - 1u); }
#else
#define S uint
const uint SUM_SHIFT = 2u;
S sum_load(uvec2 a) { return plain_load(a); }
void sum_store(uvec2 a, S sum) { plain_store(a, sum); }
#define SUM_ADD(sum, more) sum += more
S sum_through(S own) { return subgroupInclusiveAdd(own); }
S sum_subgroup(S own) { return subgroupAdd(own); }
#endif

#endif
