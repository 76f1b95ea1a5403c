// Slab change: what one lane does to one slot of a slab, while others do the same.
//
// With 64-bit atomics a pair is set and erased as a whole; its value alone is changed by 32-bit atomics.
// The Vulkan memory model does not relate atomics of two sizes, but every implementation known performs
// both at one place. `vkds doctor` tests it; where it should fail, VKDS_WITHOUT=shaderBufferInt64Atomics
// has the other protocol taken. Reads load vectors, whose words may differ in age. The key word alone
// tells a slot's state, and a value from an older time than its key can only be a fresh slot's ~0; so a
// value of ~0 is read again as one atomic, and any other is right as it came.
//
// Without them (32-bit protocol) a slot is claimed by its key, then its value is stored, then its bit
// in the auxiliary word is cleared; until then others come back on a later visit.
//
// All functions are one lane's own: no subgroup operation is in them.
#ifndef VKDS_SLAB_CHANGE_GLSL
#define VKDS_SLAB_CHANGE_GLSL

#include "slab.glsl"

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
