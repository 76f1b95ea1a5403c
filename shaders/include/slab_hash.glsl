// Slab hash: a hash table of one slab list a bucket.
//
// After Ashkiani et al. (2018), sections III and IV. The first slab of each bucket stands in an array
// of base slabs, the others come from the slab allocator. Define VKDS_SLAB_KEYS for a set.
//
// No key is reserved, though the slab list takes two patterns (~0 and 0) for its slots. A table has at
// least 4 buckets, so a bucket never holds all keys: the two buckets that ~0 and 0 hash to hold their
// keys xor a mask, which the host chose so that neither pattern comes out of it.
#ifndef VKDS_SLAB_HASH_GLSL
#define VKDS_SLAB_HASH_GLSL

#include "operation.glsl"
#include "results.glsl"
#include "slab_list.glsl"

// A table as the host describes it (slabhash.Device in Go). Lay it into your push constants.
struct SlabHash {
    uvec2 base;      // address of the base slabs
    SlabPool pool;   // where the other slabs come from
    uint buckets;    // 4 or more
    uint seed;       // of the hash function
    uint mask;       // what keys are xored with in the two special buckets,
    uint special_ones;    // the one that key ~0 hashes to
    uint special_zero;    // and the one that key 0 hashes to
};

uint slab_hash_bucket(SlabHash h, uint key) { return hash_reduce(hash_mix(key ^ h.seed), h.buckets); }

// The key as it stands in its bucket; its own inverse.
uint slab_hash_encode(SlabHash h, uint bucket, uint key) {
    return bucket == h.special_ones || bucket == h.special_zero ? key ^ h.mask : key;
}

uvec2 slab_hash_base(SlabHash h, uint bucket) { return address_at(h.base, bucket, SLAB_SHIFT); }

// A walk of a tile over all slabs of a bucket, while nobody changes the table:
//
//     SlabWalk walk = slab_hash_walk(hash, bucket, bucket < hash.buckets);
//     while (subgroupAny(walk.more)) {
//         Node node = slab_hash_walk_on(hash, walk);
//         … for each slot m < SLAB_LANE_SLOTS in slab_live_mask(node): slab_lane_key(node, m), through
//         slab_hash_encode(hash, bucket, …), and slab_lane_value(node, m) …
//     }
//
// All lanes of a tile walk the same bucket. A tile whose walk has ended gets nodes with no slot live.
struct SlabWalk {
    uvec2 slab;   // the slab that the next step reads
    bool more;    // whether there is one
};

SlabWalk slab_hash_walk(SlabHash h, uint bucket, bool enabled) {
    return SlabWalk(slab_hash_base(h, bucket), enabled);
}

Node slab_hash_walk_on(SlabHash h, inout SlabWalk walk) {
    bool reads = walk.more;
    Node node = node_load(walk.slab, reads);
    uint next = slab_next(node);
    walk.more = reads && next != SLAB_NULL;
    if (walk.more) walk.slab = slab_address(h.pool, next);
    return node;
}

// Finds each enabled lane's key: whether it is there, and its value. For use while nobody changes the
// table. Collective over the subgroup, SEARCH of section IV-C.
bool slab_hash_find(SlabHash h, uint key, bool enabled, out uint value) {
    uint bucket = slab_hash_bucket(h, key);
    uint stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    bool busy = enabled;
    bool found = false;
    value = 0u;
    while (subgroupAny(busy)) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint k = tile_shuffle(stored, source);
        Node node = node_load(tile_shuffle(slab, source), queue != 0u);
#ifdef VKDS_SLAB_KEYS
        uint seen = 0u;
        uint slot = slab_find(node, k);
#else
        uint seen;
        uint slot = slab_find(node, k, seen);
#endif
        uint next = slab_next(node);
        if (busy && tile_lane() == source) {
            found = slot != NODE_NONE;
            busy = !found && next != SLAB_NULL;
            if (found) value = seen;
            if (busy) slab = slab_address(h.pool, next);
        }
    }
    return found;
}

