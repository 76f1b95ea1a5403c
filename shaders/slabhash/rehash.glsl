// Rehash: what the kernels share that copy a table into another one with the same pool and hash seed, but new base
// slabs. Because buckets are ranges of hash values, the keys of a new bucket are in consecutive old ones.
#ifndef VKDS_REHASH_GLSL
#define VKDS_REHASH_GLSL

#include "slab_compact.glsl"

layout(push_constant, std430) uniform Push {
    SlabHash hash;       // the new table
    uvec2 from_base;     // the old table, as far as it differs
    uint from_buckets;
    uint from_mask;
    uint from_special_ones;
    uint from_special_zero;
    uvec2 ratio_down;    // old buckets / new buckets, for hash_first_bucket
    uvec2 ratio_up;      // the same ratio, for hash_last_bucket
    uvec2 failed;        // two counters: tiles that the pool had no slab for, and tiles that met a list without an end
    uint first;          // the new lists first … first+count-1: each for one tile
    uint count;
};

SlabHash rehash_from() {
    return SlabHash(from_base, hash.pool, from_buckets, hash.seed, from_mask, from_special_ones, from_special_zero);
}

// The old buckets that share hashes with a new one: the first and the last of them.
uvec2 rehash_sources(uint bucket) {
    return uvec2(hash_first_bucket(bucket, ratio_down), min(hash_last_bucket(bucket, ratio_up), from_buckets - 1u));
}

// Which of this lane's `live` slots of an old bucket's slab have keys of a new bucket: bit m for its slot m. The slots'
// keys become what they are in the new bucket.
uint rehash_take(SlabHash from, uint source, uint bucket, uint live, inout Node node) {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) {
        if (((live >> m) & 1u) != 0u) {
            K key = slab_hash_encode(from, source, slab_lane_key(node, m));
            // Other buckets may share the slab, and then have the rest of its keys.
            bool own = SLAB_SHARED == 0u || slab_hash_bucket(from, key) == source;
            if (own && slab_hash_bucket(hash, key) == bucket) mask |= 1u << m;
            K stored = slab_hash_encode(hash, bucket, key);
#ifdef VKDS_SLAB_KEYS
            if ((m & 1u) == 0u) node.pair[m >> 1].VKDS_KEY = stored;
            else node.pair[m >> 1].VKDS_VALUE = stored;
#else
            node.pair[m].VKDS_KEY = stored;
#endif
        }
    }
    return mask;
}

// Counts tiles that could not copy all. Collective over the subgroup.
void rehash_count(bool failed_here, bool endless) {
    uint counts = subgroupAdd(tile_lane() == 0u ? uint(failed_here) | uint(endless) << 16 : 0u);
    if (counts != 0u && subgroupElect()) {
        atomic_add(failed, counts & 0xffffu);
        atomic_add(address_add(failed, 4u), counts >> 16);
    }
}

#endif
