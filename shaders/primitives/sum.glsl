// Sum: the type S of sums, and sums over a subgroup, which are collective over it. S is uint or, if SUM_BITS is defined
// as 64 before this header, uvec2, with the low word first.
//
// The sums of words are macros, as in quad.glsl: with functions instead, scans were 9% slower on an H200.
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

// Each lane's sum with those of the lanes before it. The addition of a lane's low word carries if the result is less
// than that word.
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
