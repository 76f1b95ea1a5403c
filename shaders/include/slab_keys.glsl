// Slab of keys: each key is set and erased by one atomic, of 32 bits or, for keys of 64 bits, of 64.
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_OF_KEYS) && !defined(VKDS_SLAB_KEYS_GLSL)
#define VKDS_SLAB_KEYS_GLSL

#if VKDS_WIDE
#define VKDS_SLAB_CAS atomic_cas2
#else
#define VKDS_SLAB_CAS atomic_cas
#endif

bool slab_insert(uvec2 slab, uint slot, K key, V value, K target) {
    for (; slot < SLAB_SLOTS; slot++) {
        K before = VKDS_SLAB_CAS(slab_slot(slab, slot), SLAB_EMPTY, key);
        VKDS_SLAB_WRITTEN(before == SLAB_EMPTY, slab, slot, key, value)
        if (before == SLAB_EMPTY) return true;
        if (before == target) return false;
    }
    return false;
}
bool slab_erase(uvec2 slab, uint slot, K key) {
    return VKDS_SLAB_CAS(slab_slot(slab, slot), key, SLAB_TOMBSTONE) == key;
}
// There are no values to confirm or to change.
bool slab_value(uvec2 slab, uint slot, K key, inout V value) { return true; }
bool slab_assign(uvec2 slab, uint slot, VKDS_SLAB_SEEN(V seen) V value) { return true; }
bool slab_add(uvec2 slab, uint slot, VKDS_SLAB_SEEN(V seen) V value) { return true; }
bool slab_min(uvec2 slab, uint slot, V seen, V value) { return true; }
bool slab_max(uvec2 slab, uint slot, V seen, V value) { return true; }

#endif
