// Slab: 128 bytes of slots, an element of a linked list. A tile reads it while others change it.
//
// After Ashkiani et al. (2018), sections III-A and IV. A slab of pairs has 15 (key, value) slots, a slab of keys
// (define VKDS_SLAB_KEYS) has 30 key slots; at 64 bits (width.glsl) they have 7 and 15. Word 30 is auxiliary, word 31
// refers to the next slab, or is a filter where that one is known (slab_shared.glsl). In a new slab all words are ~0.
//
// Protocol. A slot's key goes EMPTY -> key -> TOMBSTONE and never back while kernels run, and new
// keys go to the first empty slot in list order. Hence:
// - two insertions of one key meet in one slot, so a unique insertion stays unique, deletions or not;
// - an erasure can only hit the key that it saw;
// - no fence is needed: a slab's words are either as fresh as before the dispatch or newer.
// Tombstones are reclaimed by a flush, when nothing else runs.
//
// slab_change.glsl has the changes of slots, and the atomics that they use.
//
// Keys may have the patterns of EMPTY and TOMBSTONE: slab_hash.glsl and slab_list.glsl store them in another form.
#ifndef VKDS_SLAB_GLSL
#define VKDS_SLAB_GLSL

#include "node.glsl"
#include "slab_alloc.glsl"

const K SLAB_EMPTY = K(~0u);
const K SLAB_TOMBSTONE = K(0u);
const uint SLAB_AUX_AT = 120u;    // byte offsets in a slab
const uint SLAB_NEXT_AT = 124u;

#ifdef VKDS_SLAB_KEYS
const uint SLAB_SLOTS = VKDS_WIDE != 0 ? 15u : 30u;
const uint SLAB_SLOT_BYTES = VKDS_WIDE != 0 ? 8u : 4u;
const uint SLAB_PAIR_SLOTS = 2u;   // slots in a pair of a node
#else
const uint SLAB_SLOTS = VKDS_WIDE != 0 ? 7u : 15u;
const uint SLAB_SLOT_BYTES = VKDS_WIDE != 0 ? 16u : 8u;
const uint SLAB_PAIR_SLOTS = 1u;
#endif
const uint SLAB_LANE_SLOTS = NODE_LANE_PAIRS * SLAB_PAIR_SLOTS;   // slots that one lane holds of a slab,
const uint SLAB_STEP_SLOTS = SLAB_LANE_SLOTS / NODE_QUADS;        // and in each of NODE_QUADS steps in slab order

uvec2 slab_slot(uvec2 slab, uint slot) { return address_add(slab, slot * SLAB_SLOT_BYTES); }

// The key in this lane's slot m, as it is stored.
K slab_lane_key(Node n, uint m) {
#ifdef VKDS_SLAB_KEYS
    return (m & 1u) == 0u ? n.pair[m >> 1].VKDS_KEY : n.pair[m >> 1].VKDS_VALUE;
#else
    return n.pair[m].VKDS_KEY;
#endif
}

// The value in this lane's slot m (0 in a slab of keys).
V slab_lane_value(Node n, uint m) {
#ifdef VKDS_SLAB_KEYS
    return V(0u);
#else
    return n.pair[m].VKDS_VALUE;
#endif
}

// Whether this lane's slot m is a slot of the slab: some are the auxiliary words, or unused.
bool slab_lane_has(uint m) {
#if defined(VKDS_SLAB_KEYS) && VKDS_WIDE
    return m != 2u * NODE_LANE_PAIRS - 1u || tile_lane() != NODE_LAST_LANE;   // of its last pair the first half is one
#else
    return m / SLAB_PAIR_SLOTS != NODE_LANE_PAIRS - 1u || tile_lane() != NODE_LAST_LANE;
#endif
}

// The mask of this lane's slots that are slots of the slab (slab_lane_has).
uint slab_data_mask() {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) mask |= (slab_lane_has(m) ? 1u : 0u) << m;
    return mask;
}

// The mask of this lane's slots that hold a key: bit m for its slot m.
uint slab_lane_mask(Node n, K key) {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
        mask |= (slab_lane_has(m) && slab_lane_key(n, m) == key ? 1u : 0u) << m;
    return mask;
}

