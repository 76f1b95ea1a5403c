// Slab values: changes of the values of pairs of 8 bytes, by 32-bit atomics, once they are stored (slab_settled of
// slab_whole.glsl and slab_ready.glsl).
#include "slab_change.glsl"   // at the end of which this stands, where it is asked for
#if defined(VKDS_SLAB_VALUES) && !defined(VKDS_SLAB_VALUES_GLSL)
#define VKDS_SLAB_VALUES_GLSL

#include "value.glsl"

bool slab_assign(uvec2 slab, uint slot, uint value) {
    if (!slab_settled(slab, slot)) return false;
    atomic_exchange(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}

#if VKDS_VALUES != VKDS_UNSIGNED
#include "operation.glsl"

// Applies op_value to a slot's value, by compare-and-swaps. A value that was seen as ~0 may be older than its key; the
// compare-and-swap then fails and returns the right one.
bool slab_update(uvec2 slab, uint slot, uint kind, uint value) {
    if (!slab_settled(slab, slot)) return false;
    uvec2 at = address_add(slab_slot(slab, slot), 4u);
    uint now = atomic_load(at);
    bool done = false;
    for (uint attempt = 0u; attempt < SLAB_ATTEMPTS && !done; attempt++) {
        uint next = op_value(kind, now, value), before = now;
        if (next != now || now == SLAB_EMPTY) before = atomic_cas(at, now, next);
        done = before == now;
        now = before;
    }
    return done;
}
#endif

#if VKDS_VALUES == VKDS_FLOAT
bool slab_add(uvec2 slab, uint slot, uint value) { return slab_update(slab, slot, OP_INSERT_ADD, value); }
#else
bool slab_add(uvec2 slab, uint slot, uint value) {
    if (!slab_settled(slab, slot)) return false;
    atomic_add(address_add(slab_slot(slab, slot), 4u), value);
    return true;
}
#endif

#if VKDS_VALUES == VKDS_SIGNED
bool slab_min(uvec2 slab, uint slot, uint seen, uint value) { return slab_update(slab, slot, OP_INSERT_MIN, value); }
bool slab_max(uvec2 slab, uint slot, uint seen, uint value) { return slab_update(slab, slot, OP_INSERT_MAX, value); }
#elif VKDS_INT64_ATOMICS
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
// By compare-and-swaps, because SwiftShader's atomicMin and atomicMax are a load and a store, and lose changes of
// others in between. They return false if others were faster.
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
