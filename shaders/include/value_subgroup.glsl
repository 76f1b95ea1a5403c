// Value subgroup: the sum, minimum and maximum of values (value.glsl), one per lane, and the neutral elements for lanes
// without a value. The functions are collective over the subgroup, and all its lanes get the same result.
#ifndef VKDS_VALUE_SUBGROUP_GLSL
#define VKDS_VALUE_SUBGROUP_GLSL

#include "number_subgroup.glsl"
#include "value.glsl"
#include "width.glsl"

#if VKDS_VALUE_BITS == 64
#define VKDS_SUBGROUP_ADD number_subgroup_add
#define VKDS_SUBGROUP_MIN number_subgroup_min
#define VKDS_SUBGROUP_MAX number_subgroup_max
#else
#define VKDS_SUBGROUP_ADD subgroupAdd
#define VKDS_SUBGROUP_MIN subgroupMin
#define VKDS_SUBGROUP_MAX subgroupMax
#endif

V value_least() { return value_order(V(0u)); }
V value_greatest() { return value_order(V(~0u)); }
V value_subgroup_min(V v) { return value_order(VKDS_SUBGROUP_MIN(value_order(v))); }
V value_subgroup_max(V v) { return value_order(VKDS_SUBGROUP_MAX(value_order(v))); }

#if VKDS_VALUES == VKDS_FLOAT
// The neutral element of addition: -0 for floats, because x + -0 is x for every x.
V value_zero() {
#if VKDS_VALUE_BITS == 64
    return uvec2(VALUE_LOW, 0x7fffffffu);
#else
    return 0x7fffffffu;
#endif
}
// Adds in the order of a butterfly.
V value_subgroup_add(V v) {
    for (uint step = 1u; step < gl_SubgroupSize; step <<= 1)
        v = value_add(v, subgroupShuffle(v, gl_SubgroupInvocationID ^ step));
    return v;
}
#else
V value_zero() { return V(0u); }
V value_subgroup_add(V v) { return VKDS_SUBGROUP_ADD(v); }
#endif

#endif
