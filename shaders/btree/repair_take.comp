// Allocates slabs, one an invocation, or frees them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(constant_id = 16) const uint FREE = 0;   // 1: free

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 slabs;    // the slabs; out where they are allocated, SLAB_NULL where there is no room
    uvec2 refused;  // out: incremented for each of these
    uint count;
};

void main() {
    uint i = invocation_index();
    bool there = i < count;
    if (FREE != 0u) {
        uint slab = SLAB_NULL;
        if (there) slab = plain_load_at(slabs, i);
        slab_free(pool, slab, slab != SLAB_NULL);
    } else {
        SlabCursor cursor = slab_cursor();
        uint slab = slab_allocate(pool, cursor, there);
        if (there) plain_store_at(slabs, i, slab);
        if (there && slab == SLAB_NULL) atomic_add(refused, 1u);
    }
}
