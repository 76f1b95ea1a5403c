// Writes the loads of a range of buckets, in a read-only phase of the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 loads;   // output: four words per bucket: slabs, slots with a key, erased slots, 0
    uint first;    // the buckets first … first+count-1
    uint count;
};

uint tile_sum(uint value) {
    [[unroll]] for (uint step = 1u; step < 32u; step <<= 1) {
        uint other = tile_shuffle(value, tile_lane() ^ (step & (TILE - 1u)));
        value += step < TILE ? other : 0u;
    }
    return value;
}

void main() {
    uint tile = invocation_index() / TILE;
    SlabWalk walk = slab_hash_walk(hash, first + tile, tile < count);
    uint live = 0u, tombstones = 0u, slabs = 0u;
    while (subgroupAny(walk.more)) {
        bool reads = walk.more;
        Node node = slab_walk_on(hash.pool, walk);
        if (reads) {
            live += uint(bitCount(slab_live_mask(node)));
            tombstones += uint(bitCount(slab_lane_mask(node, SLAB_TOMBSTONE)));
            slabs++;
        }
    }
    live = tile_sum(live);
    tombstones = tile_sum(tombstones);
    if (tile_lane() == 0u && tile < count)
        plain_store4(address_at(loads, tile, 4u), uvec4(slabs, live, tombstones, 0u));
}