// The mask of this lane's slots that are neither empty nor erased.
uint slab_live_mask(Node n) {
    return ~(slab_lane_mask(n, SLAB_EMPTY) | slab_lane_mask(n, SLAB_TOMBSTONE)) & slab_data_mask();
}

// The number of marked slots of the tile before this lane's slots of step j, in slab order. `total` is the number in
// the steps before j; the call adds that of step j to it. Call it for j = 0 … NODE_QUADS-1 in order.
uint slab_step_rank(uint mask, uint j, inout uint total) {
    uint before = total;
    [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
        uint b = tile_ballot(((mask >> (j * SLAB_STEP_SLOTS + s)) & 1u) != 0u);
        before += uint(bitCount(b & ((1u << tile_lane()) - 1u)));
        total += uint(bitCount(b));
    }
    return before;
}

// The index in the slab of this lane's slot m.
uint slab_lane_slot(uint m) {
#ifdef VKDS_SLAB_KEYS
    return 2u * node_pair_index(m >> 1) + (m & 1u);
#else
    return node_pair_index(m);
#endif
}

// The reference to the next slab, or SLAB_NULL at the list's end. The same for all lanes of the tile.
uint slab_next(Node n) { return tile_shuffle(n.pair[NODE_LANE_PAIRS - 1u].VKDS_LAST_WORD, NODE_LAST_LANE); }

// The outcome of a search in a slab, the same for all lanes of the tile.
struct SlabHit {
    uint slot;    // NODE_NONE if nothing was found
    K key;        // what is in the slot
    V value;      // (of a slab of keys: 0)
};

// The first slot, in slab order, that holds `key` or `other`. Because slots fill in slab order, a search for a
// key or SLAB_EMPTY ends at the key, or else at the slot where it may be inserted.
SlabHit slab_search(Node n, K key, K other) {
    // Each lane's first slot that matches, and one bit for each quad of the node that has such a slot.
    uint quads = 0u;
    uint mine = 0u;
    K mine_key = K(0u);
    V mine_value = V(0u);
    [[unroll]] for (uint i = 0u; i < NODE_QUADS; i++) {
        uint j = NODE_QUADS - 1u - i;
        bool fits = false;
        [[unroll]] for (uint r = 0u; r < SLAB_STEP_SLOTS; r++) {
            uint m = j * SLAB_STEP_SLOTS + SLAB_STEP_SLOTS - 1u - r;
            K k = slab_lane_key(n, m);
            if (slab_lane_has(m) && (k == key || k == other)) {
                fits = true;
                mine = m;
                mine_key = k;
                mine_value = slab_lane_value(n, m);
            }
        }
        quads |= tile_ballot(fits) << (j * TILE & 31u);
    }
    uint from = uint(findLSB(quads)) & (TILE - 1u);
    SlabHit hit;
    hit.slot = tile_shuffle(slab_lane_slot(mine), from);
    hit.key = tile_shuffle(mine_key, from);
    hit.value = tile_shuffle(mine_value, from);
    if (quads == 0u) hit.slot = NODE_NONE;
    return hit;
}

// The first slot that holds a key (SLAB_EMPTY: the first free slot), or NODE_NONE. The same for all lanes of
// the tile.
uint slab_find(Node n, K key) { return slab_search(n, key, key).slot; }

// slab_find, and the value in the slot found.
uint slab_find(Node n, K key, out V value) {
    SlabHit hit = slab_search(n, key, key);
    value = hit.value;
    return hit.slot;
}

// The number of slots that hold a key. The same for all lanes of the tile.
uint slab_count(Node n, K key) {
    uint mask = slab_lane_mask(n, key);
    uint count = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
        count += uint(bitCount(tile_ballot(((mask >> m) & 1u) != 0u)));
    return count;
}

// Appends the slab `next` to a slab that has no next one. Returns the reference that the slab now has: another one if
// another invocation was faster. For one lane.
uint slab_link(uvec2 slab, uint next) {
    uint before = atomic_cas(address_add(slab, SLAB_NEXT_AT), SLAB_NULL, next);
    return before == SLAB_NULL ? next : before;
}

#endif