// Does each enabled lane's operation, of any kind of operation.glsl, beside whatever other invocations
// do to the table. Returns its STATUS_…; STATUS_PENDING if the pool was full or the rounds (node
// visits of the tile) were used up, and then the operation has had no effect and may be tried again,
// except that OP_DELETE_ALL has deleted and counted in `value` some of its pairs and goes on from there.
// `value` is what an insertion brings; it becomes the value that OP_FIND finds, and the number of pairs
// for OP_COUNT and OP_DELETE_ALL (which start at the number in it: pass 0). Collective over the subgroup.
uint slab_hash_apply(SlabHash h, inout SlabCursor cursor, uint kind, uint key, inout uint value, bool enabled, uint rounds) {
    uint bucket = slab_hash_bucket(h, key);
    uint stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    uint status = STATUS_PENDING;
    uint counted = kind == OP_DELETE_ALL ? value : 0u;
    bool busy = enabled;
    for (uint round = 0u; subgroupAny(busy) && round < rounds; round++) {
        uint queue = tile_ballot(busy);
        uint source = queue == 0u ? 0u : uint(findLSB(queue));
        uint k = tile_shuffle(stored, source);
        Node node = node_load_coherent(tile_shuffle(slab, source), queue != 0u);
        uint seen = 0u;
#ifdef VKDS_SLAB_KEYS
        uint slot = slab_find(node, k);
#else
        uint slot = slab_find(node, k, seen);
#endif
        uint empty = slab_find(node, SLAB_EMPTY);
        uint next = slab_next(node);
        bool mine = busy && tile_lane() == source;
        bool extend = false;
        if (subgroupAny(mine && kind == OP_COUNT)) {
            uint here = slab_count(node, k);
            if (mine && kind == OP_COUNT) counted += here;
        }
        if (mine) {
            bool done = false;
            bool onward = false;   // nothing to do in this slab: look into the next
            if (slot != NODE_NONE && kind != OP_INSERT_DUPLICATE && kind != OP_COUNT) {
                if (kind == OP_INSERT) done = slab_assign(slab, slot, stored, seen, value);
                else if (kind == OP_INSERT_UNIQUE) done = true;
                else if (kind == OP_ADD) done = slab_add(slab, slot, stored, value);
                else if (kind == OP_MIN) done = slab_min(slab, slot, stored, seen, value);
                else if (kind == OP_MAX) done = slab_max(slab, slot, stored, seen, value);
                else if (kind == OP_DELETE) done = slab_erase(slab, slot, stored);
                else if (kind == OP_FIND) {
                    done = slab_value(slab, slot, stored, seen);
                    if (done) value = seen;
                } else if (kind == OP_DELETE_ALL) {
                    if (slab_erase(slab, slot, stored)) counted++;
                }
                if (done)
                    status = kind == OP_DELETE ? STATUS_DELETED
                           : kind == OP_FIND || kind == OP_INSERT_UNIQUE ? STATUS_FOUND
                           : STATUS_ASSIGNED;
            } else if (op_inserts(kind) && empty != NODE_NONE) {
                done = slab_insert(slab, empty, stored, value);
                if (done) status = STATUS_INSERTED;
            } else {
                onward = true;
            }
            if (onward) {
                if (next != SLAB_NULL) {
                    slab = slab_address(h.pool, next);
                } else if (op_inserts(kind)) {
                    extend = true;
                } else {
                    done = true;
                    bool counts = kind == OP_COUNT || kind == OP_DELETE_ALL;
                    status = !counts || counted == 0u ? STATUS_ABSENT : kind == OP_COUNT ? STATUS_FOUND : STATUS_DELETED;
                }
            }
            busy = !done;
        }
        if (subgroupAny(extend)) {
            uint fresh = slab_allocate(h.pool, cursor, extend);
            bool spare = false;
            if (extend) {
                if (fresh == SLAB_NULL) {
                    busy = false;   // stays pending
                } else {
                    uint linked = slab_link(slab, fresh);
                    spare = linked != fresh;
                    slab = slab_address(h.pool, linked);
                }
            }
            slab_free(h.pool, fresh, spare);
        }
    }
    if (kind == OP_COUNT || kind == OP_DELETE_ALL) value = counted;
    return status;
}

#endif
