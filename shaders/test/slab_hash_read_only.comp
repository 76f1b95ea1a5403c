// For test/shader: a table that nobody changes. A lane a key, slab_hash_find; and a tile a bucket, the walk over it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 queries;   // a number an invocation
    uvec2 answers;   // two numbers an invocation: whether its key is there (0, or all words 1), its value
    uvec2 pairs;     // two numbers a pair that the walks come by
    uvec2 counter;   // how many
    uint count;      // queries
    uint room;       // pairs
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
