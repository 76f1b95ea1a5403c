// Slab of claimed pairs: of 16 bytes, by 64-bit atomics of their keys and of their values.
//
// A slot is claimed by a compare-and-swap on its key, and its value is stored behind that. A value other than a fresh
// slot's ~0 is there. Whether ~0 is the slot's value, its bit in the auxiliary word says: it is cleared by who stores
// such a value, or makes it. Until then others come back on a later visit. test/models/slab_claimed_test.go tries it.
//
// No fence is in it: a value is read by an address made of its bit, and the bit is cleared on the result of the atomic
// that made the value (memory.glsl says what both are good for). With fences, NVIDIA's compiler keeps what lanes hold
// of a slab in memory, and a table is filled half as fast (docs/benchmarks.md).
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_CLAIMED) && !defined(VKDS_SLAB_CLAIMED_GLSL)
#define VKDS_SLAB_CLAIMED_GLSL

#include "value.glsl"

const V SLAB_UNSETTLED = V(~0u);   // a value that may be a fresh slot's

uvec2 slab_value_at(uvec2 slab, uint slot) { return address_add(slab_slot(slab, slot), 8u); }

// 1 while nobody has said that a slot's value is there, else 0.
uint slab_unsettled(uvec2 slab, uint slot) { return (atomic_load(address_add(slab, SLAB_AUX_AT)) >> slot) & 1u; }

// Whether the value of a slot whose key was seen is there.
bool slab_settled(uvec2 slab, uint slot, V seen) {
    return seen != SLAB_UNSETTLED || slab_unsettled(slab, slot) == 0u;
}

// Says that a value is the slot's, if that can't be seen by itself, nor was said of the one before.
void slab_settle(uvec2 slab, uint slot, V before, V value) {
    if (value == SLAB_UNSETTLED && before != SLAB_UNSETTLED)
        atomic_and(address_add(slab, SLAB_AUX_AT), ~(1u << slot));
}

bool slab_insert(uvec2 slab, uint slot, K key, V value, K target) {
    for (; slot < SLAB_SLOTS; slot++) {
        K before = atomic_cas2(slab_slot(slab, slot), SLAB_EMPTY, key);
        if (before == SLAB_EMPTY) {
            if (value != SLAB_UNSETTLED) atomic_store2(slab_value_at(slab, slot), value);
            else atomic_and(address_add(slab, SLAB_AUX_AT), ~(1u << slot));   // it has been there all the time
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
    value = atomic_load2(address_add(slab_value_at(slab, slot), unsettled << 3));   // if it is not there, another one
    return unsettled == 0u;
}

bool slab_assign(uvec2 slab, uint slot, V seen, V value) {
    if (!slab_settled(slab, slot, seen)) return false;
    slab_settle(slab, slot, atomic_exchange2(slab_value_at(slab, slot), value), value);
    return true;
}

#if VKDS_VALUES != VKDS_UNSIGNED
#include "operation.glsl"

// Makes of a slot's value what an operation makes of it (op_value), by compare-and-swap. A value that one has failed on
// is there: no value is a fresh slot's again.
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
