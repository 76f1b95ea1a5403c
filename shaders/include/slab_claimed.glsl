// Claimed slab: changes of pairs of 16 bytes, by 64-bit atomics on keys and on values.
//
// A compare-and-swap on the key claims a slot; its value is stored after that. A new slot's value is ~0. So any other
// value is stored. If the value reads ~0, the slot's bit in the auxiliary word tells: it is cleared by the invocation
// that stores or computes the value ~0. Until then other operations read the slab again later. A model is in
// test/models/slab_claimed_test.go.
//
// There are no fences. The address that a value is read from is computed from its bit, and the bit is cleared depending
// on the result of the atomic that wrote the value: order by address and by result (memory.glsl). With fences, NVIDIA's
// compiler keeps the lanes' parts of a slab in memory, and a table fills at half the speed (notes/measurements.md).
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_CLAIMED) && !defined(VKDS_SLAB_CLAIMED_GLSL)
#define VKDS_SLAB_CLAIMED_GLSL

#include "value.glsl"

const V SLAB_UNSETTLED = V(~0u);   // a value that may be that of a new slot

uvec2 slab_value_at(uvec2 slab, uint slot) { return address_add(slab_slot(slab, slot), 8u); }

// The slot's bit in the auxiliary word: 1 until the value ~0 is known to be stored.
uint slab_unsettled(uvec2 slab, uint slot) { return (atomic_load(address_add(slab, SLAB_AUX_AT)) >> slot) & 1u; }

// Whether the value of a slot whose key was seen is stored.
bool slab_settled(uvec2 slab, uint slot, V seen) {
    return seen != SLAB_UNSETTLED || slab_unsettled(slab, slot) == 0u;
}

// Clears the slot's bit after `value` replaced `before`, if the value is ~0 and the one before was not.
void slab_settle(uvec2 slab, uint slot, V before, V value) {
    if (value == SLAB_UNSETTLED && before != SLAB_UNSETTLED)
        atomic_and(address_add(slab, SLAB_AUX_AT), ~(1u << slot));
}

bool slab_insert(uvec2 slab, uint slot, K key, V value, K target) {
    for (; slot < SLAB_SLOTS; slot++) {
        K before = atomic_cas2(slab_slot(slab, slot), SLAB_EMPTY, key);
        if (before == SLAB_EMPTY) {
            if (value != SLAB_UNSETTLED) atomic_store2(slab_value_at(slab, slot), value);
            else atomic_and(address_add(slab, SLAB_AUX_AT), ~(1u << slot));   // a new slot has this value already
            VKDS_SLAB_WRITTEN(true, slab, slot, key, value)
            return true;
        }
        if (before == target) return false;
    }
    return false;
}

bool slab_erase(uvec2 slab, uint slot, K key) {
    return atomic_cas2(slab_slot(slab, slot), key, SLAB_TOMBSTONE) == key;
}

bool slab_value(uvec2 slab, uint slot, K key, inout V value) {
    if (value != SLAB_UNSETTLED) return true;
    uint unsettled = slab_unsettled(slab, slot);
    value = atomic_load2(address_add(slab_value_at(slab, slot), unsettled << 3));   // other words if unsettled
    return unsettled == 0u;
}

bool slab_assign(uvec2 slab, uint slot, V seen, V value) {
    if (!slab_settled(slab, slot, seen)) return false;
    slab_settle(slab, slot, atomic_exchange2(slab_value_at(slab, slot), value), value);
    return true;
}

#if VKDS_VALUES != VKDS_UNSIGNED
#include "operation.glsl"

// Applies op_value to a slot's value, by compare-and-swaps. If one has failed, the value that it returned is stored:
// the value of a slot never becomes that of a new slot again.
bool slab_update(uvec2 slab, uint slot, V seen, uint kind, V value) {
    if (!slab_settled(slab, slot, seen)) return false;
    bool done = false;
    for (uint attempt = 0u; attempt < SLAB_ATTEMPTS && !done; attempt++) {
        V next = op_value(kind, seen, value), before = seen;
        if (next != seen) before = atomic_cas2(slab_value_at(slab, slot), seen, next);
        done = before == seen;
        if (done) slab_settle(slab, slot, seen, next);
        seen = before;
    }
    return done;
}
#endif

#if VKDS_VALUES == VKDS_FLOAT
bool slab_add(uvec2 slab, uint slot, V seen, V value) {
    return slab_update(slab, slot, seen, OP_INSERT_ADD, value);
}
#else
bool slab_add(uvec2 slab, uint slot, V seen, V value) {
    if (!slab_settled(slab, slot, seen)) return false;
    V before = atomic_add2(slab_value_at(slab, slot), value);
    slab_settle(slab, slot, before, number_add(before, value));
    return true;
}
#endif

#if VKDS_VALUES == VKDS_SIGNED
bool slab_min(uvec2 slab, uint slot, V seen, V value) {
    return slab_update(slab, slot, seen, OP_INSERT_MIN, value);
}
bool slab_max(uvec2 slab, uint slot, V seen, V value) {
    return slab_update(slab, slot, seen, OP_INSERT_MAX, value);
}
#else
bool slab_min(uvec2 slab, uint slot, V seen, V value) {
    if (!slab_settled(slab, slot, seen)) return false;
    if (number_below(value, seen)) atomic_min2(slab_value_at(slab, slot), value);
    return true;
}
bool slab_max(uvec2 slab, uint slot, V seen, V value) {
    if (!slab_settled(slab, slot, seen)) return false;
    if (!number_below(seen, value)) return true;
    slab_settle(slab, slot, atomic_max2(slab_value_at(slab, slot), value), value);
    return true;
}
#endif

#endif
