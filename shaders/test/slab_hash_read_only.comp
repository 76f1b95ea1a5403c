// For test/shader: a table that does not change. Each lane finds a key by slab_hash_find, and each tile walks a bucket.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 queries;   // one number per invocation
    uvec2 answers;   // two numbers per invocation: whether its key is there (0 or 1), its value
    uvec2 pairs;     // two numbers per pair found by the walks
    uvec2 counter;   // counts these pairs
    uint count;      // the number of queries
    uint room;       // the number of pairs that fit
};

void main() {
    uint i = invocation_index();
    K key = K(0u);
    if (i < count) key = VKDS_LOAD_AT(queries, i);
    V value;
    bool found = slab_hash_find(hash, key, i < count, value);
    if (i < count) {
        VKDS_STORE_AT(answers, 2u * i, V(found ? 1u : 0u));
        VKDS_STORE_AT(answers, 2u * i + 1u, value);
    }

    uint bucket = i / TILE;
    SlabWalk walk = slab_hash_walk(hash, bucket, bucket < hash.buckets);
    while (subgroupAny(walk.more)) {
        Node node = slab_walk_on(hash.pool, walk);
        uint live = slab_live_mask(node);
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) == 0u) continue;
            uint at = atomic_add(counter, 1u);
            if (at >= room) continue;
            VKDS_STORE_AT(pairs, 2u * at, slab_hash_encode(hash, bucket, slab_lane_key(node, m)));
            VKDS_STORE_AT(pairs, 2u * at + 1u, slab_lane_value(node, m));
        }
    }
}
