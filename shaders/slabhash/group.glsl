// Group: what the kernels share that write whole groups of buckets (slab_shared.glsl).
#ifndef VKDS_GROUP_GLSL
#define VKDS_GROUP_GLSL

#include "slab_shared.glsl"

// Clears a key's bits in the slabs of its group before a place. `group` is the group's first slab, and `own` the place
// of the key's own slab (slab_shared.glsl).
void group_pass_to(uvec2 group, uint own, uint place, K key) {
    uint of_four = slab_next_place(own);
    if (place >= SLAB_OF_FOUR) slab_filter_pass(address_at(group, own, SLAB_SHIFT), own, key);
    if (place >= SLAB_OF_ALL) slab_filter_pass(address_at(group, of_four, SLAB_SHIFT), of_four, key);
}

#endif
