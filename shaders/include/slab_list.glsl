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
// both at one place; `vkds doctor` tests it, and where it fails the other protocol serves. Reads load vectors, whose words
// may differ in age. The key word alone tells a slot's state, and a value from an older time than
// its key can only be a fresh slot's ~0; so a value of ~0 is read again as one atomic, and any other
// is right as it came.
// Without them (32-bit protocol) a slot is claimed by its key, then its value is stored, then its bit
// in the auxiliary word is cleared; until then others come back in a later round.
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

// Which of this lane's slots are slots at all, and not the slab's auxiliary words or nothing.
uint slab_data_mask() {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
        if (node_pair_index(m) < 15u) mask |= ((1u << SLAB_PAIR_SLOTS) - 1u) << (m * SLAB_PAIR_SLOTS);
    return mask;
}

// Which of this lane's slots hold a key: bit m for slot m of slab_lane_slot.
uint slab_lane_mask(Node n, uint key) {
    uint mask = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++) {
        if (node_pair_index(m) < 15u) {
#ifdef VKDS_SLAB_KEYS
            mask |= (n.pair[m].x == key ? 1u : 0u) << (2u * m);
            mask |= (n.pair[m].y == key ? 2u : 0u) << (2u * m);
#else
            mask |= (n.pair[m].x == key ? 1u : 0u) << m;
#endif
        }
    }
    return mask;
}

// Which of this lane's slots hold a key that is neither empty nor erased.
uint slab_live_mask(Node n) {
    return ~(slab_lane_mask(n, SLAB_EMPTY) | slab_lane_mask(n, SLAB_TOMBSTONE)) & slab_data_mask();
}

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

// The lane with the first of the marked slots, in slab order.
uint slab_first_lane(uint mask) {
#ifdef VKDS_SLAB_KEYS
    uint pairs = 0u;
    [[unroll]] for (uint m = 0u; m < NODE_LANE_PAIRS; m++)
        pairs |= ((mask >> (2u * m)) & 3u) != 0u ? 1u << m : 0u;
    return node_first_lane(pairs);
#else
    return node_first_lane(mask);
#endif
}

// The reference to the next slab, SLAB_NULL at the list's end; the same for all lanes of the tile.
uint slab_next(Node n) { return tile_shuffle(n.pair[NODE_LANE_PAIRS - 1u].y, NODE_LAST_LANE); }

// The first slot that holds a key (SLAB_EMPTY: the first free slot), NODE_NONE if none does; the same
// for all lanes of the tile.
uint slab_find(Node n, uint key) {
    uint mask = slab_lane_mask(n, key);
    uint lane = slab_first_lane(mask);
    uint slot = tile_shuffle(slab_lane_slot(uint(findLSB(mask))), lane == NODE_NONE ? 0u : lane);
    return lane == NODE_NONE ? NODE_NONE : slot;
}

#ifndef VKDS_SLAB_KEYS
// The value in the first of this lane's marked slots.
uint slab_lane_first_value(Node n, uint mask) {
    uint value = 0u;
    [[unroll]] for (uint i = 0u; i < NODE_LANE_PAIRS; i++) {
        uint m = NODE_LANE_PAIRS - 1u - i;
        if (((mask >> m) & 1u) != 0u) value = n.pair[m].y;
    }
    return value;
}

// slab_find, and the value in the slot found.
uint slab_find(Node n, uint key, out uint value) {
    uint mask = slab_lane_mask(n, key);
    uint lane = slab_first_lane(mask);
    uint from = lane == NODE_NONE ? 0u : lane;
    uint slot = tile_shuffle(slab_lane_slot(uint(findLSB(mask))), from);
    value = tile_shuffle(slab_lane_first_value(n, mask), from);
    return lane == NODE_NONE ? NODE_NONE : slot;
}
#endif

