// Slab list: a dictionary of a few keys or of many, so small while it is empty that there may be one for each vertex of
// a graph: two words of device memory, and not a slab. Any number of them share a pool. Define VKDS_SLAB_KEYS for lists
// of keys without values.
//
// A list is a bucket of a slab hash (slab_hash.glsl) whose first slab comes from the pool, too. Its two words refer to
// the first slabs of two chains, SLAB_NULL where there is none: memory filled with ~0 is empty lists. The word of an
// empty chain is what the reference to the next slab is in a last slab: who has a key to insert takes a fresh slab,
// links it by a compare-and-swap, and gives it back if somebody was faster.
//
// No key is reserved, though slabs take two patterns (~0 and 0) for their slots. The first chain has its keys xor
// SLAB_LIST_MASK. The two keys of which that makes a pattern stand in the second one, as they are.
#ifndef VKDS_SLAB_LIST_GLSL
#define VKDS_SLAB_LIST_GLSL

#include "slab_operation.glsl"
#include "slab_walk.glsl"

const uint SLAB_LIST_SHIFT = 3u;            // log2 of a list's bytes, for address_at
const K SLAB_LIST_MASK = K(0x9d2c5680u);   // any but ~0 and 0; this one is hardly ever a key, nor is its complement

// Whether a key belongs to the second chain.
bool slab_list_second(K key) { return key == SLAB_LIST_MASK || key == ~SLAB_LIST_MASK; }

// The word of a list that refers to the key's chain, and the key as it stands there.
uvec2 slab_list_chain(uvec2 list, K key) { return slab_list_second(key) ? address_add(list, 4u) : list; }
K slab_list_encode(K key) { return slab_list_second(key) ? key : key ^ SLAB_LIST_MASK; }

// The slab that would have a word for its reference to the next one. There need not be such a slab.
uvec2 slab_list_before(uvec2 word) {
    return uvec2(word.x - SLAB_NEXT_AT, word.y - (word.x < SLAB_NEXT_AT ? 1u : 0u));
}

// Does each enabled lane's operation on a list, of which it has the address, concurrently with whatever other
// invocations do to the lists. Lanes may have different lists. All else is as slab_hash_apply has it: statuses, kinds,
// `value`, and what is left pending. Collective over the subgroup.
uint slab_list_apply(SlabPool pool, inout SlabCursor cursor, uvec2 list, uint kind, K key, inout V value,
                     bool enabled, uint budget) {
    uvec2 chain = slab_list_chain(list, key);
    SlabOperation o = slab_operation(kind, slab_list_encode(key), value, slab_list_before(chain), enabled);
    uint first = SLAB_NULL;
    if (enabled) first = atomic_load(chain);
    if (first != SLAB_NULL) o.slab = slab_address(pool, first);
    else if (enabled) o.at = AT_END;
    VKDS_SLAB_OPERATE(pool, o, cursor, kind, enabled, budget, uvec2(0u))
    value = o.value;
    return o.status;
}

// Finds each enabled lane's key in a list: whether it is there, and its value. For read-only phases of the lists.
// Collective over the subgroup.
bool slab_list_find(SlabPool pool, uvec2 list, K key, bool enabled, out V value) {
    K stored = slab_list_encode(key);
    uint first = SLAB_NULL;
    if (enabled) first = plain_load(slab_list_chain(list, key));
    bool busy = first != SLAB_NULL;
    bool found = false;
    uvec2 slab = uvec2(0u);
    if (busy) slab = slab_address(pool, first);
    value = V(0u);
    VKDS_SLAB_FIND(pool, slab, stored, busy, found, value)
    return found;
}

// A walk of a tile over all slabs of a list, in a read-only phase of it; its lanes walk the same one.
//
//     SlabListWalk walk = slab_list_walk(pool, list, there);
//     while (subgroupAny(walk.slabs.more)) {
//         Node node = slab_list_walk_on(pool, walk);
//         … for each slot m < SLAB_LANE_SLOTS in slab_live_mask(node): slab_list_key(walk, node, m), and
//         slab_lane_value(node, m) …
//     }
//
// A tile whose walk has ended gets nodes with no slot live.
struct SlabListWalk {
    SlabWalk slabs;   // over the chain that the next step reads,
    K ahead;          // what its keys are xored with,
    uint then;        // and the first slab of the chain behind it
    K mask;           // what the keys of the last step's node are xored with
};

SlabListWalk slab_list_walk(SlabPool pool, uvec2 list, bool enabled) {
    uvec2 chains = uvec2(SLAB_NULL);
    if (enabled) chains = plain_load2(list);
    bool second = chains.x == SLAB_NULL;
    return SlabListWalk(slab_walk(pool, second ? chains.y : chains.x), second ? K(0u) : SLAB_LIST_MASK,
                        second ? SLAB_NULL : chains.y, K(0u));
}

Node slab_list_walk_on(SlabPool pool, inout SlabListWalk walk) {
    walk.mask = walk.ahead;
    Node node = slab_walk_on(pool, walk.slabs);
    if (!walk.slabs.more) {
        walk.slabs = slab_walk(pool, walk.then);
        walk.ahead = K(0u);
        walk.then = SLAB_NULL;
    }
    return node;
}

// The key in this lane's slot m of the node that the last step has brought.
K slab_list_key(SlabListWalk walk, Node node, uint m) { return slab_lane_key(node, m) ^ walk.mask; }

// Empties each enabled tile's list, and gives its slabs back to the pool; the tile's lanes have the same one. Nothing
// else may work on that list in this dispatch, but on others of the pool. Collective over the subgroup.
void slab_list_clear(SlabPool pool, uvec2 list, bool enabled) {
    uvec2 chains = uvec2(SLAB_NULL);
    if (enabled) chains = plain_load2(list);
    slab_chain_free(pool, chains.x, true);
    slab_chain_free(pool, chains.y, true);
    if (enabled && tile_lane() == 0u) plain_store2(list, uvec2(SLAB_NULL));
}

#endif
