// Counts slots and slabs of a range of buckets, in a read-only phase of the table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_hash.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint WITH_LENGTHS = 0;   // 1: also count buckets by their number of slabs

// The survey has several rows, so that subgroups don't contend for one. The host adds the rows up, or takes the maximum
// of LONGEST.
const uint ROWS = 64u;
const uint ROW_SHIFT = 7u;      // 128 bytes per row
const uint LIVE_AT = 0u;        // slots with a key
const uint TOMBSTONES_AT = 4u;  // erased slots
const uint SLABS_AT = 8u;
const uint LONGEST_AT = 12u;    // the number of slabs of the longest bucket
const uint LENGTHS_AT = 16u;    // 16 words: the number of buckets with 1, 2, …, 15, and 16 or more slabs

layout(push_constant, std430) uniform Push {
    SlabHash hash;
    uvec2 rows;
    uint first;   // the buckets first … first+count-1
    uint count;
};

// Raises a word to at least `least`. It uses compare-and-swaps because not every driver's maximum is atomic. If one
// fails, the word has risen, so the loop ends.
void raise(uvec2 at, uint least) {
    for (uint round = 0u; round < least; round++) {
        uint now = atomic_load(at);
        if (now >= least || atomic_cas(at, now, least) == now) return;
    }
}

void main() {
    uint tile = invocation_index() / TILE;
    uint bucket = first + tile;
    SlabWalk walk = slab_hash_walk(hash, bucket, tile < count);
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
    bool first_lane = tile_lane() == 0u;
    uvec2 row = address_at(rows, hash_mix(tile / gl_SubgroupSize) & (ROWS - 1u), ROW_SHIFT);
    uint all_live = subgroupAdd(live);
    uint all_tombstones = subgroupAdd(tombstones);
    uint all_slabs = subgroupAdd(first_lane ? slabs : 0u);
    if (subgroupElect()) {
        atomic_add(address_add(row, LIVE_AT), all_live);
        atomic_add(address_add(row, TOMBSTONES_AT), all_tombstones);
        atomic_add(address_add(row, SLABS_AT), all_slabs);
    }
    if (WITH_LENGTHS != 0u) {
        uint longest = subgroupMax(slabs);
        if (subgroupElect()) raise(address_add(row, LONGEST_AT), longest);
        if (first_lane && slabs != 0u) atomic_add(address_add(row, LENGTHS_AT + 4u * (min(slabs, 16u) - 1u)), 1u);
    }
}
