// Latched slab: changes of keys or pairs of 64 bits, without 64-bit atomics.
//
// The auxiliary word is the slab's state: a version, and a bit that is cleared while the slab is latched. Each function
// latches the slab, reads the slots that it changes again, changes them and unlatches the slab. If the slab is latched
// by another invocation, the function returns false, and the operation tries again later. A read of the slab is
// consistent if the state before and after it is the same (slab_view.glsl). A model is in
// test/models/slab_latched_test.go.
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_LATCHED) && !defined(VKDS_SLAB_LATCHED_GLSL)
#define VKDS_SLAB_LATCHED_GLSL

#include "operation.glsl"

const uint SLAB_OPEN = 1u << 31;   // bit of a state: the slab is not latched

// Tries to latch a slab, and returns whether it did. `state` is for slab_unlatch.
bool slab_latch(uvec2 slab, out uint state) {
    pairs_by_32_bit_atomics();
    state = atomic_and(address_add(slab, SLAB_AUX_AT), ~SLAB_OPEN);
    full_fence();
    return (state & SLAB_OPEN) != 0u;
}

void slab_unlatch(uvec2 slab, uint state) {
    release_fence();
    atomic_store(address_add(slab, SLAB_AUX_AT), (state - 1u) | SLAB_OPEN);
}

bool slab_insert(uvec2 slab, uint slot, K key, V value, K target) {
    uint state;
    if (!slab_latch(slab, state)) return false;
    bool inserted = false, there = false;
    for (; slot < SLAB_SLOTS && !inserted && !there; slot++) {
        uvec2 at = slab_slot(slab, slot);
        K before = coherent_load2(at);
        inserted = before == SLAB_EMPTY;
        there = before == target;
        if (inserted) {
            VKDS_SLAB_WRITTEN(true, slab, slot, key, value)
            coherent_store2(at, key);
#ifndef VKDS_SLAB_KEYS
            coherent_store2(address_add(at, 8u), value);
#endif
        }
    }
    slab_unlatch(slab, state);
    return inserted;
}

bool slab_erase(uvec2 slab, uint slot, K key) {
    uint state;
    if (!slab_latch(slab, state)) return false;
    uvec2 at = slab_slot(slab, slot);
    bool there = coherent_load2(at) == key;
    if (there) coherent_store2(at, SLAB_TOMBSTONE);
    slab_unlatch(slab, state);
    return there;
}

// The value is valid, because it was read consistently with its key.
bool slab_value(uvec2 slab, uint slot, K key, inout V value) { return true; }

// Applies op_value to a slot's value.
bool slab_update(uvec2 slab, uint slot, uint kind, V value) {
#ifndef VKDS_SLAB_KEYS
    uint state;
    if (!slab_latch(slab, state)) return false;
    uvec2 at = address_add(slab_slot(slab, slot), 8u);
    coherent_store2(at, op_value(kind, coherent_load2(at), value));
    slab_unlatch(slab, state);
#endif
    return true;
}

bool slab_assign(uvec2 slab, uint slot, V seen, V value) { return slab_update(slab, slot, OP_INSERT, value); }
bool slab_add(uvec2 slab, uint slot, V seen, V value) { return slab_update(slab, slot, OP_INSERT_ADD, value); }
bool slab_min(uvec2 slab, uint slot, V seen, V value) {
    return !VKDS_BY_VALUES(number_below(value, seen), value_below(value, seen))
        || slab_update(slab, slot, OP_INSERT_MIN, value);
}
bool slab_max(uvec2 slab, uint slot, V seen, V value) {
    return !VKDS_BY_VALUES(number_below(seen, value), value_below(seen, value))
        || slab_update(slab, slot, OP_INSERT_MAX, value);
}

#endif
