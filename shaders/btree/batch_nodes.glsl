// B-link-tree, batched updates: the slabs of new nodes. New nodes, in key order, get the pool's free slabs in the order
// of their bits in the bitmaps. So a new node's number determines its slab, and no kernel allocates. The bits are set
// at the end of the batch. If the pool is SHARED, the host has allocated the slabs before.
#ifndef VKDS_BTREE_BATCH_NODES_GLSL
#define VKDS_BTREE_BATCH_NODES_GLSL

#include "batch.glsl"

uvec2 pool_block(SlabPool pool, uint block) {
    return pool_bitmap_word(pool, block >> POOL_SUPER_SHIFT, block & ((1u << POOL_SUPER_SHIFT) - 1u), 0u);
}

// The slab of the new node with a number. `free` has two words per memory block: the number of free slabs in earlier
// blocks; and, in the k-th pair, the block of the new node k * 1024, or the last block. One more pair follows, with the
// number of all free slabs. If the pool is SHARED, `free` has the number of slabs, and then the slabs.
uint batch_slab(SlabPool pool, uvec2 free, uint number) {
    if (SHARED != 0u) return plain_load_near(free, number + 1u);
    uint near = min(number >> 10, pool.blocks - 1u);
    uint block = min(plain_load_near(free, 2u * near + 1u), pool.blocks - 1u);
    uint beyond = clamp(plain_load_near(free, 2u * near + 3u) + 1u, block + 1u, pool.blocks);
    while (beyond - block > 1u) {
        uint middle = block + ((beyond - block) >> 1);
        if (plain_load_near(free, 2u * middle) <= number) block = middle;
        else beyond = middle;
    }
    uint left = number - plain_load_near(free, 2u * block), word = 0u, view = 0u;
    uvec2 at = pool_block(pool, block);
    // First it finds the quad of words with the slab, then the word.
    uvec4 quad = uvec4(0u);
    bool found = false;
    [[unroll]] for (uint q = 0u; q < 8u; q++) {
        uvec4 v = ~plain_load4(address_add(at, q * 16u));
        uvec4 counts = uvec4(bitCount(v));
        uint count = counts.x + counts.y + counts.z + counts.w;
        bool here = !found && left < count;
        quad = here ? v : quad;
        word = here ? 4u * q : word;
        found = found || here;
        left -= found ? 0u : count;
    }
    found = false;
    [[unroll]] for (uint c = 0u; c < 4u; c++) {
        uint count = uint(bitCount(quad[c]));
        bool here = !found && left < count;
        word += here ? c : 0u;
        view = here ? quad[c] : view;
        found = found || here;
        left -= found ? 0u : count;
    }
    uint super = block >> POOL_SUPER_SHIFT;
    return super << 24 | (block & ((1u << POOL_SUPER_SHIFT) - 1u)) << 10 | word << 5 | pool_nth_bit(view, left);
}

#endif
