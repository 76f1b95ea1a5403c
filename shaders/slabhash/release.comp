// Frees all slabs of a table that is emptied or discarded, except the base slabs, which are not changed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_compact.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uint first;   // the lists first … first+count-1
    uint count;
};

void main() {
    uint tile = invocation_index() / TILE;
    uint list = first + tile, last = SLAB_SHARED != 0u ? list * SLAB_GROUP_SLABS + SLAB_OF_ALL : list;
    uint next = SLAB_NULL;
    if (tile < count) next = plain_load(address_add(address_at(hash.base, last, SLAB_SHIFT), SLAB_NEXT_AT));
    slab_chain_free(hash.pool, next, SHARED != 0u);
}
