// For test/shader: a table that nobody changes. A lane a key, slab_hash_find; and a tile a bucket, the walk over it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 queries;   // a word an invocation
    uvec2 answers;   // an invocation: 1 if its key is there, its value
    uvec2 pairs;     // the pairs that the walks come by
    uvec2 counter;   // how many
    uint count;      // queries
    uint room;       // pairs
};

void main() {
    uint i = invocation_index();
    uint key = i < count ? plain_load(address_at(queries, i, 2u)) : 0u;
    uint value;
    bool found = slab_hash_find(hash, key, i < count, value);
    if (i < count) plain_store2(address_at(answers, i, 3u), uvec2(found ? 1u : 0u, value));

    uint bucket = i / TILE;
    SlabWalk walk = slab_hash_walk(hash, bucket, bucket < hash.buckets);
    while (subgroupAny(walk.more)) {
        Node node = slab_walk_on(hash.pool, walk);
        uint live = slab_live_mask(node);
        for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
            if (((live >> m) & 1u) == 0u) continue;
            uint at = atomic_add(counter, 1u);
            uvec2 pair = uvec2(slab_hash_encode(hash, bucket, slab_lane_key(node, m)), slab_lane_value(node, m));
            if (at < room) plain_store2(address_at(pairs, at, 3u), pair);
        }
    }
}
