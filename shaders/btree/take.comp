// Allocates slabs, one per invocation, or frees them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "node.glsl"
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FREE = 0;     // 1: free
layout(constant_id = 17) const uint CLEARS = 0;   // 1: set their words to ~0 before they are freed, for a shared pool

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 slabs;     // input if freed, output if allocated: SLAB_NULL if the pool has no room
    uvec2 refused;   // counts the slabs that the pool had no room for
    uvec2 used;      // 0, or a word: the number of slabs to keep, beginning with `beside` other slabs
    uint beside;
    uint count;
};

void main() {
    uint i = invocation_index();
    bool there = i < count;
    if (FREE != 0u) {
        uint first = 0u, slab = SLAB_NULL;
        if ((used.x | used.y) != 0u) first = max(plain_load(used), beside) - beside;
        if (there && i >= first) slab = plain_load_at(slabs, i);
        there = pool_has(pool, slab);
        if (CLEARS != 0u) {
            node_clear_coherent(slab_address(pool, slab), there);
            release_fence();
        }
        slab_free(pool, slab, there);
    } else {
        SlabCursor cursor = slab_cursor();
        uint slab = slab_allocate(pool, cursor, there);
        if (there) plain_store_at(slabs, i, slab);
        if (there && slab == SLAB_NULL) atomic_add(refused, 1u);
    }
}
