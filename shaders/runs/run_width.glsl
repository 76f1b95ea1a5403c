// Run width: more macros for keys and values, like those of width.glsl, for kernels over runs. For 32 bits they are
// operators and functions of GLSL.
#ifndef VKDS_RUN_WIDTH_GLSL
#define VKDS_RUN_WIDTH_GLSL

#include "width.glsl"

#if VKDS_WIDE
#include "number_subgroup.glsl"

#define key_increase(a, by) a = number_add(a, by)

// One of two constants, depending on a specialization constant. It chooses word by word, because Mesa 25 chooses only
// the first word of a vector correctly.
#define either(condition, a, b) uvec2(condition ? (a).x : (b).x, condition ? (a).y : (b).y)

// The minimum and the maximum over a subgroup. Collective.
#define subgroup_least(a) number_subgroup_min(a)
#define subgroup_greatest(a) number_subgroup_max(a)

#else

#define key_increase(a, by) a += by

#define either(condition, a, b) (condition ? a : b)

#define subgroup_least(a) subgroupMin(a)
#define subgroup_greatest(a) subgroupMax(a)

#endif

#endif
