// Slab list: a linked list of 128-byte slabs, read and changed by a tile while others change it.
//
// After Ashkiani et al. (2018), sections III-A and IV. A slab of pairs has 15 (key, value) slots, a
// slab of keys (define VKDS_SLAB_KEYS) has 30 key slots; word 30 is auxiliary, word 31 refers to the
// next slab. A fresh slab is all ~0.
//
// Protocol. A slot's key goes EMPTY -> key -> TOMBSTONE and never back while kernels run, and new
// keys go to the first empty slot in list order. Hence:
// - two insertions of one key meet in one slot, so a unique insertion stays unique, deletions or not;
// - an erasure can only hit the key that it saw;
// - no fence is needed: a slab's words are either as fresh as before the dispatch or newer.
// Tombstones are reclaimed by a flush, when nothing else runs.
//
// With 64-bit atomics a pair is set and erased as a whole; its value alone is changed by 32-bit atomics.
// The Vulkan memory model does not relate atomics of two sizes, but every implementation known performs
// both at one place. `vkds doctor` tests it; where it should fail, VKDS_WITHOUT=shaderBufferInt64Atomics
// has the other protocol taken. Reads load vectors, whose words
// may differ in age. The key word alone tells a slot's state, and a value from an older time than
// its key can only be a fresh slot's ~0; so a value of ~0 is read again as one atomic, and any other
// is right as it came.
// Without them (32-bit protocol) a slot is claimed by its key, then its value is stored, then its bit
// in the auxiliary word is cleared; until then others come back on a later visit.
//
// The two patterns are not lost as keys: see slab_hash.glsl.
#ifndef VKDS_SLAB_LIST_GLSL
#define VKDS_SLAB_LIST_GLSL

#include "node.glsl"
#include "slab_alloc.glsl"

const uint SLAB_EMPTY = ~0u;
const uint SLAB_TOMBSTONE = 0u;
const uint SLAB_AUX_AT = 120u;    // byte offsets in a slab
const uint SLAB_NEXT_AT = 124u;

#ifdef VKDS_SLAB_KEYS
const uint SLAB_SLOTS = 30u;
const uint SLAB_SLOT_BYTES = 4u;
const uint SLAB_PAIR_SLOTS = 2u;   // slots in a pair of words
#else
const uint SLAB_SLOTS = 15u;
const uint SLAB_SLOT_BYTES = 8u;
const uint SLAB_PAIR_SLOTS = 1u;
#endif
const uint SLAB_LANE_SLOTS = NODE_LANE_PAIRS * SLAB_PAIR_SLOTS;   // slots that one lane holds of a slab,
const uint SLAB_STEP_SLOTS = SLAB_LANE_SLOTS / NODE_QUADS;        // and in each of NODE_QUADS steps in slab order

uvec2 slab_slot(uvec2 slab, uint slot) { return address_add(slab, slot * SLAB_SLOT_BYTES); }

// The key in this lane's slot m, as it is stored.
uint slab_lane_key(Node n, uint m) {
#ifdef VKDS_SLAB_KEYS
    return (m & 1u) == 0u ? n.pair[m >> 1].x : n.pair[m >> 1].y;
#else
    return n.pair[m].x;
#endif
}

// The value in this lane's slot m (0 in a slab of keys).
uint slab_lane_value(Node n, uint m) {
#ifdef VKDS_SLAB_KEYS
    return 0u;
#else
    return n.pair[m].y;
#endif
}

// Whether this lane's slot m is a slot at all, and not the slab's auxiliary words or nothing.
bool slab_lane_has(uint m) {
    return TILE >= 16u ? tile_lane() < 15u : m / SLAB_PAIR_SLOTS != NODE_LANE_PAIRS - 1u || tile_lane() != NODE_LAST_LANE;
}

// Which of this lane's slots are slots at all, and not the slab's auxiliary words or nothing.
uint slab_data_mask() {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++) mask |= (slab_lane_has(m) ? 1u : 0u) << m;
    return mask;
}

// Which of this lane's slots hold a key: bit m for its slot m.
uint slab_lane_mask(Node n, uint key) {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
        mask |= (slab_lane_has(m) && slab_lane_key(n, m) == key ? 1u : 0u) << m;
    return mask;
}

// Which of this lane's slots hold a key that is neither empty nor erased.
uint slab_live_mask(Node n) {
    return ~(slab_lane_mask(n, SLAB_EMPTY) | slab_lane_mask(n, SLAB_TOMBSTONE)) & slab_data_mask();
}

// How many slots are marked before this lane's slots of step j, in slab order; `total` is how many are
// in the steps before, and is moved on. Call it for j = 0 … NODE_QUADS-1 in order.
uint slab_step_rank(uint mask, uint j, inout uint total) {
    uint before = total;
    [[unroll]] for (uint s = 0u; s < SLAB_STEP_SLOTS; s++) {
        uint b = tile_ballot(((mask >> (j * SLAB_STEP_SLOTS + s)) & 1u) != 0u);
        before += uint(bitCount(b & ((1u << tile_lane()) - 1u)));
        total += uint(bitCount(b));
    }
    return before;
}

