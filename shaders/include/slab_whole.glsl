// Slab of whole pairs: of 8 bytes, set and erased by one 64-bit atomic. A pair's value alone is changed by 32-bit ones.
//
// The Vulkan memory model does not relate atomics of two sizes, but every implementation known performs both at one
// place. `vkds doctor` tests it; where it should fail, VKDS_WITHOUT=shaderBufferInt64Atomics has another protocol
// taken. Reads load vectors, whose words may differ in age. The key word alone tells a slot's state, and a value from
// an older time than its key can only be a fresh slot's ~0; so a value of ~0 is read again as one atomic, and any other
// is right as it came.
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_WHOLE) && !defined(VKDS_SLAB_WHOLE_GLSL)
#define VKDS_SLAB_WHOLE_GLSL

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

#endif
