// Frees a slab in each invocation.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 slabs;   // one reference per invocation; SLAB_NULL: frees nothing
    uint count;
};

void main() {
    uint i = invocation_index();
    uint slab = SLAB_NULL;
    if (i < count) slab = plain_load(address_at(slabs, i, 2u));
    slab_free(pool, slab, slab != SLAB_NULL);
}
