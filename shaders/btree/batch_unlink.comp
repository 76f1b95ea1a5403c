// Takes leaves that have become empty out of the tree, where their left neighbour is a child of the same parent: that
// one takes over their range. A leaf that is the first child of its parent stays, and so does the last leaf.
#version 460
#extension GL_GOOGLE_include_directive : require
#define BATCH_LEAVES 0
#include "batch_merge.glsl"
#include "invocation.glsl"

layout(push_constant, std430) uniform Push {
    BTree tree;
    uvec2 keys;    // one of the range of each empty leaf, ascending
    uvec2 count;   // address of how many
};

void main() {
    uint i = invocation_index();
    uint n = min(plain_load(count), gl_NumWorkGroups.x * gl_NumWorkGroups.y * WORKGROUP);
    if (i >= n) return;
    uint key = plain_load_near(keys, i);
    NodeHeader header;
    uint slab = batch_find(tree, Work(uvec2(0u), 0u, 0u, 0u, 0u), 1u, key, true, header);
    bool first = i == 0u;
    if (!first) first = plain_load_near(keys, i - 1u) < header.low;
    if (slab == SLAB_NULL || !first) return;   // the first of a parent's leaves does all of them

    uvec2 node = slab_address(tree.pool, slab);
    Node parent;
    [[unroll]] for (uint q = 0u; q < 7u; q++) {
        uvec4 v = plain_load4(address_add(node, q * 16u));
        parent.pair[2u * q] = v.xy;
        parent.pair[2u * q + 1u] = v.zw;
    }
    uint used = uint(bitCount(node_slots(parent, header.high)));
    uvec2 left = uvec2(0u);   // the neighbour that stays: its slot, its node's
    uvec2 reach;              // high and link
    uint kept = 0u;
    bool taken = false;       // left has taken a range over
    [[dont_unroll]] for (uint s = 0u; s < BTREE_SLOTS; s++) {
        uvec2 slot = uvec2(0u), behind = uvec2(~0u);
        [[unroll]] for (uint t = 0u; t < BTREE_SLOTS; t++) slot = s == t ? parent.pair[t] : slot;
        if (s < used) {
            uvec2 child = slab_address(tree.pool, slot.y);
            uvec4 f = plain_load4(address_add(child, BTREE_META_AT));
            while (i < n && plain_load_near(keys, i) < f.y) i++;
            bool empty = false;
            if (i < n) empty = plain_load_near(keys, i) <= f.z;
            if (empty && s != 0u && reach.y == slot.y) {
                reach = f.zw;
                taken = true;
                uvec2 word = pool_bitmap_word(tree.pool, slot.y >> 24, slot.y >> 10 & 0x3fffu, slot.y >> 5 & 31u);
                if (SHARED != 0u) {
                    node_clear_coherent(child, true);   // as free slabs of a shared pool are
                    release_fence();
                }
                atomic_and(word, ~(1u << (slot.y & 31u)));
            } else {
                if (taken) plain_store2(address_add(slab_address(tree.pool, left.y), BTREE_HIGH_AT), reach);
                left = slot;
                reach = f.zw;
                taken = false;
                plain_store2(btree_slot(node, kept), slot);
                kept++;
            }
        }
    }
    if (taken) plain_store2(address_add(slab_address(tree.pool, left.y), BTREE_HIGH_AT), reach);
    for (; kept < BTREE_SLOTS; kept++) plain_store2(btree_slot(node, kept), left);
}
