// Ready slab: changes of pairs of 8 bytes, by 32-bit atomics. An insertion claims a slot by a compare-and-swap on its
// key, stores the value, and then clears the slot's bit in the auxiliary word. Until then other operations on the key
// read the slab again later.
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_READY) && !defined(VKDS_SLAB_READY_GLSL)
#define VKDS_SLAB_READY_GLSL

// Whether the value of a slot whose key was seen is stored.
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
            VKDS_SLAB_WRITTEN(true, slab, slot, key, value)
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
