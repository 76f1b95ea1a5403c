// Slab list: a dictionary of few or many keys. An empty one takes two words of device memory and no slab, so there may
// be one for each vertex of a graph. Any number of lists share a pool. Define VKDS_SLAB_KEYS for lists of keys without
// values.
//
// A list is like a bucket of a slab hash (slab_hash.glsl), but its first slab comes from the pool, too. Its two words
// refer to the first slabs of two chains, or are SLAB_NULL if a chain is empty: memory filled with ~0 is empty lists.
// To insert into an empty chain, an operation allocates a slab and links it to the word by a compare-and-swap, as it
// does at the last slab of a list. It frees the slab if another operation was faster.
//
// Every key can be inserted, although two patterns (~0 and 0) have another meaning in slots. The first chain stores its
// keys xor SLAB_LIST_MASK. The two keys that would become a pattern are in the second chain, unchanged.
#ifndef VKDS_SLAB_LIST_GLSL
#define VKDS_SLAB_LIST_GLSL

#include "slab_operation.glsl"
#include "slab_walk.glsl"

const uint SLAB_LIST_SHIFT = 3u;            // log2 of a list's bytes, for address_at
const K SLAB_LIST_MASK = K(0x9d2c5680u);   // any but ~0 and 0 works; this value and its complement are rarely keys

// Whether a key belongs to the second chain.
bool slab_list_second(K key) { return key == SLAB_LIST_MASK || key == ~SLAB_LIST_MASK; }

// The address of the list's word for the key's chain; and the key as it is stored in that chain.
uvec2 slab_list_chain(uvec2 list, K key) { return slab_list_second(key) ? address_add(list, 4u) : list; }
K slab_list_encode(K key) { return slab_list_second(key) ? key : key ^ SLAB_LIST_MASK; }

// The address of a slab whose reference to the next slab would be the given word. There need not be such a slab.
uvec2 slab_list_before(uvec2 word) {
    return uvec2(word.x - SLAB_NEXT_AT, word.y - (word.x < SLAB_NEXT_AT ? 1u : 0u));
}

// Does each enabled lane's operation on the list at the address `list`, concurrently with any operations of other
// invocations on the lists. Lanes may have different lists. `kind`, `value`, `budget` and the result are those of
// slab_hash_apply. Collective over the subgroup.
uint slab_list_apply(SlabPool pool, inout SlabCursor cursor, uvec2 list, uint kind, K key, inout V value,
                     bool enabled, uint budget) {
    uvec2 chain = slab_list_chain(list, key);
    SlabOperation o = slab_operation(kind, slab_list_encode(key), value, slab_list_before(chain), SLAB_LINKED,
                                     enabled);
    uint first = SLAB_NULL;
    if (enabled) first = atomic_load(chain);
    slab_begin(o, kind, pool, first);
    VKDS_SLAB_OPERATE(pool, o, cursor, kind, enabled, budget, uvec2(0u))
    value = o.value;
    return o.status;
}

// Finds each enabled lane's key in a list: returns whether the list has it, and sets value to its value or 0. For
// read-only phases of the lists. Collective over the subgroup.
bool slab_list_find(SlabPool pool, uvec2 list, K key, bool enabled, out V value) {
    K stored = slab_list_encode(key);
    uint first = SLAB_NULL;
    if (enabled) first = plain_load(slab_list_chain(list, key));
    bool busy = first != SLAB_NULL;
    bool found = false;
    uvec2 slab = uvec2(0u);
    if (busy) slab = slab_address(pool, first);
    value = V(0u);
    VKDS_SLAB_FIND(pool, slab, SLAB_LINKED, stored, busy, found, value)
    return found;
}

// A walk of a tile over all slabs of a list, in a read-only phase. All lanes of the tile walk the same list.
//
//     SlabListWalk walk = slab_list_walk(pool, list, there);
//     while (subgroupAny(walk.slabs.more)) {
//         Node node = slab_list_walk_on(pool, walk);
//         … for each slot m < SLAB_LANE_SLOTS in slab_live_mask(node): slab_list_key(walk, node, m), and
//         slab_lane_value(node, m) …
//     }
//
// After the end of its walk a tile gets nodes without live slots.
struct SlabListWalk {
    SlabWalk slabs;   // over the chain that the next step reads
    K ahead;          // the mask that this chain's keys are xored with
    uint then;        // the first slab of the chain after it
    K mask;           // the mask that the keys of the last step's node are xored with
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

// The key in this lane's slot m of the node that the last slab_list_walk_on returned.
K slab_list_key(SlabListWalk walk, Node node, uint m) { return slab_lane_key(node, m) ^ walk.mask; }

// Empties each enabled tile's list and frees its slabs. All lanes of the tile pass the same list. Nothing else in this
// dispatch may use that list; other lists of the pool may be in use. Collective over the subgroup.
void slab_list_clear(SlabPool pool, uvec2 list, bool enabled) {
    uvec2 chains = uvec2(SLAB_NULL);
    if (enabled) chains = plain_load2(list);
    slab_chain_free(pool, chains.x, true);
    slab_chain_free(pool, chains.y, true);
    if (enabled && tile_lane() == 0u) plain_store2(list, uvec2(SLAB_NULL));
}

#endif
