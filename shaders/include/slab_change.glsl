// Slab change: what one lane does to one slot of a slab, while others do the same.
//
// Which atomics it takes goes by whether a pair fits one, and a key: slab_whole.glsl (pairs of 8 bytes by 64-bit
// atomics), slab_ready.glsl (the same without these), slab_claimed.glsl (pairs of 16 bytes by 64-bit atomics),
// slab_keys.glsl (keys without values) and slab_latched.glsl (whatever has 64 bits, without 64-bit atomics).
//
// All functions are one lane's own: no subgroup operation is in them.
#ifndef VKDS_SLAB_CHANGE_GLSL
#define VKDS_SLAB_CHANGE_GLSL

#include "slab.glsl"

// Where a value is changed apart from its key by who has not seen it as one with that, he says what he saw.
#if VKDS_WIDE
#define VKDS_SLAB_SEEN(SEEN) SEEN,
#else
#define VKDS_SLAB_SEEN(SEEN)
#endif

// Puts a key with its value into the first free slot from `slot` on, which was seen free. False: the
// slab is full by now, or `target` is in it (the key itself; SLAB_EMPTY if that does not matter).
bool slab_insert(uvec2 slab, uint slot, K key, V value, K target);

// Erases the key seen in a slot. False: somebody else did, look at the slab again.
bool slab_erase(uvec2 slab, uint slot, K key);

// Makes sure of a value that was read with its key. False: look at the slab again.
bool slab_value(uvec2 slab, uint slot, K key, inout V value);

const uint SLAB_ATTEMPTS = 4u;   // compare-and-swaps of a value, before its slab is looked at again

// Assign to, add to, lower or raise the value of the key seen in a slot with a value. What they do may
// land in a slot whose key was erased a moment before: then it counts as done before the erasure. False: the value is
// not there yet, or others were faster, look again.
bool slab_assign(uvec2 slab, uint slot, VKDS_SLAB_SEEN(V seen) V value);
bool slab_add(uvec2 slab, uint slot, VKDS_SLAB_SEEN(V seen) V value);
bool slab_min(uvec2 slab, uint slot, V seen, V value);
bool slab_max(uvec2 slab, uint slot, V seen, V value);

// One of three of these, for lanes that have different ones to do: with 64-bit atomics they are under way
// together, as one compare-and-swap.
const uint SLAB_INSERT = 0u;
const uint SLAB_ASSIGN = 1u;
const uint SLAB_ERASE = 2u;

bool slab_change(uvec2 slab, uint change, uint slot, K key, V seen, V value, K target) {
#if VKDS_PAIR_ATOMICS && !defined(VKDS_SLAB_KEYS)
    uvec2 expected = change == SLAB_INSERT ? uvec2(SLAB_EMPTY) : uvec2(key, seen);
    uvec2 desired = change == SLAB_ERASE ? uvec2(SLAB_TOMBSTONE, seen) : uvec2(key, value);
    uvec2 before = atomic_cas2(slab_slot(slab, slot), expected, desired);
    if (before == expected) return true;
    if (change == SLAB_INSERT ? before.x == target : before.x != key) return false;
    slot += change == SLAB_INSERT ? 1u : 0u;
#endif
    if (change == SLAB_INSERT) return slab_insert(slab, slot, key, value, target);
    if (change == SLAB_ERASE) return slab_erase(slab, slot, key);
    return slab_assign(slab, slot, VKDS_SLAB_SEEN(seen) value);
}

#if VKDS_WIDE && !VKDS_INT64_ATOMICS
#define VKDS_SLAB_LATCHED
#include "slab_latched.glsl"
#elif defined(VKDS_SLAB_KEYS)
#define VKDS_SLAB_OF_KEYS
#include "slab_keys.glsl"
#elif VKDS_WIDE
#define VKDS_SLAB_CLAIMED
#include "slab_claimed.glsl"
#else
#if VKDS_INT64_ATOMICS
#define VKDS_SLAB_WHOLE
#include "slab_whole.glsl"
#else
#define VKDS_SLAB_READY
#include "slab_ready.glsl"
#endif
#define VKDS_SLAB_VALUES
#include "slab_values.glsl"
#endif

#endif
