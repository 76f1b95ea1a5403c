// Writes all pairs (of a set: keys) of a range of buckets, in no order, in a read-only phase of the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 keys;      // one per pair
    uvec2 values;    // one per pair; not for sets
    uvec2 written;   // counts all pairs, also those that don't fit into the output
    uint first;      // the buckets first … first+count-1
    uint count;
    uint capacity;   // the number of pairs that fit into the output
};

void main() {
    uint tile = invocation_index() / TILE;
    uint bucket = first + tile;
    SlabWalk walk = slab_hash_walk(hash, bucket, tile < count);
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(hash.pool, walk);
        uint mask = reads ? slab_live_mask(node) : 0u;
        uint here = uint(bitCount(mask));
        uint to = subgroupExclusiveAdd(here);
        uint total = subgroupAdd(here);
        uint start = 0u;
        if (total != 0u && subgroupElect()) start = atomic_add(written, total);
        to += subgroupBroadcastFirst(start);
        [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((mask >> m) & 1u) != 0u) {
                if (to < capacity) {
                    VKDS_STORE(address_at(keys, to, VKDS_SHIFT),
                               slab_hash_encode(hash, bucket, slab_lane_key(node, m)));
#ifndef VKDS_SLAB_KEYS
                    VKDS_STORE(address_at(values, to, VKDS_SHIFT), slab_lane_value(node, m));
#endif
                }
                to++;
            }
        }
    }
}
