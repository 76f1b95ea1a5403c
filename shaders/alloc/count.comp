// Counts the allocated slabs of each super block of a pool, from its bitmaps.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "slab_alloc.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    SlabPool pool;
    uvec2 counts;   // output: one counter per super block, 0 before
};

// Each invocation reads one word of a bitmap. The words of a super block are a multiple of every subgroup size, so a
// subgroup never counts for two super blocks.
void main() {
    uint i = invocation_index();
    uint block = i >> 5;
    uint super = block >> POOL_SUPER_SHIFT;
    uint bits = 0u;
    if (block < pool.blocks) {
        uint within = block & ((1u << POOL_SUPER_SHIFT) - 1u);
        bits = plain_load(pool_bitmap_word(pool, super, within, i & 31u));
    }
    uint allocated = subgroupAdd(uint(bitCount(bits)));
    if (allocated != 0u && subgroupElect()) atomic_add(address_at(counts, super, 2u), allocated);
}
