// Whole slab: changes of pairs of 8 bytes. One 64-bit atomic inserts or erases a pair. Changes of the value alone are
// 32-bit atomics.
//
// The Vulkan memory model does not relate atomics of two sizes, but every known implementation performs both at one
// place. `vkds doctor` tests that. If it fails, set VKDS_WITHOUT=shaderBufferInt64Atomics to use another protocol.
//
// Reads load vectors, whose words may differ in age. The key word alone is the slot's state. A value that is older than
// its key can only be the ~0 of a new slot. So a value of ~0 is read again by one atomic, and any other value is valid.
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_WHOLE) && !defined(VKDS_SLAB_WHOLE_GLSL)
#define VKDS_SLAB_WHOLE_GLSL

bool slab_insert(uvec2 slab, uint slot, uint key, uint value, uint target) {
    for (; slot < SLAB_SLOTS; slot++) {
        uint before = atomic_cas2(slab_slot(slab, slot), uvec2(SLAB_EMPTY), uvec2(key, value)).x;
        VKDS_SLAB_WRITTEN(before == SLAB_EMPTY, slab, slot, key, value)
        if (before == SLAB_EMPTY) return true;
        if (before == target) return false;
    }
    return false;
}

// The tombstone is a key with all bits 0, so one atomic erases the key, whatever others do to the value.
bool slab_erase(uvec2 slab, uint slot, uint key) {
    return atomic_and2(slab_slot(slab, slot), uvec2(SLAB_TOMBSTONE, ~0u)).x == key;
}

bool slab_value(uvec2 slab, uint slot, uint key, inout uint value) {
    if (value != SLAB_EMPTY) return true;
    uvec2 pair = atomic_load2(slab_slot(slab, slot));
    value = pair.y;
    return pair.x == key;
}

// Whether the value of a slot whose key was seen is stored: always, since it was stored together with the key.
bool slab_settled(uvec2 slab, uint slot) { return true; }

#endif
