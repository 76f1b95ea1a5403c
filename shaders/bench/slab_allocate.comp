// Allocates a slab in each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 slabs;   // output: one reference per invocation
    uint count;
};

void main() {
    uint i = invocation_index();
    SlabCursor cursor = slab_cursor();
    uint slab = slab_allocate(pool, cursor, i < count);
    if (i < count) plain_store(address_at(slabs, i, 2u), slab);
}
