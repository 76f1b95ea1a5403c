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
        uint seen;
        bool here = slab_holds(node, k, seen);
        uint next = slab_next(node);
        if (busy && tile_lane() == source) {
            found = here;
            if (here) value = seen;
            busy = !here && next != SLAB_NULL;
            if (busy) slab = slab_address(h.pool, next);
        }
    }
    return found;
}

// Where an operation stands after its walk.
const uint AT_WALK = 0u;   // not there yet
const uint AT_KEY = 1u;    // at the slot that holds its key
const uint AT_ROOM = 2u;   // at the first free slot, its key is nowhere (or does not matter)
const uint AT_END = 3u;    // at the last slab, which has neither

// First the tiles walk, for one of their lanes after the other, until every operation stands where it
// can act; then all lanes act, each for itself, so that their atomics are under way together. What
// failed, because somebody else was faster, walks on from where it stands.
uint slab_hash_work(SlabHash h, inout SlabCursor cursor, uint kind, uint key, inout uint value, bool enabled, uint rounds,
                    bool allocates) {
    uint bucket = slab_hash_bucket(h, key);
    uint stored = slab_hash_encode(h, bucket, key);
    uvec2 slab = slab_hash_base(h, bucket);
    bool inserts = op_inserts(kind);
    bool deletes = kind == OP_DELETE || kind == OP_DELETE_ALL;
    bool looks = kind != OP_INSERT_DUPLICATE && kind != OP_COUNT;   // stops at its key
    bool counts = subgroupAny(enabled && kind == OP_COUNT);
    uint status = STATUS_PENDING;
    uint counted = kind == OP_DELETE_ALL ? value : 0u;
    bool busy = enabled;
    uint round = 0u;
    while (subgroupAny(busy) && round < rounds) {
        uint at = AT_WALK, slot = 0u, seen = 0u;
        for (; subgroupAny(busy && at == AT_WALK) && round < rounds; round++) {
            uint queue = tile_ballot(busy && at == AT_WALK);
            uint source = queue == 0u ? 0u : uint(findLSB(queue));
            uint k = tile_shuffle(stored, source);
            Node node = node_load_coherent(tile_shuffle(slab, source), queue != 0u);
            uint value_there = 0u;
#ifdef VKDS_SLAB_KEYS
            uint there = slab_find(node, k);
#else
            uint there = slab_find(node, k, value_there);
#endif
            uint free = slab_find(node, SLAB_EMPTY);
            uint next = slab_next(node);
            uint here = 0u;
            if (counts) here = slab_count(node, k);
            if (queue != 0u && tile_lane() == source) {
                counted += kind == OP_COUNT ? here : 0u;
                if (looks && there != NODE_NONE) {
                    at = AT_KEY;
                    slot = there;
                    seen = value_there;
                } else if (inserts && free != NODE_NONE) {
                    at = AT_ROOM;
                    slot = free;
                } else if (next == SLAB_NULL) {
                    at = AT_END;
                } else {
                    slab = slab_address(h.pool, next);
                }
            }
        }

        bool done = false;
        bool changes = at == AT_ROOM || (at == AT_KEY && (kind == OP_INSERT || deletes));
        if (changes) {
            uint change = at == AT_ROOM ? SLAB_PUT : deletes ? SLAB_ERASE : SLAB_ASSIGN;
            done = slab_change(slab, change, slot, stored, seen, value);
            if (done) status = at == AT_ROOM ? STATUS_INSERTED : deletes ? STATUS_DELETED : STATUS_ASSIGNED;
        } else if (at == AT_KEY) {
            if (kind == OP_FIND) done = slab_value(slab, slot, stored, seen);
            else if (kind == OP_ADD) done = slab_add(slab, slot, stored, value);
            else if (kind == OP_MIN) done = slab_min(slab, slot, stored, seen, value);
            else if (kind == OP_MAX) done = slab_max(slab, slot, stored, seen, value);
            else done = true;   // OP_INSERT_UNIQUE
            if (done) status = kind == OP_FIND || kind == OP_INSERT_UNIQUE ? STATUS_FOUND : STATUS_ASSIGNED;
            if (kind == OP_FIND) value = seen;
        } else if (at == AT_END && !inserts) {
            done = true;
            bool some = counted != 0u;
            status = kind == OP_COUNT && some ? STATUS_FOUND : kind == OP_DELETE_ALL && some ? STATUS_DELETED : STATUS_ABSENT;
        }
        if (kind == OP_DELETE_ALL && at == AT_KEY && done) {
            counted++;
            done = false;   // there may be more of them
        }
        busy = busy && !done;

        bool extends = at == AT_END && inserts;
        if (!allocates) {
            busy = busy && !extends;   // stays pending
        } else if (subgroupAny(extends)) {
            uint fresh = slab_allocate(h.pool, cursor, extends);
            bool spare = false;
            if (extends) {
                busy = fresh != SLAB_NULL;   // else it stays pending
                if (busy) {
                    uint linked = slab_link(slab, fresh);
                    spare = linked != fresh;
                    slab = slab_address(h.pool, linked);
                }
            }
            slab_free(h.pool, fresh, spare);
        }
    }
    if (busy) status = STATUS_PENDING;
    if (kind == OP_COUNT || kind == OP_DELETE_ALL) value = counted;
    return status;
}

// Does each enabled lane's operation, of any kind of operation.glsl, beside whatever other invocations
// do to the table. Returns its STATUS_…; STATUS_PENDING if the pool was full or the rounds (slab
// visits of the tile) were used up, and then the operation has had no effect and may be tried again,
// except that OP_DELETE_ALL has deleted and counted in `value` some of its pairs and goes on from there.
// `value` is what an insertion brings; it becomes the value that OP_FIND finds, and the number of pairs
// for OP_COUNT and OP_DELETE_ALL (which starts at the number in it: pass 0). Collective over the subgroup.
uint slab_hash_apply(SlabHash h, inout SlabCursor cursor, uint kind, uint key, inout uint value, bool enabled, uint rounds) {
    return slab_hash_work(h, cursor, kind, key, value, enabled, rounds, true);
}

// slab_hash_apply for the operations that need no further slab: insertions that do stay pending. A kernel
// without the allocator in it is about twice as fast, so that it pays to dispatch one of these first and
// one with slab_hash_apply over what it left.
uint slab_hash_apply_in_place(SlabHash h, uint kind, uint key, inout uint value, bool enabled, uint rounds) {
    SlabCursor none = SlabCursor(0u, 0u, 0u, 0u);
    return slab_hash_work(h, none, kind, key, value, enabled, rounds, false);
}

#endif
