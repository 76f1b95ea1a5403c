// Sum: S, the type of what is summed up: uint, or with SUM_BITS defined as 64 before this header uvec2, the low word
// first. And sums over a subgroup; collective over it.
//
// Of words these are macros, as in quad.glsl: by functions in their place scans were 9% slower on an H200
// (docs/benchmarks.md).
#ifndef VKDS_SUM_GLSL
#define VKDS_SUM_GLSL

#include "memory.glsl"
#include "number.glsl"

#if SUM_BITS == 64
#define S uvec2
const uint SUM_SHIFT = 3u;   // log2 of a sum's bytes
#define SUM_LOAD(a) plain_load2(a)
#define SUM_STORE(a, sum) plain_store2(a, sum)
#define SUM_ADD(sum, more) sum = number_add(sum, more)
#define SUM_PLUS(a, b) number_add(a, b)
#define SUM_MINUS(a, b) number_subtract(a, b)
#define SUM_THROUGH(own) sum_through(own)
#define SUM_SUBGROUP(own) subgroupShuffle(sum_through(own), gl_SubgroupSize - 1u)

// Each lane's sum with those of the lanes before it. Of the low words, a lane's addition carries where the result is
// less than what it added.
S sum_through(S own) {
    uint low = subgroupInclusiveAdd(own.x);
    return S(low, subgroupInclusiveAdd(own.y + (low < own.x ? 1u : 0u)));
}
#else
#define S uint
const uint SUM_SHIFT = 2u;
#define SUM_LOAD(a) plain_load(a)
#define SUM_STORE(a, sum) plain_store(a, sum)
#define SUM_ADD(sum, more) sum += more
#define SUM_PLUS(a, b) ((a) + (b))
#define SUM_MINUS(a, b) ((a) - (b))
#define SUM_THROUGH(own) subgroupInclusiveAdd(own)
#define SUM_SUBGROUP(own) subgroupAdd(own)
#endif

#endif