// Whether a slot holds a key, and the value in the first that does (of a slab of keys: 0): slab_find for
// those who need no slot. The same for all lanes of the tile.
bool slab_holds(Node n, uint key, out uint value) {
    uint mask = slab_lane_mask(n, key);
    uint lane = slab_first_lane(mask);
#ifdef VKDS_SLAB_KEYS
    value = 0u;
#else
    value = tile_shuffle(slab_lane_first_value(n, mask), lane == NODE_NONE ? 0u : lane);
#endif
    return lane != NODE_NONE;
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

// A change of one slot, from what was seen in it.
const uint SLAB_PUT = 0u;      // a key, and its value, into a free slot
const uint SLAB_ASSIGN = 1u;   // a value to the key that is there
const uint SLAB_ERASE = 2u;    // the key that is there

// Makes a change; `seen` is the value that was read with the key (SLAB_ASSIGN and SLAB_ERASE). False:
// the slot is not what it was, look at the slab again (32-bit protocol: or its value is not there yet).
// One atomic serves all changes, so that lanes with different ones do not wait for each other.
bool slab_change(uvec2 slab, uint change, uint slot, uint key, uint seen, uint value);

// Makes sure of a value that was read with its key. False: look at the slab again.
bool slab_value(uvec2 slab, uint slot, uint key, inout uint value);

// Adds to the value of the key seen in a slot. False: look at the slab again.
bool slab_add(uvec2 slab, uint slot, uint key, uint value);

// Lowers (raises) the value of the key seen in a slot, where that changes it. False: look again.
bool slab_min(uvec2 slab, uint slot, uint key, uint seen, uint value);
bool slab_max(uvec2 slab, uint slot, uint key, uint seen, uint value);

bool slab_insert(uvec2 slab, uint slot, uint key, uint value) {
    return slab_change(slab, SLAB_PUT, slot, key, 0u, value);
}
bool slab_assign(uvec2 slab, uint slot, uint key, uint seen, uint value) {
    return slab_change(slab, SLAB_ASSIGN, slot, key, seen, value);
}
bool slab_erase(uvec2 slab, uint slot, uint key, uint seen) {
    return slab_change(slab, SLAB_ERASE, slot, key, seen, 0u);
}

#ifdef VKDS_SLAB_KEYS

bool slab_change(uvec2 slab, uint change, uint slot, uint key, uint seen, uint value) {
    if (change == SLAB_ASSIGN) return true;
    uint expected = change == SLAB_PUT ? SLAB_EMPTY : key;
    return atomic_cas(slab_slot(slab, slot), expected, change == SLAB_PUT ? key : SLAB_TOMBSTONE) == expected;
}
// A key has no value to be sure of or to change.
bool slab_value(uvec2 slab, uint slot, uint key, inout uint value) { return true; }
bool slab_add(uvec2 slab, uint slot, uint key, uint value) { return true; }
bool slab_min(uvec2 slab, uint slot, uint key, uint seen, uint value) { return true; }
bool slab_max(uvec2 slab, uint slot, uint key, uint seen, uint value) { return true; }

#elif VKDS_INT64_ATOMICS

bool slab_change(uvec2 slab, uint change, uint slot, uint key, uint seen, uint value) {
    uvec2 at = slab_slot(slab, slot);
    uvec2 expected = change == SLAB_PUT ? uvec2(SLAB_EMPTY) : uvec2(key, seen);
    uvec2 desired = change == SLAB_ERASE ? uvec2(SLAB_TOMBSTONE, seen) : uvec2(key, value);
    uvec2 before = atomic_cas2(at, expected, desired);
    bool done = before == expected;
    if (!done && change != SLAB_PUT && before.x == key) {
        // Only the value is another one. The tombstone is the key with all its bits cleared, which erases
        // whatever happens to the value; and an assignment to the value alone, in a slot whose key is erased
        // a moment before, counts as done before the erasure. So nobody tries again and again, however many
        // work on one key.
        if (change == SLAB_ERASE) {
            done = atomic_and2(at, uvec2(SLAB_TOMBSTONE, ~0u)).x == key;
        } else {
            atomic_exchange(address_add(at, 4u), value);
            done = true;
        }
    }
    return done;
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
    bool settled = ((atomic_load(address_add(slab, SLAB_AUX_AT)) >> slot) & 1u) == 0u;
    acquire_fence();
    return settled;
}

bool slab_change(uvec2 slab, uint change, uint slot, uint key, uint seen, uint value) {
    uvec2 at = slab_slot(slab, slot);
    if (change == SLAB_PUT) {
        if (atomic_cas(at, SLAB_EMPTY, key) != SLAB_EMPTY) return false;
        atomic_store(address_add(at, 4u), value);
        release_fence();
        atomic_and(address_add(slab, SLAB_AUX_AT), ~(1u << slot));
        return true;
    }
    if (!slab_settled(slab, slot)) return false;
    if (change == SLAB_ERASE) return atomic_cas(at, key, SLAB_TOMBSTONE) == key;
    atomic_exchange(address_add(at, 4u), value);
    return true;
}

bool slab_value(uvec2 slab, uint slot, uint key, inout uint value) {
    if (!slab_settled(slab, slot)) return false;
    value = atomic_load(address_add(slab_slot(slab, slot), 4u));
    return true;
}

#endif

#ifndef VKDS_SLAB_KEYS

// What these do to the value may land in a slot whose key was erased a moment before: then it counts as
// done before the erasure.
bool slab_add(uvec2 slab, uint slot, uint key, uint value) {
    if (!slab_settled(slab, slot)) return false;
    atomic_add(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
bool slab_min(uvec2 slab, uint slot, uint key, uint seen, uint value) {
    if (!slab_settled(slab, slot)) return false;
    if (value < seen) atomic_min(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
bool slab_max(uvec2 slab, uint slot, uint key, uint seen, uint value) {
    if (!slab_settled(slab, slot)) return false;
    if (value > seen || seen == SLAB_EMPTY) atomic_max(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}

#endif
#endif
