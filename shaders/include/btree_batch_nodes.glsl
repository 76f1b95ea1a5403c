// B-link-tree, batched updates: where new nodes come from. They are the pool's free slabs in the order of their bits in
// the bitmaps, and stand one behind the other as their keys do. The bits are set when the batch is through, and until
// then a new node's number says which slab it is, so that nobody allocates.
#ifndef VKDS_BTREE_BATCH_NODES_GLSL
#define VKDS_BTREE_BATCH_NODES_GLSL

#include "btree_batch.glsl"

uvec2 pool_block(SlabPool pool, uint block) {
    return pool_bitmap_word(pool, block >> POOL_SUPER_SHIFT, block & ((1u << POOL_SUPER_SHIFT) - 1u), 0u);
}

// The new node of a number. free has a pair a memory block, of which the first word is how many slabs are free in the
// blocks before it; and one more for all of them.
uint batch_slab(SlabPool pool, uvec2 free, uint number) {
    uint block = 0u, beyond = pool.blocks;   // the last one that has no more before it
    while (beyond - block > 1u) {
        uint middle = block + ((beyond - block) >> 1);
        if (plain_load_at(free, 2u * middle) <= number) block = middle;
        else beyond = middle;
    }
    uint left = number - plain_load_at(free, 2u * block);
    uvec2 at = pool_block(pool, block);
    uint word = 0u, view = 0u;
    bool found = false;
    [[dont_unroll]] for (uint i = 0u; i < 8u; i++) {
        uvec4 v = ~plain_load4(address_add(at, i * 16u));
        uvec4 count = uvec4(bitCount(v));
        [[unroll]] for (uint c = 0u; c < 4u; c++) {
            bool here = !found && left < count[c];
            if (!found && !here) left -= count[c];
            if (here) {
                word = 4u * i + c;
                view = v[c];
                found = true;
            }
        }
    }
    uint super = block >> POOL_SUPER_SHIFT;
    return super << 24 | (block & ((1u << POOL_SUPER_SHIFT) - 1u)) << 10 | word << 5 | pool_nth_bit(view, left);
}

#endif