// The slot in the slab of this lane's slot m.
uint slab_lane_slot(uint m) {
#ifdef VKDS_SLAB_KEYS
    return 2u * node_pair_index(m >> 1) + (m & 1u);
#else
    return node_pair_index(m);
#endif
}

// The reference to the next slab, SLAB_NULL at the list's end; the same for all lanes of the tile.
uint slab_next(Node n) { return tile_shuffle(n.pair[NODE_LANE_PAIRS - 1u].y, NODE_LAST_LANE); }

// The outcome of a search in a slab, the same for all lanes of the tile.
struct SlabHit {
    uint slot;    // NODE_NONE if nothing was found
    uint key;     // what is in the slot
    uint value;   // (of a slab of keys: 0)
};

// The first slot, in slab order, that holds one key or another. Since slots fill in slab order, a search
// for a key or SLAB_EMPTY ends at the key, or else where it may be inserted.
SlabHit slab_search(Node n, uint key, uint other) {
    // Each lane's first slot that fits, and a bit a quad of the node (of 16 lanes and more, a pair) in which
    // one does.
    uint quads = 0u;
    uint mine = 0u, mine_key = 0u, mine_value = 0u;
    [[unroll]] for (uint i = 0u; i < NODE_QUADS; i++) {
        uint j = NODE_QUADS - 1u - i;
        bool fits = false;
        [[unroll]] for (uint r = 0u; r < SLAB_STEP_SLOTS; r++) {
            uint m = j * SLAB_STEP_SLOTS + SLAB_STEP_SLOTS - 1u - r;
            uint k = slab_lane_key(n, m);
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

// The first slot that holds a key (SLAB_EMPTY: the first free slot), NODE_NONE if none does; the same
// for all lanes of the tile.
uint slab_find(Node n, uint key) { return slab_search(n, key, key).slot; }

// slab_find, and the value in the slot found.
uint slab_find(Node n, uint key, out uint value) {
    SlabHit hit = slab_search(n, key, key);
    value = hit.value;
    return hit.slot;
}

// How many slots hold a key; the same for all lanes of the tile.
uint slab_count(Node n, uint key) {
    uint mask = slab_lane_mask(n, key);
    uint count = 0u;
    [[unroll]] for (uint m = 0u; m < SLAB_LANE_SLOTS; m++)
        count += uint(bitCount(tile_ballot(((mask >> m) & 1u) != 0u)));
    return count;
}

// The functions below are one lane's own: no subgroup operation is in them.

// Appends `next` to a slab that has no next one; returns the reference that is there now, which is
// another one if somebody was faster.
uint slab_link(uvec2 slab, uint next) {
    uint before = atomic_cas(address_add(slab, SLAB_NEXT_AT), SLAB_NULL, next);
    return before == SLAB_NULL ? next : before;
}

// Puts a key with its value into the first free slot from `slot` on, which was seen free. False: the
// slab is full by now, or `target` is in it (the key itself; SLAB_EMPTY if that does not matter).
bool slab_insert(uvec2 slab, uint slot, uint key, uint value, uint target);

// Erases the key seen in a slot. False: somebody else did, look at the slab again.
bool slab_erase(uvec2 slab, uint slot, uint key);

// Makes sure of a value that was read with its key. False: look at the slab again.
bool slab_value(uvec2 slab, uint slot, uint key, inout uint value);

// Assign to, add to, lower or raise the value of the key seen in a slot with a value. What they do may
// land in a slot whose key was erased a moment before: then it counts as done before the erasure. False
// (32-bit protocol): the value is not there yet, look again.
bool slab_assign(uvec2 slab, uint slot, uint value);
bool slab_add(uvec2 slab, uint slot, uint value);
bool slab_min(uvec2 slab, uint slot, uint seen, uint value);
bool slab_max(uvec2 slab, uint slot, uint seen, uint value);

// One of three of these, for lanes that have different ones to do: with 64-bit atomics they are under way
// together, as one compare-and-swap.
const uint SLAB_INSERT = 0u;
const uint SLAB_ASSIGN = 1u;
const uint SLAB_ERASE = 2u;

bool slab_change(uvec2 slab, uint change, uint slot, uint key, uint seen, uint value, uint target) {
#if VKDS_INT64_ATOMICS && !defined(VKDS_SLAB_KEYS)
    uvec2 expected = change == SLAB_INSERT ? uvec2(SLAB_EMPTY) : uvec2(key, seen);
    uvec2 desired = change == SLAB_ERASE ? uvec2(SLAB_TOMBSTONE, seen) : uvec2(key, value);
    uvec2 before = atomic_cas2(slab_slot(slab, slot), expected, desired);
    if (before == expected) return true;
    if (change == SLAB_INSERT ? before.x == target : before.x != key) return false;
    slot += change == SLAB_INSERT ? 1u : 0u;
#endif
    if (change == SLAB_INSERT) return slab_insert(slab, slot, key, value, target);
    if (change == SLAB_ERASE) return slab_erase(slab, slot, key);
    return slab_assign(slab, slot, value);
}

#ifdef VKDS_SLAB_KEYS

bool slab_insert(uvec2 slab, uint slot, uint key, uint value, uint target) {
    for (; slot < SLAB_SLOTS; slot++) {
        uint before = atomic_cas(slab_slot(slab, slot), SLAB_EMPTY, key);
        if (before == SLAB_EMPTY) return true;
        if (before == target) return false;
    }
    return false;
}
bool slab_erase(uvec2 slab, uint slot, uint key) {
    return atomic_cas(slab_slot(slab, slot), key, SLAB_TOMBSTONE) == key;
}
// A key has no value to be sure of or to change.
bool slab_value(uvec2 slab, uint slot, uint key, inout uint value) { return true; }
bool slab_assign(uvec2 slab, uint slot, uint value) { return true; }
bool slab_add(uvec2 slab, uint slot, uint value) { return true; }
bool slab_min(uvec2 slab, uint slot, uint seen, uint value) { return true; }
bool slab_max(uvec2 slab, uint slot, uint seen, uint value) { return true; }

#else

#if VKDS_INT64_ATOMICS

bool slab_insert(uvec2 slab, uint slot, uint key, uint value, uint target) {
    for (; slot < SLAB_SLOTS; slot++) {
        uint before = atomic_cas2(slab_slot(slab, slot), uvec2(SLAB_EMPTY), uvec2(key, value)).x;
        if (before == SLAB_EMPTY) return true;
        if (before == target) return false;
    }
    return false;
}

// The tombstone is the key with all its bits cleared: one atomic erases, whatever happens to the value.
bool slab_erase(uvec2 slab, uint slot, uint key) {
    return atomic_and2(slab_slot(slab, slot), uvec2(SLAB_TOMBSTONE, ~0u)).x == key;
}

bool slab_value(uvec2 slab, uint slot, uint key, inout uint value) {
    if (value != SLAB_EMPTY) return true;
    uvec2 pair = atomic_load2(slab_slot(slab, slot));
    value = pair.y;
    return pair.x == key;
}

// Whether the value of a slot whose key was seen is there: it came with the key.
bool slab_settled(uvec2 slab, uint slot) { return true; }

#else

// Whether the value of a slot whose key was seen is there.
bool slab_settled(uvec2 slab, uint slot) {
    pairs_by_32_bit_atomics();
    bool settled = ((atomic_load(address_add(slab, SLAB_AUX_AT)) >> slot) & 1u) == 0u;
    acquire_fence();
    return settled;
}

bool slab_insert(uvec2 slab, uint slot, uint key, uint value, uint target) {
    pairs_by_32_bit_atomics();
    for (; slot < SLAB_SLOTS; slot++) {
        uvec2 at = slab_slot(slab, slot);
        uint before = atomic_cas(at, SLAB_EMPTY, key);
        if (before == SLAB_EMPTY) {
            atomic_store(address_add(at, 4u), value);
            release_fence();
            atomic_and(address_add(slab, SLAB_AUX_AT), ~(1u << slot));
            return true;
        }
        if (before == target) return false;
    }
    return false;
}

bool slab_erase(uvec2 slab, uint slot, uint key) {
    pairs_by_32_bit_atomics();
    return slab_settled(slab, slot) && atomic_cas(slab_slot(slab, slot), key, SLAB_TOMBSTONE) == key;
}

bool slab_value(uvec2 slab, uint slot, uint key, inout uint value) {
    if (!slab_settled(slab, slot)) return false;
    value = atomic_load(address_add(slab_slot(slab, slot), 4u));
    return true;
}

#endif

bool slab_assign(uvec2 slab, uint slot, uint value) {
    if (!slab_settled(slab, slot)) return false;
    atomic_exchange(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
bool slab_add(uvec2 slab, uint slot, uint value) {
    if (!slab_settled(slab, slot)) return false;
    atomic_add(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
#if VKDS_INT64_ATOMICS
// A value seen as ~0 may be older than its key.
bool slab_min(uvec2 slab, uint slot, uint seen, uint value) {
    if (value < seen) atomic_min(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
bool slab_max(uvec2 slab, uint slot, uint seen, uint value) {
    if (value > seen || seen == SLAB_EMPTY) atomic_max(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
#else
// SwiftShader's atomicMin and atomicMax are a load and a store, and lose what others add in between. False: somebody
// did.
bool slab_min(uvec2 slab, uint slot, uint seen, uint value) {
    if (!slab_settled(slab, slot)) return false;
    uvec2 at = address_add(slab_slot(slab, slot), 4u);
    uint now = atomic_load(at);
    return value >= now || atomic_cas(at, now, value) == now;
}
bool slab_max(uvec2 slab, uint slot, uint seen, uint value) {
    if (!slab_settled(slab, slot)) return false;
    uvec2 at = address_add(slab_slot(slab, slot), 4u);
    uint now = atomic_load(at);
    return value <= now || atomic_cas(at, now, value) == now;
}
#endif

#endif
#endif
