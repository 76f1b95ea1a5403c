// Frees all slabs of a table that is emptied or discarded, except the base slabs, which are not changed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_compact.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint SHARED = 1;   // 0: the pool has no other users

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uint first;   // the buckets first … first+count-1
    uint count;
};

void main() {
    uint tile = invocation_index() / TILE;
    // Buckets that share slabs have one chain, behind the last one of their group.
    uint bucket = first + tile, place = slab_hash_place(bucket);
    bool mine = tile < count && (!slab_filters(place) || place == 0u);
    uvec2 last = slab_hash_base(hash, bucket);
    if (slab_filters(place)) last = address_at(last, SLAB_OF_ALL, SLAB_SHIFT);
    uint next = SLAB_NULL;
    if (mine) next = plain_load(address_add(last, SLAB_NEXT_AT));
    slab_chain_free(hash.pool, next, SHARED != 0u);
}
