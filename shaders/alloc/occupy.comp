// Marks the first slabs of a pool as allocated and all others as free.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 count;   // address of the number of allocated slabs
};

// Each invocation writes one word of a bitmap.
void main() {
    uint i = invocation_index();
    uint block = i >> 5;
    if (block >= pool.blocks) return;
    uint n = plain_load(count);
    uint mine = n - min(n, i * 32u);
    uint bits = mine >= 32u ? ~0u : (1u << mine) - 1u;
    uint within = block & ((1u << POOL_SUPER_SHIFT) - 1u);
    plain_store(pool_bitmap_word(pool, block >> POOL_SUPER_SHIFT, within, i & 31u), bits);
}
