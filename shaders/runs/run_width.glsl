// Run width: more macros for keys and values, for the kernels over runs, like those of width.glsl: at 32 bits they are
// GLSL's own operators and functions.
#ifndef VKDS_RUN_WIDTH_GLSL
#define VKDS_RUN_WIDTH_GLSL

#include "width.glsl"

#if VKDS_WIDE
#include "number_subgroup.glsl"

#define key_increase(a, by) a = number_add(a, by)

// One of two constants, by a specialization constant: word by word, since of vectors Mesa 25 chooses the first word
// alone rightly.
#define either(condition, a, b) uvec2(condition ? (a).x : (b).x, condition ? (a).y : (b).y)

// Over a subgroup, and collective over it.
#define subgroup_least(a) number_subgroup_min(a)
#define subgroup_greatest(a) number_subgroup_max(a)

#else

#define key_increase(a, by) a += by

#define either(condition, a, b) (condition ? a : b)

#define subgroup_least(a) subgroupMin(a)
#define subgroup_greatest(a) subgroupMax(a)

#endif

#endif
