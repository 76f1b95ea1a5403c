// Slab change: changes by one lane of one slot of a slab, concurrent with changes by others.
//
// There are several protocols, depending on the widths and on the device's atomics:
//   slab_whole.glsl     pairs of 8 bytes, by 64-bit atomics
//   slab_ready.glsl     pairs of 8 bytes, without 64-bit atomics
//   slab_claimed.glsl   pairs of 16 bytes, by 64-bit atomics
//   slab_keys.glsl      keys without values, of 32 bits, or of 64 bits by 64-bit atomics
//   slab_latched.glsl   keys or pairs of 64 bits, without 64-bit atomics
//
// All functions are for one lane and have no subgroup operations.
#ifndef VKDS_SLAB_CHANGE_GLSL
#define VKDS_SLAB_CHANGE_GLSL

#include "slab.glsl"
#include "trace.glsl"

// At 64 bits, functions that change a value apart from its key also take the value seen: VKDS_SLAB_SEEN adds it.
#if VKDS_WIDE
#define VKDS_SLAB_SEEN(SEEN) SEEN,
#else
#define VKDS_SLAB_SEEN(SEEN)
#endif

// Puts a key with its value into the first free slot from `slot` on, which was seen free. Returns false if the
// slab is full by now, is latched, or has got `target`: the key itself, or SLAB_EMPTY if duplicates are allowed.
bool slab_insert(uvec2 slab, uint slot, K key, V value, K target);

// Erases the key seen in a slot. Returns false if it must be tried again after another read of the slab.
bool slab_erase(uvec2 slab, uint slot, K key);

// Confirms a value that was read with its key, or reads it again. Returns false if the slab must be read again.
bool slab_value(uvec2 slab, uint slot, K key, inout V value);

const uint SLAB_ATTEMPTS = 4u;   // compare-and-swaps of a value before its slab is read again

// Assign to, add to, lower or raise the value of the key seen in a slot. If the key was erased just before, the change
// counts as done before the erasure. They return false if the slab must be read again: the slot's value is not stored
// yet, or other invocations were faster.
bool slab_assign(uvec2 slab, uint slot, VKDS_SLAB_SEEN(V seen) V value);
bool slab_add(uvec2 slab, uint slot, VKDS_SLAB_SEEN(V seen) V value);
bool slab_min(uvec2 slab, uint slot, V seen, V value);
bool slab_max(uvec2 slab, uint slot, V seen, V value);

// Does one of three changes. Lanes may do different ones: with 64-bit atomics on pairs all of them are done by one
// compare-and-swap, at the same time.
const uint SLAB_INSERT = 0u;
const uint SLAB_ASSIGN = 1u;
const uint SLAB_ERASE = 2u;

#define VKDS_SLAB_WRITTEN(IF, SLAB, SLOT, KEY, VALUE) \
    VKDS_EVENT_PAIR(IF, TRACE_WRITE, trace_line(SLAB), SLOT, KEY, VALUE)

bool slab_change(uvec2 slab, uint change, uint slot, K key, V seen, V value, K target) {
#if VKDS_PAIR_ATOMICS && !defined(VKDS_SLAB_KEYS)
    uvec2 expected = change == SLAB_INSERT ? uvec2(SLAB_EMPTY) : uvec2(key, seen);
    uvec2 desired = change == SLAB_ERASE ? uvec2(SLAB_TOMBSTONE, seen) : uvec2(key, value);
    uvec2 before = atomic_cas2(slab_slot(slab, slot), expected, desired);
    VKDS_SLAB_WRITTEN(before == expected && change == SLAB_INSERT, slab, slot, key, value)
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
